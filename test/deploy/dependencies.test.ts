/** Dependencies are pinned, hashed and listed: one version each, install scripts and betas known by name, an SBOM. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Package {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
}
interface Locked {
  version?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
}

const manifests = ['package.json', 'sdk/package.json', 'dashboard/package.json'].map(
  (path) => JSON.parse(read(path)) as Package,
);
const locked = Object.entries((JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }).packages)
  .filter(([path]) => path.includes('node_modules/'))
  .map(([path, entry]) => ({ name: path.split('node_modules/').at(-1) ?? '', ...entry }));
const page = read('server/DEPENDENCIES.md');
/** Whether the page names a package or its family. */
const isNamed = (name: string): boolean =>
  [name, `${name.split('/')[0]}/*`, name.replace(/^node-linux-.*/, 'node-linux-*')].some((each) =>
    page.includes(`\`${each}\``),
  );
const direct = (manifest: Package): [string, string][] =>
  Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies });

it('every direct dependency has one exact version', () => {
  const all = manifests.flatMap((manifest) => [...direct(manifest), ...Object.entries(manifest.devDependencies ?? {})]);
  expect(all.length).toBeGreaterThan(50);
  expect(all.filter(([, version]) => !/^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('every installed package has a hash, so that other bytes are refused', () => {
  const loose = locked.filter(
    ({ link, inBundle, integrity }) => !link && !inBundle && !integrity?.startsWith('sha512-'),
  );
  expect(locked.length).toBeGreaterThan(300);
  expect(loose.map(({ name }) => name)).toEqual([]);
});

it('packages of production with an install script are known, and so are direct ones in beta', () => {
  const scripted = locked.filter(({ dev, hasInstallScript }) => hasInstallScript === true && dev !== true);
  expect(scripted.map(({ name }) => name).filter((name) => !isNamed(name))).toEqual([]);
  const betas = manifests.flatMap(direct).filter(([, version]) => version.includes('-'));
  expect(betas.map(([name]) => name).filter((name) => !isNamed(name))).toEqual([]);
});

it('the SDK has no dependency and is published only with its provenance', () => {
  const sdk = JSON.parse(read('sdk/package.json')) as Package & { publishConfig: object };
  expect(direct(sdk)).toEqual([]);
  expect(sdk.publishConfig).toMatchObject({ provenance: true });
});

it('npm run sbom lists what production installs, with version, licence and hash', () => {
  const { stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const document = JSON.parse(stdout) as {
    bomFormat: string;
    components: { name: string; version: string; hashes?: unknown[]; licenses?: unknown[] }[];
  };
  expect(document.bomFormat).toBe('CycloneDX');
  const listed = new Map(document.components.map((each) => [`${each.name}@${each.version}`, each]));
  const own = Object.entries(manifests[0]?.dependencies ?? {});
  expect(own.filter(([name, version]) => listed.get(`${name}@${version}`)?.hashes === undefined)).toEqual([]);
  expect(own.filter(([name, version]) => listed.get(`${name}@${version}`)?.licenses === undefined)).toEqual([]);
  expect(document.components.filter(({ name }) => ['oxlint', 'knip', 'biome'].includes(name))).toEqual([]);
});
