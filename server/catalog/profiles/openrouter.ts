import { openaiCallIds } from './openai.ts';
import type { VendorProfile } from './profile.ts';

/** OpenRouter, which passes requests on to other vendors. */
export const openrouter: VendorProfile = {
  id: 'openrouter',
  displayName: 'OpenRouter',
  recipient: {
    company: 'OpenRouter',
    place: { kind: 'anywhere', page: 'https://openrouter.ai/docs/guides/features/in-region-routing' },
    passesOn: true,
    kept: { page: 'https://openrouter.ai/docs/guides/privacy/provider-logging', read: true },
  },
  protocols: {
    'chat-completions': {
      baseUrl: 'https://openrouter.ai/api/v1',
      // Of the models of OpenAI behind it: https://github.com/openclaw/openclaw/pull/875
      callIdMax: openaiCallIds.chat,
      // https://openrouter.ai/docs/guides/features/service-tiers
      saysWhatItServes: true,
      features: { files: true, effort: true, cachedTokens: 'overlapping' },
    },
  },
  keyVariable: 'OPENROUTER_API_KEY',
  wordings: [],
  quirks: [
    {
      what: 'a number as `code`, `metadata` instead of `type` and `param` in its errors',
      source: 'https://openrouter.ai/docs/api/reference/errors-and-debugging',
    },
    {
      what: 'comments (`: OPENROUTER PROCESSING`) while it waits; an error in mid-stream is a chunk whose `finish_reason` is `error`',
      source: 'https://openrouter.ai/docs/api-reference/streaming',
    },
    {
      what: 'tokens that were read from the cache and written to it again stand in both counts, each within the prompt’s',
      source: 'https://openrouter.ai/docs/use-cases/usage-accounting',
    },
    {
      what: 'the `cost` that it bills stands in the usage',
      source: 'https://openrouter.ai/docs/use-cases/usage-accounting',
    },
  ],
};
