/** What the quick starts tell people to run is what the service and the published clients understand. */

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseModels } from '@steyg/sdk/connect';
import { buildSchema, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type GuideName,
  graphqlCommand,
  guideConnection,
  guideNames,
  guideQuery,
  sdkProgram,
  statusLineScript,
  statusLineSettings,
} from '../../dashboard/src/guides.ts';
import { attributionTexts } from '../../dashboard/src/language/attribution.ts';
import { en } from '../../dashboard/src/language/en.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { createAccessTokens } from '../../server/people/access-tokens.ts';
import { linkModules, root, run, tsc, withDirectory } from '../sdk/programs.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';

const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));

describe('the quick start of GraphQL', () => {
  it('asks for fields that the schema has', () => {
    expect(validate(schema, parse(guideQuery))).toEqual([]);
  });

  it('sends the same query as a command', () => {
    const command = graphqlCommand('https://steyg.example');
    const [, body = ''] = /-d '(.*)'$/s.exec(command) ?? [];
    const { query } = JSON.parse(body) as { query: string };
    expect(validate(schema, parse(query))).toEqual([]);
    expect(query.replaceAll(/\s/g, '')).toBe(guideQuery.replaceAll(/\s/g, ''));
    expect(command).toContain('https://steyg.example/graphql');
  });
});

it('every quick start has a name of its own', () => {
  expect(Object.keys(en.guides.names).toSorted()).toEqual(guideNames.toSorted());
  expect(new Set(Object.values(en.guides.names)).size).toBe(guideNames.length);
});

/** A block that a guide shows to be copied. */
interface Block {
  guide: GuideName;
  language: 'ts' | 'python' | 'sh' | 'json' | 'graphql';
  text: string;
}

const catalog = [
  {
    id: 'sim-small',
    displayName: 'Small',
    contextLength: 8_192,
    maxOutputTokens: 1_024,
    priceUsdPerMillion: { output: '1' },
  },
];

/** Every block of every guide; settings that tools read are held by the tests of `connect`. */
function blocksOf(origin: string): Block[] {
  const models = chooseModels(catalog);
  const ofTools = guideNames.flatMap((guide): Block[] => {
    const connection = guideConnection(guide, { origin, models, catalog });
    if (connection === null) return [];
    const { code, commands } = connection;
    return [
      ...code.map(({ language, text }) => ({ guide, language: language as Block['language'], text })),
      ...commands.map((text) => ({ guide, language: 'sh' as const, text })),
    ];
  });
  return [
    ...ofTools,
    { guide: 'sdk', language: 'ts', text: sdkProgram(origin, models.main) },
    { guide: 'sdk', language: 'sh', text: `npm install ${origin}/sdk.tgz` },
    { guide: 'graphql', language: 'graphql', text: guideQuery },
    { guide: 'graphql', language: 'sh', text: graphqlCommand(origin) },
    { guide: 'claude-code', language: 'sh', text: statusLineScript(origin) },
    { guide: 'claude-code', language: 'json', text: statusLineSettings },
  ];
}

describe('the blocks of the quick starts', () => {
  let app: TestApp;
  let customer: Customer;
  let env: Record<string, string>;
  let blocks: Block[];
  beforeAll(async () => {
    app = await startApp();
    customer = await app.customer();
    const { accountId } = customer;
    const token = await createAccessTokens({ pool: app.pool }).create(
      { accountId, name: 'guide', scopes: ['read'], expiresAt: null, createdBy: null },
      'test',
    );
    if (token.kind !== 'created') throw new Error(token.kind);
    env = { STEYG_API_KEY: customer.secret, STEYG_ACCESS_TOKEN: token.secret };
    blocks = blocksOf(app.url);
  });
  afterAll(() => app.close());

  const inLanguage = (language: Block['language']) => blocks.filter((block) => block.language === language);

  it('are all that the page shows, in both languages', () => {
    const page = readFileSync(join(root, 'dashboard/src/pages/guides.tsx'), 'utf8');
    const shown = [...page.matchAll(/<Code\s+text=(?:\{([^}]*)\}|"([^"]*)")/g)].map(([, code, text]) => code ?? text);
    expect(page.match(/<Code\b/g)).toHaveLength(shown.length);
    expect(new Set(shown)).toEqual(
      new Set([
        'statusLineScript(origin)',
        'statusLineSettings',
        'guideQuery',
        'graphqlCommand(origin)',
        '`npm install ${sdk',
        'sdkProgram(origin, choice.main)',
      ]),
    );
    // The texts have no examples of their own, which one language could have and the other not.
    for (const texts of [en.guides, vi.guides, ...Object.values(attributionTexts)]) {
      expect(JSON.stringify(texts)).not.toMatch(/`|\b(?:curl|npm|npx|pip|import|const|await|export) [^"]*[-@/=({]/);
    }
    expect(blocks.map(({ language }) => language)).toEqual(expect.arrayContaining(['ts', 'python', 'sh', 'json']));
    for (const { text } of inLanguage('json')) expect(JSON.parse(text)).toBeTypeOf('object');
    for (const { text } of inLanguage('graphql')) expect(validate(schema, parse(text))).toEqual([]);
  });

  it('in TypeScript type-check against the published packages, and run', async () => {
    const programs = inLanguage('ts');
    expect(programs.map(({ guide }) => guide)).toEqual(['typescript', 'sdk']);
    await withDirectory(async (directory) => {
      await linkModules(directory);
      await Promise.all(programs.map(({ guide, text }) => writeFile(join(directory, `${guide}.ts`), text)));
      const compilerOptions = {
        target: 'es2024',
        lib: ['es2024'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        skipLibCheck: true,
      };
      await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      expect((await run(process.execPath, [tsc, '-p', directory])).stdout).toBe('');
      for (const { guide } of programs) {
        const { code, stdout, stderr } = await run(process.execPath, [`${guide}.ts`], { cwd: directory, env });
        expect({ guide, code, stderr }).toEqual({ guide, code: 0, stderr: '' });
        expect(stdout).toMatch(guide === 'sdk' ? /^.+ 0\.\d+\n\d+(?:\.\d+)?\n$/s : /^pong\n$/);
      }
    });
  });

  it('in Python compile', async () => {
    const programs = inLanguage('python');
    expect(programs.map(({ guide }) => guide)).toEqual(['python']);
    // The installation that a person has may be a shim that needs the home directory.
    const home = { HOME: process.env['HOME'] ?? '' };
    const hasPython = (await run('python3', ['-c', 'pass'], { env: home })).code === 0;
    for (const { guide, text } of programs) {
      expect([guide, unbalanced(text)]).toEqual([guide, '']);
      if (!hasPython) continue;
      const compiling = 'import sys; compile(sys.stdin.read(), "guide.py", "exec")';
      const { code, stderr } = await run('python3', ['-c', compiling], { env: home, input: text });
      expect({ guide, code, stderr }).toEqual({ guide, code: 0, stderr: '' });
    }
  });

  it('as commands are understood by the shell, and those of curl are answered', async () => {
    const answered: string[] = [];
    for (const { guide, text } of inLanguage('sh')) {
      const { code, stderr } = await run('sh', ['-n'], { input: text });
      expect({ guide, text, code, stderr }).toEqual({ guide, text, code: 0, stderr: '' });
      if (!/^curl /m.test(text)) continue;
      const command = text
        .replaceAll(/^curl/gm, 'curl -sS')
        .replace('YOUR_ACCESS_TOKEN', env['STEYG_ACCESS_TOKEN'] ?? '');
      const { stdout } = await run('sh', ['-c', command], { env });
      answered.push(guide);
      const answer = JSON.parse(stdout) as { error?: unknown; errors?: unknown };
      expect([guide, answer.error, answer.errors]).toEqual([guide, undefined, undefined]);
      expect(stdout).toContain(guide === 'graphql' ? '"budget":{"free":"' : 'pong');
    }
    expect(answered).toEqual(['curl', 'curl', 'graphql']);
  });
});

/** What does not close of quotes and brackets, in Python without triple quotes; empty: all does. */
function unbalanced(code: string): string {
  const bare = code.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#.*/g, '');
  let before = '';
  let left = bare.replaceAll(/[^()[\]{}"']/g, '');
  while (before !== left) {
    before = left;
    left = left.replaceAll(/\(\)|\[\]|\{\}/g, '');
  }
  return left;
}
