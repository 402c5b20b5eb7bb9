import type { VendorProfile } from './profile.ts';

/** DeepSeek, at its chat completions and at its messages address. */
export const deepseek: VendorProfile = {
  id: 'deepseek',
  displayName: 'DeepSeek',
  recipient: {
    company: 'DeepSeek',
    // https://tnsafety.com/deepseeks-chinese-data-storage-policy-raises-global-privacy-concerns quotes its policy.
    place: { kind: 'unread', reported: 'CN' },
    kept: { page: 'https://cdn.deepseek.com/policies/en-US/deepseek-privacy-policy.html', read: false },
  },
  protocols: {
    'chat-completions': {
      baseUrl: 'https://api.deepseek.com/v1',
      features: {
        maxTokensField: 'max_tokens',
        reasoningHistory: true,
        effort: true,
        thinkingSwitch: true,
        jsonSchema: false,
        endUser: false,
      },
    },
    messages: {
      baseUrl: 'https://api.deepseek.com/anthropic',
      features: { files: false, effort: true, thinkingSwitch: true },
    },
  },
  keyVariable: 'DEEPSEEK_API_KEY',
  wordings: ['DeepSeek'],
  quirks: [
    {
      what: 'thinks unless `thinking: {"type":"disabled"}` is sent; `reasoning_effort` maps minimal to low and medium to high',
      source: 'https://api-docs.deepseek.com/guides/thinking_mode',
    },
    {
      what: 'a forced tool choice is refused while it thinks: 400 "Thinking mode does not support this tool_choice"',
      source: 'https://github.com/deepseek-ai/DeepSeek-V3/issues/1376',
    },
    {
      what: 'assistant messages with tool calls must bring `reasoning_content` back while it thinks',
      source: 'https://github.com/JohnnyZ93/oai-compatible-copilot/issues/215',
    },
    {
      what: 'an empty `reasoning_content` counts as missing; a blank passes',
      source: 'https://github.com/NousResearch/hermes-agent/pull/18263',
    },
    {
      what: '`response_format: json_schema` is refused: 400 "This response_format type is unavailable now"',
      source: 'https://github.com/UKGovernmentBEIS/inspect_ai/issues/4916',
    },
    {
      what: 'cache counts are `prompt_cache_hit_tokens` and `prompt_cache_miss_tokens`',
      source: 'https://api-docs.deepseek.com/api/create-chat-completion',
    },
  ],
};
