import type { Pool } from 'pg';
import type { Log } from '../../core/log.ts';
import type { Principal } from '../../keys/keyring.ts';
import { describeError } from '../../runtime/http.ts';
import { type ClaimLine, createClaimLine, type OwnLimit, ownLimits, takeEach } from './claims.ts';

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
  of: OwnLimit['of'];
  /** Tokens per minute. */
  limit: number;
  wanted: number;
  left: number;
  /** Seconds; null: the request alone is above the limit. */
  resetS: number | null;
}

type Answer = { kind: 'drawn'; second: number } | { kind: 'full'; left: number; resetS: number };

interface Subject {
  limit: number;
  /** What requests used more or less than they had drawn, to be written with the next draw. */
  corrections: { second: number; tokens: number }[];
  line: ClaimLine<number, Answer>;
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

  const draw = async (id: string, subject: Subject, asked: readonly number[]): Promise<Answer[]> => {
    const { corrections, limit } = subject;
    subject.corrections = [];
    try {
      const { rows } = await pool.query<{ granted: number; second: bigint; total: bigint; freeIn: number | null }>({
        name: 'token_rate.draw',
        text: 'SELECT granted, at_second AS second, total, free_in AS "freeIn" FROM draw_tokens($1, $2, $3, $4, $5)',
        values: [id, limit, asked, corrections.map(({ second }) => second), corrections.map(({ tokens }) => tokens)],
      });
      const { granted = 0, second = 0n, total = 0n, freeIn = 1 } = rows[0] ?? {};
      const left = Math.max(0, limit - Number(total));
      return asked.map((_tokens, index) =>
        index < granted ? { kind: 'drawn', second: Number(second) } : { kind: 'full', left, resetS: freeIn ?? 1 },
      );
    } catch (error) {
      // What was drawn for requests that used less drops out with its minute.
      if (corrections.length > 0) log.warn(describeError(error), 'tokens that were not used could not be given back');
      throw error;
    }
  };

  const subjectOf = (id: string, limit: number): Subject => {
    const known = subjects.get(id);
    if (known !== undefined) {
      known.limit = limit;
      return known;
    }
    const subject: Subject = {
      limit,
      corrections: [],
      line: createClaimLine({
        state: (asked) => draw(id, subject, asked),
        owes: () => subject.corrections.length > 0,
        atRest: () => void subjects.delete(id),
      }),
    };
    subjects.set(id, subject);
    return subject;
  };

  const flush = async (): Promise<void> => {
    timer = null;
    await Promise.all([...subjects.values()].map(({ line }) => line.run()));
  };

  const correct = (id: string, limit: number, second: number, tokens: number): void => {
    if (tokens === 0) return;
    subjectOf(id, limit).corrections.push({ second, tokens });
    timer ??= setTimeout(() => void flush(), correctWithinMs).unref();
  };

  const takeAll = async (limits: readonly OwnLimit[], tokens: number): Promise<TokenDraw | TokensLimited> => {
    const end = (drawn: readonly (OwnLimit & { second: number })[], used: number): void => {
      for (const { id, limit, second } of drawn) correct(id, limit, second, used - tokens);
    };
    const outcome = await takeEach<OwnLimit & { second: number }, TokensLimited>(
      limits,
      async (own) => {
        const { of, id, limit } = own;
        const limited = { kind: 'limited', of, limit, wanted: tokens } as const;
        if (tokens > limit) return { refused: { ...limited, left: limit, resetS: null } };
        const answer = await subjectOf(id, limit).line.claim(tokens);
        if (answer.kind === 'full') return { refused: { ...limited, left: answer.left, resetS: answer.resetS } };
        return { taken: { ...own, second: answer.second } };
      },
      (drawn) => end(drawn, 0),
    );
    if ('refused' in outcome) return outcome.refused;
    return { kind: 'drawn', used: (used) => end(outcome.taken, used) };
  };

  return {
    take(principal, tokens) {
      const limits = ownLimits(principal, 'tokensPerMinute');
      return limits.length === 0 ? null : takeAll(limits, tokens);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await flush();
    },
  };
}
