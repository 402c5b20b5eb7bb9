import { type AnswerUsage, NO_USAGE } from '../dialogue/answers/answer.ts';
import { isObject, type Json, type JsonObject, listMember, objectMember, saysNothing } from '../dialogue/json.ts';
import { readChatUsage } from '../usage.ts';

/** The usage object of an answer or a chunk, wherever its vendor hides it; undefined when there is none. */
export function findUsage(answer: JsonObject): Json | undefined {
  const [choice] = listMember(answer, 'choices');
  const places = [answer.usage, isObject(choice) ? choice.usage : undefined, objectMember(answer, 'x_groq')?.usage];
  return places.find((place) => isObject(place) && !saysNothing(place));
}

export function chatAnswerUsage(usage: Json | undefined): AnswerUsage {
  if (!isObject(usage)) return NO_USAGE;
  const details = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const reasoning = details.reasoning_tokens ?? usage.reasoning_tokens;
  return { reading: readChatUsage(usage), reasoningTokens: typeof reasoning === 'number' ? reasoning : null };
}
