import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeCatalog, protocols, send } from './support.ts';

/** A cap on the answer that a translation raises, because its upstream takes none so small: the hold covers what is sent. */

let app: TestApp;
beforeAll(async () => {
  // A token of an answer is 0.001 USD, and its context next to nothing.
  const prices = '{ input: "0.001", cacheHit: "0", output: "1000" }';
  app = await startApp({ catalog: nativeCatalog({ prices, features: 'minOutputTokens: 16' }) });
});
afterAll(() => app.close());

const ask = async (usd: string, model: string) => {
  const { secret } = await app.customer({ usd });
  return send(app, protocols.chat, { secret, text: '[[len 1]]', more: { model, max_tokens: 2 } });
};

it('an account that pays for the small cap alone is refused with what the raised one needs', async () => {
  const refused = await ask('0.01', 'only-responses');
  expect(refused.status).toBe(402);
  expect((await errorOf(refused, 'chat-completions'))['required_usd']).toBe('0.016');
  const covered = await ask('0.0161', 'only-responses');
  expect(covered.status).toBe(200);
  const sent = JSON.parse(app.simulator.requests().at(-1)?.body.toString('utf8') ?? '{}') as object;
  expect(sent).toMatchObject({ max_output_tokens: 16 });
  await covered.text();
});

it('a cap that travels as it was written is held as it was written', async () => {
  const answer = await ask('0.01', 'only-chat');
  expect(answer.status).toBe(200);
  await answer.text();
});
