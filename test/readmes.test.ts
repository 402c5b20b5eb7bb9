import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { connections, directConnections } from '../server/database/connections.ts';

/** What can be checked of the pages: the files, links, commands, metrics, tables and variables that they name exist. */

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = globSync('{*.md,.github/*.md,{server,sdk,test,prisma,dashboard}/**/*.md}', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|generated)(\/|$)/.test(path),
}).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const page = (path: string): string => pages.find((each) => each.path === path)?.text ?? '';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const serverSources = globSync('server/**/*.ts', { cwd: root, exclude: (path) => path.includes('generated') });
const declared = serverSources.map(read).join('\n');

it('the page of operators states how many connections a process holds to the database', () => {
  const text = page('server/README.md').replaceAll(/\s+/g, ' ');
  const all = Object.values(connections).reduce((sum, each) => sum + each, 0);
  expect(text).toContain(`a process holds up to ${all} connections`);
  expect(text).toContain(`\`default_pool_size\` of ${all} for each process`);
  expect(text).toContain(`(up to ${directConnections} connections of a process)`);
});

describe('the pages', () => {
  it('are found', () => {
    expect(pages.length).toBeGreaterThan(10);
  });

  it.each(pages)('$path links to files that exist', ({ path, text }) => {
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    const files = links.filter((target) => !/^[a-z]+:|^\//.test(target));
    expect(files.filter((target) => !existsSync(resolve(root, dirname(path), target)))).toEqual([]);
  });

  it.each(pages)('$path names sources that exist', ({ path, text }) => {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
    const named = [...prose.matchAll(/`([\w@./-]+\.(?:ts|tsx|mjs|prisma))`/g)].map(([, name = '']) => name);
    const missing = named.filter((name) => {
      const bases = [dirname(path), '.', 'server', ...globSync(`${dirname(path)}/*/`, { cwd: root })];
      return !bases.some((base) => existsSync(resolve(root, base, name)));
    });
    expect(missing).toEqual([]);
  });

  it.each(pages)('$path names commands of npm that exist', ({ text }) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it.each(pages)('$path names metrics that exist', ({ text }) => {
    const named = [...text.matchAll(/\b((?:gateway|gen_ai)_[a-z_]+)\b/g)].map(([, name = '']) => name);
    expect([...new Set(named)].filter((name) => !declared.includes(`'${name}'`))).toEqual([]);
  });

  it.each(pages)('$path names tests that exist', ({ text }) => {
    const named = [...text.matchAll(/\btest\/[\w/-]+\.test\.ts/g)].map(([name]) => name);
    expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });

  it('of a folder of the server names every source in it', () => {
    const folders = pages.filter(({ path }) => /^server\/.+\/README\.md$/.test(path));
    expect(folders.length).toBeGreaterThan(20);
    const unnamed = folders.flatMap(({ path, text }) =>
      readdirSync(join(root, dirname(path)))
        .filter((name) => name.endsWith('.ts') && !text.includes(`\`${name}\``))
        .map((name) => `${dirname(path)}/${name}`),
    );
    expect(unnamed).toEqual([]);
  });

  it.each(['gateway', 'billing'])('of the hall %s names every source of its rooms', (hall) => {
    const sources = globSync(`server/${hall}/*/*.ts`, { cwd: root });
    expect(sources.length).toBeGreaterThan(40);
    const text = globSync(`server/${hall}/{*,*/*}.md`, { cwd: root }).map(read).join('\n');
    const named = new Set([...text.matchAll(/`(?:[\w-]+\/)*([\w-]+\.ts)`/g)].map(([, name]) => name));
    expect(sources.filter((path) => !named.has(basename(path)))).toEqual([]);
  });

  it('every folder of the server has a page, unless its name says all of it', () => {
    const obvious = ['accounts', 'keys'];
    const folders = readdirSync(join(root, 'server'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !obvious.includes(entry.name))
      .map(({ name }) => name);
    expect(folders.length).toBeGreaterThan(15);
    expect(folders.filter((folder) => page(`server/${folder}/README.md`) === '')).toEqual([]);
  });
});

describe('names', () => {
  it('state guarantees, not numbers of pages that are not in this repository', () => {
    const files = globSync('{server,test,sdk/src,dashboard/src}/**/*.{ts,tsx,md}', {
      cwd: root,
      exclude: (path) => /(^|\/)(node_modules|dist|generated)(\/|$)/.test(path),
    });
    expect(files.length).toBeGreaterThan(500);
    expect(files.filter((path) => /\b(?:[Ff]aults?|[Cc]hecks?) \d/.test(read(path)))).toEqual([]);
  });

  it('integrators may use the SDK under the licence that comes with it; nothing else is granted or published', () => {
    const licenceOf = (path: string) =>
      JSON.parse(read(path)) as { license: string; private?: boolean; publishConfig?: { access: string } };
    const sdk = licenceOf('sdk/package.json');
    expect(sdk).toMatchObject({ license: 'Apache-2.0', publishConfig: { access: 'public' } });
    expect(read('sdk/LICENSE')).toContain('Apache License');
    for (const path of ['package.json', 'dashboard/package.json']) {
      expect(licenceOf(path)).toMatchObject({ license: 'UNLICENSED', private: true });
    }
  });
});
