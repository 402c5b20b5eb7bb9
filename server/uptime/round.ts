import { type ProbeProtocol, type ProbeResult, probeProtocols } from './probe.ts';
import { probeAll } from './prober.ts';
import type { Uptime } from './uptime.ts';

/**
 * What the scheduler does every few minutes: probe the whole catalog as the probe account, whose budget and requests
 * are on record like any customer's and apart from theirs.
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
  /** A key of it that works. */
  key(): Promise<string>;
  /** Called when the key was refused: the next one is to be another. */
  forgetKey(): void;
}

/**
 * One round. What was found before `signal` ended it is put on record; what was under way then is not, because an
 * interrupted probe says nothing.
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

/** An account that belongs to nobody: mail to this domain cannot be delivered, so nobody can claim the address. */
const probeEmail = 'uptime-probe@steyg.invalid';
const keyLifetimeMs = 25 * 3_600_000;
const keyUseMs = 24 * 3_600_000;
/**
 * How long the budget of a month outlives it: whether a grant has ended is for the database's clock to say, and the month
 * ends by this process's. They may differ.
 */
const clockSkewMs = 3_600_000;
/** What a month of probes may cost, in pico-USD. When it is gone there is no data, and the operator sees why. */
const defaultMonthlyBudget = 20_000_000_000_000n;

/** What is needed of accounts and keys. */
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
 * The probe account, made when it is first needed. Each process makes itself a key a day, because no secret is kept
 * anywhere; the budget is given once a month, whoever asks first.
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
