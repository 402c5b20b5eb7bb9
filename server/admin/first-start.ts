import type { ClientBase, Pool } from 'pg';
import { createAccount } from '../accounts/accounts.ts';
import { transaction } from '../database/lane.ts';
import { createKey } from '../keys/keys.ts';
import { system } from '../shared/audit.ts';
import type { Seal } from '../shared/seal.ts';
import { applyCatalog } from './catalog-apply.ts';
import type { CatalogContent } from './catalog-content.ts';
import { createOperator, type PreparedPassword, preparePassword } from './operator.ts';
import { planSeed, simulatorSeed, vendorSeed } from './seeds.ts';

/** The results of a first start, to be shown once. Null parts existed before. */
export interface FirstStart {
  /** `password` null: the configured one. */
  operator: { email: string; password: string | null } | null;
  /** A key of a trial account, and a model to try it with. */
  key: { secret: string; model: string } | null;
}

export interface FirstStartParts {
  pool: Pool;
  seal: Seal;
  /** The catalog comes from a file: models and plans are not seeded, so a file without plans puts nothing on sale. */
  catalogFile: boolean;
  /** The plans of the seed are examples: in production they are not on sale until an operator says so. */
  production?: boolean;
  upstreamsFromEnv: boolean;
  vendorKey: (variable: string) => string | undefined;
  admin: { email: string | null; password: string | null };
}

const defaultOperator = 'operator@steyg.local';

interface Missing {
  operator: boolean;
  account: boolean;
  catalog: boolean;
  plans: boolean;
}

/**
 * Fills an empty database: models, plans, an operator, and a trial account with a key, each only when there is none of
 * its kind. Any number of processes may call it at once; one of them does it. Null when there is nothing to show.
 */
export async function firstStart(parts: FirstStartParts): Promise<FirstStart | null> {
  const before = await whatIsMissing(parts.pool);
  if (!Object.values(before).some(Boolean)) return null;
  const password = await preparePassword(parts.admin.password);
  if ('problem' in password) throw new Error(`ADMIN_PASSWORD: ${password.problem}`);
  return transaction(parts.pool, async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.first_start', 0))`);
    return fill(client, parts, password);
  });
}

async function fill(
  client: ClientBase,
  parts: FirstStartParts,
  password: PreparedPassword,
): Promise<FirstStart | null> {
  // Checked again under the lock.
  const missing = await whatIsMissing(client);
  if (missing.catalog && !parts.catalogFile) await seed(client, parts, await catalogSeed(parts));
  if (missing.plans && !parts.catalogFile) await seed(client, parts, examplePlans(parts));

  const email = parts.admin.email ?? defaultOperator;
  const operator = missing.operator ? await makeOperator(client, email, password) : null;
  const key = missing.account ? await makeTrial(client, email, operator?.userId) : null;
  if (operator === null && key === null) return null;
  const shown = parts.admin.password === null ? password.password : null;
  return { operator: operator && { email: operator.email, password: shown }, key };
}

function examplePlans({ production = false }: FirstStartParts): CatalogContent {
  return { ...planSeed, plans: planSeed.plans.map((plan) => ({ ...plan, enabled: !production })) };
}

async function catalogSeed({ upstreamsFromEnv, vendorKey }: FirstStartParts): Promise<CatalogContent> {
  return (upstreamsFromEnv ? await vendorSeed(vendorKey) : null) ?? simulatorSeed();
}

async function seed(client: ClientBase, { seal }: FirstStartParts, content: CatalogContent): Promise<void> {
  await applyCatalog(client, { content, seal, actor: system, name: 'the built-in catalog' });
}

async function makeOperator(
  client: ClientBase,
  email: string,
  { digest }: PreparedPassword,
): Promise<{ userId: string; email: string }> {
  const outcome = await createOperator(client, { email, digest, actor: system });
  if (outcome.kind === 'invalid') throw new Error(`ADMIN_EMAIL: ${outcome.message}`);
  return outcome;
}

/** The operator's own account, so that the dashboard is not empty for the first person who signs in. */
async function makeTrial(client: ClientBase, email: string, ownerId: string | undefined): Promise<FirstStart['key']> {
  const opened = await createAccount(client, { email, actor: system, ...(ownerId === undefined ? {} : { ownerId }) });
  if (opened.kind !== 'created') throw new Error(`the first account could not be made: ${opened.kind}`);
  const made = await createKey(client, { accountId: opened.account.id, name: 'First key', actor: system });
  if (made.kind !== 'created') throw new Error(`the first key could not be made: ${made.kind}`);
  const { rows } = await client.query<{ id: string }>(
    `SELECT m.id FROM model m JOIN price p ON p.model_id = m.id WHERE m.enabled ORDER BY p.output, m.id LIMIT 1`,
  );
  return { secret: made.secret, model: rows[0]?.id ?? 'MODEL' };
}

async function whatIsMissing(database: Pool | ClientBase): Promise<Missing> {
  const { rows } = await database.query<Missing>(
    `SELECT NOT EXISTS (SELECT FROM app_user WHERE operator) AS operator,
            NOT EXISTS (SELECT FROM account) AS account,
            NOT EXISTS (SELECT FROM model) AND NOT EXISTS (SELECT FROM upstream) AS catalog,
            NOT EXISTS (SELECT FROM plan) AS plans`,
  );
  const [missing] = rows;
  if (missing === undefined) throw new Error('the database did not answer');
  return missing;
}
