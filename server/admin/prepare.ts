import type { Pool } from 'pg';
import { transaction } from '../database/lane.ts';
import { migrate, migrateStatus } from '../database/migrate.ts';
import { type DatabaseLog, openPool } from '../database/pool.ts';
import type { Config } from '../runtime/config.ts';
import { readStoredSettings } from '../settings/settings.ts';
import { system } from '../shared/audit.ts';
import { createSeal, type Seal } from '../shared/seal.ts';
import { applyCatalog } from './catalog-apply.ts';
import { type CatalogSurroundings, readCatalogFile } from './catalog-file.ts';
import { type FirstStart, type FirstStartParts, firstStart } from './first-start.ts';
import { resealSecrets } from './reseal.ts';
import { vendorKeys } from './seeds.ts';

/** The part of the configuration that a start needs; `Config` has it. */
export type StartSettings = CatalogSurroundings &
  Pick<FirstStartParts, 'upstreamsFromEnv' | 'admin' | 'production'> & {
    /** The bank account of customers' payments; null: nothing is sold, which is logged. */
    bank?: object | null;
    /** Null: mails are files. */
    mail?: { smtpUrl: string | null };
    publicUrl?: string;
    /** Reads the same with what operators stored below it; absent: nothing is stored. */
    overlay?: Config['overlay'];
    catalogFile: string | null;
    previousSecretKeys: readonly Buffer[];
  };

/**
 * Brings a database into the state that a server needs: migrations, the catalog file, the first start. Safe in
 * concurrent processes, and safe to repeat after a failure. Returns the secrets that are shown once.
 *
 * Throws `CatalogFileError` when the file is at fault and `MigrationRefused` when the database is: a retry does not
 * help then.
 */
export async function prepareDatabase(options: {
  config: StartSettings;
  databaseUrl: string;
  secretKey: Buffer;
  log: DatabaseLog;
}): Promise<FirstStart | null> {
  const { config, databaseUrl, secretKey, log } = options;
  const content = config.catalogFile === null ? null : await readCatalogFile(config.catalogFile, config);
  const applied = await migrate({ url: databaseUrl });
  if (applied.length > 0) log.info({ count: applied.length }, 'applied migrations');
  const { unknown } = await migrateStatus({ url: databaseUrl });
  // Versions overlap during an update, so the start goes on; but this version may fail to write.
  if (unknown.length > 0) log.warn({ count: unknown.length }, 'the database has migrations of a newer version');

  const seal = createSeal({ secretKeys: [secretKey] });
  const pool = openPool({ url: databaseUrl, name: 'start', max: 1, log });
  try {
    const previous = config.previousSecretKeys;
    if (previous.length > 0) {
      const counts = await transaction(pool, (client) => resealSecrets(client, { current: secretKey, previous }));
      log.info({ ...counts }, 'sealed anew what previous secret keys had sealed; they are needed no more');
    }
    if (content !== null) {
      const name = config.catalogFile ?? '';
      await transaction(pool, (client) => applyCatalog(client, { content, seal, actor: system, name }));
    }
    tellMissing(await settingsInForce(config, pool, seal), log);
    const shown = await firstStart({ pool, seal, ...config, catalogFile: content !== null });
    if (config.upstreamsFromEnv) await tellUnseeded(pool, config, log);
    return shown;
  } finally {
    await pool.end();
  }
}

/** The environment's settings, and below it what operators stored; where the two do not fit, the environment alone. */
async function settingsInForce(config: StartSettings, pool: Pool, seal: Seal): Promise<StartSettings> {
  if (config.overlay === undefined) return config;
  // The service reads them once more and says what cannot be read.
  const read = config.overlay.read(await readStoredSettings(pool, seal, () => undefined));
  return 'problems' in read ? config : read.config;
}

const bankSettings = ['BANK_BIN', 'BANK_ACCOUNT', 'BANK_NAME'];

function tellMissing(config: StartSettings, log: DatabaseLog): void {
  if (config.bank === null)
    log.warn(
      { field: bankSettings.join(', ') },
      'no bank account is set, in the environment or on the operator’s page: no order can be made',
    );
  const missing = missingSettings(config);
  if (missing.length > 0)
    log.warn({ field: missing.join(', ') }, 'production: these settings are missing before customers can come');
}

/** The settings that a service in production needs for customers and does not have. */
function missingSettings({ production = false, bank, mail, publicUrl = '' }: StartSettings): string[] {
  if (!production) return [];
  return [
    ...(publicUrl.startsWith('https://') ? [] : ['PUBLIC_URL']),
    ...(mail?.smtpUrl == null ? ['SMTP_URL'] : []),
    ...(bank == null ? bankSettings : []),
  ];
}

/** Says what to do about vendors whose keys `UPSTREAMS_FROM_ENV` did not seed, because it seeds an empty database alone. */
async function tellUnseeded(pool: Pool, config: StartSettings, log: DatabaseLog): Promise<void> {
  const vendors = await vendorKeys();
  const given = vendors.filter(({ keyVariable }) => config.vendorKey(keyVariable) !== undefined);
  if (given.length === 0) {
    const variables = vendors.map(({ keyVariable }) => keyVariable).join(', ');
    log.warn(
      { field: variables },
      'UPSTREAMS_FROM_ENV=1 and no key of a vendor is set: set one, or the models stay simulated',
    );
    return;
  }
  const { rows } = await pool.query<{ id: string }>('SELECT upstream_id AS id FROM upstream_key');
  const seeded = new Set(rows.map(({ id }) => id));
  for (const { vendor, keyVariable, upstreamId } of given) {
    if (seeded.has(upstreamId)) continue;
    log.warn(
      { field: keyVariable, file: `server/catalog/examples/${vendor}.yaml` },
      'UPSTREAMS_FROM_ENV=1 seeds an empty database alone, and this one has a catalog: run `npm run --silent admin -- catalog apply` with the file, or add the vendor on the operator’s page Vendors',
    );
  }
}
