/**
 * Turns of responses over a WebSocket, as the vendor takes them: https://developers.openai.com/api/docs/guides/websocket-mode. Each is
 * answered as it would be over HTTP, by a call of the simulator's own address, so that directives and refusals are the same.
 */

import type { IncomingMessage } from 'node:http';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ofBatch } from './batches/batches.ts';
import { arrayOf, isObject, jsonOrUndefined, type ParsedObject, wordOf } from './json.ts';

export interface SocketPlay {
  /** Takes an upgrade, or refuses it as the vendor would. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The vendor goes away: every connection is cut, in the middle of a turn or not. */
  cut(): void;
  /** Connections have become too old for the vendor: the next turn of each is refused. */
  age(): void;
  /** The vendor forgets what it keeps of connections. */
  forget(): void;
  /** Turns that went on from an earlier one of their connection. */
  readonly continued: number;
  readonly open: number;
}

export interface SocketSettings {
  /** A status refuses every upgrade with it. */
  refuseUpgrades: () => number | null;
  apiKey: string | null;
  port: () => number;
  /** The vendor at a path takes WebSockets there. */
  isOffered: (path: string) => boolean;
  /** A frame as it came. */
  record: (request: IncomingMessage, frame: Buffer) => void;
}

/** What the vendor keeps of a connection: its latest response. */
interface Latest {
  id: string;
  input: ParsedObject[];
}

const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const notOfEvents = ['type', 'generate', 'previous_response_id', 'stream_id', 'input'];

export function createSockets(settings: SocketSettings): SocketPlay {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES });
  const connections = new Set<Connection>();
  let continued = 0;

  const refusalOf = (request: IncomingMessage): number | null => {
    const refused = settings.refuseUpgrades();
    if (refused !== null) return refused;
    if (!settings.isOffered((request.url ?? '').split('?', 1)[0] ?? '')) return 404;
    const credential = /^bearer\s+(.*)$/i.exec(request.headers.authorization ?? '')?.[1];
    return settings.apiKey === null || credential === settings.apiKey ? null : 401;
  };

  return {
    upgrade(request, socket, head) {
      const refused = refusalOf(request);
      socket.on('error', () => undefined);
      if (refused !== null) {
        socket.end(`HTTP/1.1 ${refused} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
        return;
      }
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new Connection(webSocket, request, settings, () => (continued += 1));
        connections.add(connection);
        webSocket.once('close', () => connections.delete(connection));
      });
    },
    cut: () => connections.forEach(({ webSocket }) => webSocket.terminate()),
    forget: () => connections.forEach((connection) => (connection.latest = null)),
    age: () => connections.forEach((connection) => (connection.isOld = true)),
    get continued() {
      return continued;
    },
    get open() {
      return connections.size;
    },
  };
}

class Connection {
  readonly webSocket: WebSocket;
  isOld = false;
  private readonly upgrade: IncomingMessage;
  private readonly settings: SocketSettings;
  private readonly onContinued: () => void;
  latest: Latest | null = null;
  private turns: Promise<void> = Promise.resolve();

  constructor(webSocket: WebSocket, upgrade: IncomingMessage, settings: SocketSettings, onContinued: () => void) {
    this.webSocket = webSocket;
    this.upgrade = upgrade;
    this.settings = settings;
    this.onContinued = onContinued;
    webSocket.on('error', () => undefined);
    webSocket.on('message', (data: Buffer, isBinary) => {
      settings.record(upgrade, data);
      // One after the other.
      this.turns = this.turns.then(() => this.take(isBinary ? undefined : jsonOrUndefined(data.toString())));
    });
  }

  private send(frame: string): Promise<void> {
    if (this.webSocket.readyState !== this.webSocket.OPEN) return Promise.resolve();
    return new Promise((resolve) => this.webSocket.send(frame, () => resolve()));
  }

  private refuse(status: number, error: ParsedObject): Promise<void> {
    return this.send(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', ...error }, status }));
  }

  private async take(event: unknown): Promise<void> {
    if (!isObject(event) || event['type'] !== 'response.create')
      return this.refuse(400, { code: 'invalid_event', message: 'Unknown event.', param: 'type' });
    if (this.isOld) {
      const message =
        'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.';
      await this.refuse(400, { code: 'websocket_connection_limit_reached', message });
      return this.webSocket.close(1000);
    }
    // Members of HTTP alone are not used.
    for (const name of ['stream', 'stream_options', 'background']) {
      if (event[name] !== undefined)
        return this.refuse(400, { code: 'unknown_parameter', message: `Unknown parameter: '${name}'.`, param: name });
    }
    const earlier = this.earlierOf(event);
    if (earlier === null) {
      const id = wordOf(event['previous_response_id']);
      const message = `Previous response with id '${id}' not found.`;
      return this.refuse(400, { code: 'previous_response_not_found', message, param: 'previous_response_id' });
    }
    const input = [...earlier, ...itemsOf(event['input'])];
    this.latest = null;
    await this.run({ ...without(event), input, stream: true }, input);
  }

  /** The input that a turn goes on from; null: it is not kept. */
  private earlierOf(event: ParsedObject): ParsedObject[] | null {
    const previous = event['previous_response_id'] ?? null;
    if (previous === null) return [];
    if (this.latest === null || this.latest.id !== previous) return null;
    this.onContinued();
    return this.latest.input;
  }

  private run(body: ParsedObject, input: ParsedObject[]): Promise<void> {
    const path = (this.upgrade.url ?? '').split('?', 1)[0] ?? '';
    const headers: IncomingHttpHeaders = { 'content-type': 'application/json', [ofBatch]: '1' };
    for (const name of ['authorization', 'user-agent', 'openai-beta']) {
      const value = this.upgrade.headers[name];
      if (value !== undefined) headers[name] = value;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const call = httpRequest(
      { host: this.upgrade.socket.localAddress, port: this.settings.port(), path, method: 'POST', headers },
      (answer) => {
        const isStream = (answer.headers['content-type'] ?? '').startsWith('text/event-stream');
        this.relay(answer, isStream, input).then(resolve, () => {
          this.webSocket.terminate();
          resolve();
        });
      },
    );
    const leave = (): void => void call.destroy();
    this.webSocket.once('close', leave);
    call.once('error', () => {
      this.webSocket.terminate();
      resolve();
    });
    call.end(JSON.stringify(body));
    return ended.finally(() => this.webSocket.off('close', leave));
  }

  private async relay(answer: IncomingMessage, isStream: boolean, input: ParsedObject[]): Promise<void> {
    let text = '';
    let isEnded = false;
    answer.setEncoding('utf8');
    for await (const piece of answer) {
      text += String(piece);
      if (!isStream) continue;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data === undefined) continue;
        isEnded = this.note(data, input) || isEnded;
        await this.send(data);
      }
    }
    if (isStream) {
      // A stream that is cut cuts its connection.
      if (!isEnded) this.webSocket.terminate();
      return;
    }
    const body = jsonOrUndefined(text);
    const error = isObject(body) && isObject(body['error']) ? body['error'] : { message: text, code: null };
    const headers = Object.fromEntries(
      Object.entries(answer.headers).filter(([name]) => /^(?:retry-after|x-ratelimit-.*)$/.test(name)),
    );
    await this.send(JSON.stringify({ type: 'error', status: answer.statusCode, error, headers }));
  }

  /** True: the response has ended with this event. */
  private note(data: string, input: ParsedObject[]): boolean {
    const event = jsonOrUndefined(data);
    if (!isObject(event)) return false;
    const type = wordOf(event['type']);
    const response = isObject(event['response']) ? event['response'] : {};
    if (type === 'response.completed' || type === 'response.incomplete') {
      const output = arrayOf(response['output']).filter(isObject);
      this.latest = { id: wordOf(response['id']), input: [...input, ...output] };
      return true;
    }
    return type === 'response.failed' || type === 'error';
  }
}

function without(event: ParsedObject): ParsedObject {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !notOfEvents.includes(name)));
}

function itemsOf(input: unknown): ParsedObject[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : arrayOf(input).filter(isObject);
}
