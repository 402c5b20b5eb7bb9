/** Delivers answers at their pace, in scripted chunks, with scripted breaks. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BareEvent, StreamEvent } from './dialects/dialect.ts';
import type { Fault } from './directives.ts';
import type { HttpExchange } from './exchange.ts';
import type { Random } from './random.ts';

/** How the bytes of a stream are cut into writes. */
export interface Chunking {
  /**
   * `event`: one write for each event. A number: pieces of so many bytes. `random`: pieces of 1 to 40 bytes at seeded
   * places, by preference inside UTF-8 characters. The latter two cut lines and join the end of an event with the next.
   */
  split: 'event' | 'random' | number;
  lineEnding: '\n' | '\r\n' | '\r';
}

const MAX_RANDOM_PIECE = 40;

/** Without a pace, the event loop still gets a turn now and then, for other streams and disconnections. */
const EVENTS_PER_TURN = 16;

export interface Cutter {
  /** The pieces to send now; the rest waits for the next event. */
  push(bytes: Buffer): Buffer[];
  /** The rest. */
  flush(): Buffer[];
}

/** The first place up to `size` that is inside a UTF-8 character, or `size` when none is. */
function insideCharacter(bytes: Buffer, size: number): number {
  for (let index = 1; index < size; index += 1) {
    if (((bytes[index] ?? 0) & 0b1100_0000) === 0b1000_0000) return index;
  }
  return size;
}

/** Cuts a stream of bytes into pieces by the setting. */
export function createCutter({ split, random }: { split: 'random' | number; random: Random }): Cutter {
  let rest: Buffer = Buffer.alloc(0);
  const nextSize = (): number => (split === 'random' ? 1 + random.integer(MAX_RANDOM_PIECE) : Math.max(1, split));
  let size = nextSize();
  return {
    push(bytes) {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const pieces: Buffer[] = [];
      while (rest.length >= size) {
        if (split === 'random' && random.next() < 0.5) size = insideCharacter(rest, size);
        pieces.push(rest.subarray(0, size));
        rest = rest.subarray(size);
        size = nextSize();
      }
      return pieces;
    },
    flush() {
      const pieces = rest.length === 0 ? [] : [rest];
      rest = Buffer.alloc(0);
      return pieces;
    },
  };
}

/** When the next token is due, in milliseconds after the first. */
export function tokenDueMs(tokensBefore: number, tokensPerSecond: number): number {
  return (tokensBefore / tokensPerSecond) * 1000;
}

function encodeEvent(event: StreamEvent | BareEvent, lineEnding: Chunking['lineEnding']): string | Buffer {
  if ('bare' in event) return event.bare;
  const name = event.name === null ? '' : `event: ${event.name}${lineEnding}`;
  return `${name}data: ${event.data}${lineEnding}${lineEnding}`;
}

/** Ends or breaks a body as the script demands. Nothing may be sent after it. */
async function breakOff(exchange: HttpExchange, fault: Exclude<Fault, { kind: 'midfail' }>): Promise<void> {
  if (fault.kind === 'hang') return exchange.untilGone();
  if (fault.how === 'end') exchange.response.end();
  else exchange.sever(fault.how);
}

interface Stream {
  exchange: HttpExchange;
  events: Iterable<StreamEvent | BareEvent>;
  /** Events that report the failure of a `midfail` after so many events. */
  failedEvents: (sent: number) => Iterable<StreamEvent>;
  fault: Fault | null;
  tokensPerSecond: number;
  chunking: Chunking;
  /** Seeds the cuts alone: the content must not depend on how it is cut. */
  random: Random;
  onEvent: () => void;
}

/**
 * Sends a stream at its pace and breaks it where the script demands. Returns when it is over: all was sent, the break
 * happened, or the client disconnected.
 */
export async function deliverStream(stream: Stream): Promise<void> {
  const { exchange, fault, chunking } = stream;
  const cutter = chunking.split === 'event' ? null : createCutter({ split: chunking.split, random: stream.random });
  const sendPieces = async (pieces: readonly Buffer[]): Promise<void> => {
    for (const piece of pieces) {
      await exchange.write(piece);
      // Pieces of one turn would share a packet and arrive as one.
      await nextTurn();
    }
  };
  const send = async (event: StreamEvent | BareEvent): Promise<void> => {
    const bytes = encodeEvent(event, chunking.lineEnding);
    if (cutter === null) await exchange.write(bytes);
    else await sendPieces(cutter.push(typeof bytes === 'string' ? Buffer.from(bytes) : bytes));
  };
  const flush = (): Promise<void> => (cutter === null ? Promise.resolve() : sendPieces(cutter.flush()));

  const wait = createPace(exchange, stream.tokensPerSecond);
  let sent = 0;
  for (const event of stream.events) {
    if (exchange.gone || sent === fault?.after) break;
    await wait(event.tokens);
    await send(event);
    stream.onEvent();
    if (event.counted) sent += 1;
  }
  if (exchange.gone) return;
  if (fault?.kind === 'midfail' && sent === fault.after) {
    for (const event of stream.failedEvents(sent)) await send(event);
  }
  await flush();
  if (fault !== null && fault.kind !== 'midfail' && sent === fault.after) await breakOff(exchange, fault);
  // A stream has no length; a scripted one is wrong on purpose, and only a closed connection can end that body.
  else if (exchange.response.hasHeader('content-length')) exchange.sever('close');
  else exchange.response.end();
}

/** Waits until each event is due. Relative to the start of the stream, so that late timers do not add up. */
function createPace(exchange: HttpExchange, tokensPerSecond: number): (tokens: number) => Promise<void> {
  let startedAt: number | null = null;
  let tokensBefore = 0;
  let events = 0;
  return async (tokens) => {
    events += 1;
    if (tokens > 0) startedAt ??= performance.now();
    const dueMs = startedAt === null ? 0 : startedAt + tokenDueMs(tokensBefore, tokensPerSecond) - performance.now();
    tokensBefore += tokens;
    if (dueMs >= 1) await exchange.sleep(dueMs);
    else if (events % EVENTS_PER_TURN === 0) await nextTurn();
  };
}

/**
 * Sends a body that is no stream. A break acts after the headers: `cut` and `hang` after 0 send nothing of the
 * body, later ones half of it. The body of a `midfail` is the caller's to choose.
 */
export async function deliverWhole({
  exchange,
  body,
  fault,
}: {
  exchange: HttpExchange;
  body: Buffer;
  fault: Fault | null;
}): Promise<void> {
  const { response } = exchange;
  if (fault !== null && fault.kind !== 'midfail') {
    response.flushHeaders();
    if (fault.after > 0) await exchange.write(body.subarray(0, Math.ceil(body.length / 2)));
    return breakOff(exchange, fault);
  }
  const declared = response.getHeader('content-length');
  if (declared === undefined || Number(declared) === body.length) {
    response.end(body);
    return;
  }
  // The announced length is wrong on purpose: only a closed connection can end such a body.
  await exchange.write(body);
  exchange.sever('close');
}
