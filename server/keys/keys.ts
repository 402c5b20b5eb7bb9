import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import type { BurnLimit, SpendLimits } from '../core/spend-limits.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { type AuditAction, type AuditFacts, appendAudit } from '../shared/audit.ts';
import { type Once, once } from '../shared/idempotency.ts';
import {
  amount,
  checkInput,
  type InvalidInput,
  invalidInput,
  maxPico,
  paceShape,
  shownText,
  spendLimitsShape,
} from '../shared/input.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { createSecret } from './secret.ts';

/** Creates, changes, rotates and deletes API keys. Secrets are shown once and never stored. */

export interface ApiKey {
  id: string;
  accountId: string;
  name: string;
  /** First and last characters of the secret, for identification. */
  prefix: string;
  last4: string;
  /** Catalog ids that the key may call; empty: all. */
  models: string[];
  limits: SpendLimits;
  burnLimit: BurnLimit | null;
  /** Null: nothing but the service's own limits. */
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  /** Requests at once, over all processes. */
  maxConcurrent: number | null;
  /** Networks that it may be used from, in CIDR notation; empty: all. */
  addresses: string[];
  expiresAt: Date | null;
  createdAt: Date;
  deletedAt: Date | null;
  /** Id of the key that this one replaces. */
  replaces: string | null;
  /** The person who made it, by a session or a token; null: an operator, or unknown. */
  createdBy: string | null;
  /** It belongs to that person and ends when they leave the account; otherwise it belongs to the account. */
  personal: boolean;
  projectId: string | null;
}

/** Properties of a key that the account holder chooses. */
export interface KeyTerms {
  name: string;
  models: readonly string[];
  limits: SpendLimits;
  burnLimit: BurnLimit | null;
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  maxConcurrent: number | null;
  addresses: readonly string[];
  expiresAt: Date | null;
  /** Left out for a new key: only for those who may not make another kind (`mayMakeShared`). */
  personal: boolean;
  projectId: string | null;
}

export type KeyProblem = InvalidInput<keyof KeyTerms>;

/** Refusals that depend on who asks, and on what the account has. */
type PlaceProblem =
  /** No project of the account, or an archived one. */
  | { kind: 'unknown_project' }
  /** The project's limits leave less than the running requests of the key hold. */
  | { kind: 'project_full' }
  /** The key lies in a project with a limit, which the actor may not take it out of. */
  | { kind: 'bound_to_project' }
  /** The account has a project with a limit, which a key outside of all projects would be spared. */
  | { kind: 'project_required' }
  | NotAllowed;

/**
 * A member may have personal keys only, and a personal key needs a person who belongs to the account. A member with a limit
 * of their own handles only the keys that count in it.
 */
interface NotAllowed {
  kind: 'not_allowed';
}

export type CreateKeyOutcome =
  | { kind: 'created'; key: ApiKey; secret: string }
  | { kind: 'unknown_account' }
  | { kind: 'too_many_keys'; limit: number }
  | PlaceProblem
  | KeyProblem;

export type ChangeKeyOutcome = { kind: 'changed'; key: ApiKey } | { kind: 'unknown_key' } | PlaceProblem | KeyProblem;

export type RotateKeyOutcome =
  | { kind: 'rotated'; key: ApiKey; secret: string; replaced: ApiKey }
  | { kind: 'unknown_key' }
  /** The key has expired: a successor of the same terms would be expired too. */
  | { kind: 'key_expired' }
  /** The key has, or had, a successor. */
  | { kind: 'replaced_before' }
  | NotAllowed
  | { kind: 'too_many_keys'; limit: number };

export type DeleteKeyOutcome = { kind: 'deleted'; key: ApiKey } | { kind: 'unknown_key' };

/** A key, its account and the actor. A key of another account is reported as unknown. */
export interface KeyRef {
  accountId: string;
  id: string;
  actor: string;
}

export type ChangeKey = KeyRef &
  Partial<KeyTerms> & {
    /** Whether the actor may take the key out of a project with a limit, and out of all projects. Left out: no. */
    mayLeaveLimits?: boolean;
  };

export type NewKeyTerms = { accountId: string; actor: string } & Partial<KeyTerms> & {
    /** Whether the key must lie in a project where one has a limit: the actor may not set limits. Left out: no. */
    underLimits?: boolean;
  };

export interface Keys {
  create(ask: NewKeyTerms): Promise<CreateKeyOutcome>;
  /** The same, once for each idempotency key: a repeated call returns the key that was created. */
  createOnce(ask: NewKeyTerms, idempotencyKey: string): Promise<Once<CreateKeyOutcome>>;
  /** Newest first; deleted ones only when asked for. */
  list(accountId: string, options?: { deleted?: boolean }): Promise<ApiKey[]>;
  /** A key of any account, for operators; deleted ones too. Null: no such key. */
  find(id: string): Promise<ApiKey | null>;
  /** Changes the given terms only. Who may not set the limits of projects may not take a key out of one either. */
  change(ask: ChangeKey): Promise<ChangeKeyOutcome>;
  /**
   * Creates a key of the same name and terms; the old one stays valid for `graceMs`, so that clients can be switched
   * over. The new key gets the rest of a lifetime limit; until the grace period ends, both may spend it. Happens once
   * for each key.
   */
  rotate(ask: KeyRef & { graceMs: number }): Promise<RotateKeyOutcome>;
  /**
   * Gives a key another secret, in place of the one before, and other terms: what was spent with it goes on to count. Of
   * keys that the service makes for itself. Null: no such key.
   */
  renew(
    ask: KeyRef & Pick<KeyTerms, 'expiresAt' | 'models' | 'limits'>,
  ): Promise<{ key: ApiKey; secret: string } | null>;
  /** The key is unknown from the next request on. Running requests finish. */
  /** With a reason it is an operator's revocation, and the audit log says why. */
  delete(ask: KeyRef & { reason?: string }): Promise<DeleteKeyOutcome>;
}

/** Maximum number of an account's keys. */
const maxKeys = 1_000;
const maxModels = 500;
const maxModelIdLength = 256;
/** Minutes of the longest burn window: a day. */
const maxBurnMinutes = 1_440;

const termsShape: z.ZodType<KeyTerms> = z.object({
  name: shownText(100),
  models: z.array(shownText(maxModelIdLength)).max(maxModels, `must be at most ${maxModels}`),
  limits: spendLimitsShape,
  burnLimit: z
    .object({
      amount: amount(maxPico),
      minutes: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(maxBurnMinutes, `must be at most ${maxBurnMinutes}`),
    })
    .nullable(),
  ...paceShape,
  expiresAt: z.date('must be a time').nullable(),
  personal: z.boolean(),
  projectId: z.string().nullable(),
});

const defaultName = 'API key';
const noLimits: SpendLimits = { day: null, week: null, month: null, lifetime: null };

const columns = `id, account_id AS "accountId", name, prefix, last4, models, expires_at AS "expiresAt",
  requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute", max_concurrent AS "maxConcurrent", addresses,
  created_at AS "createdAt", deleted_at AS "deletedAt", replaces, created_by AS "createdBy", personal, project_id AS "projectId",
  limit_day AS "limitDay", limit_week AS "limitWeek", limit_month AS "limitMonth", limit_lifetime AS "limitLifetime",
  burn_limit AS "burnAmount", burn_minutes AS "burnMinutes"`;

type KeyRow = Omit<ApiKey, 'limits' | 'burnLimit'> & {
  limitDay: bigint | null;
  limitWeek: bigint | null;
  limitMonth: bigint | null;
  limitLifetime: bigint | null;
  burnAmount: bigint | null;
  burnMinutes: number | null;
};

function toKey({ limitDay, limitWeek, limitMonth, limitLifetime, burnAmount, burnMinutes, ...rest }: KeyRow): ApiKey {
  return {
    ...rest,
    limits: { day: limitDay, week: limitWeek, month: limitMonth, lifetime: limitLifetime },
    burnLimit: burnAmount === null || burnMinutes === null ? null : { amount: burnAmount, minutes: burnMinutes },
  };
}

/** The pool's connections give BIGINT as `bigint`. */
export function createKeys({ pool }: { pool: Pool }): Keys {
  return {
    create: (ask) => repeatedTransaction(pool, (client) => createKey(client, ask)),
    createOnce: ({ accountId, actor, underLimits = false, ...terms }, idempotencyKey) =>
      repeatedTransaction(pool, (client) =>
        once(client, { accountId, operation: 'createKey', key: idempotencyKey, input: terms }, async () => {
          const outcome = await createKey(client, { accountId, actor, underLimits, ...terms });
          return { resultId: outcome.kind === 'created' ? outcome.key.id : null, value: outcome };
        }),
      ),
    async list(accountId, { deleted = false } = {}) {
      if (!isUuid(accountId)) return [];
      const { rows } = await pool.query<KeyRow>(
        `SELECT ${columns} FROM api_key WHERE account_id = $1 AND ($2 OR deleted_at IS NULL)
         ORDER BY created_at DESC, id DESC`,
        [accountId, deleted],
      );
      return rows.map(toKey);
    },
    async find(id) {
      if (!isUuid(id)) return null;
      const { rows } = await pool.query<KeyRow>(`SELECT ${columns} FROM api_key WHERE id = $1`, [id]);
      return rows[0] === undefined ? null : toKey(rows[0]);
    },
    change: (ask) => repeatedTransaction(pool, (client) => changeKey(client, ask)),
    rotate: (ask) => repeatedTransaction(pool, (client) => rotateKey(client, ask)),
    renew: (ask) => repeatedTransaction(pool, (client) => renewKey(client, ask)),
    delete: (ask) => repeatedTransaction(pool, (client) => deleteKey(client, ask)),
  };
}

/** Makes a key within the caller's transaction. */
export async function createKey(
  client: ClientBase,
  ask: NewKeyTerms & { replaces?: Pick<ApiKey, 'id' | 'createdBy'> },
): Promise<CreateKeyOutcome> {
  const terms: KeyTerms = {
    name: ask.name ?? defaultName,
    models: ask.models ?? [],
    limits: ask.limits ?? noLimits,
    burnLimit: ask.burnLimit ?? null,
    requestsPerMinute: ask.requestsPerMinute ?? null,
    tokensPerMinute: ask.tokensPerMinute ?? null,
    maxConcurrent: ask.maxConcurrent ?? null,
    addresses: ask.addresses ?? [],
    expiresAt: ask.expiresAt ?? null,
    personal: ask.personal ?? false,
    projectId: ask.projectId ?? null,
  };
  const problem = checkInput(termsShape, terms) ?? (await endProblem(client, terms.expiresAt));
  if (problem !== null) return problem;
  if (!isUuid(ask.accountId)) return { kind: 'unknown_account' };
  // Locked, so that concurrent creations are counted one after the other.
  const { rowCount } = await client.query('SELECT FROM account WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE', [
    ask.accountId,
  ]);
  if (rowCount === 0) return { kind: 'unknown_account' };
  const { rows: counted } = await client.query<{ many: boolean }>(
    `SELECT count(*) >= $2 AS many FROM api_key
     WHERE account_id = $1 AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    [ask.accountId, maxKeys],
  );
  if (counted[0]?.many === true) return { kind: 'too_many_keys', limit: maxKeys };
  const createdBy = ask.replaces === undefined ? await personOf(client, ask.actor) : ask.replaces.createdBy;
  const role = await roleOf(client, ask.accountId, createdBy);
  if (ask.replaces === undefined) terms.personal = ask.personal ?? role === 'member';
  // Somebody who was removed while they asked.
  if (role === null && (createdBy !== null || terms.personal)) return { kind: 'not_allowed' };
  if (ask.replaces === undefined) {
    if (!terms.personal && role === 'member') return { kind: 'not_allowed' };
    if (!(await isProject(client, ask.accountId, terms.projectId))) return { kind: 'unknown_project' };
    const isUnbound = ask.underLimits === true && terms.projectId === null;
    if (isUnbound && (await needsProject(client, ask.accountId, createdBy))) return { kind: 'project_required' };
  }

  const { secret, hash, prefix, last4 } = createSecret('key');
  const { name, models, limits, burnLimit, expiresAt } = terms;
  const { rows } = await client.query<KeyRow>(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4, models, limit_day, limit_month, limit_lifetime,
                          expires_at, replaces, requests_per_minute, limit_week, burn_limit, burn_minutes,
                          tokens_per_minute, max_concurrent, addresses, created_by, personal, project_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
     RETURNING ${columns}`,
    [
      uuidv7(),
      ask.accountId,
      name,
      hash,
      prefix,
      last4,
      [...new Set(models)],
      limits.day,
      limits.month,
      limits.lifetime,
      expiresAt,
      ask.replaces?.id ?? null,
      terms.requestsPerMinute,
      limits.week,
      burnLimit?.amount ?? null,
      burnLimit?.minutes ?? null,
      terms.tokensPerMinute,
      terms.maxConcurrent,
      [...new Set(terms.addresses)],
      createdBy,
      terms.personal,
      terms.projectId,
    ],
  );
  const key = only(rows);
  await audit(client, ask.actor, 'key.create', null, key);
  return { kind: 'created', key, secret };
}

async function changeKey(client: ClientBase, ask: ChangeKey): Promise<ChangeKeyOutcome> {
  const before = await lockKey(client, ask);
  if (before === null) return { kind: 'unknown_key' };
  const terms: KeyTerms = {
    name: ask.name ?? before.name,
    models: ask.models ?? before.models,
    limits: ask.limits ?? before.limits,
    burnLimit: ask.burnLimit === undefined ? before.burnLimit : ask.burnLimit,
    requestsPerMinute: ask.requestsPerMinute === undefined ? before.requestsPerMinute : ask.requestsPerMinute,
    tokensPerMinute: ask.tokensPerMinute === undefined ? before.tokensPerMinute : ask.tokensPerMinute,
    maxConcurrent: ask.maxConcurrent === undefined ? before.maxConcurrent : ask.maxConcurrent,
    addresses: ask.addresses ?? before.addresses,
    expiresAt: ask.expiresAt === undefined ? before.expiresAt : ask.expiresAt,
    personal: ask.personal ?? before.personal,
    projectId: ask.projectId === undefined ? before.projectId : ask.projectId,
  };
  // An expired key may still be renamed: only a newly chosen expiry has to be in the future.
  const problem = checkInput(termsShape, terms) ?? (await endProblem(client, ask.expiresAt ?? null));
  if (problem !== null) return problem;
  if (!(await mayHandle(client, ask, before))) return { kind: 'not_allowed' };
  const misplaced = await placeProblem(client, { ask, before, terms });
  if (misplaced !== null) return misplaced;
  const { rows } = await client.query<KeyRow>(
    `UPDATE api_key SET name = $2, models = $3, limit_day = $4, limit_month = $5, limit_lifetime = $6, expires_at = $7,
                        requests_per_minute = $8, limit_week = $9, burn_limit = $10, burn_minutes = $11,
                        tokens_per_minute = $12, max_concurrent = $13, addresses = $14, personal = $15, project_id = $16
     WHERE id = $1 RETURNING ${columns}`,
    [
      ask.id,
      terms.name,
      [...new Set(terms.models)],
      terms.limits.day,
      terms.limits.month,
      terms.limits.lifetime,
      terms.expiresAt,
      terms.requestsPerMinute,
      terms.limits.week,
      terms.burnLimit?.amount ?? null,
      terms.burnLimit?.minutes ?? null,
      terms.tokensPerMinute,
      terms.maxConcurrent,
      [...new Set(terms.addresses)],
      terms.personal,
      terms.projectId,
    ],
  );
  const key = only(rows);
  await audit(client, ask.actor, 'key.change', before, key);
  return { kind: 'changed', key };
}

/** Whether a key may belong to whom the change says, and lie in that project. What stays as it was may stay. */
async function placeProblem(
  client: ClientBase,
  { ask, before, terms }: { ask: ChangeKey; before: ApiKey; terms: KeyTerms },
): Promise<PlaceProblem | null> {
  if (terms.personal !== before.personal) {
    const actor = await roleOf(client, ask.accountId, await personOf(client, ask.actor));
    const maker = await roleOf(client, ask.accountId, before.createdBy);
    if (terms.personal ? maker === null : actor === 'member') return { kind: 'not_allowed' };
  }
  if (terms.projectId === before.projectId) return null;
  if (ask.mayLeaveLimits !== true && (await isLimited(client, before))) return { kind: 'bound_to_project' };
  const isUnbound = ask.mayLeaveLimits !== true && terms.projectId === null;
  // By the person in whose budget the key counts. Otherwise a key would be made in any project, and taken out of it.
  if (isUnbound && (await needsProject(client, ask.accountId, before.createdBy))) return { kind: 'project_required' };
  if (!(await isProject(client, ask.accountId, terms.projectId))) return { kind: 'unknown_project' };
  return (await isRoomFor(client, before, terms.projectId)) ? null : { kind: 'project_full' };
}

/** Whether the project of a key has a limit. */
async function isLimited(client: ClientBase, { accountId, projectId }: ApiKey): Promise<boolean> {
  if (projectId === null) return false;
  const { rowCount } = await client.query(
    `SELECT FROM shared_limit WHERE account_id = $1 AND subject_id = $2
     AND (limit_month IS NOT NULL OR limit_lifetime IS NOT NULL)`,
    [accountId, projectId],
  );
  return rowCount === 1;
}

/** Whether a project of the account has a limit, and no monthly budget of their own bounds what the person spends. */
async function needsProject(client: ClientBase, accountId: string, userId: string | null): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM project p JOIN shared_limit l ON l.account_id = p.account_id AND l.subject_id = p.id
     WHERE p.account_id = $1 AND p.archived_at IS NULL AND (l.limit_month IS NOT NULL OR l.limit_lifetime IS NOT NULL)
       AND NOT EXISTS (SELECT FROM shared_limit m WHERE m.account_id = $1 AND m.subject_id = $2 AND m.limit_month IS NOT NULL)
     LIMIT 1`,
    [accountId, userId],
  );
  return rowCount !== 0;
}

/**
 * Whether what the key holds fits into the limits of the project, where it will be charged. Behind the lock of the account's
 * money, so that nothing is held or charged until the key has moved.
 */
async function isRoomFor(client: ClientBase, { accountId, id }: ApiKey, projectId: string | null): Promise<boolean> {
  await client.query('SELECT lock_money($1)', [accountId]);
  const { rows } = await client.query<{ fits: boolean }>(
    `SELECT s.held = 0 OR coalesce(s.held <= l.limit_lifetime - l.charged - l.held, true)
            AND coalesce(s.held <= l.limit_month - l.held
                         - CASE WHEN l.month >= date_trunc('month', now() AT TIME ZONE l.time_zone)::date THEN l.month_charged ELSE 0 END, true) AS fits
     FROM key_spend s JOIN shared_limit l ON l.account_id = s.account_id AND l.subject_id = $3::uuid
     WHERE s.account_id = $1 AND s.key_id = $2`,
    [accountId, id, projectId],
  );
  return rows[0]?.fits ?? true;
}

/** Whether the actor may change or replace a key: a member with a limit must not spend through keys outside of it. */
async function mayHandle(client: ClientBase, { accountId, actor }: KeyRef, { createdBy }: ApiKey): Promise<boolean> {
  const person = await personOf(client, actor);
  if (person === null || person === createdBy) return true;
  const { rowCount } = await client.query(
    `SELECT FROM member m JOIN shared_limit l ON l.account_id = m.account_id AND l.subject_id = m.user_id
     WHERE m.account_id = $1 AND m.user_id = $2 AND m.role = 'member' AND l.limit_month IS NOT NULL`,
    [accountId, person],
  );
  return rowCount === 0;
}

/** The person behind an actor of the audit log: themselves, or who made the token. Null: an operator's command. */
async function personOf(client: ClientBase, actor: string): Promise<string | null> {
  const [kind, id = ''] = actor.split(':');
  if (!isUuid(id)) return null;
  if (kind === 'user') return id;
  const { rows } = await client.query<{ createdBy: string | null }>(
    `SELECT created_by AS "createdBy" FROM access_token WHERE $1 = 'token' AND id = $2`,
    [kind, id],
  );
  return rows[0]?.createdBy ?? null;
}

/** The role of a person in an account, locked: who leaves meanwhile waits, and takes the new key along. */
async function roleOf(client: ClientBase, accountId: string, userId: string | null): Promise<string | null> {
  if (userId === null) return null;
  const { rows } = await client.query<{ role: string }>(
    'SELECT role FROM member WHERE account_id = $1 AND user_id = $2 FOR SHARE',
    [accountId, userId],
  );
  return rows[0]?.role ?? null;
}

/** Whether a key of the account may lie in the project. Locked: it is not archived meanwhile. */
async function isProject(client: ClientBase, accountId: string, projectId: string | null): Promise<boolean> {
  if (projectId === null) return true;
  if (!isUuid(projectId)) return false;
  const { rowCount } = await client.query(
    'SELECT FROM project WHERE id = $2 AND account_id = $1 AND archived_at IS NULL FOR SHARE',
    [accountId, projectId],
  );
  return rowCount === 1;
}

async function rotateKey(client: ClientBase, ask: KeyRef & { graceMs: number }): Promise<RotateKeyOutcome> {
  const before = await lockKey(client, ask);
  if (before === null) return { kind: 'unknown_key' };
  if (!(await mayHandle(client, ask, before))) return { kind: 'not_allowed' };
  // A second successor would end with the grace period, and spend the rest of a lifetime limit once more.
  const { rowCount } = await client.query('SELECT FROM api_key WHERE account_id = $1 AND replaces = $2 LIMIT 1', [
    before.accountId,
    before.id,
  ]);
  if (rowCount !== 0) return { kind: 'replaced_before' };
  const created = await createKey(client, {
    accountId: before.accountId,
    actor: ask.actor,
    // The successor counts for whom its predecessor counted for, whoever asks.
    replaces: before,
    personal: before.personal,
    projectId: before.projectId,
    name: before.name,
    models: before.models,
    limits: { ...before.limits, lifetime: await lifetimeLeft(client, before) },
    burnLimit: before.burnLimit,
    requestsPerMinute: before.requestsPerMinute,
    tokensPerMinute: before.tokensPerMinute,
    maxConcurrent: before.maxConcurrent,
    addresses: before.addresses,
    expiresAt: before.expiresAt,
  });
  if (created.kind === 'too_many_keys' || created.kind === 'not_allowed') return created;
  if (created.kind === 'invalid' && created.field === 'expiresAt') return { kind: 'key_expired' };
  if (created.kind !== 'created') throw new Error(`a key could not be replaced: ${created.kind}`);
  const { rows } = await client.query<KeyRow>(
    `UPDATE api_key SET expires_at = least(expires_at, now() + $2 * interval '1 millisecond'),
                        deleted_at = CASE WHEN $2 <= 0 THEN now() END
     WHERE id = $1 RETURNING ${columns}`,
    [ask.id, ask.graceMs],
  );
  const replaced = only(rows);
  await audit(client, ask.actor, 'key.rotate', before, replaced);
  return { kind: 'rotated', key: created.key, secret: created.secret, replaced };
}

async function renewKey(
  client: ClientBase,
  ask: Parameters<Keys['renew']>[0],
): Promise<{ key: ApiKey; secret: string } | null> {
  const changed = await changeKey(client, ask);
  if (changed.kind === 'unknown_key') return null;
  if (changed.kind !== 'changed') throw new Error(`a key could not be renewed: ${changed.kind}`);
  const { secret, hash, prefix, last4 } = createSecret('key');
  const { rows } = await client.query<KeyRow>(
    `UPDATE api_key SET hash = $2, prefix = $3, last4 = $4 WHERE id = $1 RETURNING ${columns}`,
    [ask.id, hash, prefix, last4],
  );
  const key = only(rows);
  await audit(client, ask.actor, 'key.rotate', changed.key, key);
  return { key, secret };
}

/** The rest of a key's lifetime limit; at least 1 pico-USD, because a limit is never zero. */
async function lifetimeLeft(client: ClientBase, key: ApiKey): Promise<bigint | null> {
  if (key.limits.lifetime === null) return null;
  const { rows } = await client.query<{ spent: bigint }>(
    'SELECT charged + held AS spent FROM key_spend WHERE account_id = $1 AND key_id = $2',
    [key.accountId, key.id],
  );
  const left = key.limits.lifetime - (rows[0]?.spent ?? 0n);
  return left > 1n ? left : 1n;
}

async function deleteKey(client: ClientBase, ask: KeyRef & { reason?: string }): Promise<DeleteKeyOutcome> {
  const before = await lockKey(client, ask);
  if (before === null) return { kind: 'unknown_key' };
  const { rows } = await client.query<KeyRow>(
    `UPDATE api_key SET deleted_at = now() WHERE id = $1 RETURNING ${columns}`,
    [ask.id],
  );
  const key = only(rows);
  if (ask.reason === undefined) await audit(client, ask.actor, 'key.delete', before, null);
  else {
    const { actor, reason } = ask;
    await appendAudit(client, {
      actor,
      action: 'key.revoke',
      subject: `key:${key.id}`,
      before: facts(before),
      after: { reason },
    });
  }
  return { kind: 'deleted', key };
}

async function lockKey(client: ClientBase, { accountId, id }: KeyRef): Promise<ApiKey | null> {
  if (!isUuid(accountId) || !isUuid(id)) return null;
  const { rows } = await client.query<KeyRow>(
    `SELECT ${columns} FROM api_key WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL FOR UPDATE`,
    [id, accountId],
  );
  return rows[0] === undefined ? null : toKey(rows[0]);
}

/** Refuses an expiry in the past, which is a typing error. By the database's clock, like every expiry. */
async function endProblem(client: ClientBase, expiresAt: Date | null): Promise<KeyProblem | null> {
  if (expiresAt === null) return null;
  const { rows } = await client.query<{ over: boolean }>('SELECT $1::timestamptz <= now() AS over', [expiresAt]);
  if (rows[0]?.over !== true) return null;
  return invalidInput('expiresAt', 'must be in the future; to end a key now, delete it');
}

function audit(
  client: ClientBase,
  actor: string,
  action: AuditAction,
  before: ApiKey | null,
  after: ApiKey | null,
): Promise<void> {
  const subject = `key:${(after ?? before)?.id ?? ''}`;
  return appendAudit(client, { actor, action, subject, before: facts(before), after: facts(after) });
}

function facts(key: ApiKey | null): AuditFacts | null {
  if (key === null) return null;
  const { id: _id, createdAt: _createdAt, deletedAt: _deletedAt, limits, burnLimit, ...facts } = key;
  return { ...facts, limits: { ...limits }, burnLimit: burnLimit && { ...burnLimit } };
}

function only(rows: readonly KeyRow[]): ApiKey {
  const [row] = rows;
  if (row === undefined) throw new Error('a key that was just written is missing');
  return toKey(row);
}
