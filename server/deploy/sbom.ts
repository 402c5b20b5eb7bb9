import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Prints a CycloneDX document of what production installs, from the lockfile alone. `npm sbom --omit=dev` (npm 11) leaves
 * out packages of production that a development package asks for, too.
 */

interface LockedPackage {
  version?: string;
  name?: string;
  license?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
}

const lockfile = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
const { version, packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as {
  version: string;
  packages: Record<string, LockedPackage>;
};

/** One component: https://cyclonedx.org/docs/1.6/json/. A package that is installed at several places is one component. */
function describe(name: string, { version = '', license, integrity, optional }: LockedPackage) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    scope: optional === true ? 'optional' : 'required',
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
    // An SPDX expression covers single identifiers, too.
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
  };
}

if (import.meta.main) {
  const installed = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
    .map(([path, locked]) => describe(locked.name ?? path.split('node_modules/').at(-1) ?? '', locked));
  const components = [...new Map(installed.map((each) => [each.purl, each])).values()];
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': 'steyg', name: 'steyg', version } },
    components: components.sort((a, b) => (a.purl < b.purl ? -1 : 1)),
  };
  process.stdout.write(`${JSON.stringify(document, null, 1)}\n`);
}
