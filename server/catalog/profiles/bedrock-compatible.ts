import type { VendorProfile } from './profile.ts';

/** Amazon Bedrock at its addresses for OpenAI's and Anthropic's protocols, which take a Bedrock API key as bearer. */
export const bedrockCompatible: VendorProfile = {
  id: 'bedrock-compatible',
  displayName: 'Amazon Bedrock',
  recipient: {
    company: 'Amazon Web Services',
    place: { kind: 'chosen', page: 'https://docs.aws.amazon.com/bedrock/latest/userguide/cross-region-inference.html' },
    kept: { page: 'https://docs.aws.amazon.com/bedrock/latest/userguide/data-retention.html', read: true },
  },
  protocols: {
    'chat-completions': { baseUrl: null, features: { effort: 'named', endUser: false } },
    responses: { baseUrl: null, features: { effort: 'named', minOutputTokens: 16 } },
    messages: { baseUrl: null, callIdMax: 64, features: { sampling: false, effort: 'named' } },
  },
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  wordings: ['Amazon Bedrock', 'Anthropic'],
  quirks: [
    {
      what: 'one address per region: `https://bedrock-runtime.REGION.amazonaws.com/openai/v1`',
      source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html',
    },
    {
      what: 'gpt-oss writes its reasoning into the content, between `<reasoning>` tags',
      source: 'https://github.com/promptfoo/promptfoo/pull/9587',
    },
    {
      what: 'Claude models there refuse sampling settings as they do at Anthropic',
      source: 'https://github.com/aws-samples/bedrock-chat/pull/1102',
    },
  ],
};
