import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyProtocol } from '../gateway/support.ts';
import { catalogFile, errorIn, post } from '../resilience/support.ts';
import { attack, maxDelayMs, startTarget, type Target } from './support.ts';

/** Answers of upstreams that mean harm, or that a customer has scripted: nobody else waits for them. */

/** How long an upstream goes on without end, and how many bytes of it it sends at most. */
const floodMs = 2_000;
const floodBytes = 400 * 1_048_576;

const head = (more: string, status = '200 OK'): string => `HTTP/1.1 ${status}\r\nconnection: close\r\n${more}\r\n`;
const stream = head('content-type: text/event-stream\r\n');
const whole = head('content-type: application/json\r\n');

/** Sends a piece again and again, as fast as it is taken. */
async function flood(socket: Socket, piece: string | Buffer): Promise<void> {
  const until = performance.now() + floodMs;
  const block = Buffer.from(piece);
  let go = (): void => undefined;
  socket.on('drain', () => go());
  socket.on('close', () => go());
  for (let sent = 0; sent < floodBytes && performance.now() < until && !socket.destroyed; sent += block.length) {
    const isTaken = socket.write(block);
    if (!isTaken && !socket.destroyed)
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    await nextTurn();
  }
  socket.end();
}

const repeated = (text: string): string => text.repeat(Math.ceil(65_536 / text.length));
const openings: Record<string, string> = {
  messages: 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":1}}}\n\n',
  'chat-completions': 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n',
  responses:
    'event: response.created\ndata: {"type":"response.created","response":{"status":"in_progress","output":[]}}\n\n',
};
const endlessStream =
  (piece: string) =>
  async (socket: Socket, protocol: string): Promise<void> => {
    socket.write(stream + openings[protocol]);
    await flood(socket, repeated(piece));
  };
const megabytes = (count: number, text: string): string => text.repeat(Math.ceil((count * 1_048_576) / text.length));
const nested = (count: number): string => megabytes(count, '{"a":[1,{"b":[]}]},');

type Upstream = (socket: Socket, protocol: string) => Promise<void> | void;

const upstreams: Record<string, Upstream> = {
  'empty events': endlessStream('data:\n\n'),
  'events that are no JSON': endlessStream('data: x\n\n'),
  'events of broken JSON': endlessStream('data: {\n\n'),
  'events of lists': endlessStream('data: []\n\n'),
  'events without a meaning': endlessStream('data: {}\n\n'),
  'blank lines': endlessStream('\n'),
  comments: endlessStream(':\n\n'),
  'comments without an end': endlessStream(':\n'),
  pings: endlessStream('event: ping\ndata: {"type":"ping"}\n\n'),
  'lines of data without an end': endlessStream('data:\n'),
  'a stream that never begins': async (socket) => {
    socket.write(stream);
    await flood(socket, repeated(':\n\n'));
  },
  'chunks of a byte': async (socket, protocol) => {
    socket.write(head('content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n'));
    const opening = openings[protocol] ?? '';
    socket.write(`${opening.length.toString(16)}\r\n${opening}\r\n`);
    await flood(socket, repeated('1\r\n\n\r\n'));
  },
  'an event of 14 MB of data lines': (socket, protocol) => {
    socket.end(`${stream}${openings[protocol]}${megabytes(14, 'data:\n')}\n`);
  },
  'an event of 10 MB of values': (socket, protocol) => {
    socket.end(`${stream}${openings[protocol]}data: [${nested(10)}0]\n\n`);
  },
  'a whole answer of 7 MB of values': (socket) => {
    socket.end(`${whole}{"content":[],"choices":[],"output":[],"more":[${nested(7)}0]}`);
  },
  'a whole answer of 60 MB of values': (socket) => {
    socket.end(`${whole}{"content":[],"choices":[],"output":[],"more":[${nested(60)}0]}`);
  },
  'a whole answer of 60 MB of blocks': (socket) => {
    const blocks = megabytes(20, '{"type":"text","text":"a"},');
    socket.end(`${whole}{"content":[${blocks}0],"choices":[${blocks}0],"output":[${blocks}0]}`);
  },
  'an error of 1 MB of values': (socket) => {
    socket.end(
      `${head('content-type: application/json\r\n', '400 Bad Request')}{"error":{"message":[${nested(0.99)}0]}}`,
    );
  },
  'informational answers': (socket) => flood(socket, repeated('HTTP/1.1 103 Early Hints\r\n\r\n')),
  'headers of two bytes': (socket) => {
    socket.end(head('a:\r\n'.repeat(20_000)));
  },
  'an encoding': (socket) => {
    socket.write(head('content-type: text/event-stream\r\ncontent-encoding: gzip, gzip, gzip\r\n'));
    return flood(socket, Buffer.alloc(65_536));
  },
};

let target: Target;
let vendor: Server;

beforeAll(async () => {
  vendor = createServer((socket) => {
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (bytes) => {
      if (text === 'taken') return;
      text += bytes.toString('latin1');
      const [, protocol = '', name = ''] = /^POST \/(\S+?)\/(\S+?)\//.exec(text) ?? [];
      // The body is one small packet, with the head or right behind it.
      if (!text.trimEnd().endsWith('}')) return;
      text = 'taken';
      void upstreams[decodeURIComponent(name)]?.(socket, protocol);
    });
  });
  await new Promise<void>((resolve) => {
    vendor.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const kinds = Object.keys(upstreams).flatMap((name, index) =>
    everyProtocol.map(({ protocol }) => ({ id: `u${index}-${protocol}`, protocol, name })),
  );
  target = await startTarget({
    catalog: () =>
      catalogFile({
        upstreams: kinds.map(({ id, protocol, name }) => ({
          id,
          protocol,
          url: `${url}/${protocol}/${encodeURIComponent(name)}`,
        })),
        models: kinds.map(({ id }) => ({
          id,
          routes: [{ upstream: id }],
          prices: { input: '0.01', cacheHit: '0.001', output: '0.01' },
        })),
      }),
  });
});
afterAll(async () => {
  await target.close();
  vendor.close();
});

/** Clients of one protocol natively and translated from both others. */
const directions = everyProtocol.flatMap((client) =>
  everyProtocol.map(({ protocol: upstream }) => ({ client, upstream, name: `${client.protocol} on ${upstream}` })),
);

describe.each(Object.keys(upstreams).map((name, index) => ({ name, index })))('$name', ({ name, index }) => {
  const chosen =
    name.includes('answer') || name.includes('error')
      ? directions
      : directions.filter((_one, at) => [0, 4, 8, 1, 6].includes(at));
  it.each(chosen)('$name: nobody else waits', async ({ client, upstream, name: direction }) => {
    const customer = await target.customer();
    const isWhole = name.includes('answer of') || name.includes('error of');
    const report = await attack(
      target,
      `${name}, ${direction}`,
      async () => {
        const response = await post(
          target,
          customer.secret,
          { client, model: `u${index}-${upstream}`, stream: !isWhole },
          'ping',
        );
        let bytes = 0;
        let end = '';
        try {
          for await (const piece of response.body ?? []) {
            bytes += piece.length;
            end = (end + Buffer.from(piece).toString('latin1')).slice(-4_096);
          }
        } catch {
          end = 'broken off';
        }
        return { status: response.status, bytes, end };
      },
      { retries: 0, figures: ({ status, bytes }) => ({ status, 'MB out': bytes / 1e6 }) },
    );
    expect(report.worstDelayMs).toBeLessThanOrEqual(maxDelayMs);
    const { status, end } = report.result;
    // An upstream that goes on for ever ends with an error of ours, or as the one that it is.
    expect(status === 200 && !isWhole ? (errorIn(end)?.type ?? end.slice(-300)) : 'told').toMatch(/error|failed|told/);
  });
});
