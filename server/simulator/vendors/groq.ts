/** Groq. */

import type { ParsedObject } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import { isFinish, mapChunks, messagesOf, type SimulatedVendor, unknownMembers } from './vendor.ts';

/** https://console.groq.com/docs/api-reference#chat-create */
const members =
  'model messages max_completion_tokens max_tokens stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort reasoning_format include_reasoning stop n seed frequency_penalty presence_penalty temperature top_p user metadata service_tier functions function_call search_settings documents citation_options';

function refuse(body: ParsedObject): VendorError | null {
  // https://console.groq.com/docs/openai and https://github.com/fanenr/chatbot/issues/21
  const [unknown] = unknownMembers(body, members);
  if (unknown !== undefined) return invalidPrompt(`property '${unknown}' is unsupported`);
  if ((body['n'] ?? 1) !== 1) return invalidPrompt("'n' : number must be at most 1");
  for (const [index, message] of messagesOf(body).entries()) {
    // https://github.com/tashfeenahmed/freellmapi/issues/1070
    const extra = ['reasoning_content', 'name'].find((name) => message[name] !== undefined);
    if (extra === undefined) continue;
    const role = String(message['role']);
    return invalidPrompt(
      `'messages.${index}' : for 'role:${role}' the following must be satisfied[('messages.${index}' : property '${extra}' is unsupported)]`,
    );
  }
  return null;
}

const times = { queue_time: 0.041, prompt_time: 0.025, completion_time: 0.05, total_time: 0.075 };

export const simulatedGroq: SimulatedVendor = {
  id: 'groq',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning',
  refuse,
  errorBody: ({ message, type }) => ({ error: { message, type: type ?? 'invalid_request_error' } }),
  // https://github.com/vercel/ai/pull/13192
  usage: (usage) => ({ ...usage, ...times }),
  whole: (answer) => ({ ...answer, x_groq: { id: 'req_51mu1at0r' } }),
  events(events, usage) {
    let first = true;
    return mapChunks(events, (chunk) => {
      const opening = first ? { x_groq: { id: 'req_51mu1at0r' } } : {};
      first = false;
      return { ...chunk, ...opening, ...(isFinish(chunk) ? { x_groq: { id: 'req_51mu1at0r', usage } } : {}) };
    });
  },
};
