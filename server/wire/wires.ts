import { type Protocol, upstreamPaths } from '../core/protocol.ts';
import { chatCompletionsWire } from './chat-completions/native.ts';
import { messagesWire } from './messages/native.ts';
import type { Wire } from './protocol.ts';
import { responsesWire } from './responses/native.ts';

const native: Record<Protocol, Wire> = {
  messages: messagesWire,
  'chat-completions': chatCompletionsWire,
  responses: responsesWire,
};

/** The wire of a route whose upstream speaks the client's own protocol. */
export function nativeWire(protocol: Protocol): Wire {
  return native[protocol];
}

/** What an upstream's base address is followed by: `/v1/messages`, or the others' paths after their own `/v1`. */
export function listenablePath(protocol: Protocol): string {
  return upstreamPaths[protocol];
}
