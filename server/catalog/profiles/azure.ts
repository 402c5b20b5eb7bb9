import { openaiCallIds, reasoningChat, reasoningQuirks, reasoningResponses } from './openai.ts';
import type { VendorProfile } from './profile.ts';

/** OpenAI's reasoning models at Azure, at the address of a resource that ends in `/openai/v1`. */
export const azure: VendorProfile = {
  id: 'azure',
  displayName: 'Azure OpenAI',
  recipient: {
    company: 'Microsoft (Azure)',
    place: {
      kind: 'chosen',
      page: 'https://learn.microsoft.com/azure/foundry/foundry-models/concepts/models-sold-directly-by-azure-region-availability',
    },
    kept: { page: 'https://learn.microsoft.com/azure/ai-foundry/responsible-ai/openai/data-privacy', read: false },
  },
  protocols: {
    'chat-completions': { baseUrl: null, callIdMax: openaiCallIds.chat, features: reasoningChat },
    responses: {
      baseUrl: null,
      callIdMax: openaiCallIds.responses,
      // https://developers.openai.com/api/docs/guides/compaction
      compaction: true,
      features: reasoningResponses,
    },
  },
  keyVariable: 'AZURE_OPENAI_API_KEY',
  wordings: ['OpenAI', 'Azure'],
  quirks: [
    ...reasoningQuirks,
    {
      what: '`web_search` is Bing with terms and a price of its own, so that none is known here',
      source: 'https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/web-search',
    },
    {
      what: 'streams begin with a chunk without choices, whose `prompt_filter_results` say what was filtered',
      source: 'https://github.com/AbanteAI/archive-old-cli-mentat/issues/429',
    },
    {
      what: 'with the asynchronous filter, chunks come whose choice has no `delta`',
      source: 'https://github.com/microsoft/autogen/issues/6465',
    },
    {
      what: 'filtered content is a 400 with the code `content_filter`',
      source: 'https://learn.microsoft.com/en-us/azure/ai-services/openai/concepts/content-filter',
    },
  ],
};
