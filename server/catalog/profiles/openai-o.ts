import {
  openaiCallIds,
  openaiRecipient,
  openaiTools,
  reasoningChat,
  reasoningQuirks,
  reasoningResponses,
} from './openai.ts';
import type { VendorProfile } from './profile.ts';

/** OpenAI's o-series. */
export const openaiO: VendorProfile = {
  id: 'openai-o',
  displayName: 'OpenAI (o-series)',
  recipient: openaiRecipient,
  protocols: {
    'chat-completions': {
      baseUrl: 'https://api.openai.com/v1',
      // https://developers.openai.com/api/docs/guides/batch
      batches: true,
      callIdMax: openaiCallIds.chat,
      // https://developers.openai.com/api/docs/guides/fast-mode
      saysWhatItServes: true,
      features: { ...reasoningChat, store: true, parallelCalls: false },
    },
    responses: {
      baseUrl: 'https://api.openai.com/v1',
      batches: true,
      callIdMax: openaiCallIds.responses,
      // https://developers.openai.com/api/docs/guides/compaction
      compaction: true,
      tools: openaiTools,
      // https://developers.openai.com/api/docs/guides/fast-mode
      saysWhatItServes: true,
      features: { ...reasoningResponses, parallelCalls: false },
    },
  },
  keyVariable: 'OPENAI_API_KEY',
  wordings: ['OpenAI'],
  quirks: [
    ...reasoningQuirks,
    {
      what: '`parallel_tool_calls` is refused, whatever its value',
      source: 'https://github.com/evalstate/fast-agent/issues/279',
    },
  ],
};
