import type { VendorProfile } from './profile.ts';

/** xAI's Grok models. */
export const xai: VendorProfile = {
  id: 'xai',
  displayName: 'xAI',
  recipient: {
    company: 'xAI',
    place: { kind: 'anywhere', page: 'https://docs.x.ai/docs/key-information/regions' },
    kept: { page: 'https://docs.x.ai/developers/faq/security', read: true },
  },
  protocols: {
    'chat-completions': { baseUrl: 'https://api.x.ai/v1', features: { stop: false, effort: 'named' } },
  },
  keyVariable: 'XAI_API_KEY',
  wordings: ['xAI'],
  quirks: [
    {
      what: 'reasoning models refuse `stop`: 400 "Argument not supported on this model: stop"',
      source: 'https://github.com/BerriAI/litellm/issues/12635',
    },
    {
      what: 'they refuse `presence_penalty`, also when it is 0',
      source: 'https://github.com/miaoxworld/NativeTavern/issues/83',
    },
    {
      what: 'most of them refuse an effort, and reason all the same',
      source: 'https://github.com/NousResearch/hermes-agent/pull/23435',
    },
    {
      what: 'errors are `{"code":"…","error":"sentence"}`',
      source: 'https://github.com/yym68686/uni-api/issues/105',
    },
    {
      what: 'reasoning is only within the total',
      source: 'https://github.com/lidge-jun/opencodex/pull/5280',
    },
  ],
};
