import type { VendorProfile } from './profile.ts';

/** Mistral. */
export const mistral: VendorProfile = {
  id: 'mistral',
  displayName: 'Mistral',
  recipient: {
    company: 'Mistral AI',
    place: { kind: 'anywhere', page: 'https://docs.mistral.ai/studio/regional-inference' },
    kept: null,
  },
  protocols: {
    'chat-completions': {
      baseUrl: 'https://api.mistral.ai/v1',
      features: {
        maxTokensField: 'max_tokens',
        effort: 'named',
        endUser: false,
        usageOption: false,
        shortCallIds: true,
      },
    },
  },
  keyVariable: 'MISTRAL_API_KEY',
  wordings: ['Mistral'],
  quirks: [
    {
      what: 'unknown members are a 422 `extra_forbidden`, `max_completion_tokens` and `store` among them',
      source: 'https://github.com/Gitlawb/openclaude/issues/739',
    },
    {
      what: '`stream_options.include_usage` is refused; usage comes with the last chunk unasked',
      source: 'https://github.com/dnakov/anon-kode/issues/53',
    },
    {
      what: 'ids of tool calls must have nine letters or digits',
      source: 'https://github.com/nearai/ironclaw/issues/1241',
    },
    {
      what: '`reasoning_content` in the history is refused',
      source: 'https://github.com/charmbracelet/crush/issues/1590',
    },
  ],
};
