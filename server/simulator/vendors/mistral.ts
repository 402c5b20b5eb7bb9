/** Mistral. */

import { arrayOf, isObject, type ParsedObject, wordOf } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import { choiceOf, isFinish, mapChunks, messagesOf, type SimulatedVendor, unknownMembers } from './vendor.ts';

/** https://docs.mistral.ai/api/#tag/chat */
const members =
  'model messages max_tokens stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort prompt_mode stop n random_seed frequency_penalty presence_penalty temperature top_p metadata prediction safe_prompt guardrails prompt_cache_key';

function forbidden(loc: readonly (string | number)[], input: unknown): VendorError {
  const detail = [{ type: 'extra_forbidden', loc: ['body', ...loc], msg: 'Extra inputs are not permitted', input }];
  return { ...invalidPrompt(JSON.stringify({ detail })), status: 422 };
}

function extraInput(body: ParsedObject): VendorError | null {
  // https://github.com/Gitlawb/openclaude/issues/739
  const [unknown] = unknownMembers(body, members);
  if (unknown !== undefined) return forbidden([unknown], body[unknown]);
  const options = isObject(body['stream_options']) ? body['stream_options'] : {};
  // https://github.com/dnakov/anon-kode/issues/53
  if (options['include_usage'] !== undefined)
    return forbidden(['stream_options', 'include_usage'], options['include_usage']);
  for (const [index, message] of messagesOf(body).entries()) {
    // https://github.com/charmbracelet/crush/issues/1590
    if (message['reasoning_content'] === undefined) continue;
    return forbidden(['messages', index, 'assistant', 'reasoning_content'], message['reasoning_content']);
  }
  return null;
}

// https://github.com/nearai/ironclaw/issues/1241
function oddCallId(body: ParsedObject): VendorError | null {
  const ids = messagesOf(body).flatMap((message) => [
    ...arrayOf(message['tool_calls'])
      .filter(isObject)
      .map(({ id }) => id),
    ...(message['role'] === 'tool' ? [message['tool_call_id']] : []),
  ]);
  const odd = ids.map(wordOf).find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  if (odd === undefined) return null;
  const message = `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return { ...invalidPrompt(message, null, '3280'), type: 'invalid_function_call' };
}

/** A list of parts in place of the text, where it has reasoned: https://docs.mistral.ai/capabilities/reasoning/ */
function inParts(holder: unknown): void {
  if (!isObject(holder)) return;
  const { reasoning_content: thought } = holder;
  delete holder['reasoning_content'];
  if (typeof thought !== 'string') return;
  const text =
    typeof holder['content'] === 'string' && holder['content'] !== ''
      ? [{ type: 'text', text: holder['content'] }]
      : [];
  holder['content'] = [{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }, ...text];
}

/** Its ids of calls, which it alone takes back. */
function shorten(holder: unknown): void {
  for (const call of isObject(holder) ? arrayOf(holder['tool_calls']).filter(isObject) : []) {
    if (typeof call['id'] === 'string') call['id'] = call['id'].replace(/^call_/, '').slice(0, 9);
  }
}

export const simulatedMistral: SimulatedVendor = {
  id: 'mistral',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning_content',
  idStyle: ['', 32],
  refuse: (body) => extraInput(body) ?? oddCallId(body),
  errorBody: ({ status, message, type, code }) => ({
    object: 'error',
    message: status === 422 && message.startsWith('{') ? (JSON.parse(message) as unknown) : message,
    type: type ?? 'invalid_request_error',
    param: null,
    code,
  }),
  whole(answer) {
    for (const choice of arrayOf(answer['choices']).filter(isObject)) {
      inParts(choice['message']);
      shorten(choice['message']);
    }
    return answer;
  },
  // Usage comes with the last chunk, unasked: https://github.com/TabbyML/tabby/pull/4082
  events: (events, usage) =>
    mapChunks(events, (chunk) => {
      const choice = choiceOf(chunk);
      if (choice === null) return null;
      inParts(choice['delta']);
      shorten(choice['delta']);
      return isFinish(chunk) ? { ...chunk, usage } : chunk;
    }),
};
