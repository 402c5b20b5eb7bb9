import type { VendorProfile } from './profile.ts';

/** Anthropic's Claude models. */
export const anthropic: VendorProfile = {
  id: 'anthropic',
  displayName: 'Anthropic',
  recipient: {
    company: 'Anthropic, PBC',
    place: { kind: 'anywhere', page: 'https://platform.claude.com/docs/en/manage-claude/data-residency' },
    kept: { page: 'https://platform.claude.com/docs/en/build-with-claude/api-and-data-retention', read: false },
  },
  protocols: {
    messages: {
      baseUrl: 'https://api.anthropic.com',
      // https://platform.claude.com/docs/en/build-with-claude/batch-processing
      batches: true,
      // https://platform.claude.com/docs/en/build-with-claude/fast-mode (`usage.speed`), https://platform.claude.com/docs/en/build-with-claude/data-residency (`usage.inference_geo`)
      saysWhatItServes: true,
      features: { sampling: false, effort: true },
      // `code_execution` is billed by the hour of its container, of which an answer says nothing: it has no price here.
      tools: {
        web_search: {
          fee: { unit: 'search', price: 10_000_000_000n },
          source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool#usage-and-pricing',
          date: '2026-11-23',
        },
        web_fetch: {
          fee: null,
          source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-fetch-tool#usage-and-pricing',
          date: '2026-11-23',
        },
      },
    },
  },
  keyVariable: 'ANTHROPIC_API_KEY',
  wordings: ['Anthropic'],
  quirks: [
    {
      what: 'models from Opus 4.7 on refuse `temperature`, `top_p` and `top_k`',
      source: 'https://github.com/anomalyco/models.dev/pull/1468',
    },
    {
      what: 'a forced tool choice is refused while thinking is on',
      source: 'https://github.com/pydantic/pydantic-ai/issues/2425',
    },
    {
      what: 'only newer models take system messages in mid-conversation, and only after a user turn',
      source: 'https://github.com/simonw/llm-anthropic/issues/73',
    },
  ],
};
