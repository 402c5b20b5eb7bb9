import type { VendorProfile } from './profile.ts';

/** Google's Gemini models at their address for chat completions. */
export const geminiCompatible: VendorProfile = {
  id: 'gemini-compatible',
  displayName: 'Google Gemini',
  recipient: {
    company: 'Google',
    place: { kind: 'unread' },
    kept: { page: 'https://ai.google.dev/gemini-api/docs/zdr', read: true },
  },
  protocols: {
    'chat-completions': {
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      features: { effort: 'named', callSignatures: true, endUser: false },
    },
  },
  keyVariable: 'GEMINI_API_KEY',
  wordings: ['Google'],
  quirks: [
    {
      what: 'unknown members are refused by name, all at once; its errors are a list of one object with `code` and `status`',
      source: 'https://github.com/Vali-98/ChatterUI/issues/227',
    },
    {
      what: 'function calls in the history need the `thought_signature` that came with them',
      source: 'https://github.com/TokenRhythm/opensquilla/issues/225',
    },
    {
      what: 'a call whose signature is not at hand says `skip_thought_signature_validator`',
      source: 'https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fgoogle@3.0.80',
    },
    {
      what: 'every call of a stream may come whole, with the index 0',
      source: 'https://github.com/NousResearch/hermes-agent/issues/62937',
    },
    {
      what: 'the cached part is within the prompt count, and reasoning is only within the total',
      source: 'https://github.com/danny-avila/LibreChat/issues/12855',
    },
  ],
};
