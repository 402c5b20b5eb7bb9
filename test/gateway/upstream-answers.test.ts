import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, nativeCatalog, send, settled } from './support.ts';

/** An upstream's error about the operator's account is never shown as the customer's. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog(), env: { PUBLIC_URL: 'https://steyg.example' } });
});
afterAll(() => app.close());

const models = ['only-messages', 'only-chat', 'only-responses'];
const overloaded = { messages: 529, 'chat-completions': 503, responses: 503 };
const cases = everyProtocol.flatMap((protocol) =>
  models.map((model) => ({ name: protocol.protocol, protocol, model })),
);

describe.each(cases)('$name on $model', ({ protocol, model }) => {
  const name = protocol.protocol;

  it.each([
    ['its 401', '401', 502],
    ['its 403', '403', 502],
    ['its 402', '402', 503],
    ['its 404', '404', 502],
    ['its 429', '429', overloaded[name]],
    ['its 529', '529', overloaded[name]],
    ['its 503', '503', overloaded[name]],
    ['its 500', '500', 502],
    ['its redirect', '302', 502],
  ])('%s is trouble of ours, costs nothing, and says where to look', async (_what, code, status) => {
    const customer = await app.customer();
    for (const stream of [true, false]) {
      const response = await send(app, protocol, {
        secret: customer.secret,
        text: `[[status ${code} your credit balance is too low]]`,
        more: { model, stream },
      });
      expect(response.status).toBe(status);
      const error = await errorOf(response, name);
      expect(error.message).toContain('https://steyg.example/status');
      expect(error.message).not.toContain('credit');
    }
    const rows = await settled(app, customer);
    expect(rows.map((row) => [row['outcome'], row['cost']])).toEqual([
      ['upstream_error', 0n],
      ['upstream_error', 0n],
    ]);
  });

  it('its word on a context that is too long stays as it is', async () => {
    const customer = await app.customer();
    const sentence = 'prompt is too long: 209000 tokens > 200000 maximum';
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: `[[status 400 ${sentence}]]`,
      more: { model },
    });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(sentence);
    expect(await settled(app, customer)).toMatchObject([{ cost: 0n }]);
  });
});
