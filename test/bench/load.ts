/** A closed-loop load generator on raw sockets. */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { createMessageReader, requestBytes } from './http-reader.ts';

export interface LoadSettings {
  /** Origin, e.g. `http://127.0.0.1:8787`. */
  url: string;
  path: string;
  headers?: Record<string, string>;
  /** API keys to take turns with, one request each: many accounts at once. */
  keys?: readonly string[];
  body: string | Buffer;
  /** Connections, each with one request in flight: a closed loop. */
  connections: number;
  durationMs: number;
  /** Not measured; warms connections, caches and the compiler. */
  warmupMs?: number;
}

export interface Percentiles {
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
}

export interface LoadResult {
  /** Answered with 2xx and to the last byte. */
  requests: number;
  /** Connections that broke and answers that were cut short or had another status. */
  errors: number;
  /** How often each status came. */
  statuses: Record<string, number>;
  seconds: number;
  requestsPerSecond: number;
  /** Request sent to last byte, milliseconds. */
  latencyMs: Percentiles;
  /** Request sent to first byte of the body, milliseconds. */
  firstByteMs: Percentiles;
  /** Events of event streams: empty lines in bodies. 0 for plain answers. */
  events: number;
  eventsPerSecond: number;
  /** Bytes of bodies. */
  bytes: number;
}

const NANOSECONDS_PER_MS = 1_000_000;
const LINE_FEED = 10;

function bytesOf({ url, path, headers = {}, body }: Pick<LoadSettings, 'url' | 'path' | 'headers' | 'body'>): Buffer {
  return requestBytes(url, path, headers, Buffer.from(body));
}

/** Counts empty lines, also where two chunks meet. */
function createEventCounter(): (bytes: Buffer) => number {
  let endedInLineFeed = false;
  return (bytes) => {
    let count = endedInLineFeed && bytes[0] === LINE_FEED ? 1 : 0;
    for (let at = bytes.indexOf('\n\n'); at >= 0; at = bytes.indexOf('\n\n', at + 2)) count += 1;
    endedInLineFeed = bytes.at(-1) === LINE_FEED && !(bytes.length > 1 && bytes.at(-2) === LINE_FEED);
    return count;
  };
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('error', () => {});
  return socket;
}

function ms(nanoseconds: number): number {
  return Math.round(nanoseconds / 10_000) / 100;
}

function percentiles(histogram: RecordableHistogram): Percentiles {
  if (histogram.count === 0) return { p50: 0, p90: 0, p95: 0, p99: 0, max: 0 };
  return {
    p50: ms(histogram.percentile(50)),
    p90: ms(histogram.percentile(90)),
    p95: ms(histogram.percentile(95)),
    p99: ms(histogram.percentile(99)),
    max: ms(histogram.max),
  };
}

/** Everything counted while measuring; the connections share one. */
function createTally() {
  return {
    measuring: false,
    requests: 0,
    errors: 0,
    events: 0,
    bytes: 0,
    statuses: new Map<string, number>(),
    latency: createHistogram(),
    firstByte: createHistogram(),
  };
}

type Tally = ReturnType<typeof createTally>;

interface Run {
  url: string;
  next: () => Buffer;
  tally: Tally;
  running: () => boolean;
  onClosed: () => void;
}

/** One connection that sends the next request after each answer, and is replaced when it breaks. */
function drive(run: Run): Socket {
  const { tally } = run;
  const socket = open(run.url);
  let sentAt = 0;
  let status = '';
  let began = false;
  const countEvents = createEventCounter();
  const elapsed = (): number => Math.max(1, Math.round((performance.now() - sentAt) * NANOSECONDS_PER_MS));
  const ask = (): void => {
    began = false;
    sentAt = performance.now();
    socket.write(run.next());
  };
  const reader = createMessageReader({
    onHead(head) {
      status = head.slice(9, 12);
    },
    onBody(bytes) {
      if (!tally.measuring) return;
      if (!began) tally.firstByte.record(elapsed());
      began = true;
      tally.bytes += bytes.length;
      tally.events += countEvents(bytes);
    },
    onEnd() {
      if (tally.measuring) {
        tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
        tally.latency.record(elapsed());
        if (status.startsWith('2')) tally.requests += 1;
        else tally.errors += 1;
      }
      if (run.running()) ask();
      else socket.destroy();
    },
  });
  socket.on('connect', ask);
  socket.on('data', (bytes) => reader.push(bytes));
  socket.on('close', () => {
    // Requests in flight at the end of the time do not count.
    if (run.running() && tally.measuring) tally.errors += 1;
    run.onClosed();
  });
  return socket;
}

/**
 * Keeps `connections` requests in flight for `durationMs` and reports how they fared. Raw sockets and one shared
 * request buffer: the generator must need far less of the machine than what it measures. Streams are counted as
 * requests and as events.
 */
export async function runLoad(settings: LoadSettings): Promise<LoadResult> {
  const { url, connections, durationMs, warmupMs = 0 } = settings;
  const tally = createTally();
  const requests =
    settings.keys === undefined
      ? [bytesOf(settings)]
      : settings.keys.map((key) =>
          bytesOf({ ...settings, headers: { ...settings.headers, authorization: `Bearer ${key}` } }),
        );
  let turn = 0;
  const next = (): Buffer => {
    turn = (turn + 1) % requests.length;
    return requests[turn] as Buffer;
  };
  const sockets = new Set<Socket>();
  let on = true;
  const start = (): void => {
    const socket = drive({
      url,
      next,
      tally,
      running: () => on,
      onClosed() {
        sockets.delete(socket);
        // A server that refuses every connection must not be hammered without end.
        if (on) setTimeout(() => on && start(), 10);
      },
    });
    sockets.add(socket);
  };
  for (let index = 0; index < connections; index += 1) start();
  await new Promise((resolve) => setTimeout(resolve, warmupMs));
  tally.measuring = true;
  const startedAt = performance.now();
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  const seconds = (performance.now() - startedAt) / 1_000;
  tally.measuring = false;
  on = false;
  for (const socket of sockets) socket.destroy();
  return {
    requests: tally.requests,
    errors: tally.errors,
    statuses: Object.fromEntries(tally.statuses),
    seconds,
    requestsPerSecond: tally.requests / seconds,
    latencyMs: percentiles(tally.latency),
    firstByteMs: percentiles(tally.firstByte),
    events: tally.events,
    eventsPerSecond: tally.events / seconds,
    bytes: tally.bytes,
  };
}

export interface HeldStreams {
  /** Streams whose first event has come. */
  open: number;
  /** Streams that ended or broke before their time. */
  lost: number;
  release(): void;
}

/**
 * Opens `streams` streams and holds them, reading whatever comes: what the process in front costs meanwhile is the
 * caller's to measure. Resolves when every stream has begun or been lost.
 */
export async function holdStreams(
  settings: Pick<LoadSettings, 'url' | 'path' | 'headers' | 'body'> & { streams: number },
): Promise<HeldStreams> {
  const request = bytesOf(settings);
  const sockets: Socket[] = [];
  const held = { open: 0, lost: 0 };
  let released = false;
  await Promise.all(
    Array.from({ length: settings.streams }, () => {
      const socket = open(settings.url);
      sockets.push(socket);
      return new Promise<void>((resolve) => {
        let began = false;
        const reader = createMessageReader({
          onHead: () => {},
          onBody() {
            if (!began) held.open += 1;
            began = true;
            resolve();
          },
          onEnd: () => socket.destroy(),
        });
        socket.on('connect', () => socket.write(request));
        socket.on('data', (bytes) => reader.push(bytes));
        socket.on('close', () => {
          if (!released) {
            held.lost += 1;
            held.open -= began ? 1 : 0;
          }
          resolve();
        });
      });
    }),
  );
  return {
    get open() {
      return held.open;
    },
    get lost() {
      return held.lost;
    },
    release() {
      released = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

function defaultBody(stream: boolean): string {
  return JSON.stringify({ model: 'bench', max_tokens: 1_000, stream, messages: [{ role: 'user', content: 'ping' }] });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      path: { type: 'string', default: '/api/v1/chat/completions' },
      key: { type: 'string' },
      body: { type: 'string' },
      stream: { type: 'boolean', default: false },
      connections: { type: 'string', default: '50' },
      seconds: { type: 'string', default: '5' },
      'warmup-seconds': { type: 'string', default: '1' },
    },
  });
  if (values.url === undefined) throw new Error('--url http://host:port is required');
  const result = await runLoad({
    url: values.url,
    path: values.path,
    headers: {
      'anthropic-version': '2023-06-01',
      ...(values.key === undefined ? {} : { authorization: `Bearer ${values.key}` }),
    },
    body: values.body === undefined ? defaultBody(values.stream) : readFileSync(values.body),
    connections: Number(values.connections),
    durationMs: Number(values.seconds) * 1_000,
    warmupMs: Number(values['warmup-seconds']) * 1_000,
  });
  console.log(JSON.stringify(result, null, 2));
}
