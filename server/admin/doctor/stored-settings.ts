import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { useEmbeddedPostgres } from '../../database/embedded.ts';
import { openPool } from '../../database/pool.ts';
import type { Config } from '../../runtime/config.ts';
import { readStoredSettings } from '../../settings/settings.ts';
import { createSeal } from '../../shared/seal.ts';
import { findSecretKey } from '../secret-key.ts';
import { findingOf, type HostFinding } from './finding.ts';

/** The settings that operators stored in the database, below the environment's: what the service works with is examined. */

const subject = 'stored settings';
const quiet = { info: () => {}, warn: () => {} };

/** The configuration as the service has it; the environment's alone where nothing is stored, or it cannot be used. */
export async function withStoredSettings(config: Config): Promise<{ config: Config; finding: HostFinding }> {
  const skipped = (found: string) => ({ config, finding: { subject, state: 'skipped' as const, found } });
  const secretKey = config.secretKey ?? (await findSecretKey(config.dataDir));
  if (secretKey === null) return skipped('no server has started here yet');
  // An embedded database is not made by an examination.
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres'))) return skipped('no database yet');
  const unread: string[] = [];
  let values: Record<string, string>;
  try {
    values = await read(config, secretKey, unread);
  } catch {
    return skipped('the database cannot be read, or is not migrated yet');
  }
  const names = Object.keys(values).sort();
  const merged = config.overlay.read(values);
  const problems = 'problems' in merged ? merged.problems.map(({ name }) => name ?? 'together') : [];
  const found = names.length === 0 ? 'none' : names.join(', ');
  return {
    config: 'problems' in merged ? config : merged.config,
    finding: findingOf(
      subject,
      found,
      [
        unread.length === 0,
        'bad',
        `Not to be opened with this secret key: ${unread.join(', ')}. Set SECRET_KEY as the server has it, or enter them anew.`,
      ],
      [
        problems.length === 0,
        'bad',
        `Not used, because they do not fit the environment: ${problems.join(', ')}. Mend them on the operator’s page.`,
      ],
    ),
  };
}

async function read(config: Config, secretKey: Buffer, unread: string[]): Promise<Record<string, string>> {
  const embedded =
    config.databaseUrl === null ? await useEmbeddedPostgres({ dataDir: config.dataDir, log: quiet }) : null;
  const url = config.databaseDirectUrl ?? config.databaseUrl ?? embedded?.url ?? '';
  const pool = openPool({ url, name: 'doctor', max: 1, log: quiet });
  try {
    const seal = createSeal({ secretKeys: [secretKey, ...config.previousSecretKeys] });
    return await readStoredSettings(pool, seal, ({ setting }) => void unread.push(setting));
  } finally {
    await pool.end();
    await embedded?.release();
  }
}
