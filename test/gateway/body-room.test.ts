import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBodyRoom } from '../../server/gateway/body-room.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, rawConnection, send } from './support.ts';

/** Bodies that are never completed must not fill the memory that everybody's requests live in. */

describe('the room for bodies', () => {
  const mb = 1_048_576;

  it('is bounded for an account, and given back', () => {
    const room = createBodyRoom({ perAccountBytes: 10 * mb, totalBytes: 100 * mb });
    expect(room.take('a', 6 * mb)).toBeNull();
    expect(room.take('a', 5 * mb)).toBe('account');
    expect(room.take('b', 5 * mb)).toBeNull();
    room.give('a', 6 * mb);
    expect(room.take('a', 10 * mb)).toBeNull();
  });

  it('is bounded for all of them, but large bodies keep no small one out', () => {
    const room = createBodyRoom({ perAccountBytes: 10 * mb, totalBytes: 15 * mb });
    expect(room.take('a', 10 * mb)).toBeNull();
    expect(room.take('b', 6 * mb)).toBe('server');
    expect(room.take('b', 5 * mb)).toBeNull();
    expect(room.take('c', 2 * mb)).toBe('server');
    expect(room.take('c', mb)).toBeNull();
    room.give('a', 10 * mb);
    expect(room.take('c', 2 * mb)).toBeNull();
  });
});

describe('bodies on their way in', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ catalog: nativeCatalog() });
  });
  afterAll(() => app.close());

  const head = (secret: string, length: string): string =>
    ['POST /api/v1/chat/completions HTTP/1.1', 'host: x', `authorization: Bearer ${secret}`]
      .concat('content-type: application/json', length, '', '')
      .join('\r\n');

  it('that are announced count before they come: the fifth of the largest is refused, and nobody else', async () => {
    const [greedy, other] = [await app.customer({ usd: '0' }), await app.customer()];
    const open = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const connection = await rawConnection(app);
        connection.write(head(greedy.secret, `content-length: ${32 * 1_048_576}`));
        // What a server has begun to read it has counted; the probe behind it on the connection is never reached.
        connection.write('{');
        return connection;
      }),
    );
    await expect.poll(async () => (await send(app, protocols.chat, { secret: greedy.secret })).status).toBe(429);
    expect((await send(app, protocols.chat, { secret: other.secret })).status).toBe(200);
    for (const { socket } of open) socket.destroy();
    // Room that is given back is there again: now it is the budget that refuses.
    await expect.poll(async () => (await send(app, protocols.chat, { secret: greedy.secret })).status).toBe(402);
  });

  it('in chunks count as they come', async () => {
    const greedy = await app.customer({ usd: '0' });
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1_048_576, ' '), Buffer.from('\r\n')]);
    const open = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const connection = await rawConnection(app);
        connection.write(head(greedy.secret, 'transfer-encoding: chunked'));
        for (let i = 0; i < 30; i += 1) connection.write(chunk);
        return connection;
      }),
    );
    const first = Promise.race(open.map((connection) => connection.until(/^HTTP/)));
    expect(await first).toMatch(/^HTTP\/1\.1 429 /);
    for (const { socket } of open) socket.destroy();
  });

  it('in chunks arrive whole', async () => {
    const customer = await app.customer();
    const connection = await rawConnection(app);
    const body = JSON.stringify(protocols.chat.body('ping', { model: 'only-chat' }));
    connection.write(head(customer.secret, 'transfer-encoding: chunked'));
    for (const byte of body) connection.write(`1\r\n${byte}\r\n`);
    connection.write('0\r\n\r\n');
    expect(await connection.until(/\r\n\r\n./s)).toMatch(/^HTTP\/1\.1 200 /);
    connection.socket.destroy();
  });
});
