import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type BodyFloor, readIncomingBody } from '../../server/gateway/entrance/incoming-body.ts';
import { createBodyRoom } from '../../server/gateway/load/body-room.ts';
import { createLoopBudget } from '../../server/gateway/load/loop-budget.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, rawConnection, send } from './support.ts';

/** Bodies that are never completed must not exhaust the memory of all requests. */

const turn = () => new Promise((resolve) => setImmediate(resolve));

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

  it('leaves the next account as much as each of those that take all they can get', () => {
    for (const greedy of [1, 4, 16, 60]) {
      const room = createBodyRoom();
      const taken = new Map<number, number>();
      let isFull = false;
      while (!isFull) {
        isFull = true;
        for (let account = 0; account < greedy; account += 1) {
          if (room.take(`greedy-${account}`, 65_536) !== null) continue;
          taken.set(account, (taken.get(account) ?? 0) + 65_536);
          isFull = false;
        }
      }
      let next = 0;
      while (room.take('next', 65_536) === null) next += 65_536;
      expect(next).toBeGreaterThan(Math.max(...taken.values()) / 2 - 131_072);
      expect(next).toBeGreaterThanOrEqual(4 * mb);
    }
  });
});

describe('the work of one turn of the event loop', () => {
  it('is bounded: a body pauses when the budget of the turn is used up, and goes on in a later one', async () => {
    const payload = new Readable({ read() {} });
    const reading = readIncomingBody({
      budget: createLoopBudget(100_000),
      payload,
      announcedBytes: 3_000_000,
      takeRoom: () => null,
      tooSlow: () => new Error('too slow'),
    });
    let pauses = 0;
    payload.on('pause', () => {
      pauses += 1;
    });
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_none, index) => index % 251));
    for (let at = 0; at < bytes.length; at += 50_000) payload.push(Buffer.from(bytes.subarray(at, at + 50_000)));
    payload.push(null);
    expect((await reading).equals(bytes)).toBe(true);
    expect(pauses).toBeGreaterThanOrEqual(3_000_000 / 150_000 - 1);
  });

  it('covers memory that is freed: the rest of it follows in later turns', async () => {
    const budget = createLoopBudget(100_000);
    const blocks = Array.from({ length: 32 }, () => Buffer.allocUnsafeSlow(100_000));
    const left = () => blocks.filter(({ length }) => length > 0).length;
    budget.freeLater(blocks);
    expect(left()).toBe(32);
    await turn();
    expect(left()).toBe(24);
    while (left() > 0) await turn();
  });
});

describe('a body that comes slowly', () => {
  const read = (payload: Readable, floor: BodyFloor) =>
    readIncomingBody({
      budget: createLoopBudget(),
      payload,
      announcedBytes: 1_000_000,
      takeRoom: () => null,
      tooSlow: () => new Error('too slow'),
      floor,
    });

  it('is ended when less than the floor comes in its time, and goes on as long as the floor comes', async () => {
    const slow = new Readable({ read() {} });
    const reading = read(slow, { bytes: 1_000, everyMs: 100 });
    slow.push(Buffer.alloc(999));
    await expect(reading).rejects.toThrow('too slow');

    // By a clock of the test's own: a machine that pauses would be too slow itself.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const steady = new Readable({ read() {} });
      const whole = read(steady, { bytes: 1, everyMs: 500 });
      for (let sent = 0; sent < 1_000_000; sent += 100_000) {
        steady.push(Buffer.alloc(100_000));
        await turn();
        await vi.advanceTimersByTimeAsync(450);
      }
      steady.push(null);
      expect((await whole).length).toBe(1_000_000);
    } finally {
      vi.useRealTimers();
    }
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

  it('count when they have arrived, not when they are announced: sockets that send one byte block no others', async () => {
    const poor = await Promise.all(Array.from({ length: 4 }, () => app.customer({ usd: '0' })));
    const other = await app.customer();
    const open = await Promise.all(
      Array.from({ length: 16 }, async (_none, index) => {
        const connection = await rawConnection(app);
        connection.write(head(poor[index % 4]?.secret ?? '', `content-length: ${32 * 1_048_576}`));
        connection.write('{');
        return connection;
      }),
    );
    const text = 'x'.repeat(1_200_000);
    expect((await send(app, protocols.chat, { secret: other.secret, text })).status).toBe(200);
    for (const customer of poor) {
      expect((await send(app, protocols.chat, { secret: customer.secret, text })).status).toBe(402);
    }
    for (const { socket } of open) socket.destroy();
  });

  it('that stop coming are ended with a 408', async () => {
    const customer = await app.customer();
    const connection = await rawConnection(app);
    connection.write(head(customer.secret, `content-length: ${32 * 1_048_576}`));
    connection.write('{');
    expect(await connection.until(/\r\n\r\n./s)).toMatch(/^HTTP\/1\.1 408 /);
    connection.socket.destroy();
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
