/** Google's Gemini models at their address for chat completions. */

import { arrayOf, isObject, type ParsedObject, wordOf } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import { choiceOf, mapChunks, messagesOf, numberOf, type SimulatedVendor, unknownMembers } from './vendor.ts';

/** What its page of the compatible interface shows: https://ai.google.dev/gemini-api/docs/openai */
const members =
  'model messages max_tokens max_completion_tokens stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort stop n temperature top_p modalities extra_body';

// https://github.com/Vali-98/ChatterUI/issues/227
function unknownNames(body: ParsedObject): VendorError | null {
  const lines = unknownMembers(body, members).map(
    (name) => `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
  );
  return lines.length === 0 ? null : invalidPrompt(lines.join('\n'));
}

function signatureOf(call: unknown): unknown {
  const extra = isObject(call) && isObject(call['extra_content']) ? call['extra_content'] : {};
  return isObject(extra['google']) ? extra['google']['thought_signature'] : undefined;
}

// https://github.com/TokenRhythm/opensquilla/issues/225
function unsigned(body: ParsedObject): VendorError | null {
  const at = messagesOf(body).findIndex((message) => {
    const [first] = arrayOf(message['tool_calls']);
    return first !== undefined && typeof signatureOf(first) !== 'string';
  });
  if (at < 0) return null;
  return invalidPrompt(
    `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, position ${at}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
  );
}

const statuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** The calls of a message, with their signature on the first. */
function sign(calls: ParsedObject[]): ParsedObject[] {
  return calls.map((call, index) =>
    index === 0 ? { ...call, extra_content: { google: { thought_signature: 'c2lnbmVk' } } } : call,
  );
}

export const simulatedGemini: SimulatedVendor = {
  id: 'gemini-compatible',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning_content',
  idStyle: ['', 22],
  refuse: (body) => unknownNames(body) ?? unsigned(body),
  errorBody: ({ status, message }) => [{ error: { code: status, message, status: statuses[status] ?? 'UNKNOWN' } }],
  // Reasoning is only within the total: https://github.com/danny-avila/LibreChat/issues/12855
  usage({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    completion_tokens_details: details,
  }) {
    const thoughts = isObject(details) ? numberOf(details['reasoning_tokens']) : 0;
    return { completion_tokens: numberOf(completion) - thoughts, prompt_tokens: prompt, total_tokens: total };
  },
  whole(answer) {
    for (const choice of arrayOf(answer['choices']).filter(isObject)) {
      const message = isObject(choice['message']) ? choice['message'] : {};
      if (message['tool_calls'] !== undefined)
        message['tool_calls'] = sign(arrayOf(message['tool_calls']).filter(isObject));
    }
    return answer;
  },
  events: (events, usage) => geminiEvents(events, usage),
};

/** Calls come whole, each with the index 0, and every chunk has the counts so far. */
function geminiEvents(events: Parameters<NonNullable<SimulatedVendor['events']>>[0], usage: ParsedObject) {
  const calls: ParsedObject[] = [];
  return mapChunks(events, (chunk) => {
    const choice = choiceOf(chunk);
    if (choice === null) return null;
    const counted = { ...chunk, usage };
    const delta = isObject(choice['delta']) ? choice['delta'] : {};
    const [piece] = arrayOf(delta['tool_calls']).filter(isObject);
    if (piece !== undefined) {
      const described = isObject(piece['function']) ? piece['function'] : {};
      if (piece['id'] !== undefined) calls.push({ id: piece['id'], type: 'function', function: { ...described } });
      else {
        const last = calls.at(-1)?.['function'];
        if (isObject(last)) last['arguments'] = wordOf(last['arguments']) + wordOf(described['arguments']);
      }
      return null;
    }
    if (typeof choice['finish_reason'] !== 'string' || calls.length === 0) return counted;
    // https://github.com/NousResearch/hermes-agent/issues/62937
    const whole = sign(calls).map((call) => ({ index: 0, ...call }));
    return { ...counted, choices: [{ ...choice, delta: { role: 'assistant', tool_calls: whole } }] };
  });
}
