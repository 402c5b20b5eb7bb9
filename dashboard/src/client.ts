import { Steyg, type SteygOptions } from '@steyg/sdk';
import { watchRetries } from './patience.ts';

/**
 * The client of the server. Browsers send the session's cookie automatically, and the server accepts it only from its
 * own page, so there is no token to carry. `fetch` is given where the page is rendered on the server.
 */
export function createSteygClient(origin: string, fetch?: SteygOptions['fetch']): Steyg {
  return new Steyg({
    baseUrl: `${origin}/api`,
    graphqlUrl: `${origin}/graphql`,
    persistedDocuments: true,
    maxRetries: 1,
    timeoutMs: 30_000,
    fetch,
    onEvent: watchRetries,
  });
}

/** The same for model calls: with an API key, and the timeout of a long answer. */
export function createModelClient(origin: string, apiKey: string): Steyg {
  return new Steyg({ baseUrl: `${origin}/api`, apiKey, maxRetries: 0 });
}
