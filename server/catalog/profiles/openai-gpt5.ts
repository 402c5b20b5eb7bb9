import {
  openaiCallIds,
  openaiRecipient,
  openaiTools,
  reasoningChat,
  reasoningQuirks,
  reasoningResponses,
} from './openai.ts';
import type { VendorProfile } from './profile.ts';

/** OpenAI's GPT-5 family. */
export const openaiGpt5: VendorProfile = {
  id: 'openai-gpt5',
  displayName: 'OpenAI (GPT-5)',
  recipient: openaiRecipient,
  protocols: {
    'chat-completions': {
      baseUrl: 'https://api.openai.com/v1',
      // https://developers.openai.com/api/docs/guides/batch
      batches: true,
      callIdMax: openaiCallIds.chat,
      // https://developers.openai.com/api/docs/guides/fast-mode
      saysWhatItServes: true,
      features: { ...reasoningChat, store: true },
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
      features: reasoningResponses,
    },
  },
  keyVariable: 'OPENAI_API_KEY',
  wordings: ['OpenAI'],
  quirks: [
    ...reasoningQuirks,
    {
      what: 'from GPT-5.4 on, function tools are refused on chat completions while the model reasons: responses takes them',
      source: 'https://github.com/pipecat-ai/pipecat/issues/4043',
    },
    {
      what: 'GPT-5.6 reasons by default, so that tools alone are refused there, too',
      source: 'https://github.com/BerriAI/litellm/pull/34569',
    },
  ],
};
