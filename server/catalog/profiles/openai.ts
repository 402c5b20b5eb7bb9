import type { UpstreamFeatures } from '../../core/features.ts';
import type { HostedTool, Quirk, Recipient } from './profile.ts';

/** What OpenAI's reasoning models have in common, at OpenAI and at Azure. */

/** https://github.com/microsoft/autogen/issues/6377, https://github.com/AnswerDotAI/fastllm/issues/45 */
export const openaiCallIds = { chat: 40, responses: 64 } as const;

export const openaiRecipient: Recipient = {
  company: 'OpenAI',
  place: { kind: 'anywhere', page: 'https://developers.openai.com/api/docs/guides/data-residency' },
  kept: { page: 'https://developers.openai.com/api/docs/guides/your-data', read: true },
};

/** Chat completions: no `max_tokens`, no sampling, no stop sequences. */
export const reasoningChat: Partial<UpstreamFeatures> = {
  maxTokensField: 'max_completion_tokens',
  sampling: false,
  stop: false,
  files: true,
  effort: true,
};

/**
 * Responses: the same models, which take tools together with reasoning there. Both vendors take turns over a WebSocket:
 * https://developers.openai.com/api/docs/guides/websocket-mode,
 * https://learn.microsoft.com/en-us/azure/foundry/openai/how-to/websockets
 */
export const reasoningResponses: Partial<UpstreamFeatures> = { sampling: false, minOutputTokens: 16, webSocket: true };

/**
 * A call of `web_search`; what it found is charged as tokens of the prompt. `web_search_preview` costs the same with reasoning
 * models. `code_interpreter` is billed by its container's size and time, of which an answer says nothing, and `file_search` reads
 * what is kept in the vendor's account: neither has a price here.
 */
export const openaiTools: Readonly<Record<string, HostedTool>> = {
  web_search: {
    fee: { unit: 'search', price: 10_000_000_000n },
    source: 'https://developers.openai.com/api/docs/pricing',
    date: '2026-11-23',
  },
};

export const reasoningQuirks: readonly Quirk[] = [
  {
    what: '`max_tokens` is refused: 400 `unsupported_parameter`',
    source: 'https://github.com/griptape-ai/ComfyUI-Griptape/issues/312',
  },
  {
    what: '`temperature` other than 1 is refused: 400 `unsupported_value`',
    source: 'https://github.com/tmc/langchaingo/issues/1355',
  },
  { what: '`stop` is refused', source: 'https://github.com/huggingface/smolagents/pull/1662' },
  {
    what: '`presence_penalty` and its like are refused',
    source: 'https://github.com/nextai-translator/nextai-translator/issues/1781',
  },
  {
    what: 'a cap that reasoning uses up before a word is said is a 400, not an answer that was cut off',
    source: 'https://github.com/nextlevelbuilder/goclaw/issues/245',
  },
  {
    what: '`max_output_tokens` below 16 is refused',
    source: 'https://github.com/vectorize-io/hindsight/issues/58',
  },
];
