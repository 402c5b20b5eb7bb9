import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyProtocol, nativeCatalog } from '../gateway/support.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';

// The catalog's protocols of a model agree with the answers of the model endpoints.

let app: TestApp;
let customer: Customer;

beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer({ usd: '5' });
});
afterAll(() => app.close());

async function told(modelId: string): Promise<Record<string, string[]>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'query ($modelId: String!) { model(modelId: $modelId) { protocols nativeProtocols } }',
      variables: { modelId },
    }),
  });
  const { data } = (await response.json()) as { data: { model: Record<string, string[]> } };
  return data.model;
}

const call = (path: string, headers: Record<string, string>, body: object) =>
  fetch(app.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const graphqlName = (protocol: string) => protocol.toUpperCase().replace('-', '_');

describe.each(everyProtocol)('a model whose only route speaks $protocol', ({ only, protocol: spoken }) => {
  it('is said to be called over all three, and is', async () => {
    expect(await told(only)).toEqual({
      protocols: ['MESSAGES', 'CHAT_COMPLETIONS', 'RESPONSES'],
      nativeProtocols: [graphqlName(spoken)],
    });
    for (const { path, headers, body, text, protocol, cap } of everyProtocol) {
      const request = body('[[say here]]', { model: only, [cap]: 64 });
      const response = await call(path, headers, request);
      expect([protocol, response.status, text(await response.json())]).toEqual([protocol, 200, 'here']);
      const streamed = await call(path, headers, { ...request, stream: true });
      expect([protocol, streamed.status, streamed.headers.get('content-type')]).toEqual([
        protocol,
        200,
        expect.stringContaining('text/event-stream'),
      ]);
      expect(await streamed.text()).toContain('here');
    }
  });
});

it('a model without a route is called over none', async () => {
  await app.pool.query(`UPDATE route SET enabled = false WHERE model_id = 'only-chat'`);
  expect(await told('only-chat')).toEqual({ protocols: [], nativeProtocols: [] });
  await app.pool.query(`UPDATE route SET enabled = true WHERE model_id = 'only-chat'`);
  await app.pool.query(`UPDATE upstream SET enabled = false WHERE id = 'by-chat'`);
  expect(await told('only-chat')).toEqual({ protocols: [], nativeProtocols: [] });
});
