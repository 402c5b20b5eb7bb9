import { createHash, type Hash } from 'node:crypto';
import { WebSocket } from 'ws';
import { statusOfError } from '../../wire/envelope.ts';
import {
  type OutgoingTurn,
  readOutgoingTurn,
  readVendorFrame,
  readVendorRefusal,
  type VendorFrame,
} from '../../wire/responses/create-event.ts';
import {
  type DispatchFault,
  type DispatchRequest,
  dispatch,
  type Receiver,
  type UpstreamCall,
} from './upstream-call.ts';

/**
 * The WebSocket to a vendor that belongs to one WebSocket of a client. A turn over it is a call like one over HTTP: the same body, the
 * same answer, the same faults, so that whoever bounds, meters and settles it need not know. Only the way differs: where the
 * vendor's memory of the connection is provably the beginning of the body's input, the rest alone is sent.
 *
 * Where the vendor does not take the upgrade, nothing was sent, and the call goes over HTTP.
 */
export interface VendorSocket {
  dispatch(request: DispatchRequest, receiver: Receiver): UpstreamCall;
  /** Connects, so that the next call need not. */
  prepare(way: ConnectionWay): void;
  /** The client's connection has ended; a call that runs is left to its owner. */
  close(): void;
}

/** What a connection is made with. */
export type ConnectionWay = Pick<DispatchRequest, 'origin' | 'path' | 'headers' | 'lookup'>;

/** The state of all of them in this process. */
export interface VendorSockets {
  create(): VendorSocket;
  /** That are open. */
  readonly open: number;
}

export interface VendorSocketLimits {
  /** How old one becomes: a little less than the vendor allows. Milliseconds. */
  maxAgeMs: number;
}

/** https://developers.openai.com/api/docs/guides/websocket-mode: an hour. */
const vendorLimits: VendorSocketLimits = { maxAgeMs: 3_300_000 };
const handshakeMs = 5_000;
/** Larger events go over HTTP, which sends a body without copies of it. */
const maxFrameBytes = 16_777_216;
/** Frames of the vendor: the last one repeats the whole answer. */
const maxVendorFrameBytes = 67_108_864;
/** How long a vendor that has no such address is not asked again, and one that could not be reached. */
const notOfferedMs = 600_000;
const notNowMs = 10_000;
const notOffered: ReadonlySet<number> = new Set([400, 404, 405, 410, 421, 426, 501]);

/** The vendor's memory of a connection: the latest response, with the input it came from and its output. */
interface Kept {
  responseId: string;
  model: string;
  /** Of what the next body's input must begin with, as the inside of a JSON list. */
  bytes: number;
  digest: string;
}

interface Connection {
  /** Address, key and what else the upgrade said. */
  name: string;
  webSocket: WebSocket;
  openedAt: number;
  /** Null: nothing that a turn may go on from. */
  kept: Kept | null;
  /** Something came over it. */
  hasAnswered: boolean;
  /** It is ended from here. */
  isEnded: boolean;
  /** The response before this turn's: what is said of it now belongs to no turn. */
  lastResponseId: string | null;
}

/** A connection that is being made. */
interface Making {
  name: string;
  /** The turn that is to use it. */
  waiting: { ready: (connection: Connection) => void; refused: () => void } | null;
  end(): void;
}

function terminate(connection: Connection | null): void {
  if (connection === null) return;
  connection.isEnded = true;
  connection.webSocket.terminate();
}

/** Others are about the operator's account (openai/codex, `codex.rate_limits`). */
function isOfResponse(frame: VendorFrame | null): frame is VendorFrame {
  return frame !== null && (frame.type === 'error' || frame.type.startsWith('response.'));
}

const sockets = new WeakMap<object, VendorSocket>();

/** Notes that a request came over a WebSocket that has one of these behind it. */
export function linkVendorSocket(request: object, socket: VendorSocket): void {
  sockets.set(request, socket);
}

export function vendorSocketOf(request: object): VendorSocket | undefined {
  return sockets.get(request);
}

export function createVendorSockets({ maxAgeMs }: VendorSocketLimits = vendorLimits): VendorSockets {
  /** Addresses that are not asked before a moment (monotonic milliseconds). */
  const pausedUntil = new Map<string, number>();
  let open = 0;
  return {
    get open() {
      return open;
    },
    create: () =>
      createVendorSocket({
        maxAgeMs,
        isPaused: (address) => (pausedUntil.get(address) ?? 0) > performance.now(),
        pause: (address, ms) => void pausedUntil.set(address, performance.now() + ms),
        opened: () => void (open += 1),
        closed: () => void (open -= 1),
      }),
  };
}

interface SocketParts {
  maxAgeMs: number;
  isPaused: (address: string) => boolean;
  pause: (address: string, ms: number) => void;
  opened: () => void;
  closed: () => void;
}

function createVendorSocket(parts: SocketParts): VendorSocket {
  let current: Connection | null = null;
  let making: Making | null = null;
  let isBusy = false;
  let isClosed = false;

  /** Makes a connection in place of the one that there is. */
  const make = (way: ConnectionWay, name: string): Making => {
    terminate(current);
    current = null;
    making?.end();
    const address = addressOf(way);
    const webSocket = new WebSocket(address, {
      headers: handshakeHeaders(way.headers),
      handshakeTimeout: handshakeMs,
      perMessageDeflate: false,
      maxPayload: maxVendorFrameBytes,
      ...(way.lookup === undefined ? {} : { lookup: way.lookup }),
    });
    let pauseMs: number | null = notNowMs;
    const made: Making = {
      name,
      waiting: null,
      end() {
        pauseMs = null;
        webSocket.terminate();
      },
    };
    making = made;
    webSocket.on('unexpected-response', (sent, { statusCode = 0 }) => {
      pauseMs = notOffered.has(statusCode) ? notOfferedMs : notNowMs;
      sent.destroy();
      webSocket.terminate();
    });
    webSocket.once('open', () => {
      pauseMs = null;
      parts.opened();
      const connection = {
        name,
        webSocket,
        openedAt: performance.now(),
        kept: null,
        hasAnswered: false,
        isEnded: false,
        lastResponseId: null,
      };
      current = connection;
      making = null;
      // What comes between turns belongs to none, and the next one could not be told apart from it.
      webSocket.on('message', (data: Buffer, isBinary) => {
        if (!isBusy && !isBinary && isOfResponse(readVendorFrame(data))) terminate(connection);
      });
      webSocket.once('close', () => {
        parts.closed();
        if (current === connection) current = null;
        // It takes upgrades and no turns.
        if (!connection.hasAnswered && !connection.isEnded) parts.pause(address, notNowMs);
      });
      made.waiting?.ready(connection);
    });
    webSocket.on('error', () => undefined);
    webSocket.once('close', () => {
      if (making === made) making = null;
      if (pauseMs === null) return;
      parts.pause(address, pauseMs);
      made.waiting?.refused();
    });
    return made;
  };

  /** One that a turn may use. */
  const usable = (name: string): Connection | null => {
    const isUsable =
      current !== null &&
      current.name === name &&
      current.webSocket.readyState === WebSocket.OPEN &&
      performance.now() - current.openedAt < parts.maxAgeMs;
    return isUsable ? current : null;
  };

  const over = (): void => {
    isBusy = false;
    if (!isClosed) return;
    making?.end();
    if (current !== null) current.isEnded = true;
    current?.webSocket.close(1000);
    current = null;
  };

  return {
    dispatch(request, receiver) {
      const turn =
        isClosed || isBusy || parts.isPaused(addressOf(request)) ? null : readOutgoingTurn(request.body.bytes);
      if (turn === null || request.body.bytes.length > maxFrameBytes) return dispatch(request, receiver);
      isBusy = true;
      const call = new SocketCall(request, receiver, turn, over, (renewed, ready, refused) => {
        const name = nameOf(request);
        const known = renewed ? null : usable(name);
        if (known !== null) return ready(known);
        const made = making !== null && making.name === name ? making : make(request, name);
        made.waiting = { ready, refused };
        call.connecting = made;
      });
      call.start();
      return call;
    },
    prepare(way) {
      const name = nameOf(way);
      if (isClosed || isBusy || parts.isPaused(addressOf(way)) || usable(name) !== null || making?.name === name)
        return;
      make(way, name);
    },
    close() {
      isClosed = true;
      if (!isBusy) over();
    },
  };
}

/** One turn. */
class SocketCall implements UpstreamCall {
  /** The connection that is being made. */
  connecting: { end(): void } | null = null;
  private readonly request: DispatchRequest;
  private readonly receiver: Receiver;
  private turn: OutgoingTurn | null;
  private readonly onOver: () => void;
  private readonly connect: (renewed: boolean, ready: (connection: Connection) => void, refused: () => void) => void;
  private connection: Connection | null = null;
  /** The call over HTTP that it became. */
  private instead: UpstreamCall | null = null;
  private wasSent = false;
  private isHeaded = false;
  private isOver = false;
  private isRenewed = false;
  /** The response of this turn, from its first event on. */
  private responseId: string | null = null;
  /** It goes on from what the vendor keeps. */
  private goesOn = false;
  private readonly memory: InputMemory;
  private readonly model: string;
  private timer: NodeJS.Timeout;

  constructor(
    request: DispatchRequest,
    receiver: Receiver,
    turn: OutgoingTurn,
    onOver: () => void,
    connect: SocketCall['connect'],
  ) {
    this.request = request;
    this.receiver = receiver;
    this.turn = turn;
    this.onOver = onOver;
    this.connect = connect;
    this.memory = new InputMemory(turn.items);
    this.model = turn.model;
    this.timer = setTimeout(() => this.fail('headers_timeout'), request.headersTimeoutMs);
  }

  get sent(): boolean {
    return this.instead?.sent ?? this.wasSent;
  }

  start(): void {
    this.connect(
      this.isRenewed,
      (connection) => this.send(connection),
      () => this.overHttp(),
    );
  }

  resume(): void {
    if (this.instead !== null) return this.instead.resume();
    const { connection } = this;
    if (this.isOver || connection?.webSocket.isPaused !== true) return;
    connection.webSocket.resume();
    this.timer.refresh();
  }

  abort(): void {
    if (this.instead !== null) return this.instead.abort();
    if (this.isOver) return;
    this.finish();
    this.connecting?.end();
    terminate(this.connection);
    this.onOver();
  }

  private overHttp(): void {
    if (this.isOver) return;
    this.finish();
    this.onOver();
    this.instead = dispatch(this.request, this.receiver);
  }

  private send(connection: Connection): void {
    const { turn } = this;
    this.connecting = null;
    if (this.isOver || turn === null) return;
    this.connection = connection;
    const { webSocket, kept } = connection;
    const goesOnFrom = kept !== null && kept.model === turn.model && this.memory.beginsWith(kept) ? kept : null;
    this.goesOn = goesOnFrom !== null;
    // Until this turn has ended well, the vendor may have forgotten it.
    connection.kept = null;
    this.listen(webSocket);
    const frame = turn.frame(
      goesOnFrom === null ? null : { responseId: goesOnFrom.responseId, from: goesOnFrom.bytes },
    );
    webSocket.send(frame, { binary: false }, (error) => {
      if (error === undefined || error === null) this.wasSent = true;
    });
  }

  private readonly onMessage = (data: Buffer, isBinary: boolean): void => {
    const frame = isBinary ? null : readVendorFrame(data);
    if (this.isOver || !isOfResponse(frame)) return;
    if (this.connection !== null) this.connection.hasAnswered = true;
    if (!this.isHeaded && frame.type === 'error') this.refused(data);
    else if (this.isOfTurn(frame)) this.relay(frame);
    else this.fail('cut');
  };

  /** Whether a frame is of this turn's response. A turn that is settled by another one's end would be wrong, and all after it. */
  private isOfTurn({ responseId }: VendorFrame): boolean {
    if (responseId === null) return true;
    if (this.responseId === null) {
      if (responseId === this.connection?.lastResponseId) return false;
      this.responseId = responseId;
    }
    return responseId === this.responseId;
  }

  private readonly onPing = (): void => {
    if (this.isHeaded) this.timer.refresh();
  };

  private readonly onClose = (): void => this.fail(this.isHeaded ? 'cut' : 'dropped');

  private listen(webSocket: WebSocket): void {
    webSocket.on('message', this.onMessage);
    webSocket.on('ping', this.onPing);
    webSocket.on('close', this.onClose);
  }

  private unlisten(): void {
    const webSocket = this.connection?.webSocket;
    webSocket?.off('message', this.onMessage);
    webSocket?.off('ping', this.onPing);
    webSocket?.off('close', this.onClose);
  }

  private relay(frame: VendorFrame): void {
    const { receiver, request } = this;
    if (!this.isHeaded) {
      this.isHeaded = true;
      // The bytes are the request's, which may free them with its first content.
      this.memory.readInput();
      this.turn = null;
      request.body.taken();
      if (receiver.head(200, { 'content-type': 'text/event-stream' }) !== 'pieces') {
        this.cutOff();
        receiver.end([]);
        return;
      }
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.idle(), request.idleTimeoutMs);
    }
    this.timer.refresh();
    if (frame.item !== null) this.memory.add(frame.item, frame.isItemWhole);
    if (!receiver.piece(frame.event) && !this.hasEnded()) this.connection?.webSocket.pause();
    if (frame.isLast && !this.hasEnded()) this.ended(frame.isGood ? frame.responseId : null);
  }

  private hasEnded(): boolean {
    return this.isOver;
  }

  /** Silence, unless it is the client's side that waits. */
  private idle(): void {
    if (this.connection?.webSocket.isPaused !== true) this.fail('idle_timeout');
  }

  private ended(responseId: string | null): void {
    const { connection } = this;
    this.finish();
    if (connection !== null) {
      connection.webSocket.resume();
      connection.kept = responseId === null ? null : this.memory.keep(responseId, this.model);
      connection.lastResponseId = responseId;
      // After a failure more may follow, which the next turn would take for its own.
      if (responseId === null) terminate(connection);
    }
    this.onOver();
    this.receiver.end([]);
  }

  /** The vendor gives no response. */
  private refused(data: Buffer): void {
    const { type, code, status, retryAfter, body } = readVendorRefusal(data);
    const { connection } = this;
    if (code === 'previous_response_not_found' && this.goesOn && connection !== null) {
      this.unlisten();
      this.send(connection);
      return;
    }
    if (code === 'websocket_connection_limit_reached' && !this.isRenewed) {
      this.unlisten();
      this.isRenewed = true;
      this.connection = null;
      this.start();
      return;
    }
    this.finish();
    terminate(connection);
    this.onOver();
    const told = status !== null && status >= 400 && status <= 599 ? status : statusOfError(type, code);
    const wanted = this.receiver.head(told, {
      'content-type': 'application/json',
      ...(retryAfter === null ? {} : { 'retry-after': retryAfter }),
    });
    this.receiver.end(typeof wanted === 'number' && body.length <= wanted ? [body] : []);
  }

  private cutOff(): void {
    this.finish();
    terminate(this.connection);
    this.onOver();
  }

  private fail(fault: DispatchFault): void {
    if (this.isOver) return;
    this.connecting?.end();
    this.cutOff();
    this.receiver.fault(fault);
  }

  private finish(): void {
    this.isOver = true;
    this.turn = null;
    clearTimeout(this.timer);
    this.unlisten();
  }
}

/** A digest of input and what was answered to it, of which nothing else is kept. */
class InputMemory {
  private readonly hash: Hash = createHash('sha256');
  private items: Buffer | null;
  private hashed = 0;
  private isWhole = true;
  private bytes: number;

  constructor(items: Buffer) {
    this.items = items;
    this.bytes = items.length;
  }

  /** Whether the input is what is kept, and more after it. */
  beginsWith({ bytes, digest }: Kept): boolean {
    const { items } = this;
    if (items === null || bytes < this.hashed || bytes >= items.length) return false;
    if (items[bytes] !== comma) return false;
    this.hash.update(items.subarray(this.hashed, bytes));
    this.hashed = bytes;
    return this.hash.copy().digest('base64') === digest;
  }

  /** `isWhole`: the vendor keeps no more of it than it says. */
  add(item: Buffer, isWhole: boolean): void {
    this.isWhole &&= isWhole;
    this.readInput();
    if (this.bytes > 0) this.hash.update(',');
    this.bytes += item.length + (this.bytes > 0 ? 1 : 0);
    this.hash.update(item);
  }

  /** Null: the vendor's memory may hold more than the input that was counted, such as what a search found. */
  keep(responseId: string, model: string): Kept | null {
    if (!this.isWhole) return null;
    this.readInput();
    return { responseId, model, bytes: this.bytes, digest: this.hash.digest('base64') };
  }

  /** The input's bytes are the request's, which are freed as soon as it is answered. */
  readInput(): void {
    if (this.items !== null) this.hash.update(this.items.subarray(this.hashed));
    this.items = null;
  }
}

const comma = 0x2c;

function addressOf({ origin, path }: ConnectionWay): string {
  return `${origin.replace(/^http/, 'ws')}${path}`;
}

/** What an upgrade says beside what makes it one. */
function handshakeHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofRequests.test(name)));
}

const ofRequests = /^(?:content-type|content-length|accept|accept-encoding)$/i;
/** Members of a head that differ from turn to turn and say nothing of the connection. */
const ofTurns = /^(?:traceparent|tracestate|x-stainless-.*)$/i;

function nameOf(request: ConnectionWay): string {
  const said = Object.entries(handshakeHeaders(request.headers)).filter(([name]) => !ofTurns.test(name));
  return JSON.stringify([addressOf(request), said]);
}
