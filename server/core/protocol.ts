/** The wire protocols of the service, by the name that catalog, ledger and metrics use. */
export type Protocol = 'messages' | 'chat-completions' | 'responses';

/**
 * The path after an upstream's base address. A messages address is written without `/v1` and the others with it, as
 * each ecosystem does.
 */
export const upstreamPaths: Readonly<Record<Protocol, string>> = {
  messages: '/v1/messages',
  'chat-completions': '/chat/completions',
  responses: '/responses',
};

/** The same for embeddings, which upstreams of chat completions and responses have beside their answers. */
export const embeddingsPath = '/embeddings';

/** The same for images. */
export const imagePaths = { generations: '/images/generations', edits: '/images/edits' } as const;
export type ImagePath = keyof typeof imagePaths;

/** The version of the messages protocol that is spoken where a client asked for none. */
export const messagesVersion = '2023-06-01';

/** The headers that prove the operator's key to an upstream, as each protocol carries it. `secret` null: it takes none. */
export function credentialHeaders(protocol: Protocol, secret: string | null): Record<string, string> {
  if (secret === null) return {};
  return protocol === 'messages' ? { 'x-api-key': secret } : { authorization: `Bearer ${secret}` };
}
