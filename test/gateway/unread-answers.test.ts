import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, rawConnection, send, until } from './support.ts';

/** A large unstreamed answer belongs to its request until the client has its last byte. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog(),
    env: { MAX_CONCURRENT_PER_KEY: '1', MAX_CONCURRENT_PER_ACCOUNT: '1', CLIENT_STALL_MS: '20000' },
  });
});
afterAll(() => app.close());

it('a request keeps its slot until the last byte of its answer is read, and the answer arrives byte for byte', async () => {
  const { accountId, secret } = await app.customer();
  const content = `${'x'.repeat(11_000_000)}${'"\n'.repeat(10_000)}`;
  const answer = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'sim-medium',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
  });
  const connection = await rawConnection(app);
  connection.socket.pause();
  const body = JSON.stringify(
    protocols.chat.body(`[[raw ${Buffer.from(answer).toString('base64')}]]`, { model: protocols.chat.only }),
  );
  connection.write(
    `POST /api${protocols.chat.path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await until(async () => (await app.ledger(accountId)).length === 1);
  const ask = () => send(app, protocols.chat, { secret, more: { model: protocols.chat.only } });
  expect(await app.ledger(accountId)).toMatchObject([{ usage_source: 'reported' }]);
  expect((await ask()).status).toBe(429);
  connection.socket.resume();
  await until(() => connection.received.endsWith('}'));
  expect(connection.received).toContain(JSON.stringify(content));
  await until(async () => (await ask()).status === 200);
  connection.socket.destroy();
});
