import type { Server } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { type ClientEvent, type CreateEvent, joinItems, readClientEvent } from '../../wire/responses/client-event.ts';
import { createFrameReader, errorFrame, warmUpFrames } from '../../wire/responses/frames.ts';
import type { BodyRoom } from '../load/body-room.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import { renderRefusal } from '../refusals/refuse.ts';
import type { VendorSocket } from '../upstream/vendor-socket.ts';
import { createConversation } from './conversation.ts';
import { type Handshake, type RunningTurn, runTurn, type TurnSink } from './turn.ts';

/**
 * One WebSocket of responses: its events are taken in order, one at a time. Every turn goes through the server as a request of
 * its own (`turn.ts`), so nothing that the handshake was allowed stands for a turn.
 */
export interface Session {
  /** Called a few times a second. `isDraining`: the process is going down. */
  beat(nowMs: number, isDraining: boolean): void;
  /** Ends it now; a turn that runs is left. */
  end(): void;
}

/** Limits of one connection. Times are milliseconds. */
export interface SocketLimits {
  /** How old it may become, as at the vendor; a turn that runs then ends first. */
  totalMs: number;
  /** Without a turn. */
  idleMs: number;
  /** Between two signs of life, which keep what lies between open. */
  pingMs: number;
}

/** Agents run their tools between two turns, some of them for minutes. */
export const defaultSocketLimits: SocketLimits = { totalMs: 3_600_000, idleMs: 900_000, pingMs: 20_000 };

export interface SessionParts {
  server: Server;
  webSocket: WebSocket;
  handshake: Handshake;
  /** To the vendor, where it takes one. */
  upstream: VendorSocket;
  accountId: string;
  room: BodyRoom;
  refusals: Refusals;
  limits: SocketLimits;
  /** Largest event, and largest conversation that is kept. */
  maxBytes: number;
  /** A UUID for what is made here. */
  createId: () => string;
  onClose: () => void;
}

/** Events that wait for the turn before them, as many as the vendor runs at once. */
const maxWaiting = 16;
/** Answers to events that nobody reads. */
const maxUnreadBytes = 1_048_576;
/** Time for the client's part of closing. */
export const closingMs = 1_000;
const responsesPath = '/api/v1/responses';

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4 and the registry of IANA. */
const closeCodes = { goingAway: 1001, policy: 1008, restart: 1012, tryLater: 1013 } as const;

export function openSession(parts: SessionParts): Session {
  const { server, webSocket, handshake, upstream, accountId, room, refusals, limits, maxBytes, createId } = parts;
  const conversation = createConversation(room, { accountId, maxBytes });
  const openedAt = performance.now();
  let idleSince = openedAt;
  let pingedAt = openedAt;
  let isWorking = false;
  let isDraining = false;
  let running: RunningTurn | null = null;
  /** Bytes of an event that is not complete. */
  let arriving = 0;
  const waiting: Buffer[] = [];

  const isOpen = (): boolean => webSocket.readyState === webSocket.OPEN;
  const close = (code: number, reason: string): void => {
    if (!isOpen()) return;
    webSocket.close(code, reason);
    setTimeout(() => webSocket.terminate(), closingMs).unref();
  };
  const send = (frame: Uint8Array, sent?: () => void): void => {
    if (isOpen()) webSocket.send(frame, { binary: false }, () => sent?.());
    else sent?.();
  };
  const refuse = (refusal: Refusal, streamId: string | null = null): void => {
    const requestId = createId();
    const { status, headers, body } = renderRefusal({ protocol: 'responses', requestId, numericCodes: false }, refusal);
    const { error } = JSON.parse(body) as { error: object };
    send(errorFrame({ status, error, headers: { ...headers, 'x-request-id': requestId }, streamId }));
    if (webSocket.bufferedAmount > maxUnreadBytes) webSocket.terminate();
  };

  /** Runs a turn; its answer is sent as it comes. */
  const create = async (event: CreateEvent): Promise<void> => {
    const { streamId, previousId, isWarmUp } = event;
    const earlier = previousId === null ? null : conversation.find(previousId);
    if (previousId !== null && earlier === null) {
      refuse(refusals.previousResponseNotFound(), streamId);
      return;
    }
    const items = joinItems([earlier ?? empty, event.items]);
    const isKept = room.take(accountId, items.length) === null;
    const answer = createAnswer({ send, streamId, maxItemBytes: maxBytes, cut: () => webSocket.terminate() });
    const { frames } = answer;
    running = runTurn(server, {
      handshake,
      upstream,
      path: isWarmUp ? `${responsesPath}/estimate` : responsesPath,
      body: event.body(earlier),
      sink: answer.sink,
    });
    await running.ended;
    const { isLast } = running;
    running = null;
    answer.end();
    if (isKept) room.give(accountId, items.length);
    const model = answer.estimatedModel;
    if (isWarmUp && model !== null) {
      const id = `resp_${createId().replaceAll('-', '')}`;
      const createdAt = Math.floor(Date.now() / 1_000);
      if (isKept) conversation.keep(streamId, id, items);
      for (const frame of warmUpFrames({ id, model, createdAt }, streamId)) send(frame);
    } else if (answer.isStream) {
      if (!frames.isEnded) refuse(refusals.upstreamCut(), streamId);
      if (frames.finished !== null && isKept)
        conversation.keep(streamId, frames.finished.id, joinItems([items, frames.finished.items]));
      else if (previousId !== null) conversation.forget(previousId);
    }
    if (answer.status === 401) close(closeCodes.policy, 'Invalid API key');
    else if (isLast) close(closeCodes.restart, 'restarting');
  };

  const take = async (event: ClientEvent): Promise<void> => {
    switch (event.kind) {
      case 'create':
        return create(event);
      case 'steer':
        send(steerFailed(event));
        return;
      case 'processed':
        return;
      case 'unreadable':
        refuse(refusals.invalidRequest(event.message, event.param), event.streamId);
    }
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      room.give(accountId, next.length);
      if (isOpen()) await take(readClientEvent(next));
    }
    isWorking = false;
    idleSince = performance.now();
    if (isDraining) close(closeCodes.restart, 'restarting');
  };

  const arrived = (bytes: number): void => {
    if (room.take(accountId, bytes) === null) arriving += bytes;
    else {
      webSocket.pause();
      close(closeCodes.tryLater, 'too much at once');
    }
  };
  const complete = (): void => {
    room.give(accountId, arriving);
    arriving = 0;
  };

  handshake.socket.prependListener('data', (chunk: Buffer) => arrived(chunk.length));
  for (const event of ['ping', 'pong'] as const)
    webSocket.on(event, (data: Buffer) => {
      const bytes = Math.min(arriving, data.length + controlFrameBytes);
      arriving -= bytes;
      room.give(accountId, bytes);
    });
  webSocket.on('message', (data: RawData, isBinary) => {
    complete();
    const event = data as Buffer;
    if (isBinary) refuse(refusals.invalidRequest('An event must be a text frame.'));
    else if (waiting.length >= maxWaiting || room.take(accountId, event.length) !== null)
      refuse(refusals.tooManyRequests('connection'));
    else {
      waiting.push(event);
      void work();
    }
  });
  // Violations of the protocol: `ws` closes with the code that says which.
  webSocket.on('error', () => undefined);
  webSocket.once('close', () => {
    complete();
    for (const { length } of waiting.splice(0)) room.give(accountId, length);
    conversation.clear();
    upstream.close();
    running?.leave();
    parts.onClose();
  });

  return {
    beat(nowMs, drains) {
      isDraining ||= drains;
      if (nowMs - pingedAt >= limits.pingMs) {
        pingedAt = nowMs;
        if (isOpen()) webSocket.ping();
      }
      if (isWorking) return;
      if (isDraining) close(closeCodes.restart, 'restarting');
      else if (nowMs - openedAt >= limits.totalMs) {
        if (isOpen()) refuse(refusals.socketTooOld());
        close(closeCodes.goingAway, 'too old');
      } else if (nowMs - idleSince >= limits.idleMs) close(closeCodes.goingAway, 'idle');
    },
    end: () => webSocket.terminate(),
  };
}

const empty = Buffer.alloc(0);
/** The head of a control frame of a client. */
const controlFrameBytes = 6;

/** What a turn's answer is on the connection. */
function createAnswer({
  send,
  streamId,
  maxItemBytes,
  cut,
}: {
  send: (frame: Uint8Array, sent?: () => void) => void;
  streamId: string | null;
  maxItemBytes: number;
  cut: () => void;
}) {
  const unsent: Buffer[] = [];
  /** `sent`: the client's system has them. */
  const flush = (sent: () => void): void => {
    const last = unsent.pop();
    for (const frame of unsent.splice(0)) send(frame);
    if (last === undefined) sent();
    else send(last, sent);
  };
  const frames = createFrameReader({ streamId, send: (frame) => void unsent.push(frame), maxItemBytes });
  const answer = {
    frames,
    isStream: false,
    /** 0: none has come. */
    status: 0,
    /** The model of an estimate; null: the answer is none. */
    estimatedModel: null as string | null,
    end(): void {
      frames.end();
      flush(() => undefined);
    },
    sink: {
      stream(piece, written) {
        answer.isStream = true;
        frames.write(piece);
        flush(written);
      },
      answer(status, headers, body) {
        answer.status = status;
        const said = JSON.parse(body.toString('utf8')) as { model?: string; error?: object };
        if (status === 200) answer.estimatedModel = said.model ?? null;
        else send(errorFrame({ status, error: said.error ?? {}, headers, streamId }));
      },
      cut,
    } satisfies TurnSink,
  };
  return answer;
}

/** openai-node, `BetaResponseSteerFailedEvent`: the client gets its input back and sends it with the next turn. */
function steerFailed({ previousId, input }: { previousId: string | null; input: string | null }): Buffer {
  const error = JSON.stringify({
    type: 'invalid_request_error',
    code: 'steering_not_supported',
    message: 'Steering is not offered here: send the input with the next response.create.',
  });
  const steer = `{"previous_response_id":${JSON.stringify(previousId)},"input":${input ?? 'null'}}`;
  return Buffer.from(`{"type":"response.steer.failed","sequence_number":0,"error":${error},"steer":${steer}}`);
}
