import type { Principal } from '../../keys/keyring.ts';

/** What the exact limits of keys and accounts have in common: who is limited, and how many claims share one statement. */

/** A limit that a key or an account was given. */
export interface OwnLimit {
  of: 'key' | 'account';
  id: string;
  limit: number;
}

/** The limits that count for a request: of its key, then of its account. */
export function ownLimits(principal: Principal, name: 'maxConcurrent' | 'tokensPerMinute'): OwnLimit[] {
  const { keyId, accountId, account } = principal;
  const limits: OwnLimit[] = [];
  const [ofKey, ofAccount] = [principal[name], account?.[name] ?? null];
  if (ofKey !== null) limits.push({ of: 'key', id: keyId, limit: ofKey });
  if (ofAccount !== null) limits.push({ of: 'account', id: accountId, limit: ofAccount });
  return limits;
}

/** Takes from each limit in turn. When one refuses or fails, what was taken before it is given back. */
export async function takeEach<Taken, Refused>(
  limits: readonly OwnLimit[],
  take: (limit: OwnLimit) => Promise<{ taken: Taken } | { refused: Refused }>,
  giveBack: (taken: readonly Taken[]) => void,
): Promise<{ taken: readonly Taken[] } | { refused: Refused }> {
  const all: Taken[] = [];
  try {
    for (const limit of limits) {
      const one = await take(limit);
      if ('refused' in one) {
        giveBack(all);
        return one;
      }
      all.push(one.taken);
    }
    return { taken: all };
  } catch (error) {
    giveBack(all);
    throw error;
  }
}

/** The claims of one subject: one statement at a time, and those that come meanwhile share the next. */
export interface ClaimLine<Ask, Answer> {
  readonly isRunning: boolean;
  claim(ask: Ask): Promise<Answer>;
  /** Answers the first of those that wait without a statement; says how many there were. */
  serve(most: number, answer: Answer): number;
  /** Writes what is owed although nobody waits. */
  run(): Promise<void>;
}

export interface ClaimLineParts<Ask, Answer> {
  /** The statement. Answers each ask in its place; a failure is the failure of all of them. */
  state(asks: readonly Ask[]): Promise<readonly Answer[]>;
  /** Whether something has to be written although nobody waits. */
  owes?(): boolean;
  /** Called between two statements. */
  afterEach?(): void;
  /** Called when nothing is left to write. */
  atRest?(): void;
}

export function createClaimLine<Ask, Answer>({
  state,
  owes = () => false,
  afterEach,
  atRest,
}: ClaimLineParts<Ask, Answer>): ClaimLine<Ask, Answer> {
  let waiting: { ask: Ask; resolve(answer: Answer): void; reject(error: unknown): void }[] = [];
  let isRunning = false;

  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (waiting.length > 0 || owes()) {
      const claims = waiting;
      waiting = [];
      try {
        const answers = await state(claims.map(({ ask }) => ask));
        for (const [index, { resolve }] of claims.entries()) resolve(answers[index] as Answer);
      } catch (error) {
        for (const { reject } of claims) reject(error);
      }
      afterEach?.();
    }
    isRunning = false;
    atRest?.();
  };

  return {
    get isRunning() {
      return isRunning;
    },
    claim: (ask) =>
      new Promise((resolve, reject) => {
        waiting.push({ ask, resolve, reject });
        void run();
      }),
    serve(most, answer) {
      const served = waiting.splice(0, most);
      for (const { resolve } of served) resolve(answer);
      return served.length;
    },
    run,
  };
}
