import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';

/** Installs Debian's PostgreSQL and PgBouncer where they are missing. */

const pgbouncer = '/usr/sbin/pgbouncer';

export default function setup(): void {
  if (programs() !== null && existsSync(pgbouncer)) return;
  const { status } = spawnSync('apt-get', ['install', '--yes', 'postgresql', 'pgbouncer'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('test:failover needs the packages postgresql and pgbouncer');
}

/** The folder of the newest PostgreSQL's programs. */
export function programs(): string | null {
  const versions = globSync('/usr/lib/postgresql/*/bin/pg_basebackup').map((path) => path.replace(/\/[^/]*$/, ''));
  return versions.sort((one, other) => Number(one.split('/')[4]) - Number(other.split('/')[4])).at(-1) ?? null;
}
