/** The simulator: a real HTTP upstream that speaks the three protocols. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type AnswerSettings, createAnswering } from './answering.ts';
import { type BatchPlay, createBatches, ofBatch } from './batches/batches.ts';
import { createOpenaiBatches } from './batches/openai-batches.ts';
import type { Chunking } from './delivery.ts';
import { type HttpExchange, openExchange } from './exchange.ts';
import { createPromptCache } from './prompt-cache.ts';
import { createRecorder, headerPairs, type RecordedRequest } from './recorder.ts';
import type { PlayedRoute } from './reply.ts';
import { readBody } from './request-body.ts';
import { createSignatures } from './signatures.ts';
import { createSockets, type SocketPlay } from './sockets.ts';
import type { SimulatedVendor } from './vendors/vendor.ts';
import { vendorNamed } from './vendors/vendors.ts';

export type { Chunking, RecordedRequest };

/** Settings of a simulator; the defaults suit a person who watches. */
export interface SimulatorSettings {
  /** 0, the default, takes any free port. */
  port?: number;
  /** Default: loopback, because the simulator is a tool for one's own machine. */
  host?: string;
  /** Keep the exact bytes of the last requests: true for the last 100, or a number of one's own. Off by default. */
  record?: boolean | number;
  /** The only credential accepted; without it any credential, or none, will do. */
  apiKey?: string;
  /** Whole number; the same seed gives the same ids, answers and splits to the same requests in the same order. */
  seed?: number;
  /** Generated tokens per second; `Infinity` for as fast as can be. */
  tokensPerSecond?: number;
  /** Wait before the first byte of an answer, in milliseconds. */
  firstTokenMs?: number;
  chunking?: Partial<Chunking>;
  /** Name of the reasoning member on chat completions: the vendors have two. */
  reasoningField?: 'reasoning_content' | 'reasoning';
  /** Refuse histories that the vendors refuse: unpaired calls and results, empty blocks, odd tool ids. */
  strict?: boolean;
  /**
   * Whether texts may script what a vendor alone should say: `raw`, `socket`, `headers`, `usage`, `model`. On by default; off
   * where strangers have keys.
   */
  raw?: boolean;
  /** Bodies beyond this are refused while they are still coming in. */
  maxBodyBytes?: number;
  /** Refuses upgrades to a WebSocket with this status. */
  refuseUpgrades?: number;
  /** Batches wait until `batches.run()`; otherwise each runs at once. */
  holdBatches?: boolean;
  /** Wall clock in milliseconds: cache lifetimes and `created` members. */
  now?: () => number;
}

/** Counters since the start. Requests of the simulator's own pages (`/__requests`, `/`) are not counted. */
export interface SimulatorStats {
  /** Requests that arrived. */
  requests: number;
  /** Of these, in progress now. */
  openRequests: number;
  /** Of these, streams whose headers are out. */
  openStreams: number;
  /** Events sent on all streams so far: the number stops growing when a client stops reading. */
  streamEvents: number;
  /** Answered to the last byte, errors included. */
  finishedRequests: number;
  /** The client disconnected before the answer was complete. */
  abortedRequests: number;
  /** Broken by the simulator because a script said so. */
  severedRequests: number;
  openConnections: number;
}

export interface Simulator {
  /** `http://host:port`: the base address of the messages protocol; the other two want `/v1` after it. */
  url: string;
  port: number;
  /** Recorded requests, oldest first; empty unless `record` is set. */
  requests(): RecordedRequest[];
  clearRequests(): void;
  stats(): SimulatorStats;
  /** The batches that it was sent. */
  batches: BatchPlay;
  /** The WebSockets of responses that are open. */
  sockets: Pick<SocketPlay, 'cut' | 'forget' | 'age' | 'continued' | 'open'>;
  /** Resolves as soon as no request is in progress. */
  idle(): Promise<void>;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** The listed models. It answers to any id, under that id. */
const SIMULATED_MODELS = ['sim-large', 'sim-medium', 'sim-small'] as const;

const DEFAULT_RECORDED = 100;
const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Of a batch: https://platform.claude.com/docs/en/build-with-claude/batch-processing#batch-limitations */
const MAX_BATCH_BYTES = 256 * 1024 * 1024;

const DIALECT_PATHS: Record<string, PlayedRoute> = {
  '/v1/messages': { protocol: 'messages', countOnly: false },
  '/v1/messages/count_tokens': { protocol: 'messages', countOnly: true },
  '/v1/chat/completions': { protocol: 'chat-completions', countOnly: false },
  '/v1/responses': { protocol: 'responses', countOnly: false },
  '/v1/embeddings': { protocol: 'chat-completions', countOnly: false, embeds: true },
  '/v1/images/generations': { protocol: 'chat-completions', countOnly: false, makes: 'generations' },
  '/v1/images/edits': { protocol: 'chat-completions', countOnly: false, makes: 'edits' },
};

/** A path that begins with `/as/NAME` is that vendor's. */
function vendorOf(path: string): { vendor: SimulatedVendor | null; rest: string } {
  const [, name, rest] = /^\/as\/([^/]+)(\/.*)$/.exec(path) ?? [];
  const vendor = name === undefined ? null : vendorNamed(name);
  return vendor === null || rest === undefined ? { vendor: null, rest: path } : { vendor, rest };
}

function answerSettings(settings: SimulatorSettings): AnswerSettings {
  const seed = settings.seed ?? 1;
  const now = settings.now ?? Date.now;
  return {
    apiKey: settings.apiKey ?? null,
    seed,
    tokensPerSecond: settings.tokensPerSecond ?? 200,
    firstTokenMs: settings.firstTokenMs ?? 50,
    chunking: { split: 'event', lineEnding: '\n', ...settings.chunking },
    reasoningField: settings.reasoningField ?? 'reasoning_content',
    strict: settings.strict ?? false,
    raw: settings.raw ?? true,
    now,
    models: SIMULATED_MODELS,
    cache: createPromptCache({ now }),
    signatures: createSignatures({ seed }),
  };
}

const loopback = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Counts requests, streams and connections. */
function createTraffic() {
  const counters = {
    requests: 0,
    openRequests: 0,
    openStreams: 0,
    streamEvents: 0,
    finished: 0,
    aborted: 0,
    severed: 0,
  };
  let connections = 0;
  let waitingForIdle: (() => void)[] = [];
  return {
    counters,
    open(request: IncomingMessage, response: ServerResponse): HttpExchange {
      counters.requests += 1;
      counters.openRequests += 1;
      return openExchange({
        request,
        response,
        onEnd(ending) {
          counters[ending] += 1;
          counters.openRequests -= 1;
          if (counters.openRequests > 0) return;
          for (const wake of waitingForIdle) wake();
          waitingForIdle = [];
        },
      });
    },
    streamOpened(response: ServerResponse): void {
      counters.openStreams += 1;
      response.once('close', () => {
        counters.openStreams -= 1;
      });
    },
    eventSent(): void {
      counters.streamEvents += 1;
    },
    connected(socket: Socket): void {
      connections += 1;
      socket.on('close', () => {
        connections -= 1;
      });
    },
    stats: (): SimulatorStats => ({
      requests: counters.requests,
      openRequests: counters.openRequests,
      openStreams: counters.openStreams,
      streamEvents: counters.streamEvents,
      finishedRequests: counters.finished,
      abortedRequests: counters.aborted,
      severedRequests: counters.severed,
      openConnections: connections,
    }),
    idle: (): Promise<void> =>
      counters.openRequests === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waitingForIdle.push(resolve);
          }),
  };
}

/**
 * Starts the simulator: a real HTTP upstream that speaks all three protocols and follows the directives of the newest
 * user text (README.md lists them). It shares no code with the gateway, so that one checks the other.
 */
export async function createSimulator(settings: SimulatorSettings = {}): Promise<Simulator> {
  const host = settings.host ?? '127.0.0.1';
  const recording = settings.record ?? false;
  const recorder = createRecorder({ limit: recording === true ? DEFAULT_RECORDED : Number(recording) });
  const answering = createAnswering(answerSettings(settings));
  const maxBodyBytes = settings.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const traffic = createTraffic();
  const batchSettings = {
    hold: settings.holdBatches ?? false,
    failsToDelete: false,
    apiKey: settings.apiKey ?? null,
    now: settings.now ?? Date.now,
    url: () => `http://${loopback(host)}:${(server.address() as AddressInfo).port}`,
  };
  const batchForms = [createBatches(batchSettings), createOpenaiBatches(batchSettings)];

  const model = async (exchange: HttpExchange, path: string): Promise<void> => {
    const { request } = exchange;
    const number = traffic.counters.requests;
    const batches = batchForms.find((form) => form.isOwn(path));
    const read = await readBody({ request, maxBytes: batches !== undefined ? MAX_BATCH_BYTES : maxBodyBytes });
    if (recording !== false && request.headers[ofBatch] === undefined) {
      recorder.add({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: headerPairs(request.rawHeaders),
        body: read.body,
        complete: read.kind === 'complete',
      });
    }
    if (exchange.gone || read.kind === 'left') return;
    if (batches !== undefined) return batches.answer(exchange, path, read);
    const { vendor, rest } = vendorOf(path);
    const route = DIALECT_PATHS[rest];
    await answering({
      exchange,
      path: rest,
      route: route !== undefined && (vendor?.protocols.includes(route.protocol) ?? true) ? route : null,
      vendor,
      read,
      number,
      onStream: () => traffic.streamOpened(exchange.response),
      onEvent: traffic.eventSent,
    });
  };

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/__requests' && recording !== false) {
      const requests = recorder.list().map(({ body, complete: _complete, ...request }) => ({
        ...request,
        bodyBase64: body.toString('base64'),
      }));
      return sendJson(response, 200, { requests });
    }
    if (path === '/') return sendJson(response, 200, { simulator: true, models: SIMULATED_MODELS });
    const exchange = traffic.open(request, response);
    model(exchange, path).catch((error: unknown) => {
      // A fault of the simulator itself must not pass for the vendor's: the connection ends without an answer.
      process.emitWarning(error instanceof Error ? error : String(error));
      exchange.sever('close');
    });
  });
  // Clients of a gateway wait ten minutes; the upstream must never time out first.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 75_000;
  server.on('connection', traffic.connected);
  const sockets = createSockets({
    refuseUpgrades: () => settings.refuseUpgrades ?? null,
    apiKey: settings.apiKey ?? null,
    port: () => (server.address() as AddressInfo).port,
    isOffered(path) {
      const { vendor, rest } = vendorOf(path);
      return rest === '/v1/responses' && (vendor?.protocols.includes('responses') ?? true);
    },
    record({ url, rawHeaders }, body) {
      if (recording === false) return;
      recorder.add({ method: 'WEBSOCKET', path: url ?? '', headers: headerPairs(rawHeaders), body, complete: true });
    },
  });
  server.on('upgrade', sockets.upgrade);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${loopback(host)}:${port}`,
    port,
    requests: () => recorder.list(),
    clearRequests: () => recorder.clear(),
    stats: traffic.stats,
    batches: {
      run: async () => void (await Promise.all(batchForms.map((form) => form.run()))),
      expire: () => batchForms.forEach((form) => form.expire()),
      set failsToDelete(is: boolean) {
        batchSettings.failsToDelete = is;
      },
      get names() {
        return batchForms.flatMap((form) => form.names);
      },
    },
    sockets,
    idle: traffic.idle,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        sockets.cut();
        server.closeAllConnections();
      }),
  };
}
