import type { Pool } from 'pg';
import { type ProbeProtocol, type ProbeResult, probeProtocols } from './probe.ts';
import { probeAll } from './prober.ts';
import type { Uptime } from './uptime.ts';

/**
 * The scheduler's round: probes the whole catalog as the probe account, whose budget and requests are recorded like any
 * customer's and apart from theirs.
 */
export interface ProbeRoundDeps {
  uptime: Pick<Uptime, 'models' | 'record' | 'endAbandoned'>;
  account: Pick<ProbeAccount, 'key' | 'forgetKey'>;
  /** The public API root, as customers write it. */
  baseUrl: string;
  /** The models that are due; left out: all. */
  due?: () => Promise<readonly string[]>;
  protocols?: readonly ProbeProtocol[];
  timeoutMs?: number;
}

/** The account that pays for probes. */
export interface ProbeAccount {
  /** A working key of that account. */
  key(): Promise<string>;
  /** Another key of that account, for an agent. */
  agentKey(agent: { id: string; name: string }): Promise<{ secret: string; expiresAt: Date }>;
  /** Called when the key was refused: the next call returns another. */
  forgetKey(): void;
}

/**
 * One round. Results before `signal` aborts it are recorded; probes in flight are not, because an aborted probe says
 * nothing.
 */
export function createProbeRound(deps: ProbeRoundDeps): (signal?: AbortSignal) => Promise<ProbeResult[]> {
  const { uptime, account, baseUrl, protocols = probeProtocols, timeoutMs } = deps;
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
        baseUrl,
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
/**
 * Grace of a month's budget: grants expire by the database's clock, months end by this process's, and the two may
 * differ.
 */
const clockSkewMs = 3_600_000;
/** Pico-USD; only without settings. */
const defaultMonthlyBudget = 20_000_000_000_000n;

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
      actor: string;
    }): Promise<{ kind: 'created'; secret: string } | { kind: string }>;
  };
  /** Pico-USD that probes may cost this month, as the settings say now. */
  monthlyBudget?: () => Promise<bigint>;
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

/**
 * The probe account, made on first use. Each process makes a key a day, because no secret is stored; the budget is
 * granted once a month by the first process that asks, and what it is raised by later.
 */
export function createProbeAccount(deps: ProbeAccountDeps): ProbeAccount {
  const { accounts, keys, now = () => new Date() } = deps;
  const { monthlyBudget = async () => defaultMonthlyBudget, granted = async () => 0n } = deps;
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

  async function makeKey(name: string): Promise<{ secret: string; expiresAt: Date }> {
    const accountId = await openAccount();
    await fund(accountId, monthOf(now()), await monthlyBudget());
    const expiresAt = new Date(now().getTime() + keyLifetimeMs);
    const key = await keys.create({ accountId, name, expiresAt, actor });
    if (!('secret' in key)) throw new Error(`the key for probes was refused: ${key.kind}`);
    return { secret: key.secret, expiresAt };
  }

  return {
    async key() {
      const month = monthOf(now());
      const budget = await monthlyBudget();
      if (kept !== null && kept.until > now().getTime() && kept.month === month && kept.budget >= budget)
        return kept.secret;
      const { secret } = await makeKey('Uptime probes');
      kept = { secret, until: now().getTime() + keyUseMs, month, budget };
      return secret;
    },
    agentKey: ({ name }) => makeKey(`Uptime probes of ${name}`),
    forgetKey() {
      kept = null;
    },
  };
}

function monthOf(moment: Date): string {
  return moment.toISOString().slice(0, 7);
}

function endOfMonth(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}
