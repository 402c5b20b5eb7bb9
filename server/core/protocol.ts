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
