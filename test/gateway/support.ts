import { connect, type Socket } from 'node:net';
import type { Customer, TestApp } from '../support/app.ts';

/** The three protocols with what a bare request to each needs, and where their answers say things. */
export interface ProtocolCase {
  protocol: 'messages' | 'chat-completions' | 'responses';
  path: string;
  headers: Record<string, string>;
  /** A model of `nativeCatalog` that has one route, of this protocol: it is never ejected, however often it fails. */
  only: string;
  body(text: string, more?: Record<string, unknown>): Record<string, unknown>;
  /** Name of the member that caps the output. */
  cap: string;
  text(answer: unknown): unknown;
  terminator: string;
}

/** Every model of the gateway's tests is called so; the first start seeds it. */
export const model = 'sim-medium';

const messages: ProtocolCase = {
  protocol: 'messages',
  only: 'only-messages',
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body: (text, more = {}) => ({ model, max_tokens: 1_000, messages: [{ role: 'user', content: text }], ...more }),
  cap: 'max_tokens',
  text: (answer) => (answer as { content: { text: string }[] }).content[0]?.text,
  terminator: 'event: message_stop',
};
const chat: ProtocolCase = {
  protocol: 'chat-completions',
  only: 'only-chat',
  path: '/v1/chat/completions',
  headers: {},
  body: (text, more = {}) => ({ model, messages: [{ role: 'user', content: text }], ...more }),
  cap: 'max_completion_tokens',
  text: (answer) => (answer as { choices: { message: { content: string } }[] }).choices[0]?.message.content,
  terminator: 'data: [DONE]',
};
const responses: ProtocolCase = {
  protocol: 'responses',
  only: 'only-responses',
  path: '/v1/responses',
  headers: {},
  body: (text, more = {}) => ({ model, input: text, ...more }),
  cap: 'max_output_tokens',
  text: (answer) => (answer as { output: { content: { text: string }[] }[] }).output[0]?.content[0]?.text,
  terminator: 'event: response.completed',
};
export const protocols = { messages, chat, responses };
export const everyProtocol: ProtocolCase[] = [messages, chat, responses];

export interface NativeCatalog {
  /** What the upstreams call the model. */
  vendorModel?: string;
  apiKey?: string;
  onDisconnect?: 'abort' | 'drain';
  /** Further members of the model's entry, as YAML. */
  more?: string;
  prices?: string;
  /** What translation may use at the upstreams, as YAML. */
  features?: string;
}

/** A catalog file with an upstream for each protocol: a model that all three have, and one that only each of them has. */
export function nativeCatalog(options: NativeCatalog = {}): (simulatorUrl: string) => string {
  const { vendorModel = model, apiKey, onDisconnect = 'abort', more = '', features = '' } = options;
  const prices = options.prices ?? '{ input: "1", cacheHit: "0.1", output: "5" }';
  const key = apiKey === undefined ? '' : `, apiKey: ${apiKey}`;
  const upstream = (id: string, protocol: string, baseUrl: string, own: readonly string[] = []): string =>
    `  - { id: ${id}, protocol: ${protocol}, baseUrl: "${baseUrl}", onDisconnect: ${onDisconnect}${key}, features: { ${[...own, features].filter(Boolean).join(', ')} } }`;
  const entry = (id: string, upstreams: readonly string[], own = more): string[] => [
    `  - id: ${id}`,
    `    displayName: ${id}`,
    '    family: tests',
    '    contextWindow: 200000',
    '    maxOutputTokens: 32000',
    `    prices: ${prices}`,
    own,
    '    routes:',
    ...upstreams.map((upstreamId) => `      - { upstream: ${upstreamId}, model: ${vendorModel} }`),
  ];
  return (simulatorUrl) =>
    [
      'upstreams:',
      upstream('by-messages', 'messages', simulatorUrl),
      upstream('by-chat', 'chat-completions', `${simulatorUrl}/v1`),
      upstream('by-responses', 'responses', `${simulatorUrl}/v1`),
      upstream('by-keeping-chat', 'chat-completions', `${simulatorUrl}/v1`, ['store: true']),
      'models:',
      ...entry(model, ['by-messages', 'by-chat', 'by-responses']),
      ...entry('only-messages', ['by-messages']),
      ...entry('only-chat', ['by-chat']),
      ...entry('only-responses', ['by-responses']),
      // A million tokens at the catalog's price, and a beta that the operator has opened.
      ...entry('long-messages', ['by-messages']).map((line) => line.replace('200000', '1000000')),
      ...entry('opened-messages', ['by-messages'], '    allow: [context-1m-2025-08-07]'),
      // Its vendor stores what passes unless it is told not to.
      ...entry('kept-chat', ['by-keeping-chat']),
    ].join('\n');
}

export interface Sending {
  /** Whose key; null sends no credential. */
  secret: string | null;
  headers?: Record<string, string>;
  /** The body as it is, instead of the protocol's own. */
  raw?: string | Uint8Array<ArrayBuffer>;
  text?: string;
  more?: Record<string, unknown>;
  signal?: AbortSignal;
}

/** Sends one request; the caller reads the answer. */
export function send(app: Pick<TestApp, 'baseUrl'>, to: ProtocolCase, sending: Sending): Promise<Response> {
  const { secret, headers = {}, raw, text = 'ping', more, signal } = sending;
  return fetch(app.baseUrl + to.path, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...to.headers,
      ...headers,
    },
    body: raw ?? JSON.stringify(to.body(text, more)),
    ...(signal === undefined ? {} : { signal }),
  });
}

export function get(app: TestApp, path: string, secret: string | null): Promise<Response> {
  return fetch(app.baseUrl + path, { headers: secret === null ? {} : { authorization: `Bearer ${secret}` } });
}

export interface ErrorBody {
  type?: string;
  error: Record<string, unknown> & { type: string; message: string; param?: string | null; code?: string | null };
  request_id?: string;
}

/** An error answer, checked for what every error answer has: the protocol's envelope and both request ids. */
export async function errorOf(response: Response, protocol: ProtocolCase['protocol']): Promise<ErrorBody['error']> {
  const body = (await response.json()) as ErrorBody;
  const id = response.headers.get('request-id');
  if (id === null || id !== response.headers.get('x-request-id')) throw new Error('the request ids are missing');
  if (!/^application\/json\b/.test(response.headers.get('content-type') ?? '')) throw new Error('not called JSON');
  if (typeof body.error.message !== 'string' || typeof body.error.type !== 'string') throw new Error('no envelope');
  if (protocol === 'messages') {
    if (body.type !== 'error' || body.request_id !== id) throw new Error('not the envelope of messages');
  } else if (!('param' in body.error && 'code' in body.error)) throw new Error('not the envelope of chat completions');
  return body.error;
}

/** One event of a stream: its name and its data as JSON, or as text where it is none. */
export interface SseEvent {
  event: string | null;
  data: unknown;
}

export function parseEvents(text: string): SseEvent[] {
  return text
    .split('\n\n')
    .filter((block) => /^data:/m.test(block))
    .map((block) => {
      const lines = block.split('\n');
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
      const event =
        lines
          .find((line) => line.startsWith('event:'))
          ?.slice(6)
          .trim() ?? null;
      const joined = data.join('\n');
      return { event, data: joined === '[DONE]' ? joined : JSON.parse(joined) };
    });
}

/** Reads a stream piece by piece. */
export function reader(response: Response) {
  const source = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let seen = '';
  return {
    get seen() {
      return seen;
    },
    /** Reads until the text that came so far matches. Fails when the stream ends first. */
    async until(pattern: RegExp): Promise<string> {
      while (!pattern.test(seen)) {
        const { done, value } = await source.read();
        if (done) throw new Error(`the stream ended before ${pattern}`);
        seen += decoder.decode(value, { stream: true });
      }
      return seen;
    },
    /** Reads to the end, whichever way it ends. */
    async rest(): Promise<{ text: string; ended: 'whole' | 'broken' }> {
      try {
        for (;;) {
          const { done, value } = await source.read();
          if (done) return { text: seen, ended: 'whole' };
          seen += decoder.decode(value, { stream: true });
        }
      } catch {
        return { text: seen, ended: 'broken' };
      }
    },
    cancel: () => source.cancel().catch(() => undefined),
  };
}

/** Waits until something is so: a fact that another part of the program brings about in its own time. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The account's ledger entries, once nothing of it is running. */
export async function settled(app: TestApp, customer: Customer): Promise<Record<string, unknown>[]> {
  await app.quiet(customer.accountId);
  return app.ledger(customer.accountId);
}

/** What the client was really sent, byte for byte, over a socket of its own. */
export interface RawConnection {
  socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Everything received so far. */
  readonly received: string;
  until(pattern: RegExp): Promise<string>;
  /** Resolves when the other side has closed. */
  closed: Promise<void>;
}

export async function rawConnection(app: { url: string }): Promise<RawConnection> {
  const { hostname, port } = new URL(app.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let received = '';
  let isClosed = false;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
  });
  const closed = new Promise<void>((resolve) => {
    const close = (): void => {
      isClosed = true;
      socket.destroy();
      resolve();
    };
    socket.on('end', close);
    socket.on('close', close);
    // A reset is how some of these connections end.
    socket.on('error', () => undefined);
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    get received() {
      return received;
    },
    async until(pattern) {
      await until(() => pattern.test(received) || isClosed);
      if (!pattern.test(received)) throw new Error(`closed before ${pattern}: ${received.slice(0, 300)}`);
      return received;
    },
    closed,
  };
}

/** Sends bytes as they are and reads until the server closes. */
export async function rawExchange(app: { url: string }, bytes: string | Uint8Array): Promise<string> {
  const connection = await rawConnection(app);
  connection.write(bytes);
  await connection.closed;
  return connection.received;
}

/** The answers of a raw exchange: status, headers and body of each. */
export function parseAnswers(received: string): { status: number; headers: Map<string, string>; body: string }[] {
  const answers = [];
  for (let rest = received; rest.startsWith('HTTP/1.1 '); ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) break;
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n');
    const headers = new Map(
      fields.map((field) => [
        field.slice(0, field.indexOf(':')).toLowerCase(),
        field.slice(field.indexOf(':') + 1).trim(),
      ]),
    );
    const status = Number(line.split(' ')[1]);
    const length = Number(headers.get('content-length') ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    answers.push({ status, headers, body });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}
