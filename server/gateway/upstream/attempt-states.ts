import type { Outcome } from '../../core/outcome.ts';
import type { StopReason } from '../../metering/brake.ts';

/**
 * The states of one try at one upstream, as a transition table. Pure values; `attempt.ts` observes the sockets, maps
 * what happens to these events, and executes the table's cells.
 */

export type AttemptState =
  /** The client waits; no content has been relayed to it. */
  | 'waiting'
  /** Content has been relayed: no other route may answer this request any more. */
  | 'relaying'
  /** The client left before any content; the answer is read on for its usage. */
  | 'draining_unseen'
  /** The client left after content; the answer is read on for its usage. */
  | 'draining'
  /** The result is known. Later events are ignored. */
  | 'ended';

export type AttemptEvent =
  /** Upstream bytes were converted to bytes for the client. */
  | 'content'
  /** The answer ended with the protocol's terminator. */
  | 'terminated'
  /** The upstream ended after the finish reason without the terminator. */
  | 'unterminated'
  /** The upstream sent an error event after content. */
  | 'failed'
  /** The upstream sent an error event before any content. */
  | 'failed_at_once'
  /** The upstream's connection ended in mid-answer, after content. */
  | 'cut'
  /** The upstream fell silent in mid-answer, after content. */
  | 'stalled'
  /** The upstream goes on without content: nothing will come of it. */
  | 'noise'
  /** A whole unstreamed 2xx answer. */
  | 'whole'
  /** An answer with an error status. */
  | 'status'
  /** The exchange failed before any content. */
  | 'fault'
  /** The client left, and the answer is not drained (or the upstream does not have the whole request). */
  | 'left'
  /** The client left, and the answer is read on for its usage. */
  | 'left_to_drain'
  /** The time for draining is over. */
  | 'drain_expired'
  /** The budget is used up. */
  | 'budget_spent'
  /** The ledger is out of reach, and the account's last known free money is used up. */
  | 'budget_unknown'
  /** The process must end at once. */
  | 'shutdown';

/** Action on the exchange with the upstream. */
export type ExchangeAction =
  | 'continue'
  /** Continue reading, whatever held the answer back. */
  | 'drain'
  | 'abort'
  /** The answer is complete: the upstream may end the exchange soon, so that its connection stays usable. */
  | 'linger';

/** The last bytes of a stream, sent after the settlement: pending bytes, then the protocol's ending. */
export type Closing =
  | 'nothing'
  | 'as_received'
  | 'cut'
  | 'stalled'
  | 'noise'
  | 'stopping'
  | 'budget'
  | 'budget_unknown';

/** The result of the try; `attempt.ts` adds the data of the event. */
export type AttemptEnding =
  | { kind: 'stream'; outcome: Outcome; closing: Closing }
  | { kind: 'whole'; clientLeft: boolean }
  /** The brake ended a stream without visible output: the model's reasoning was hidden. */
  | { kind: 'stopped'; reason: StopReason }
  /** `failed`: not by the client's leaving alone. */
  | { kind: 'left'; failed?: true }
  | { kind: 'status' | 'error_event' | 'fault' | 'shutdown' };

/** One cell of the table. Null: the event cannot happen in this state; it would be an internal fault. */
export type Cell = {
  next: AttemptState;
  exchange: ExchangeAction;
  /** Write the pending bytes to the client now. */
  relay?: true;
  end?: AttemptEnding;
} | null;

const streamEnd = (outcome: Outcome, exchange: ExchangeAction, closing: Closing): Cell => ({
  next: 'ended',
  exchange,
  end: { kind: 'stream', outcome, closing },
});
const end = (exchange: ExchangeAction, ending: AttemptEnding): Cell => ({ next: 'ended', exchange, end: ending });
const leftInMidStream = (exchange: ExchangeAction): Cell => streamEnd('client_closed', exchange, 'nothing');

/** Ends of an exchange that relayed nothing, while the client waits. */
const refused = {
  failed_at_once: end('abort', { kind: 'error_event' }),
  status: end('continue', { kind: 'status' }),
  fault: end('continue', { kind: 'fault' }),
  noise: end('abort', { kind: 'fault' }),
} satisfies Partial<Record<AttemptEvent, Cell>>;

/** Every end of a stream whose client has left is one outcome; only the known usage differs. */
const drainedEnds = {
  terminated: leftInMidStream('linger'),
  unterminated: leftInMidStream('continue'),
  failed: leftInMidStream('abort'),
  cut: leftInMidStream('continue'),
  stalled: leftInMidStream('continue'),
  noise: leftInMidStream('abort'),
  budget_spent: leftInMidStream('abort'),
  budget_unknown: leftInMidStream('abort'),
} satisfies Partial<Record<AttemptEvent, Cell>>;

const ignored: Cell = { next: 'ended', exchange: 'continue' };

export const attemptTable: Readonly<Record<AttemptState, Readonly<Record<AttemptEvent, Cell>>>> = {
  waiting: {
    ...refused,
    content: { next: 'relaying', exchange: 'continue', relay: true },
    // The whole answer arrived at once: it is sent after its settlement is on disk.
    terminated: streamEnd('completed', 'linger', 'as_received'),
    unterminated: streamEnd('completed', 'continue', 'cut'),
    failed: streamEnd('upstream_error', 'abort', 'as_received'),
    cut: streamEnd('upstream_cut', 'continue', 'cut'),
    stalled: streamEnd('timeout', 'continue', 'stalled'),
    whole: end('continue', { kind: 'whole', clientLeft: false }),
    left: end('abort', { kind: 'left' }),
    left_to_drain: { next: 'draining_unseen', exchange: 'drain' },
    drain_expired: null,
    budget_spent: end('abort', { kind: 'stopped', reason: 'budget' }),
    budget_unknown: end('abort', { kind: 'stopped', reason: 'ledger_unavailable' }),
    shutdown: end('abort', { kind: 'shutdown' }),
  },
  relaying: {
    content: { next: 'relaying', exchange: 'continue', relay: true },
    terminated: streamEnd('completed', 'linger', 'as_received'),
    unterminated: streamEnd('completed', 'continue', 'cut'),
    failed: streamEnd('upstream_error', 'abort', 'as_received'),
    failed_at_once: null,
    cut: streamEnd('upstream_cut', 'continue', 'cut'),
    stalled: streamEnd('timeout', 'continue', 'stalled'),
    noise: streamEnd('upstream_error', 'abort', 'noise'),
    whole: null,
    status: null,
    fault: null,
    left: leftInMidStream('abort'),
    left_to_drain: { next: 'draining', exchange: 'drain' },
    drain_expired: null,
    budget_spent: streamEnd('budget_stopped', 'abort', 'budget'),
    budget_unknown: streamEnd('shutdown', 'abort', 'budget_unknown'),
    shutdown: streamEnd('shutdown', 'abort', 'stopping'),
  },
  draining_unseen: {
    ...refused,
    ...drainedEnds,
    // Whether the upstream processed the request is unknown: the client left before it failed.
    fault: end('continue', { kind: 'left', failed: true }),
    noise: end('abort', { kind: 'left', failed: true }),
    content: { next: 'draining', exchange: 'continue' },
    whole: end('continue', { kind: 'whole', clientLeft: true }),
    left: null,
    left_to_drain: null,
    drain_expired: end('abort', { kind: 'left' }),
    shutdown: end('abort', { kind: 'left', failed: true }),
  },
  draining: {
    ...drainedEnds,
    content: { next: 'draining', exchange: 'continue' },
    failed_at_once: null,
    whole: null,
    status: null,
    fault: null,
    left: null,
    left_to_drain: null,
    drain_expired: leftInMidStream('abort'),
    shutdown: leftInMidStream('abort'),
  },
  ended: {
    content: ignored,
    terminated: ignored,
    unterminated: ignored,
    failed: ignored,
    failed_at_once: ignored,
    cut: ignored,
    stalled: ignored,
    noise: ignored,
    whole: ignored,
    status: ignored,
    fault: ignored,
    left: ignored,
    left_to_drain: ignored,
    drain_expired: ignored,
    budget_spent: ignored,
    budget_unknown: ignored,
    shutdown: ignored,
  },
};
