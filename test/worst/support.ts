import type { TestApp } from '../support/app.ts';
import type { Bill, Plan } from './vendor.ts';

/** Prices of the table: 3, 0.3 and 15 USD a million, a write for an hour at twice the input, a search a cent. */
const prices = { input: 3n, cacheHit: 300_000n, cacheWrite1h: 6n, output: 15n, search: 10_000_000_000n };
const million = 1_000_000n;

/** What a vendor's bill comes to at the catalog's prices, pico-USD. */
export const costOf = ({ input, cacheHit, cacheWrite1h, output, searches }: Omit<Bill, 'finished' | 'body'>): bigint =>
  BigInt(input) * prices.input * million +
  BigInt(cacheHit) * prices.cacheHit +
  BigInt(cacheWrite1h) * prices.cacheWrite1h * million +
  BigInt(output) * prices.output * million +
  BigInt(searches) * prices.search;

const entryPrices =
  '{ input: "3", cacheHit: "0.3", cacheWrite5m: "3.75", cacheWrite1h: "6", output: "15", perUnit: { search: "0.01" } }';

/** A catalog of the worst vendor alone: a model for each protocol that it speaks, of which everything gated is open. */
export const worstCatalog =
  (vendorUrl: string, allow: readonly string[] = ['web_search', 'file_id', 'input_audio']) =>
  (): string => {
    const upstream = (id: string, protocol: string, baseUrl: string, more = '') =>
      `  - { id: ${id}, protocol: ${protocol}, baseUrl: "${baseUrl}"${more} }`;
    const model = (id: string, place = id, opened = allow) =>
      `  - { id: ${id}, displayName: ${id}, family: worst, contextWindow: 200000, maxOutputTokens: 32000, prices: ${entryPrices}, allow: [${opened.join(', ')}], routes: [{ upstream: ${place}, model: worst, priority: 0 }] }`;
    return [
      'upstreams:',
      upstream('messages', 'messages', vendorUrl),
      upstream('chat', 'chat-completions', `${vendorUrl}/v1`),
      upstream('responses', 'responses', `${vendorUrl}/v1`),
      // Its vendor says what pages of documents cost.
      upstream('reader', 'messages', vendorUrl, ', profile: anthropic'),
      upstream('asker', 'responses', `${vendorUrl}/v1`, ', profile: openai-gpt5'),
      'models:',
      model('messages'),
      model('chat'),
      model('responses'),
      model('reader'),
      // Whose search passes because its vendor's price is known.
      model('searcher', 'reader', ['file_id']),
      model('asker', 'asker', ['file_id']),
    ].join('\n');
  };

export type Door = 'messages' | 'chat' | 'responses';
export const doors: readonly Door[] = ['messages', 'chat', 'responses'];
const paths: Record<Door, string> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};

/** The text that tells the vendor what to do. */
export const told = (plan: Plan): string => `[[worst ${JSON.stringify(plan)}]]`;

/** A request at one protocol's address to a model of another one's vendor. */
export function post(
  app: Pick<TestApp, 'baseUrl'>,
  ask: { door: Door; secret: string; body: Record<string, unknown>; signal?: AbortSignal; path?: string },
): Promise<Response> {
  return fetch(app.baseUrl + paths[ask.door] + (ask.path ?? ''), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${ask.secret}`,
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(ask.body),
    ...(ask.signal === undefined ? {} : { signal: ask.signal }),
  });
}

/** A conversation of one user's turn with these parts beside its text. */
export function bodyOf(
  door: Door,
  { model, text, parts = [], cap }: { model: string; text: string; parts?: readonly unknown[]; cap?: number },
): Record<string, unknown> {
  if (door === 'messages')
    return {
      model,
      max_tokens: cap ?? 32_000,
      messages: [{ role: 'user', content: [{ type: 'text', text }, ...parts] }],
    };
  if (door === 'chat')
    return {
      model,
      messages: [{ role: 'user', content: [{ type: 'text', text }, ...parts] }],
      ...(cap === undefined ? {} : { max_completion_tokens: cap }),
    };
  return {
    model,
    input: [{ role: 'user', content: [{ type: 'input_text', text }, ...parts] }],
    ...(cap === undefined ? {} : { max_output_tokens: cap }),
  };
}
