import type { Protocol } from '../../core/protocol.ts';
import { builder } from '../builder.ts';

/** The wire protocols. */

export const ProtocolType = builder.enumType('Protocol', {
  description: 'A wire protocol.',
  values: {
    MESSAGES: { value: 'messages', description: 'POST /api/v1/messages' },
    CHAT_COMPLETIONS: { value: 'chat-completions', description: 'POST /api/v1/chat/completions' },
    RESPONSES: { value: 'responses', description: 'POST /api/v1/responses' },
  } satisfies Record<string, { value: Protocol; description: string }>,
});
