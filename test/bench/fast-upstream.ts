/** An upstream of canned bytes, cheap enough to measure what stands in front of it. */

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { type Canned, cannedAnswers } from './canned.ts';
import { createMessageReader } from './http-reader.ts';

export interface FastUpstreamSettings {
  /** 0, the default, takes any free port. */
  port?: number;
  host?: string;
  /** Pieces of text in an answer. */
  pieces?: number;
  /**
   * Milliseconds between two pieces of a stream, whose streams take their turns spread over that time, as those of people who
   * know nothing of each other do; 0 sends the whole stream in one write.
   */
  intervalMs?: number;
  /** One piece of every stream in each turn of the event loop: as fast as can be, but piece by piece as vendors send. */
  everyTurn?: boolean;
  /** Streams begin and then stay open in silence until the client leaves: for counting what an idle stream costs. */
  idle?: boolean;
}

export interface FastUpstream {
  url: string;
  port: number;
  stats(): { requests: number; openStreams: number; abortedStreams: number };
  close(): Promise<void>;
}

interface Stream {
  socket: Socket;
  canned: Canned;
  left: number;
  done: () => void;
}

const STREAM_FLAG = /"stream"\s*:\s*true/;

/** The flag stands near either end of any body that clients write; searching all of it would be the slowest part. */
const SCANNED_BYTES = 4_096;

function wantsStream(body: readonly Buffer[]): boolean {
  const first = body[0]?.toString('latin1', 0, SCANNED_BYTES) ?? '';
  const last = body.at(-1);
  return (
    STREAM_FLAG.test(first) ||
    STREAM_FLAG.test(last?.toString('latin1', Math.max(0, last.length - SCANNED_BYTES)) ?? '')
  );
}

/**
 * An upstream that costs next to nothing, so that a benchmark measures what stands in front of it: canned bytes on
 * raw sockets, no HTTP library, no parsing of the body beyond a look for `"stream": true`. It answers to any path:
 * messages when the path ends in `/messages`, else chat completions. Run it as a process of its own.
 */
export async function startFastUpstream(settings: FastUpstreamSettings = {}): Promise<FastUpstream> {
  const { port = 0, host = '127.0.0.1', pieces = 100, intervalMs = 0, everyTurn = false, idle = false } = settings;
  const answers = cannedAnswers(pieces);
  const joined = new Map(
    Object.values(answers).map((canned) => {
      const text = Array.from({ length: pieces }, () => canned.piece);
      return [canned, Buffer.concat([canned.streamHead, canned.opening, ...text, canned.closing])] as const;
    }),
  );
  const stats = { requests: 0, openStreams: 0, abortedStreams: 0 };
  /** A set for each millisecond of the interval, which the streams join in turn. */
  const turns = Array.from({ length: Math.max(1, intervalMs) }, () => new Set<Stream>());
  let begun = 0;
  const sockets = new Set<Socket>();

  const pulse = (streams: Set<Stream>): void => {
    for (const stream of streams) {
      if (stream.left > 0) {
        stream.left -= 1;
        stream.socket.write(stream.canned.piece);
      } else {
        stream.socket.write(stream.canned.closing);
        stream.done();
      }
    }
  };
  const [everyone = new Set<Stream>()] = turns;
  // One timer for all streams: a thousand timers would be a load of their own. It follows the clock, because timers are late.
  let passed = 0;
  const startedAt = performance.now();
  const tick = (): void => {
    for (const until = performance.now() - startedAt; passed < until; passed += 1)
      pulse(turns[passed % turns.length] ?? everyone);
  };
  const timer = intervalMs > 0 ? setInterval(tick, 1) : null;
  let turning = false;
  const turn = (): void => {
    pulse(everyone);
    turning = everyone.size > 0;
    if (turning) setImmediate(turn);
  };

  const startStream = (socket: Socket, canned: Canned): void => {
    const all = joined.get(canned);
    if (!idle && timer === null && !everyTurn && all !== undefined) {
      socket.write(all);
      return;
    }
    stats.openStreams += 1;
    begun += 1;
    const streams = turns[begun % turns.length] ?? everyone;
    let open = true;
    const finish = (aborted: boolean): void => {
      if (!open) return;
      open = false;
      stats.openStreams -= 1;
      stats.abortedStreams += aborted ? 1 : 0;
      streams.delete(stream);
      socket.off('close', onClose);
    };
    const onClose = (): void => finish(true);
    const stream: Stream = { socket, canned, left: pieces, done: () => finish(false) };
    socket.on('close', onClose);
    socket.write(Buffer.concat([canned.streamHead, canned.opening, canned.piece]));
    stream.left -= 1;
    if (!idle) streams.add(stream);
    if (everyTurn && !turning) {
      turning = true;
      setImmediate(turn);
    }
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let canned = answers.messages;
    let body: Buffer[] = [];
    const reader = createMessageReader({
      onHead(head) {
        const path = head.slice(0, head.indexOf('\r\n')).split(' ', 2)[1] ?? '';
        canned = /\/messages(\?|$)/.test(path) ? answers.messages : answers['chat-completions'];
        body = [];
      },
      onBody: (bytes) => {
        body.push(bytes);
      },
      onEnd() {
        stats.requests += 1;
        if (wantsStream(body)) startStream(socket, canned);
        else socket.write(canned.whole);
      },
    });
    socket.on('data', (bytes) => reader.push(bytes));
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, 4_096, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${host}:${bound}`,
    port: bound,
    stats: () => ({ ...stats }),
    close: () =>
      new Promise((resolve) => {
        if (timer !== null) clearInterval(timer);
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      pieces: { type: 'string', default: '100' },
      'interval-ms': { type: 'string', default: '0' },
      'every-turn': { type: 'boolean', default: false },
      idle: { type: 'boolean', default: false },
    },
  });
  const upstream = await startFastUpstream({
    port: Number(values.port),
    pieces: Number(values.pieces),
    intervalMs: Number(values['interval-ms']),
    everyTurn: values['every-turn'],
    idle: values.idle,
  });
  // Tells the parent process that the server is ready, and its address.
  console.log(JSON.stringify({ url: upstream.url, port: upstream.port }));
}
