import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { copyFile, link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { persistedDocuments } from '@steyg/sdk/documents';
import { build } from 'vite';
import { pages } from './src/pages.ts';

/**
 * Builds the page into `dist/site`, unless what is there was made from the same sources. Called before every start, so
 * it has to cost nothing when there is nothing to do.
 */

const here = import.meta.dirname;
const site = join(here, 'dist/site');
const digestFile = 'digest';

/** What the result depends on. The versions of the tools are in `package.json`. */
const sources = [
  'dashboard/{index.html,package.json,build.ts,vite.config.ts}',
  'dashboard/{src,public}/**/*',
  'sdk/{package.json,openapi.json,README.md,CHANGELOG.md,LICENSE}',
  'sdk/{bin,dist,examples}/**/*',
];

async function digestSources(): Promise<string> {
  const root = join(here, '..');
  const hash = createHash('sha256');
  for (const entry of globSync(sources, { cwd: root, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .sort()) {
    hash.update(`${entry.slice(root.length)}\0`).update(await readFile(entry));
  }
  return hash.digest('hex');
}

/** Files that shrink are laid beside their compressed forms: compressing once is better than at every request. */
async function compress(directory: string): Promise<void> {
  const brotli = promisify(brotliCompress);
  const zip = promisify(gzip);
  for (const path of globSync('**/*.{js,css,svg}', { cwd: directory })) {
    const bytes = await readFile(join(directory, path));
    const [small, smaller] = await Promise.all([
      zip(bytes, { level: 9 }),
      brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    ]);
    await writeFile(join(directory, `${path}.gz`), small);
    await writeFile(join(directory, `${path}.br`), smaller);
  }
}

/**
 * The SDK as npm installs it, under its version and as the present one: its commands work from this server, whether or not the
 * package is published. It was built by `npm ci`; no script runs here.
 */
async function packSdk(directory: string): Promise<void> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: join(here, '../sdk') });
  const [packed] = JSON.parse(stdout) as [{ filename: string; version: string }];
  await rename(join(directory, packed.filename), join(directory, `sdk-${packed.version}.tgz`));
  await copyFile(join(directory, `sdk-${packed.version}.tgz`), join(directory, 'sdk.tgz'));
}

/** Resolves to true when it built, to false when the result was there already. */
export async function buildDashboard(): Promise<boolean> {
  const digest = await digestSources();
  if ((await readFile(join(site, digestFile), 'utf8').catch(() => '')) === digest) return false;
  const next = join(here, `dist/next-${process.pid}`);
  // Whoever starts this (a test) may have set another one, and React would come with its development checks.
  process.env['NODE_ENV'] = 'production';
  await build({
    configFile: join(here, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: next, emptyOutDir: true },
  });
  await compress(next);
  // Beside the page, not within what it loads: the server renders public pages with it.
  await build({
    configFile: join(here, 'vite.config.ts'),
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"' },
    ssr: { noExternal: true },
    build: {
      ssr: join(here, 'src/served.tsx'),
      outDir: join(next, '.served'),
      manifest: false,
      copyPublicDir: false,
      rolldownOptions: { output: { entryFileNames: 'served.mjs' } },
    },
  });
  await packSdk(next);
  // The server answers these addresses with the page, and no others.
  await writeFile(join(next, 'pages.json'), JSON.stringify(Object.values(pages)));
  // The page sends its operations by these names.
  await writeFile(join(next, 'documents.json'), JSON.stringify(persistedDocuments()));
  await writeFile(join(next, digestFile), digest);
  await keepParts(site, next);
  await putInPlace(next, site);
  await sweep();
  return true;
}

/** The parts of so many builds are there: the present one's and those of the ones before. */
export const keptBuilds = 8;
const partsFile = 'parts.json';

/**
 * Takes the parts of earlier builds over. Their names change with what is in them, and they are still asked for: by a
 * server that was started before, and by pages that people have left open.
 */
export async function keepParts(from: string, to: string): Promise<void> {
  const list = await readFile(join(from, partsFile), 'utf8').catch(() => '[]');
  const present = await readdir(join(to, 'assets'));
  const builds = [present, ...(JSON.parse(list) as string[][])].slice(0, keptBuilds);
  const there = new Set(present);
  for (const name of new Set(builds.flat())) {
    // Another name for the same file. One that somebody deleted meanwhile is no reason not to build.
    if (!there.has(name)) await link(join(from, 'assets', name), join(to, 'assets', name)).catch(() => undefined);
  }
  await writeFile(join(to, partsFile), JSON.stringify(builds));
}

/**
 * Moves a finished build to where it is served from; a server that runs meanwhile finds the old files or the new ones.
 * Of several that were made from the same sources at the same time the first stays, and the others go: it may be in use.
 */
export async function putInPlace(next: string, place: string): Promise<void> {
  const digest = await readFile(join(next, digestFile), 'utf8');
  const isSame = async () => (await readFile(join(place, digestFile), 'utf8').catch(() => null)) === digest;
  const old = join(dirname(place), basename(next).replace('next', 'old'));
  for (;;) {
    if (await isSame()) break;
    try {
      await rename(next, place);
      break;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    // Again, now that something is there: it may have come just now.
    if (await isSame()) break;
    await rm(old, { recursive: true, force: true });
    await rename(place, old).catch(() => undefined);
  }
  await Promise.all([next, old].map((path) => rm(path, { recursive: true, force: true })));
}

/** What builds that were ended left behind; one that is under way has a process. */
async function sweep(): Promise<void> {
  for (const name of await readdir(join(here, 'dist'))) {
    const [, pid] = /^(?:next|old)-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(here, 'dist', name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const startedAt = performance.now();
  if (await buildDashboard()) {
    process.stderr.write(`The dashboard was built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.\n`);
  }
}
