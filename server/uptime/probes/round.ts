import type { Pool } from 'pg';
import type { Uptime } from '../uptime.ts';
import { type ProbeProtocol, type ProbeResult, probeProtocols } from './probe.ts';
import { probeAll } from './prober.ts';

/**
 * The scheduler's round: probes the whole catalog as the probe account, whose budget and requests are recorded like any
 * customer's and apart from theirs.
 */
export interface ProbeRoundDeps {
  uptime: Pick<Uptime, 'models' | 'record' | 'endAbandoned'>;
  account: Pick<ProbeAccount, 'key' | 'forgetKey'>;
  /** The public API root, as customers write it; read for each round. */
  readonly baseUrl: string;
  /** The models that are due; left out: all. */
  due?: () => Promise<readonly string[]>;
  protocols?: readonly ProbeProtocol[];
  timeoutMs?: number;
}

/** The account that pays for probes. */
export interface ProbeAccount {
  /** A working key of that account. */
  key(): Promise<string>;
  /**
   * A fresh secret for the one key of an agent, which calls these models alone; the secret before it ends, and what was
   * spent with it counts. Null without models. Rejects for an agent that was revoked.
   */
  agentKey(
    agent: { id: string; name: string },
    models: readonly string[],
  ): Promise<{ secret: string; expiresAt: Date } | null>;
  /** Called when the key was refused: the next call returns another. */
  forgetKey(): void;
}

/**
 * One round. Results before `signal` aborts it are recorded; probes in flight are not, because an aborted probe says
 * nothing.
 */
export function createProbeRound(deps: ProbeRoundDeps): (signal?: AbortSignal) => Promise<ProbeResult[]> {
  const { uptime, account, protocols = probeProtocols, timeoutMs } = deps;
  return async (signal) => {
    const models = await (deps.due ?? uptime.models)();
    if (models.length === 0) {
      await uptime.endAbandoned();
      return [];
    }
    const apiKey = await account.key();
    const found: ProbeResult[] = [];
    try {
      await probeAll({
        baseUrl: deps.baseUrl,
        apiKey,
        models,
        protocols,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(signal === undefined ? {} : { signal }),
        onResult: (result) => found.push(result),
      });
    } finally {
      if (found.some(({ status }) => status === 401)) account.forgetKey();
      await uptime.record(found);
      await uptime.endAbandoned();
    }
    return found;
  };
}

/** An address that cannot be claimed: mail to this domain is undeliverable. */
const probeEmail = 'uptime-probe@steyg.invalid';
const keyLifetimeMs = 25 * 3_600_000;
const keyUseMs = 24 * 3_600_000;
/** Four probes at a time, of a fifth of a second each, are no more. */
const maxProbesPerMinute = 1_200;
/**
 * Grace of a month's budget: grants expire by the database's clock, months end by this process's, and the two may
 * differ.
 */
const clockSkewMs = 3_600_000;
/** Pico-USD; only without settings. */
const defaultMonthlyBudget = 20_000_000_000_000n;

/** Pico-USD. */
interface ProbeKeyLimits {
  day: bigint | null;
  week: null;
  month: bigint | null;
  lifetime: bigint | null;
}

/** The parts of accounts and keys that are needed. */
export interface ProbeAccountDeps {
  accounts: {
    create(ask: {
      email: string;
      name: string;
      kind: 'probe';
      grant: { kind: 'none' };
      actor: string;
    }): Promise<{ kind: 'created' | 'exists'; account: { id: string; kind: string } } | { kind: 'invalid' }>;
    giveGrant(ask: {
      accountId: string;
      amount: bigint;
      expiresAt: Date;
      reason: string;
      idempotencyKey: string;
      actor: string;
    }): Promise<{ kind: string }>;
  };
  keys: {
    create(ask: {
      accountId: string;
      name: string;
      expiresAt: Date;
      models: readonly string[];
      limits: ProbeKeyLimits;
      requestsPerMinute: number;
      actor: string;
    }): Promise<{ kind: 'created'; secret: string; key: { id: string } } | { kind: string }>;
    renew(ask: {
      accountId: string;
      id: string;
      expiresAt: Date;
      models: readonly string[];
      limits: ProbeKeyLimits;
      actor: string;
    }): Promise<{ secret: string } | null>;
  };
  /** The id of the key that an agent has; null: none. */
  keyOf?: (agentId: string) => Promise<string | null>;
  /** Makes a key the one key of an agent; false: the agent was revoked, or has one. */
  adoptKey?: (agentId: string, keyId: string) => Promise<boolean>;
  /** Pico-USD that probes may cost this month, as the settings say now. */
  monthlyBudget?: () => Promise<bigint>;
  /** Pico-USD that the account, or one key of it, was charged since the month began. */
  spent?: (ask: { accountId: string; keyId?: string; monthStart: Date }) => Promise<bigint>;
  /** Pico-USD that the account was granted under these idempotency keys. */
  granted?: (ask: { accountId: string; prefix: string }) => Promise<bigint>;
  now?: () => Date;
}

/** Reads what was granted, for `ProbeAccountDeps`. `prefix` is one of ours: no pattern in it. */
export function grantedFor(pool: Pool): NonNullable<ProbeAccountDeps['granted']> {
  return async ({ accountId, prefix }) => {
    const { rows } = await pool.query<{ amount: bigint }>(
      `SELECT coalesce(sum(amount), 0)::bigint AS amount FROM "grant"
       WHERE account_id = $1 AND starts_with(source_ref, 'adjustment:' || $2)`,
      [accountId, prefix],
    );
    return rows[0]?.amount ?? 0n;
  };
}

/** Reads what was charged, for `ProbeAccountDeps`. */
export function spentBy(pool: Pool): NonNullable<ProbeAccountDeps['spent']> {
  return async ({ accountId, keyId = null, monthStart }) => {
    const { rows } = await pool.query<{ amount: bigint }>(
      `SELECT coalesce(sum(charged), 0)::bigint AS amount FROM usage_hour
       WHERE account_id = $1 AND hour >= $2 AND ($3::uuid IS NULL OR key_id = $3)`,
      [accountId, monthStart, keyId],
    );
    return rows[0]?.amount ?? 0n;
  };
}

/**
 * The probe account, made on first use. Each process makes a key a day, because no secret is stored; the budget is
 * granted once a month by the first process that asks, and what it is raised by later.
 */
export function createProbeAccount(deps: ProbeAccountDeps): ProbeAccount {
  const { accounts, keys, now = () => new Date() } = deps;
  const { monthlyBudget = async () => defaultMonthlyBudget, granted = async () => 0n, spent = async () => 0n } = deps;
  const { keyOf = async () => null, adoptKey = async () => true } = deps;
  const actor = 'system';
  let kept: { secret: string; until: number; month: string; budget: bigint } | null = null;

  async function openAccount(): Promise<string> {
    const made = await accounts.create({
      email: probeEmail,
      name: 'Uptime probes',
      kind: 'probe',
      grant: { kind: 'none' },
      actor,
    });
    if (made.kind === 'invalid' || made.account.kind !== 'probe') throw new Error('the probe account cannot be made');
    return made.account.id;
  }

  /** Grants what the month's budget is more than what was granted already. A budget that was lowered lowers the pace. */
  async function fund(accountId: string, month: string, budget: bigint): Promise<void> {
    const prefix = `probes-${month}`;
    const before = await granted({ accountId, prefix });
    if (before >= budget) return;
    const given = await accounts.giveGrant({
      accountId,
      amount: budget - before,
      expiresAt: new Date(endOfMonth(now()).getTime() + clockSkewMs),
      reason: `Uptime probes of ${month}`,
      idempotencyKey: before === 0n ? prefix : `${prefix}-${budget}`,
      actor,
    });
    if (given.kind !== 'given' && given.kind !== 'given_before')
      throw new Error(`the budget for probes was refused: ${given.kind}`);
  }

  /** Pico-USD that the budget of this month has left, which the account is given. */
  async function fundMonth(accountId: string): Promise<bigint> {
    const budget = await monthlyBudget();
    await fund(accountId, monthOf(now()), budget);
    return budget - (await spent({ accountId, monthStart: startOfMonth(now()) }));
  }

  async function makeKey(
    terms: Omit<Parameters<ProbeAccountDeps['keys']['create']>[0], 'requestsPerMinute' | 'actor'>,
  ) {
    const made = await keys.create({ ...terms, requestsPerMinute: maxProbesPerMinute, actor });
    if (!('secret' in made)) throw new Error(`the key for probes was refused: ${made.kind}`);
    return { id: made.key.id, secret: made.secret };
  }

  return {
    async key() {
      const month = monthOf(now());
      const budget = await monthlyBudget();
      if (kept !== null && kept.until > now().getTime() && kept.month === month && kept.budget === budget)
        return kept.secret;
      const accountId = await openAccount();
      // It spends no more than the month's budget leaves, whatever was granted before.
      const lifetime = atLeastOne(await fundMonth(accountId));
      const { secret } = await makeKey({
        accountId,
        name: 'Uptime probes',
        expiresAt: new Date(now().getTime() + keyLifetimeMs),
        models: [],
        limits: { day: null, week: null, month: null, lifetime },
      });
      kept = { secret, until: now().getTime() + keyUseMs, month, budget };
      return secret;
    },

    async agentKey({ id: agentId, name }, models) {
      if (models.length === 0) return null;
      const accountId = await openAccount();
      const left = await fundMonth(accountId);
      const expiresAt = new Date(now().getTime() + keyLifetimeMs);
      const day = shareOfDay(left, now());
      const keyId = await keyOf(agentId);
      if (keyId !== null) {
        const used = await spent({ accountId, keyId, monthStart: startOfMonth(now()) });
        const limits = { day, week: null, month: used + atLeastOne(left), lifetime: null };
        const renewed = await keys.renew({ accountId, id: keyId, expiresAt, models, limits, actor });
        if (renewed !== null) return { secret: renewed.secret, expiresAt };
      }
      const limits = { day, week: null, month: atLeastOne(left), lifetime: null };
      const { id, secret } = await makeKey({ accountId, name: `Uptime probes of ${name}`, expiresAt, models, limits });
      if (!(await adoptKey(agentId, id))) throw new Error('the agent was revoked, or asked for two keys at once');
      return { secret, expiresAt };
    },
    forgetKey() {
      kept = null;
    },
  };
}

/** What an agent may spend in a day: three times its part of what is left, so that one bad day does not end the month. */
function shareOfDay(left: bigint, moment: Date): bigint {
  const days = BigInt(Math.max(1, Math.ceil((endOfMonth(moment).getTime() - moment.getTime()) / 86_400_000)));
  const share = (left * 3n) / days;
  return atLeastOne(share < left ? share : left);
}

/** Limits are never zero: a key with the least one probes models without a price. */
function atLeastOne(limit: bigint): bigint {
  return limit > 1n ? limit : 1n;
}

function startOfMonth(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), 1));
}

function monthOf(moment: Date): string {
  return moment.toISOString().slice(0, 7);
}

function endOfMonth(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}
