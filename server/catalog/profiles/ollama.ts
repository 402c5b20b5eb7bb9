import type { VendorProfile } from './profile.ts';

/** A server of one's own that runs Ollama. */
export const ollama: VendorProfile = {
  id: 'ollama',
  displayName: 'Ollama',
  recipient: null,
  protocols: {
    'chat-completions': {
      baseUrl: null,
      features: {
        maxTokensField: 'max_tokens',
        systemRole: 'hoist',
        effort: 'named',
        toolChoice: 'auto',
        imageUrls: false,
      },
    },
  },
  keyVariable: null,
  wordings: ['Ollama'],
  quirks: [
    {
      what: '`max_completion_tokens` is ignored',
      source: 'https://github.com/nextcloud/integration_openai/issues/426',
    },
    { what: '`tool_choice` is ignored', source: 'https://github.com/ollama/ollama/issues/17921' },
    { what: 'images by address are refused', source: 'https://github.com/ollama/ollama/issues/6753' },
    {
      what: 'some models refuse a system message that is not the first: 500',
      source: 'https://github.com/ollama/ollama/issues/17774',
    },
  ],
};
