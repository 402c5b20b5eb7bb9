import type { Protocol } from '../core/protocol.ts';
import { readChatAnswer } from './chat-completions/answer-reader.ts';
import { writeChatAnswer } from './chat-completions/answer-writer.ts';
import { nativeChatCompletions } from './chat-completions/native.ts';
import { chatFields, readChatRequest } from './chat-completions/request-reader.ts';
import { writeChatRequest } from './chat-completions/request-writer.ts';
import { createChatStreamReader } from './chat-completions/stream-reader.ts';
import { createChatStreamWriter } from './chat-completions/stream-writer.ts';
import { type ClientSide, translatingWire, type UpstreamSide } from './dialogue/translation.ts';
import { nativeEmbeddings } from './embeddings/native.ts';
import type { FieldRule } from './members.ts';
import { readMessagesAnswer } from './messages/answer-reader.ts';
import { writeMessagesAnswer } from './messages/answer-writer.ts';
import { nativeMessages } from './messages/native.ts';
import { messagesFields, readMessagesRequest } from './messages/request-reader.ts';
import { writeMessagesRequest } from './messages/request-writer.ts';
import { createMessagesStreamReader } from './messages/stream-reader.ts';
import { createMessagesStreamWriter } from './messages/stream-writer.ts';
import { nativeWire } from './native.ts';
import type { Wire } from './protocol.ts';
import { readResponsesAnswer } from './responses/answer-reader.ts';
import { writeResponsesAnswer } from './responses/answer-writer.ts';
import { nativeResponses } from './responses/native.ts';
import { readResponsesRequest, responsesFields } from './responses/request-reader.ts';
import { writeResponsesRequest } from './responses/request-writer.ts';
import { echoRequest } from './responses/response-object.ts';
import { createResponsesStreamReader } from './responses/stream-reader.ts';
import { createResponsesStreamWriter } from './responses/stream-writer.ts';

/** The one place that knows all three protocols: it pairs them. */

const NATIVE: Readonly<Record<Protocol, Wire>> = {
  messages: nativeWire(nativeMessages),
  'chat-completions': nativeWire(nativeChatCompletions),
  responses: nativeWire(nativeResponses),
};

const CLIENTS: Readonly<Record<Protocol, ClientSide>> = {
  messages: {
    fields: messagesFields,
    readRequest: readMessagesRequest,
    writeAnswer: writeMessagesAnswer,
    createStreamWriter: createMessagesStreamWriter,
  },
  'chat-completions': {
    fields: chatFields,
    readRequest: readChatRequest,
    writeAnswer: writeChatAnswer,
    createStreamWriter: createChatStreamWriter,
  },
  responses: {
    fields: responsesFields,
    readRequest: readResponsesRequest,
    echo: echoRequest,
    writeAnswer: writeResponsesAnswer,
    createStreamWriter: createResponsesStreamWriter,
  },
};

const UPSTREAMS: Readonly<Record<Protocol, UpstreamSide>> = {
  messages: {
    reply: nativeMessages.reply,
    writeRequest: writeMessagesRequest,
    readAnswer: readMessagesAnswer,
    createStreamReader: createMessagesStreamReader,
  },
  'chat-completions': {
    reply: nativeChatCompletions.reply,
    writeRequest: writeChatRequest,
    readAnswer: readChatAnswer,
    createStreamReader: createChatStreamReader,
  },
  responses: {
    reply: nativeResponses.reply,
    writeRequest: writeResponsesRequest,
    readAnswer: readResponsesAnswer,
    createStreamReader: createResponsesStreamReader,
  },
};

/** The wire between a client's protocol and an upstream's: bytes as they are where both are the same. */
export function wireFor(client: Protocol, upstream: Protocol): Wire {
  if (client === upstream) return NATIVE[client];
  return translatingWire({ client, upstream, clientSide: CLIENTS[client], upstreamSide: UPSTREAMS[upstream] });
}

/** The wire of embeddings: the upstream's address has them, whichever of OpenAI's protocols it speaks. */
export const embeddingsWire = nativeWire(nativeEmbeddings);

/** Fields of a client's body by what translation makes of them, for the documentation; all others are refused. */
export interface TranslatedFields {
  /** What they say reaches the upstream, or is refused where the upstream has no words for it. */
  read: string[];
  /** Left out, because the answer does not depend on them. */
  dropped: string[];
  /** Left out where they ask for nothing special, else refused. */
  harmless: string[];
}

export function translatedFields(client: Protocol): TranslatedFields {
  const fields = Object.entries(CLIENTS[client].fields);
  const named = (isOne: (rule: FieldRule) => boolean): string[] =>
    fields.filter(([, rule]) => isOne(rule)).map(([name]) => name);
  return {
    read: named((rule) => rule === 'read'),
    dropped: named((rule) => rule === 'drop'),
    harmless: named((rule) => typeof rule === 'function'),
  };
}
