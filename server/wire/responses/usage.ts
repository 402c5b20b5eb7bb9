import { type AnswerUsage, NO_USAGE } from '../dialogue/answers/answer.ts';
import { isObject, type Json } from '../dialogue/json.ts';
import { readResponsesUsage } from '../usage.ts';

/** Usage objects of the Responses protocol. */

export function responsesAnswerUsage(usage: Json | undefined): AnswerUsage {
  if (!isObject(usage)) return NO_USAGE;
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const reasoning = details.reasoning_tokens;
  return { reading: readResponsesUsage(usage), reasoningTokens: typeof reasoning === 'number' ? reasoning : null };
}
