import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptEvent,
  type AttemptState,
  attemptTable,
  type Cell,
} from '../../server/gateway/upstream/attempt-states.ts';

/** The table of states of one try: every cell, written down a second time, and what holds on every walk through it. */

/**
 * State, event -> next state | what becomes of the call of the upstream | result. `!` is a cell that cannot be reached,
 * `relay` hands the bytes at hand to the client, `stream O + C` ends a stream with outcome O and closing bytes C.
 */
const lines = `
waiting          content          -> relaying        | continue | relay
waiting          terminated       -> ended           | linger   | stream completed + as_received
waiting          unterminated     -> ended           | continue | stream completed + cut
waiting          failed           -> ended           | abort    | stream upstream_error + as_received
waiting          failed_at_once   -> ended           | abort    | error_event
waiting          cut              -> ended           | continue | stream upstream_cut + cut
waiting          stalled          -> ended           | continue | stream timeout + stalled
waiting          noise            -> ended           | abort    | fault
waiting          whole            -> ended           | continue | whole
waiting          status           -> ended           | continue | status
waiting          fault            -> ended           | continue | fault
waiting          left             -> ended           | abort    | left
waiting          left_to_drain    -> draining_unseen | drain    |
waiting          drain_expired    -> !
waiting          budget_spent     -> ended           | abort    | stopped, budget
waiting          budget_unknown   -> ended           | abort    | stopped, ledger_unavailable
waiting          shutdown         -> ended           | abort    | shutdown
relaying         content          -> relaying        | continue | relay
relaying         terminated       -> ended           | linger   | stream completed + as_received
relaying         unterminated     -> ended           | continue | stream completed + cut
relaying         failed           -> ended           | abort    | stream upstream_error + as_received
relaying         failed_at_once   -> !
relaying         cut              -> ended           | continue | stream upstream_cut + cut
relaying         stalled          -> ended           | continue | stream timeout + stalled
relaying         noise            -> ended           | abort    | stream upstream_error + noise
relaying         whole            -> !
relaying         status           -> !
relaying         fault            -> !
relaying         left             -> ended           | abort    | stream client_closed + nothing
relaying         left_to_drain    -> draining        | drain    |
relaying         drain_expired    -> !
relaying         budget_spent     -> ended           | abort    | stream budget_stopped + budget
relaying         budget_unknown   -> ended           | abort    | stream shutdown + budget_unknown
relaying         shutdown         -> ended           | abort    | stream shutdown + stopping
draining_unseen  content          -> draining        | continue |
draining_unseen  terminated       -> ended           | linger   | stream client_closed + nothing
draining_unseen  unterminated     -> ended           | continue | stream client_closed + nothing
draining_unseen  failed           -> ended           | abort    | stream client_closed + nothing
draining_unseen  failed_at_once   -> ended           | abort    | error_event
draining_unseen  cut              -> ended           | continue | stream client_closed + nothing
draining_unseen  stalled          -> ended           | continue | stream client_closed + nothing
draining_unseen  noise            -> ended           | abort    | left
draining_unseen  whole            -> ended           | continue | whole, client left
draining_unseen  status           -> ended           | continue | status
draining_unseen  fault            -> ended           | continue | left
draining_unseen  left             -> !
draining_unseen  left_to_drain    -> !
draining_unseen  drain_expired    -> ended           | abort    | left
draining_unseen  budget_spent     -> ended           | abort    | stream client_closed + nothing
draining_unseen  budget_unknown   -> ended           | abort    | stream client_closed + nothing
draining_unseen  shutdown         -> ended           | abort    | left
draining         content          -> draining        | continue |
draining         terminated       -> ended           | linger   | stream client_closed + nothing
draining         unterminated     -> ended           | continue | stream client_closed + nothing
draining         failed           -> ended           | abort    | stream client_closed + nothing
draining         failed_at_once   -> !
draining         cut              -> ended           | continue | stream client_closed + nothing
draining         stalled          -> ended           | continue | stream client_closed + nothing
draining         noise            -> ended           | abort    | stream client_closed + nothing
draining         whole            -> !
draining         status           -> !
draining         fault            -> !
draining         left             -> !
draining         left_to_drain    -> !
draining         drain_expired    -> ended           | abort    | stream client_closed + nothing
draining         budget_spent     -> ended           | abort    | stream client_closed + nothing
draining         budget_unknown   -> ended           | abort    | stream client_closed + nothing
draining         shutdown         -> ended           | abort    | stream client_closed + nothing
`
  .trim()
  .split('\n')
  .map((line) => {
    const [from = '', to = ''] = line.split(' -> ');
    const [state = '', event = ''] = from.split(/\s+/);
    return { state, event, expected: to.split('|').map((part) => part.trim()) };
  });

function resultOf(cell: NonNullable<Cell>): string {
  const { end } = cell;
  if (end === undefined) return cell.relay === true ? 'relay' : '';
  if (end.kind === 'stream') return `stream ${end.outcome} + ${end.closing}`;
  if (end.kind === 'stopped') return `stopped, ${end.reason}`;
  return end.kind === 'whole' && end.clientLeft ? 'whole, client left' : end.kind;
}

const states = Object.keys(attemptTable) as AttemptState[];
const events = Object.keys(attemptTable.waiting) as AttemptEvent[];

describe('the table of one try', () => {
  it.each(lines)('$state, $event', ({ state, event, expected }) => {
    const cell = attemptTable[state as AttemptState][event as AttemptEvent];
    expect(cell === null ? ['!'] : [cell.next, cell.exchange, resultOf(cell)]).toEqual(expected);
  });

  it('has no cell that is not written down above, and ignores everything once it has ended', () => {
    const written = new Set(lines.map(({ state, event }) => `${state} ${event}`));
    for (const state of states) {
      for (const event of events) {
        expect([state, written.has(`${state} ${event}`)]).toEqual([state, state !== 'ended']);
        expect(attemptTable.ended[event]).toEqual({ next: 'ended', exchange: 'continue' });
      }
    }
  });

  it('on every walk: one result, no other route after content, no byte for a client that has left', () => {
    assert(
      property(array(constantFrom(...events), { maxLength: 40 }), (walk) => {
        let state: AttemptState = 'waiting';
        let [results, relayed, left] = [0, false, false];
        for (const event of walk) {
          const cell: Cell = attemptTable[state][event];
          if (cell === null) continue;
          expect(cell.relay === true && left).toBe(false);
          relayed ||= cell.relay === true;
          if (state !== 'ended' && (event === 'left' || event === 'left_to_drain')) left = true;
          const { end } = cell;
          results += end === undefined ? 0 : 1;
          // Anything but a stream can be followed by another try, or by a refusal with a status of its own.
          expect(relayed && end !== undefined && end.kind !== 'stream').toBe(false);
          expect(left && end?.kind === 'stream' && end.outcome !== 'client_closed').toBe(false);
          expect(cell.next === 'ended').toBe(state === 'ended' || cell.end !== undefined);
          state = cell.next;
        }
        expect(results).toBe(state === 'ended' ? 1 : 0);
      }),
    );
  });
});
