import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

/** Ends the run with the way to a PostgreSQL that has Citus, where there is none. */
export default function setup(): void {
  if (programs() !== null) return;
  throw new Error(
    'test:citus needs a PostgreSQL with the extension citus, and this machine has none below /usr/lib/postgresql. server/database/DISTRIBUTED.md says how one is built in three minutes.',
  );
}

/** The folder of programs of the newest PostgreSQL that has the extension. */
export function programs(): string | null {
  const versions = globSync('/usr/lib/postgresql/*')
    .filter((folder) => existsSync(join(folder, 'lib/citus.so')) && existsSync(join(folder, 'bin/initdb')))
    .sort((one, other) => Number(one.split('/').at(-1)) - Number(other.split('/').at(-1)));
  const newest = versions.at(-1);
  return newest === undefined ? null : join(newest, 'bin');
}
