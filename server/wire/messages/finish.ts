import { type Finish, finishOf } from '../dialogue/answers/answer.ts';
import { type JsonObject, objectMember, stringMember } from '../dialogue/json.ts';

/** Stop reasons of the Messages protocol. */

const KINDS = new Map<string | null, Finish['kind']>([
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'calls'],
  ['refusal', 'refusal'],
]);

/** What a message, or the delta that ends it, says about its end. */
export function readStop(message: JsonObject): Finish {
  const kind = KINDS.get(stringMember(message, 'stop_reason')) ?? 'stop';
  const details = objectMember(message, 'stop_details');
  return {
    ...finishOf(kind),
    sequence: stringMember(message, 'stop_sequence'),
    explanation: kind === 'refusal' && details !== null ? stringMember(details, 'explanation') : null,
  };
}

const STOP_REASON: Readonly<Record<Finish['kind'], string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  calls: 'tool_use',
  refusal: 'refusal',
};

/** The members by which a message says how it ended. */
export function writeStop(finish: Finish): Record<string, unknown> {
  const refusal = finish.kind === 'refusal';
  return {
    stop_reason: STOP_REASON[finish.kind],
    stop_sequence: finish.kind === 'stop-sequence' ? finish.sequence : null,
    stop_details: refusal ? { type: 'refusal', category: null, explanation: finish.explanation } : null,
    container: null,
  };
}
