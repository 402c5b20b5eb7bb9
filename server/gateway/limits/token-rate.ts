import type { Pool } from 'pg';
import type { Log } from '../../core/log.ts';
import type { Principal } from '../../keys/keyring.ts';
import { describeError } from '../../runtime/http.ts';

/**
 * Tokens per minute of keys and accounts, exact across processes: a request draws what it may use from the database before it is
 * admitted, and what it really used replaces the draw when it has ended. Requests that wait at the same moment share one
 * statement. Keys and accounts without such a limit cost nothing.
 */
export interface TokenRates {
  /** Null: no limit of tokens applies. */
  take(principal: Principal, tokens: number): Promise<TokenDraw | TokensLimited> | null;
  close(): Promise<void>;
}

/** Tokens that were drawn for a request. */
export interface TokenDraw {
  kind: 'drawn';
  /** The request has ended with so many tokens; zero for one that was never sent. Once. */
  used(tokens: number): void;
}

/** The limit that does not leave what a request may use. */
export interface TokensLimited {
  kind: 'limited';
  of: 'key' | 'account';
  /** Tokens per minute. */
  limit: number;
  wanted: number;
  left: number;
  /** Seconds; null: the request alone is above the limit. */
  resetS: number | null;
}

interface Waiting {
  tokens: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

type Answer = { kind: 'drawn'; second: number } | { kind: 'full'; left: number; resetS: number };

interface Subject {
  limit: number;
  waiting: Waiting[];
  corrections: { second: number; tokens: number }[];
  isRunning: boolean;
}

/** How long a correction waits for a draw to go with. */
const correctWithinMs = 200;

export interface TokenRatesParts {
  pool: Pick<Pool, 'query'>;
  log: Pick<Log, 'warn'>;
}

export function createTokenRates({ pool, log }: TokenRatesParts): TokenRates {
  const subjects = new Map<string, Subject>();
  let timer: NodeJS.Timeout | null = null;

  const flight = async (id: string, subject: Subject): Promise<void> => {
    const { waiting, corrections, limit } = subject;
    subject.waiting = [];
    subject.corrections = [];
    try {
      const { rows } = await pool.query<{ granted: number; second: bigint; total: bigint; freeIn: number | null }>({
        name: 'token_rate.draw',
        text: 'SELECT granted, at_second AS second, total, free_in AS "freeIn" FROM draw_tokens($1, $2, $3, $4, $5)',
        values: [
          id,
          limit,
          waiting.map(({ tokens }) => tokens),
          corrections.map(({ second }) => second),
          corrections.map(({ tokens }) => tokens),
        ],
      });
      const { granted = 0, second = 0n, total = 0n, freeIn = 1 } = rows[0] ?? {};
      const left = Math.max(0, limit - Number(total));
      for (const [index, { resolve }] of waiting.entries()) {
        resolve(
          index < granted ? { kind: 'drawn', second: Number(second) } : { kind: 'full', left, resetS: freeIn ?? 1 },
        );
      }
    } catch (error) {
      // What was drawn for requests that used less leaves the minute by itself.
      if (corrections.length > 0) log.warn(describeError(error), 'tokens that were not used could not be given back');
      for (const { reject } of waiting) reject(error);
    }
  };

  const run = async (id: string, subject: Subject): Promise<void> => {
    subject.isRunning = true;
    while (subject.waiting.length + subject.corrections.length > 0) await flight(id, subject);
    subject.isRunning = false;
    subjects.delete(id);
  };

  const subjectOf = (id: string, limit: number): Subject => {
    const subject = subjects.get(id) ?? { limit, waiting: [], corrections: [], isRunning: false };
    subject.limit = limit;
    subjects.set(id, subject);
    return subject;
  };

  const draw = (id: string, limit: number, tokens: number): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const subject = subjectOf(id, limit);
      subject.waiting.push({ tokens, resolve, reject });
      if (!subject.isRunning) void run(id, subject);
    });

  const flush = async (): Promise<void> => {
    timer = null;
    const idle = [...subjects].filter(([, { isRunning }]) => !isRunning);
    await Promise.all(idle.map(([id, subject]) => run(id, subject)));
  };

  const correct = (id: string, limit: number, second: number, tokens: number): void => {
    if (tokens === 0) return;
    subjectOf(id, limit).corrections.push({ second, tokens });
    timer ??= setTimeout(() => void flush(), correctWithinMs).unref();
  };

  const takeAll = async (limits: readonly Limit[], tokens: number): Promise<TokenDraw | TokensLimited> => {
    const drawn: (Limit & { second: number })[] = [];
    const end = (used: number): void => {
      for (const { id, limit, second } of drawn) correct(id, limit, second, used - tokens);
    };
    for (const { of, id, limit } of limits) {
      if (tokens > limit) {
        end(0);
        return { kind: 'limited', of, limit, wanted: tokens, left: limit, resetS: null };
      }
      const answer = await draw(id, limit, tokens).catch((error: unknown) => {
        end(0);
        throw error;
      });
      if (answer.kind === 'full') {
        end(0);
        return { kind: 'limited', of, limit, wanted: tokens, left: answer.left, resetS: answer.resetS };
      }
      drawn.push({ of, id, limit, second: answer.second });
    }
    return { kind: 'drawn', used: end };
  };

  return {
    take({ keyId, accountId, tokensPerMinute, account }, tokens) {
      const limits: Limit[] = [];
      if (tokensPerMinute !== null) limits.push({ of: 'key', id: keyId, limit: tokensPerMinute });
      const ofAccount = account?.tokensPerMinute ?? null;
      if (ofAccount !== null) limits.push({ of: 'account', id: accountId, limit: ofAccount });
      return limits.length === 0 ? null : takeAll(limits, tokens);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await flush();
    },
  };
}

interface Limit {
  of: 'key' | 'account';
  id: string;
  limit: number;
}
