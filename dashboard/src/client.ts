import { Steyg } from '@steyg/sdk';

/**
 * The way to the server. The session is a cookie that the browser sends along by itself; the server takes it only from
 * its own page, so there is no token to carry.
 */
export function createClient(origin: string): Steyg {
  return new Steyg({ baseUrl: `${origin}/api`, graphqlUrl: `${origin}/graphql`, maxRetries: 1, timeoutMs: 30_000 });
}

/** The same for model calls: with an API key, and as patient as an answer may take. */
export function createModelClient(origin: string, apiKey: string): Steyg {
  return new Steyg({ baseUrl: `${origin}/api`, apiKey, maxRetries: 0 });
}
