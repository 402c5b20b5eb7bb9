import { type AnswerUsage, NO_USAGE } from '../dialogue/answer.ts';
import { isObject, type Json, type JsonObject } from '../dialogue/json.ts';
import { readChatUsage } from '../usage.ts';

/** The usage object of an answer or a chunk, wherever its vendor hides it; undefined when there is none. */
export function findUsage(answer: JsonObject): Json | undefined {
  if (isObject(answer.usage)) return answer.usage;
  const groq = answer.x_groq;
  if (isObject(groq) && isObject(groq.usage)) return groq.usage;
  const choice = Array.isArray(answer.choices) ? answer.choices[0] : undefined;
  return isObject(choice) && isObject(choice.usage) ? choice.usage : undefined;
}

export function chatAnswerUsage(usage: Json | undefined): AnswerUsage {
  if (!isObject(usage)) return NO_USAGE;
  const details = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const reasoning = details.reasoning_tokens ?? usage.reasoning_tokens;
  return { reading: readChatUsage(usage), reasoningTokens: typeof reasoning === 'number' ? reasoning : null };
}
