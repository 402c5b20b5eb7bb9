import { type Finish, finishOf } from '../dialogue/answers/answer.ts';
import { isObject, type Json } from '../dialogue/json.ts';

/** What each finish reason means; vendors add their own words. */
const KINDS = new Map<Json | undefined, Finish['kind']>([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['tool_calls', 'calls'],
  ['function_call', 'calls'],
  ['content_filter', 'refusal'],
]);

/** Finish reasons by which vendors say that the answer failed. */
const FAILURES = new Set<Json | undefined>(['error', 'insufficient_system_resource']);

export function isFailureReason(reason: Json | undefined): boolean {
  return FAILURES.has(reason);
}

/** What a choice says about its end, given what it contained. */
export function readFinish(choice: Json | undefined, seen: { calls: boolean; refusal: boolean }): Finish {
  const { finish_reason, stop_reason } = isObject(choice) ? choice : {};
  const kind = KINDS.get(finish_reason) ?? 'stop';
  if (seen.refusal && kind !== 'length') return finishOf('refusal');
  // Several vendors say "stop" although the answer is a call, and some speak of calls where there is none: an agent would
  // wait for what it cannot carry out.
  if (kind !== 'stop' && kind !== 'calls') return finishOf(kind);
  if (seen.calls) return finishOf('calls');
  // One vendor names the stop sequence that was met here; a number is a token id and says nothing.
  return typeof stop_reason === 'string' && stop_reason !== ''
    ? { kind: 'stop-sequence', sequence: stop_reason, explanation: null }
    : finishOf('stop');
}

/** The finish reason for each way an answer can end. */
export const FINISH_REASON: Readonly<Record<Finish['kind'], string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  calls: 'tool_calls',
  refusal: 'content_filter',
};
