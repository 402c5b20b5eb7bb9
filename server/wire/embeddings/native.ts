import { embeddingsPath } from '../../core/protocol.ts';
import { nativeChatCompletions } from '../chat-completions/native.ts';
import { leaf, shape } from '../json.ts';
import type { NativeProtocol } from '../native.ts';
import { readChatUsage, type UsageReading } from '../usage.ts';

/**
 * Embeddings, which vendors of chat completions and responses serve beside them: bytes pass, `model` is spliced, usage is read.
 * Vectors are neither read nor counted. https://platform.openai.com/docs/api-reference/embeddings/create
 */

/**
 * The prompt is all that is charged; some vendors report it as the total alone: https://docs.voyageai.com/reference/embeddings-api.
 * The largest count is the prompt's. No input has no tokens, so zero alone is no report and the prompt is estimated.
 */
function readUsage(reported: unknown): UsageReading | null {
  const { prompt_tokens, input_tokens, total_tokens } = reported as Record<string, unknown>;
  return [prompt_tokens, input_tokens, total_tokens]
    .map((prompt) => readChatUsage({ prompt_tokens: prompt, completion_tokens: 0 }))
    .reduce((most, reading) => (promptOf(reading) > promptOf(most) ? reading : most), null);
}

const promptOf = (reading: UsageReading | null): number => reading?.usage.input ?? 0;

export const nativeEmbeddings: NativeProtocol = {
  protocol: 'chat-completions',
  path: embeddingsPath,
  requestEdits: () => [],
  reply: {
    shape: shape({ model: leaf, usage: leaf, error: shape(), data: leaf }),
    list: 'data',
    noun: 'embeddings',
    countItem: () => undefined,
    usage: (root) => root.members.get('usage'),
    readUsage,
  },
  // They are never streamed.
  stream: nativeChatCompletions.stream,
};
