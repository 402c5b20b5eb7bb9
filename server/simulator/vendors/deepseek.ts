/** DeepSeek's thinking models. */

import { arrayOf, isObject, type ParsedObject, wordOf } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import { isForcedChoice, messagesOf, numberOf, type SimulatedVendor, without } from './vendor.ts';

// https://api-docs.deepseek.com/guides/thinking_mode
function isThinking(body: ParsedObject): boolean {
  return !isObject(body['thinking']) || body['thinking']['type'] !== 'disabled';
}

function refused(message: string): VendorError {
  return { ...invalidPrompt(message, null, 'invalid_request_error'), type: 'invalid_request_error' };
}

function isWithoutReasoning(message: ParsedObject): boolean {
  return message['role'] === 'assistant' && arrayOf(message['tool_calls']).length > 0 && !message['reasoning_content'];
}

function isWithoutThinking(message: ParsedObject): boolean {
  const blocks = arrayOf(message['content'])
    .filter(isObject)
    .map(({ type }) => type);
  return blocks.includes('tool_use') && !blocks.includes('thinking');
}

export const simulatedDeepseek: SimulatedVendor = {
  id: 'deepseek',
  protocols: ['chat-completions', 'messages'],
  reasoningField: 'reasoning_content',
  idStyle: ['', 36],
  // Its page of parameters has no other cap: https://api-docs.deepseek.com/api/create-chat-completion
  seen: (body, protocol) => (protocol === 'messages' ? body : without(body, 'max_completion_tokens')),
  thought: (body) => (isThinking(body) ? 'Let me think. ' : null),
  refuse(body, protocol) {
    const thinking = isThinking(body);
    // https://github.com/deepseek-ai/DeepSeek-V3/issues/1376
    if (thinking && isForcedChoice(body['tool_choice']))
      return refused('Thinking mode does not support this tool_choice');
    const format = isObject(body['response_format']) ? wordOf(body['response_format']['type']) : '';
    // https://github.com/UKGovernmentBEIS/inspect_ai/issues/4916
    if (format === 'json_schema') return refused('This response_format type is unavailable now');
    if (!thinking) return null;
    if (protocol === 'messages') {
      // https://github.com/deepseek-ai/DeepSeek-V3/issues/1376
      return messagesOf(body).some(isWithoutThinking)
        ? refused('The `content[].thinking` in the thinking mode must be passed back to the API.')
        : null;
    }
    // https://github.com/JohnnyZ93/oai-compatible-copilot/issues/215 and
    // https://github.com/NousResearch/hermes-agent/pull/18263: empty counts as missing.
    return messagesOf(body).some(isWithoutReasoning)
      ? refused('The `reasoning_content` in the thinking mode must be passed back to the API.')
      : null;
  },
  usage(usage) {
    if (usage['prompt_tokens'] === undefined) return usage;
    const details = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
    const hit = numberOf(details['cached_tokens']);
    return {
      ...usage,
      prompt_tokens_details: { cached_tokens: hit },
      // https://api-docs.deepseek.com/api/create-chat-completion
      prompt_cache_hit_tokens: hit,
      prompt_cache_miss_tokens: numberOf(usage['prompt_tokens']) - hit,
    };
  },
};
