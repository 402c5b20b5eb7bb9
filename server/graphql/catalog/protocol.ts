import type { ModelKind } from '../../core/kind.ts';
import type { Protocol } from '../../core/protocol.ts';
import { builder } from '../builder.ts';

/** The wire protocols, and the kinds of models. */

export const ProtocolType = builder.enumType('Protocol', {
  description: 'A wire protocol.',
  values: {
    MESSAGES: { value: 'messages', description: 'POST /api/v1/messages' },
    CHAT_COMPLETIONS: { value: 'chat-completions', description: 'POST /api/v1/chat/completions' },
    RESPONSES: { value: 'responses', description: 'POST /api/v1/responses' },
  } satisfies Record<string, { value: Protocol; description: string }>,
});

export const ModelKindType = builder.enumType('ModelKind', {
  description: 'What a model makes of its input. Further kinds may follow.',
  values: {
    TEXT: { value: 'text', description: 'Text and calls of tools: messages, chat completions and responses.' },
    EMBEDDING: { value: 'embedding', description: 'Vectors: POST /api/v1/embeddings' },
  } satisfies Record<string, { value: ModelKind; description: string }>,
});
