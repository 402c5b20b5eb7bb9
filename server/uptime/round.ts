import { type ProbeProtocol, type ProbeResult, probeProtocols } from './probe.ts';
import { probeAll } from './prober.ts';
import type { Uptime } from './uptime.ts';

/**
 * The scheduler's round: probes the whole catalog as the probe account, whose budget and requests are recorded like any
 * customer's and apart from theirs.
 */
export interface ProbeRoundDeps {
  uptime: Pick<Uptime, 'models' | 'record' | 'endAbandoned'>;
  account: ProbeAccount;
  /** The public API root, as customers write it. */
  baseUrl: string;
  protocols?: readonly ProbeProtocol[];
  timeoutMs?: number;
}

/** The account that pays for probes. */
export interface ProbeAccount {
  /** A working key of that account. */
  key(): Promise<string>;
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
    const models = await uptime.models();
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
/** Maximum cost of a month of probes, in pico-USD. When it is used up there is no data, and the operator sees why. */
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
  monthlyBudget?: bigint;
  now?: () => Date;
}

/**
 * The probe account, made on first use. Each process makes a key a day, because no secret is stored; the budget is
 * granted once a month by the first process that asks.
 */
export function createProbeAccount(deps: ProbeAccountDeps): ProbeAccount {
  const { accounts, keys, monthlyBudget = defaultMonthlyBudget, now = () => new Date() } = deps;
  const actor = 'system';
  let kept: { secret: string; until: number; month: string } | null = null;

  async function makeKey(month: string): Promise<string> {
    const made = await accounts.create({
      email: probeEmail,
      name: 'Uptime probes',
      kind: 'probe',
      grant: { kind: 'none' },
      actor,
    });
    if (made.kind === 'invalid' || made.account.kind !== 'probe') throw new Error('the probe account cannot be made');
    const accountId = made.account.id;
    const given = await accounts.giveGrant({
      accountId,
      amount: monthlyBudget,
      expiresAt: new Date(endOfMonth(now()).getTime() + clockSkewMs),
      reason: `Uptime probes of ${month}`,
      idempotencyKey: `probes-${month}`,
      actor,
    });
    if (given.kind !== 'given' && given.kind !== 'given_before')
      throw new Error(`the budget for probes was refused: ${given.kind}`);
    const key = await keys.create({
      accountId,
      name: 'Uptime probes',
      expiresAt: new Date(now().getTime() + keyLifetimeMs),
      actor,
    });
    if (!('secret' in key)) throw new Error(`the key for probes was refused: ${key.kind}`);
    return key.secret;
  }

  return {
    async key() {
      const month = now().toISOString().slice(0, 7);
      if (kept !== null && kept.until > now().getTime() && kept.month === month) return kept.secret;
      const secret = await makeKey(month);
      kept = { secret, until: now().getTime() + keyUseMs, month };
      return secret;
    },
    forgetKey() {
      kept = null;
    },
  };
}

function endOfMonth(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}
