import type { ClientBase } from 'pg';
import { fromStoredImages, type StoredImagePrices } from '../../core/image-price.ts';
import { fromStoredTiers, fromStoredUnits, type StoredTier, unitPrices } from '../../core/price.ts';
import { fromStoredClock, type StoredClock } from '../../core/price-clock.ts';
import { fromStoredVariants, type StoredVariant } from '../../core/price-variants.ts';
import type { SpendLimits } from '../../core/spend-limits.ts';
import { consumptionOrder } from '../grants.ts';
import type { Grant } from '../rules/budget.ts';
import type { SharedLimit } from '../rules/shared-limits.ts';
import { burnWindowOf, type KeyLimits, noSpend, type Spend } from '../rules/spend-limit.ts';
import type { RequestRef, Settlement } from '../types.ts';
import type { AccountTruth, Facts, Hold, KeyTruth, ModelTruth, Operation } from './batch.ts';
import { pairKey } from './batch.ts';
import { flight, type Row, type Statement } from './flight.ts';
import { list, lookup, moment, statement } from './sql.ts';

/**
 * The SQL of the ledger. Every statement is named, so that a connection plans it once, and handles a whole batch, so that
 * a batch costs the same few round trips however large it is. Rows are found by key only.
 */

/**
 * Session settings of the ledger's connection. Plans are made once and kept, often while the tables are still empty, so
 * they must be right for tables of any size, whatever the statistics say. Therefore every lookup is a `LATERAL`
 * subquery behind `OFFSET 0`, which cannot be turned into a join that starts at the other end, and every write finds
 * its row by the `ctid` of such a lookup.
 */
export const sessionSettings: Readonly<Record<string, string>> = {
  timezone: 'UTC',
  datestyle: 'ISO',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Otherwise a small table is read whole, once, in a join that looks each row up by its key.
  enable_material: 'off',
  jit: 'off',
  // An upstream call relies on its hold: a commit must be on disk.
  synchronous_commit: 'on',
  statement_timeout: '2s',
  lock_timeout: '1s',
  // A process that stops between two statements must not keep an account locked.
  idle_in_transaction_session_timeout: '4s',
};

/** Holds the money of batches, which outlives processes: its lease does not end, and it gives nothing back when it is asked to. */
export const batchProcess = '00000000-0000-7000-8000-00000000ba7c';

/** Tolerates a rounded time of a row that was just written. */
const justNow = `${moment} + interval '1 millisecond'`;

export const begin = statement('begin', 'BEGIN ISOLATION LEVEL READ COMMITTED');
export const commit = statement('commit', 'COMMIT');

/** All reads see one moment, and nothing is locked. */
export const beginReading = statement('begin_reading', 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');

/** Does nothing; proves that the database answers. */
export const ping = statement('ping', 'SELECT 1');

/**
 * Registers a process or renews its lease, by the database's clock. Takes its id and milliseconds. An expired lease
 * becomes a new one: the process's earlier holds may have been released.
 */
export const renewLease = statement(
  'renew_lease',
  `INSERT INTO process AS p (id, lease_until, lease_since)
   VALUES ($1, now() + $2::bigint * interval '1 millisecond', clock_timestamp())
   ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until,
     lease_since = CASE WHEN p.lease_until < clock_timestamp() THEN clock_timestamp() ELSE p.lease_since END`,
);

/** Ends the lease of a process, which must have no running requests. */
export const endLease = statement('end_lease', 'UPDATE process SET lease_until = now() WHERE id = $1');

/** A moment as milliseconds of the database's clock. Infinity never comes; minus infinity has always been. */
const milliseconds = (moment: string): string =>
  `CASE WHEN isfinite(${moment}) THEN floor(extract(epoch FROM ${moment}) * 1000)::bigint
        WHEN ${moment} < now() THEN 0 END`;

/**
 * The change counter with the timeline that counts it: a standby that is promoted without the last commits counts the same numbers
 * again, for other changes, and the name of its first segment says so (https://www.postgresql.org/docs/15/functions-admin.html). A
 * standby has no timeline of its own yet.
 */
const change = `CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END || '/' || number`;

/**
 * The change counter is read before everything that it covers: later reads are at least as new, and a change in between
 * is noticed at the next read of the counter.
 */
const readNow = statement('now', `SELECT ${milliseconds('now()')}, ${change} FROM admission_change WHERE id = 1`);

/**
 * The testimony that admissions are checked against: change counter, clock, whether this is a primary, the process's
 * lease, and whether its idle money is called in. Reads three rows, locks and writes nothing.
 */
export const readWitness = statement(
  'witness',
  `SELECT ${change}, ${milliseconds('now()')}, pg_is_in_recovery(), ${milliseconds('p.lease_since')},
          ${milliseconds('p.lease_until')}, EXISTS (SELECT FROM escrow_call WHERE process_id = $1::uuid)
   FROM admission_change c LEFT JOIN process p ON p.id = $1::uuid WHERE c.id = 1`,
);

/** Takes the accounts whose idle money other processes have called in from this one. */
export const takeCalls = statement(
  'take_calls',
  'DELETE FROM escrow_call WHERE process_id = $1::uuid RETURNING account_id',
);

/** Calls in the idle money of an account from other processes with escrows. Returns their number. */
export const callOthers = statement(
  'call_others',
  `WITH others AS (
     SELECT DISTINCT h.process_id FROM hold h JOIN process p ON p.id = h.process_id AND p.lease_until >= now()
     WHERE h.account_id = $2::uuid AND h.escrow AND h.amount > 0 AND h.process_id <> ALL (ARRAY[$1::uuid, '${batchProcess}'])
   ), called AS (
     INSERT INTO escrow_call (process_id, account_id) SELECT process_id, $2::uuid FROM others ON CONFLICT DO NOTHING
   )
   SELECT count(*) FROM others`,
);

/** Accounts that have an escrow with money. */
const readEscrowed = statement(
  'escrowed',
  `SELECT asked.account_id FROM unnest($1::uuid[]) AS asked (account_id)
   WHERE EXISTS (SELECT FROM hold WHERE account_id = asked.account_id AND escrow AND amount > 0 AND process_id <> '${batchProcess}')`,
);

export async function accountsWithEscrows(client: ClientBase, accounts: ReadonlySet<string>): Promise<Set<string>> {
  const [answer] = await flight(client, [readEscrowed(list(accounts))]);
  return new Set(answer?.rows.map(([id]) => text(id)));
}

/**
 * Locked in an immutable order and sorted by consumption afterwards: a grant's end may change while a transaction waits
 * for it, and two transactions that see different ends must still lock in the same order.
 */
const grantsOfAccounts = (name: string, lock: string) =>
  statement(
    name,
    `SELECT account_id, id, place, trial, amount, spent, held, expired, ended, overdrawn, ${milliseconds('expires_at')}
   FROM (SELECT account_id, id, ctid AS place, kind, created_at, kind = 'trial' AS trial, amount, spent, held, expired, expires_at, overdrawn,
                coalesce(expires_at <= ${moment}, false) AS ended
         FROM "grant" WHERE account_id = ANY ($1::uuid[]) AND spent + expired < amount
         ORDER BY account_id, id ${lock}) AS locked
   ORDER BY account_id, ${consumptionOrder}`,
  );
const lockGrants = grantsOfAccounts('lock_grants', 'FOR NO KEY UPDATE');
const readGrants = grantsOfAccounts('read_grants', '');

const thisMonth = `CASE WHEN month >= date_trunc('month', now() AT TIME ZONE time_zone)::date THEN month_charged ELSE 0 END AS of_month`;
/** What was charged since the day, the week and the month began, of a row with such sums. */
const windows = `CASE WHEN day >= (now() AT TIME ZONE time_zone)::date THEN day_charged ELSE 0 END AS of_day,
  CASE WHEN week >= date_trunc('week', now() AT TIME ZONE time_zone)::date THEN week_charged ELSE 0 END AS of_week,
  ${thisMonth}`;

const readKeySpend = statement(
  'read_key_spend',
  `SELECT s.* FROM (SELECT account_id, key_id FROM unnest($1::uuid[], $2::uuid[]) AS asked (account_id, key_id)
                    UNION ALL
                    SELECT ref.account_id, h.key_id FROM unnest($3::uuid[], $4::uuid[]) AS ref (account_id, request_id)
                    ${lookup('h', 'key_id', 'hold', 'account_id = ref.account_id AND request_id = ref.request_id')}) AS asked
   ${lookup(
     's',
     `account_id, key_id, ctid, charged, held, ${windows}, burn_seconds, burn_step, burn_charged`,
     'key_spend',
     'account_id = asked.account_id AND key_id = asked.key_id',
   )}`,
);

/** The limits and the spend of an account that has a row of them. */
const accountLimit = (accountId: string): string =>
  `LEFT ${lookup(
    'l',
    `limit_day, limit_week, limit_month, limit_lifetime, charged, held, ${windows}`,
    'account_limit',
    `account_id = ${accountId}`,
  )}`;

/** The limits that a key (`k`) shares: those of its maker and of its project, each in six columns. */
const sharedLimitsOf = (accountId: string): string =>
  (
    [
      ['m', 'created_by'],
      ['g', 'project_id'],
    ] as const
  )
    .map(
      ([alias, subject]) =>
        `LEFT ${lookup(
          alias,
          `subject_id, limit_month, limit_lifetime, charged, held, ${thisMonth}`,
          'shared_limit',
          `account_id = ${accountId} AND subject_id = k.${subject}`,
        )}`,
    )
    .join('\n   ');

const keyLimits = ['limit_day', 'limit_week', 'limit_month', 'limit_lifetime', 'burn_limit', 'burn_minutes'];

const readHolds = statement(
  'read_holds',
  `SELECT h.account_id, h.request_id, h.key_id, h.grant_ids, h.grant_amounts, h.held_at,
          coalesce(p.lease_until < now(), true), h.escrow, h.uncovered, ${keyLimits.map((column) => `k.${column}`).join(', ')}, l.*, m.*, g.*
   FROM unnest($1::uuid[], $2::uuid[]) AS ref (account_id, request_id)
   ${lookup(
     'h',
     'account_id, request_id, key_id, process_id, grant_ids, grant_amounts, held_at, escrow, uncovered',
     'hold',
     'account_id = ref.account_id AND request_id = ref.request_id',
   )}
   LEFT ${lookup('p', 'lease_until', 'process', 'id = h.process_id')}
   LEFT ${lookup('k', [...keyLimits, 'created_by', 'project_id'].join(', '), 'api_key', 'id = h.key_id')}
   ${accountLimit('h.account_id')}
   ${sharedLimitsOf('h.account_id')}`,
);

/**
 * The account's one uncovered hold, which its request may exceed: the index has only such holds.
 */
const readUncovered = statement(
  'read_uncovered',
  `SELECT h.account_id, h.request_id FROM unnest($1::uuid[]) AS asked (account_id)
   ${lookup('h', 'account_id, request_id', 'hold', 'account_id = asked.account_id AND uncovered')}`,
);

/** The models are free text, which is easiest to parse as JSON. */
const readKeys = statement(
  'read_keys',
  `SELECT k.*, a.*, l.*, m.*, g.* FROM unnest($1::uuid[]) AS asked (id)
   ${lookup(
     'k',
     `id, account_id, array_to_json(models), deleted_at IS NULL AND coalesce(expires_at > now(), true),
      ${milliseconds('expires_at')}, ${keyLimits.join(', ')}, created_by, project_id`,
     'api_key',
     'id = asked.id',
   )}
   ${lookup('a', `status = 'active' AS active, time_zone`, 'account', 'id = k.account_id')}
   ${accountLimit('k.account_id')}
   ${sharedLimitsOf('k.account_id')}`,
);

/** The shared limits of keys whose requests hold nothing any more. */
const readShared = statement(
  'read_shared',
  `SELECT k.id, m.*, g.* FROM unnest($1::uuid[], $2::uuid[]) AS asked (account_id, id)
   ${lookup('k', 'id, created_by, project_id', 'api_key', 'id = asked.id')}
   ${sharedLimitsOf('asked.account_id')}`,
);

const readModels = statement(
  'read_models',
  `SELECT m.id, m.context_window, m.max_output_tokens, p.id, p.input, p.cache_hit, p.cache_write_5m, p.cache_write_1h,
          p.output, p.tiers, p.per_unit, p.max_prompt_tokens, p.clock, p.images, p.variants, ${milliseconds(`(SELECT min(valid_from) FROM price WHERE model_id = m.id AND valid_from > ${justNow})`)}
   FROM unnest($1::text[]) AS asked (id)
   ${lookup('m', 'id, enabled, context_window, max_output_tokens', 'model', 'id = asked.id')}
   CROSS JOIN LATERAL (SELECT * FROM price WHERE model_id = m.id AND valid_from <= ${justNow}
                       ORDER BY valid_from DESC, created_at DESC, id DESC LIMIT 1) AS p
   WHERE m.enabled`,
);

/** The existing ones of these accounts. */
const readAccounts = statement(
  'read_accounts',
  `SELECT a.id FROM unnest($1::uuid[]) AS asked (id) ${lookup('a', 'id', 'account', 'id = asked.id')}`,
);

const readEntries = statement(
  'read_entries',
  `SELECT e.* FROM unnest($1::uuid[], $2::uuid[]) AS ref (account_id, request_id)
   ${lookup(
     'e',
     'account_id, request_id, cost, charged, free_after',
     'ledger_entry',
     'account_id = ref.account_id AND request_id = ref.request_id',
   )}`,
);

/**
 * Locks and reads the rows of the operations. The grants that are not used up are the lock of their account: every
 * writer locks all of them, in one order (account, id), before it reads or writes the account's money. Later statements
 * see the commits of the wait.
 *
 * A settlement with a promise is new unless it is tried again: only then (`careful`) is its entry looked up. If it has
 * one after all, the primary key of the entries refuses the batch, which is then retried.
 *
 * With `locks: false` the same rows are read and none is locked, for an answer that writes nothing.
 */
export async function readFacts(
  client: ClientBase,
  operations: readonly Operation[],
  { prologue, careful, locks = true }: { prologue: readonly Statement[]; careful: boolean; locks?: boolean },
): Promise<{ facts: Facts; places: RowPlaces }> {
  const touched = touchedBy(operations);
  const keys = [...touched.keys.values()];
  // Only needed facts are read: for a single request, the statements are the cost of a batch.
  const reads = {
    now: readNow(),
    grants: (locks ? lockGrants : readGrants)(list(touched.accounts)),
    keySpend:
      keys.length + touched.refs.length === 0
        ? null
        : readKeySpend(...pairs(keys, (key) => key.keyId), ...pairs(touched.refs, (ref) => ref.requestId)),
    holds: touched.holds.length === 0 ? null : readHolds(...pairs(touched.holds, (ref) => ref.requestId)),
    uncovered: touched.sharing.size === 0 ? null : readUncovered(list(touched.sharing)),
    keys: touched.admittedKeys.size === 0 ? null : readKeys(list(touched.admittedKeys)),
    models: touched.models.size === 0 ? null : readModels(list(touched.models)),
  };
  const sent = [...prologue, ...Object.values(reads).filter((read) => read !== null)];
  const answers = await flight(client, sent);
  const rowsOf = (read: Statement | null): Row[] => (read === null ? [] : (answers[sent.indexOf(read)]?.rows ?? []));
  const grants = rowsOf(reads.grants);
  const keySpend = rowsOf(reads.keySpend);
  const nowMs = Number(text(rowsOf(reads.now)[0]?.[0]));
  const holds = new Map(rowsOf(reads.holds).map((row) => [pairKey(text(row[0]), text(row[1])), holdOf(row)]));
  const late = await lateOnes(client, operations, { holds, careful });
  const facts: Facts = {
    nowMs,
    change: text(rowsOf(reads.now)[0]?.[1]),
    grantEnds: new Map(grants.map((row) => [text(row[1]), maybeMs(row[10])])),
    escrowed: new Set(),
    grants: grantsOf(grants),
    keySpend: new Map(keySpend.map((row) => [pairKey(text(row[0]), text(row[1])), keySpendOf(row, nowMs)])),
    accountLimits: accountLimitsOf(rowsOf(reads.keys), rowsOf(reads.holds)),
    holds,
    uncovered: new Map(rowsOf(reads.uncovered).map((row) => [text(row[0]), text(row[1])])),
    entries: late.entries,
    accounts: late.accounts,
    sharedLimits: new Map([
      ...late.shared,
      ...sharedLimitsIn(rowsOf(reads.holds), keyOfHold, sharedOfHold),
      ...sharedLimitsIn(rowsOf(reads.keys), 0, sharedOfKey),
    ]),
    keys: new Map(rowsOf(reads.keys).map((row) => [text(row[0]), keyOf(row)])),
    models: new Map(rowsOf(reads.models).map((row) => [text(row[0]), modelOf(row)])),
  };
  const places = {
    grants: new Map(grants.map(([, id, place]) => [text(id), text(place)])),
    keySpend: new Map(keySpend.map((row) => [pairKey(text(row[0]), text(row[1])), text(row[2])])),
  };
  return { facts, places };
}

/** `ctid`s of rows that cannot move: the locked grants by id, and the rows that their lock guards. */
export interface RowPlaces {
  grants: ReadonlyMap<string, string>;
  /** By `pairKey(accountId, keyId)`. */
  keySpend: ReadonlyMap<string, string>;
}

/**
 * A settlement with a hold has no entry yet, and its account exists. Only the others are looked up: late ones and
 * duplicates, which are few.
 */
async function lateOnes(
  client: ClientBase,
  operations: readonly Operation[],
  { holds, careful }: { holds: Facts['holds']; careful: boolean },
): Promise<Pick<Facts, 'entries' | 'accounts'> & { shared: [string, SharedLimit[]][] }> {
  const refs = operations
    .filter((operation) => operation.kind === 'settle')
    .map((operation) => operation.settlement)
    .filter((settlement) => {
      const { accountId, requestId } = heldFor(settlement);
      return !holds.has(pairKey(accountId, requestId)) || (settlement.promise !== undefined && careful);
    });
  if (refs.length === 0) return { entries: new Map(), accounts: new Set(), shared: [] };
  const ids = new Set(refs.map(({ accountId }) => accountId));
  const keys = [...new Map(refs.map((settlement) => [settlement.keyId, settlement])).values()];
  const [entries, accounts, shared] = await flight(client, [
    readEntries(...pairs(refs, (ref) => ref.requestId)),
    readAccounts(list(ids)),
    readShared(...pairs(keys, (ref) => ref.keyId)),
  ]);
  return {
    entries: new Map(
      entries?.rows.map(([accountId, requestId, cost, charged, freeAfter]) => [
        pairKey(text(accountId), text(requestId)),
        { cost: pico(cost), charged: pico(charged), freeAfter: pico(freeAfter) },
      ]),
    ),
    accounts: new Set(accounts?.rows.map(([id]) => text(id))),
    shared: sharedLimitsIn(shared?.rows ?? [], 0, 1),
  };
}

interface Touched {
  accounts: Set<string>;
  /** Keys that the operations name. */
  keys: Map<string, { accountId: string; keyId: string }>;
  /** Operations without a key, which have that of their hold. */
  refs: RequestRef[];
  admittedKeys: Set<string>;
  /** Accounts of operations that may make a request the uncovered one. */
  sharing: Set<string>;
  models: Set<string>;
  holds: RequestRef[];
}

function touchedBy(operations: readonly Operation[]): Touched {
  const touched: Touched = {
    accounts: new Set(),
    keys: new Map(),
    refs: [],
    admittedKeys: new Set(),
    sharing: new Set(),
    models: new Set(),
    holds: [],
  };
  for (const operation of operations) {
    switch (operation.kind) {
      case 'settle':
        touched.accounts.add(operation.settlement.accountId);
        touched.keys.set(operation.settlement.keyId, operation.settlement);
        touched.holds.push(heldFor(operation.settlement));
        break;
      case 'trim': {
        const ref = { accountId: operation.accountId, requestId: operation.escrowId };
        touched.accounts.add(operation.accountId);
        touched.holds.push(ref);
        touched.refs.push(ref);
        break;
      }
      case 'refill':
        touched.accounts.add(operation.accountId);
        touched.keys.set(operation.keyId, operation);
        touched.admittedKeys.add(operation.keyId);
        touched.holds.push({ accountId: operation.accountId, requestId: operation.escrowId });
        break;
      case 'admit':
        touched.accounts.add(operation.ask.accountId);
        touched.keys.set(operation.ask.keyId, operation.ask);
        touched.admittedKeys.add(operation.ask.keyId);
        touched.models.add(operation.ask.model);
        touched.sharing.add(operation.ask.accountId);
        break;
      case 'set_aside':
        touched.accounts.add(operation.ask.accountId);
        touched.keys.set(operation.ask.keyId, operation.ask);
        touched.admittedKeys.add(operation.ask.keyId);
        for (const { model } of operation.ask.models) touched.models.add(model);
        touched.holds.push(operation.ask);
        break;
      case 'expire':
        touched.accounts.add(operation.accountId);
        break;
      case 'uncover':
      case 'extend':
      case 'shrink':
      case 'release':
        if (operation.kind === 'uncover') touched.sharing.add(operation.accountId);
        touched.accounts.add(operation.accountId);
        touched.holds.push(operation);
        touched.refs.push(operation);
        break;
    }
  }
  return touched;
}

/** The hold that pays for a settlement: its own, or the escrow of its promise. */
function heldFor({ accountId, requestId, promise }: Settlement): RequestRef {
  return { accountId, requestId: promise?.escrowId ?? requestId };
}

/** A column's value as text; never null where it is used. */
type Cell = string | null | undefined;

function text(cell: Cell): string {
  if (cell === null || cell === undefined) throw new Error('a column that is never null is missing');
  return cell;
}

const pico = (cell: Cell): bigint => BigInt(text(cell));
const maybePico = (cell: Cell): bigint | null => (cell === null ? null : pico(cell));
const maybeMs = (cell: Cell): number | null => (cell === null ? null : Number(text(cell)));
const yes = (cell: Cell): boolean => text(cell) === 't';

/** Parses an array of ids or numbers, which are never quoted. */
function items(cell: Cell): string[] {
  const list = text(cell).slice(1, -1);
  return list === '' ? [] : list.split(',');
}

function grantsOf(rows: readonly Row[]): Map<string, readonly Grant[]> {
  const grants = new Map<string, Grant[]>();
  for (const [accountId, id, , trial, amount, spent, held, expired, ended, overdrawn] of rows) {
    const grant: Grant = {
      id: text(id),
      trial: yes(trial),
      amount: pico(amount),
      spent: pico(spent),
      held: pico(held),
      expired: pico(expired),
      ended: yes(ended),
      overdrawn: yes(overdrawn),
    };
    const list = grants.get(text(accountId));
    if (list === undefined) grants.set(text(accountId), [grant]);
    else list.push(grant);
  }
  return grants;
}

function keySpendOf([, , , charged, held, day, week, month, seconds, step, ring]: Row, nowMs: number): Spend {
  const burn =
    seconds === null
      ? null
      : burnWindowOf(
          { seconds: Number(text(seconds)), step: Number(text(step)), charged: items(ring).map(BigInt) },
          nowMs,
        );
  return { ...spendOf([charged, held, day, week, month]), burn };
}

function spendOf([charged, held, day, week, month]: readonly Cell[]): Spend {
  return {
    charged: pico(charged),
    held: pico(held),
    day: pico(day),
    week: pico(week),
    month: pico(month),
    burn: null,
  };
}

/** Where the columns of `accountLimit` begin in the rows of keys and of holds, beside the account's id. */
const limitOfKey = 15;
const limitOfHold = 15;
/** Where those of `sharedLimitsOf` begin: behind the account's nine. */
const sharedOfKey = limitOfKey + 9;
const sharedOfHold = limitOfHold + 9;
const keyOfHold = 2;

function accountLimitsOf(keys: readonly Row[], holds: readonly Row[]): Facts['accountLimits'] {
  const limits = new Map<string, AccountTruth>();
  const add = (accountId: Cell, row: readonly Cell[]): void => {
    // Without a row all of its columns are NULL.
    if (row[4] === null) return;
    limits.set(text(accountId), { limits: limitsOf(row), spend: spendOf(row.slice(4)) });
  };
  for (const row of keys) add(row[1], row.slice(limitOfKey));
  for (const row of holds) add(row[0], row.slice(limitOfHold));
  return limits;
}

/** The shared limits of the keys in these rows. */
function sharedLimitsIn(rows: readonly Row[], key: number, first: number): [string, SharedLimit[]][] {
  return rows.flatMap((row) => {
    const shared = sharedIn(row, first);
    return shared.length === 0 ? [] : [[text(row[key]), shared] as [string, SharedLimit[]]];
  });
}

function sharedIn(row: Row, first: number): SharedLimit[] {
  return (['member', 'project'] as const).flatMap((of, index) => {
    const [id, month, lifetime, charged, held, thisMonth] = row.slice(first + 6 * index, first + 6 * index + 6);
    // Without a row all of its columns are NULL.
    if (id === null || id === undefined) return [];
    const limits = { day: null, week: null, month: maybePico(month), lifetime: maybePico(lifetime) };
    const spend = { ...noSpend, charged: pico(charged), held: pico(held), month: pico(thisMonth) };
    return [{ id, of, limits, spend }];
  });
}

function holdOf([
  accountId,
  requestId,
  keyId,
  grantIds,
  grantAmounts,
  heldAt,
  orphaned,
  escrow,
  uncovered,
  ...limits
]: Row): Hold {
  const amounts = items(grantAmounts);
  return {
    accountId: text(accountId),
    requestId: text(requestId),
    keyId: text(keyId),
    escrow: yes(escrow),
    uncovered: yes(uncovered),
    parts: items(grantIds).map((grantId, i) => ({ grantId, amount: pico(amounts[i]) })),
    heldAt: text(heldAt),
    orphaned: yes(orphaned),
    limits: keyLimitsOf(limits),
  };
}

function keyOf(row: Row): KeyTruth {
  const [, accountId, models, valid, expiresAt, ...more] = row;
  const [, , active, timeZone] = more.slice(keyLimits.length);
  return {
    accountId: text(accountId),
    valid: yes(valid),
    expiresAtMs: maybeMs(expiresAt),
    accountActive: yes(active),
    models: JSON.parse(text(models)) as string[],
    limits: keyLimitsOf(more),
    timeZone: text(timeZone),
  };
}

function keyLimitsOf(cells: readonly Cell[]): KeyLimits {
  const [amount, minutes] = cells.slice(4);
  const burn = amount === null ? null : { amount: pico(amount), minutes: Number(text(minutes)) };
  return { ...limitsOf(cells), burn };
}

function limitsOf([day, week, month, lifetime]: readonly Cell[]): SpendLimits {
  return { day: maybePico(day), week: maybePico(week), month: maybePico(month), lifetime: maybePico(lifetime) };
}

function modelOf([, contextWindow, maxOutputTokens, priceId, ...prices]: Row): ModelTruth {
  const [input, cacheHit, cacheWrite5m, cacheWrite1h, output, tiers, perUnit, maxPromptTokens, ...others] = prices;
  const [clock, images, variants, until] = others;
  const price = unitPrices({
    input: pico(input),
    cacheHit: pico(cacheHit),
    cacheWrite5m: maybePico(cacheWrite5m),
    cacheWrite1h: maybePico(cacheWrite1h),
    output: pico(output),
    // Parsed only where there are any: this is read for every admission by the lane.
    ...(tiers === '[]' ? {} : { tiers: fromStoredTiers(JSON.parse(text(tiers)) as StoredTier[]) }),
    ...(perUnit === '{}' ? {} : { perUnit: fromStoredUnits(JSON.parse(text(perUnit)) as Record<string, number>) }),
    ...(images === null ? {} : { images: fromStoredImages(JSON.parse(text(images)) as StoredImagePrices) }),
    ...(variants === null ? {} : { variants: fromStoredVariants(JSON.parse(text(variants)) as StoredVariant[]) }),
  });
  const byClock = clock === null ? {} : { clock: fromStoredClock(JSON.parse(text(clock)) as StoredClock) };
  const bound = maxPromptTokens === null ? {} : { maxPromptTokens: Number(text(maxPromptTokens)) };
  return {
    contextWindow: Number(text(contextWindow)),
    maxOutputTokens: Number(text(maxOutputTokens)),
    price: { id: text(priceId), ...price, ...byClock, ...bound },
    priceUntilMs: maybeMs(until),
  };
}

function pairs<Item extends { accountId: string }>(items: readonly Item[], idOf: (item: Item) => string): string[] {
  return [list(items, (item) => item.accountId), list(items, idOf)];
}
