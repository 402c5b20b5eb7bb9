import { z } from 'zod';
import { type ProbeResult, probeModes, probeProtocols } from '../probes/probe.ts';

/** The form in which an agent reports a round of probes. Both ends are held to it. */

export interface Round {
  /** A UUID that the agent chose: a round is recorded once, however often it is delivered. */
  id: string;
  startedAt: Date;
  endedAt: Date;
  results: ProbeResult[];
}

/** A round that cannot be recorded; `problems` name the members. */
export type RoundProblem =
  | { kind: 'malformed'; problems: string[] }
  /** It is too old, or of the future: `serverTime` tells a wrong clock. */
  | { kind: 'out_of_time'; message: string };

export const maxRoundResults = 1_000;
/**
 * A round is accepted for so long after it began: an agent keeps rounds on disk while the service cannot be reached for a
 * moment. History is not written later than that; what the service was away for longer it notes itself.
 */
export const maxRoundAgeMs = 10 * 60_000;
/** How far an agent's clock may be ahead. */
export const maxRoundAheadMs = 5 * 60_000;
/** The largest body of a delivery. */
export const maxRoundBytes = 512 * 1_024;

const moment = z.iso.datetime().transform((text) => new Date(text));
const milliseconds = z.int().min(0).max(3_600_000).nullable();

const resultShape = z
  .strictObject({
    // Texts of PostgreSQL hold no NUL, and catalog ids no blanks.
    model: z.string().regex(/^[\x21-\x7e]{1,256}$/),
    protocol: z.enum(probeProtocols),
    mode: z.enum(probeModes),
    startedAt: moment,
    outcome: z.enum(['up', 'down', 'no_data']),
    reason: z
      .string()
      .regex(/^[a-z0-9_]{1,64}$/)
      .nullable(),
    status: z.int().min(100).max(599).nullable(),
    latencyMs: milliseconds,
    timeToFirstByteMs: milliseconds,
  })
  .refine(({ outcome, reason }) => (outcome === 'up') === (reason === null), 'reason says why it was not up')
  .refine(({ outcome, latencyMs }) => outcome !== 'up' || latencyMs !== null, 'a probe that was up took some time');

const roundShape = z
  .strictObject({
    id: z.uuid(),
    startedAt: moment,
    endedAt: moment,
    results: z.array(resultShape).min(1).max(maxRoundResults),
  })
  .refine(({ startedAt, endedAt }) => endedAt >= startedAt, 'endedAt is before startedAt')
  .refine(
    ({ startedAt, endedAt, results }) =>
      results.every((each) => each.startedAt >= startedAt && each.startedAt <= endedAt),
    'results are within the round',
  );

/** Checks a round that arrived. `now` is the service's time, in milliseconds. */
export function readRound(body: unknown, now: number): { round: Round } | RoundProblem {
  const parsed = roundShape.safeParse(body);
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, 10).map(({ path, message }) => `${path.join('.')}: ${message}`);
    return { kind: 'malformed', problems };
  }
  const round = parsed.data;
  if (round.endedAt.getTime() > now + maxRoundAheadMs)
    return { kind: 'out_of_time', message: 'The round is of the future: the clock of the agent is wrong.' };
  if (round.startedAt.getTime() < now - maxRoundAgeMs)
    return {
      kind: 'out_of_time',
      message: 'The round is too old: rounds are accepted for 10 minutes after they began.',
    };
  return { round };
}
