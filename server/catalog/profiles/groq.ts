import type { VendorProfile } from './profile.ts';

/** Groq. */
export const groq: VendorProfile = {
  id: 'groq',
  displayName: 'Groq',
  recipient: {
    company: 'Groq',
    place: { kind: 'unread' },
    kept: { page: 'https://console.groq.com/docs/your-data', read: true },
  },
  protocols: {
    'chat-completions': { baseUrl: 'https://api.groq.com/openai/v1', features: { effort: 'named' } },
  },
  keyVariable: 'GROQ_API_KEY',
  wordings: ['Groq'],
  quirks: [
    {
      what: '`logprobs`, `logit_bias`, `top_logprobs`, `messages[].name` and more than one answer are refused',
      source: 'https://console.groq.com/docs/openai',
    },
    {
      what: 'unknown members are refused: "property \'store\' is unsupported"',
      source: 'https://github.com/fanenr/chatbot/issues/21',
    },
    {
      what: '`reasoning_content` in the history is refused',
      source: 'https://github.com/tashfeenahmed/freellmapi/issues/1070',
    },
    {
      what: 'reasoning comes as `reasoning`; the usage of streams also in `x_groq`, whose times stand beside the counts',
      source: 'https://github.com/vercel/ai/pull/13192',
    },
  ],
};
