import { type Finish, finishOf } from '../dialogue/answers/answer.ts';
import { type JsonObject, objectMember, stringMember } from '../dialogue/json.ts';

/** What a response says about its end, given what it contained. */
export function readStatus(response: JsonObject, seen: { calls: boolean; refusal: boolean }): Finish {
  if (response.status === 'incomplete') {
    const details = objectMember(response, 'incomplete_details');
    const reason = details === null ? null : stringMember(details, 'reason');
    return finishOf(reason === 'content_filter' ? 'refusal' : 'length');
  }
  if (seen.refusal) return finishOf('refusal');
  return finishOf(seen.calls ? 'calls' : 'stop');
}

/** The members by which a response says how it ended. A refusal that is spelled out is a complete answer. */
export function writeStatus(finish: Finish, refusalText: boolean): { status: string; incomplete_details: unknown } {
  if (finish.kind === 'length') return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (finish.kind === 'refusal' && !refusalText) {
    return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  }
  return { status: 'completed', incomplete_details: null };
}
