import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readIncomingBody } from '../../server/gateway/entrance/incoming-body.ts';
import { createRequestBytes } from '../../server/gateway/entrance/request-bytes.ts';
import { freeBytes } from '../../server/gateway/load/free-bytes.ts';
import { createLoopBudget } from '../../server/gateway/load/loop-budget.ts';
import { type DispatchRequest, dispatch, type Receiver } from '../../server/gateway/upstream/upstream-call.ts';

/** Contexts are large and streams are long: what was sent is not kept until the answer is over. */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Answers with a stream that begins when the whole body has come, and never ends. */
let upstream: Server;
const bodies: string[] = [];
const sockets = new Set<Socket>();
let agent: Agent;

beforeAll(async () => {
  upstream = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      const [head = '', body] = text.split('\r\n\r\n', 2);
      if (body === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1])) return;
      bodies.push(body);
      text = '';
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n');
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  agent = new Agent();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await agent.destroy();
  upstream.close();
});

const tooSlow = () => new Error('too slow');

function requestOf(body: Uint8Array): DispatchRequest {
  return {
    dispatcher: agent,
    origin: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    path: '/',
    headers: { 'content-type': 'application/json' },
    body: createRequestBytes(Buffer.alloc(0)).lend({ body }),
    headersTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
  };
}

/** Sends a body; resolves when the answer has begun. */
async function begin(request: DispatchRequest) {
  const begun = Promise.withResolvers<void>();
  const receiver: Receiver = {
    head: () => 'pieces',
    piece() {
      begun.resolve();
      return true;
    },
    collected: () => true,
    end: () => begun.reject(new Error('the answer ended')),
    fault: (fault) => begun.reject(new Error(fault)),
  };
  const exchange = dispatch(request, receiver);
  await begun.promise;
  return exchange;
}

describe('the body of a request', () => {
  it.each([1_000, 100_000, 3_000_000])('of %i bytes arrives as it is', async (bytes) => {
    const body = Buffer.alloc(bytes, 'abcdefg');
    const exchange = await begin(requestOf(body));
    expect(exchange.sent).toBe(true);
    expect(bodies.at(-1) === body.toString('latin1')).toBe(true);
    exchange.abort();
  });

  it.each([null, 300_001])('is read as it came, its length announced as %s', async (announcedBytes) => {
    const bytes = Buffer.from(Array.from({ length: 300_001 }, (_, index) => index % 251));
    // Memory of their own, as what is read from a connection has.
    const piece = (index: number) => new Uint8Array(bytes.subarray(index * 10_000, (index + 1) * 10_000)).buffer;
    const pieces = Array.from({ length: 31 }, (_, index) => Buffer.from(piece(index)));
    const payload = Readable.from(pieces, { objectMode: false });
    const body = await readIncomingBody({
      payload,
      announcedBytes,
      takeRoom: () => null,
      tooSlow,
      budget: createLoopBudget(),
    });
    expect(body.equals(bytes)).toBe(true);
    expect(body.buffer.byteLength).toBe(bytes.length);
    expect(pieces.filter(({ length }) => length === 0)).toHaveLength(30);
  });

  it('counts as taken only when nothing of it waits for the upstream', async () => {
    const connected = Promise.withResolvers<Socket>();
    let received = 0;
    const slow = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', (bytes: Buffer) => {
        // Less the head, which has to be there whole before the body is counted.
        received = bytes.length - bytes.indexOf('\r\n\r\n') - 4;
        connected.resolve(socket.pause());
      });
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    // More than the system keeps for a connection.
    const origin = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const bytes = Buffer.alloc(64 * 1_048_576, 'x');
    let taken = false;
    const body = {
      bytes,
      taken() {
        taken = true;
      },
    };
    const request = { ...requestOf(bytes), origin, body };
    const ended = Promise.withResolvers<void>();
    const exchange = dispatch(request, {
      head: () => 1_000,
      piece: () => true,
      collected: () => true,
      end: () => ended.resolve(),
      fault: (fault) => ended.reject(new Error(fault)),
    });
    const socket = await connected.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect([exchange.sent, taken]).toEqual([false, false]);

    socket.on('data', (piece: Buffer) => {
      received += piece.length;
      if (received >= bytes.length) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    socket.resume();
    await ended.promise;
    expect([exchange.sent, taken]).toEqual([true, true]);
    slow.close();
  });

  it('gives back memory of its own, and none that it shares', () => {
    const [own, pool] = [Buffer.alloc(100_000, 'x'), new ArrayBuffer(100_000)];
    const shared = Buffer.from(pool, 0, 50_000).fill('y');
    for (const bytes of [own, own, shared, new Uint8Array(0)]) freeBytes(bytes);
    expect([own.length, shared.length, pool.byteLength]).toEqual([0, 50_000, 100_000]);
  });

  it('is released when it was sent, while the answer goes on', async () => {
    const holder: { body: Uint8Array } = { body: Buffer.alloc(1_000_000, 'x') };
    const owner = createRequestBytes(Buffer.alloc(0));
    const request = { ...requestOf(Buffer.alloc(0)), body: owner.lend(holder) };
    const body = new WeakRef(holder.body);
    const exchange = await begin(request);
    owner.release();
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(body.deref()?.length ?? 0).toBe(0);
    exchange.abort();
  });

  it('is given back by its owner only when no try still reads it', () => {
    for (const isTaken of [true, false]) {
      const raw = Buffer.alloc(100_000, 'x');
      const own = Buffer.alloc(100_000, 'y');
      let freed = 0;
      const owner = createRequestBytes(raw, () => {
        freed += 1;
      });
      // Natively a try may send the very bytes that came.
      const [first, second] = [{ body: raw as Uint8Array }, { body: own as Uint8Array }];
      const [firstLent, secondLent] = [owner.lend(first), owner.lend(second)];
      expect([firstLent.bytes, secondLent.bytes, owner.raw]).toEqual([raw, own, raw]);
      firstLent.taken();
      firstLent.taken();
      if (isTaken) secondLent.taken();
      owner.release();
      expect([raw.length, own.length]).toEqual(isTaken ? [0, 0] : [100_000, 100_000]);
      expect([owner.raw, first.body, second.body].map(({ length }) => length)).toEqual([0, 0, 0]);
      // The room of the body is returned when the memory is, not only at the end of the answer.
      expect(freed).toBe(isTaken ? 1 : 0);
      secondLent.taken();
      expect(freed).toBe(1);
    }
  });
});
