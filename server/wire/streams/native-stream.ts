import { Buffer } from 'node:buffer';
import type { Protocol } from '../../core/protocol.ts';
import { noTokens, type ReportedUsage, type TokenPools } from '../../core/tokens.ts';
import { splice } from '../body.ts';
import { disguised, type ErrorFacts, overflowFacts, scrubIdentifiers } from '../envelope.ts';
import { count, type Generated } from '../generated.ts';
import type { Edit, RequestFacts, StreamEnd, StreamError, WireContext, WireStream } from '../protocol.ts';
import { countedAs, piecesIn, reportedAs, type UsageReading } from '../usage.ts';
import { createEventRelay, type DataEvent, type EventReader, type EventRelay, type Verdict } from './event-relay.ts';
import { noBytes } from './output.ts';

/**
 * The stream of a native route: relays the upstream's events byte for byte, keeps the account and ends the stream. What
 * an event means and how an ending is written is the protocol's dialect.
 */

/** What is known of the answer so far. The dialect writes it as it reads. */
export interface Progress extends Generated {
  /** The model as the upstream names it. */
  model: string | null;
  reading: UsageReading | null;
}

/** The upstream's error; `edits` make of its event's data what the client may see. */
export interface ErrorVerdict {
  kind: 'error';
  error: StreamError;
  edits: readonly Edit[];
  /** The event does not say that it is one: the client gets an error in place of it, or behind it. */
  unsaid?: 'instead' | 'behind';
}

/** How one protocol's events are read and written, for one stream. */
export interface Dialect {
  /** Reads an event that carries data, and adds what it says to the progress. */
  read(event: DataEvent): Exclude<Verdict, { kind: 'error' }> | ErrorVerdict;
  /**
   * Everything that ends the answer at its token limit, the terminator included. `pools` is what the client gets as usage;
   * `finished`: the answer itself has said how it ends.
   */
  budgetEnding(pools: TokenPools, finished: boolean): string;
  /** What an answer that has said how it ends still lacks. */
  terminator(): string;
  failure(facts: ErrorFacts): string;
}

/** What sets a protocol's native streams apart from the others'. */
export interface StreamProtocol {
  /** Events larger than this pass unread, which bounds memory and time of each stream. */
  maxEventBytes: number;
  keepAlive: Uint8Array;
  createDialect(progress: Progress, context: WireContext, facts: RequestFacts): Dialect;
}

export interface NativeStreamParts {
  protocol: Protocol;
  stream: StreamProtocol;
  facts: RequestFacts;
  context: WireContext;
}

export function createNativeStream(parts: NativeStreamParts): WireStream {
  return new NativeStream(parts);
}

type Reported = Omit<ReportedUsage, 'outputBytes' | 'outputPieces' | 'model'>;
const nothingReported: Reported = { usage: null, clamped: false, partial: false };

/** A class, because an object literal with accessors or closures takes ten times the memory while it streams. */
class NativeStream implements WireStream, EventReader {
  noise = 0;
  private readonly parts: NativeStreamParts;
  private readonly progress: Progress = { bytes: 0, pieces: 0, model: null, reading: null };
  private readonly dialect: Dialect;
  private readonly relay: EventRelay;
  /** What the last reading and the pieces came to; both change a few times in an answer. */
  private reported: Reported = nothingReported;
  private readingSeen: UsageReading | null = null;
  private madeSeen = 0;
  private servedSeen: Progress['served'];

  constructor(parts: NativeStreamParts) {
    const { stream, context, facts } = parts;
    this.parts = parts;
    this.dialect = stream.createDialect(this.progress, context, facts);
    this.relay = createEventRelay({ reader: this, maxEventBytes: stream.maxEventBytes });
  }

  read(event: DataEvent): Verdict {
    const verdict = this.dialect.read(event);
    return verdict.kind === 'error' ? this.worded(event, verdict) : verdict;
  }

  repeated(bytes: number): void {
    count(this.progress, bytes);
  }

  unread(bytes: number): void {
    this.progress.bytes += bytes;
  }

  /** An error event with what the client may see of it: nothing about the operator's account. */
  private worded(event: DataEvent, { error, edits, unsaid }: ErrorVerdict): Verdict {
    const { dialect } = this;
    const { protocol, context } = this.parts;
    const instead = disguised(protocol, error.status, context);
    if (instead !== null) return { kind: 'error', error, with: Buffer.from(dialect.failure(instead)) };
    const overflow = overflowFacts(protocol, error);
    if (overflow !== null) {
      const told = { ...overflow, message: scrubIdentifiers(overflow.message, context.requestId) };
      return { kind: 'error', error: { ...error, ...overflow }, with: Buffer.from(dialect.failure(told)) };
    }
    const shown = editEvent(event, edits);
    if (unsaid !== undefined) {
      const { requestId } = context;
      const failure = Buffer.from(dialect.failure({ ...error, requestId }));
      const before = shown.kind === 'pass' ? event.bytes.subarray(event.start, event.end) : shown.with;
      return { kind: 'error', error, with: unsaid === 'instead' ? failure : Buffer.concat([before, failure]) };
    }
    const bytes = shown.kind === 'pass' ? event.bytes.subarray(event.start, event.end) : shown.with;
    return { kind: 'error', error, with: scrubbed(bytes, context.requestId) ?? (shown.kind === 'pass' ? null : bytes) };
  }

  get state(): WireStream['state'] {
    return this.relay.state;
  }

  get error(): WireStream['error'] {
    return this.relay.error;
  }

  get keepAlive(): Uint8Array {
    return this.relay.inEvent() ? noBytes : this.parts.stream.keepAlive;
  }

  write(bytes: Uint8Array): Uint8Array {
    const { relay, progress } = this;
    const { pieces } = progress;
    const { events } = relay;
    const out = relay.write(bytes);
    if (progress.pieces === pieces) this.noise += relay.events - events + bytes.length / 1_024;
    else this.noise = 0;
    return out;
  }

  end(): Uint8Array {
    return this.relay.end();
  }

  account(): ReportedUsage {
    const { relay, progress } = this;
    const { reading, bytes, pieces, model, searches, images } = progress;
    const made = (searches ?? 0) + (images ?? 0) + (progress.toolImages === undefined ? 0 : 1);
    if (reading !== this.readingSeen || made !== this.madeSeen || progress.served !== this.servedSeen) {
      this.reported = this.report();
      this.readingSeen = reading;
      this.madeSeen = made;
      this.servedSeen = progress.served;
    }
    const { reported } = this;
    const partial = !relay.complete || reported.partial;
    // Asked for after every piece, of which most bring nothing but text.
    if (reading === null && made === 0 && progress.served === undefined)
      return { usage: null, clamped: false, partial, outputBytes: bytes, outputPieces: pieces, model };
    return { ...reported, partial, outputBytes: bytes, outputPieces: pieces, model };
  }

  private report(): Reported {
    const { progress } = this;
    return { ...reportedAs(this.counted(), this.parts.facts.cacheWrite), ...piecesIn(progress.reading, progress) };
  }

  stop(end: StreamEnd): Uint8Array {
    const { relay, dialect } = this;
    const { facts, context } = this.parts;
    const { state } = relay;
    if (state === 'terminated' || state === 'failed') return noBytes;
    const finished = state === 'finished';
    if (end.reason === 'budget') {
      const pools = end.usage ?? reportedAs(this.counted(), facts.cacheWrite).usage ?? noTokens;
      return Buffer.from(relay.close('terminated') + dialect.budgetEnding(pools, finished));
    }
    if (finished) return Buffer.from(relay.close('terminated') + dialect.terminator());
    const { status, type, code, message } = end;
    const { requestId } = context;
    return Buffer.from(relay.close('failed') + dialect.failure({ status, type, code, message, requestId }));
  }

  private counted(): UsageReading | null {
    return countedAs(this.progress.reading, this.parts.context.features.cachedTokens);
  }
}

/** The event with edits applied to its data, every other byte as it came; the event itself when there are none. */
export function editEvent(event: DataEvent, edits: readonly Edit[]): Extract<Verdict, { kind: 'pass' | 'replace' }> {
  if (edits.length === 0) return { kind: 'pass' };
  const { bytes, data, dataStart } = event;
  if (dataStart !== null) {
    const shift = dataStart - event.start;
    const shifted = edits.map((edit) => ({ ...edit, start: edit.start + shift, end: edit.end + shift }));
    return { kind: 'replace', with: splice(bytes.subarray(event.start, event.end), shifted), edits: shifted };
  }
  // Data of several lines was joined in a separate buffer; JSON stays the same JSON when its line breaks go.
  const name = event.type === null ? '' : `event: ${event.type}\n`;
  const line = Buffer.from(splice(data, edits)).toString('utf8').replaceAll('\n', ' ');
  return { kind: 'replace', with: Buffer.from(`${name}data: ${line}\n\n`) };
}

/** The model's name in events that the gateway writes: the catalog's id where the upstream has another one for it. */
export function shownModel(model: string | null, { upstreamModel, catalogModel }: WireContext): string {
  return upstreamModel === catalogModel ? (model ?? catalogModel) : catalogModel;
}

/** Bytes without identifiers of the operator's account; null when they have none. */
function scrubbed(bytes: Uint8Array, requestId: string): Buffer | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const without = scrubIdentifiers(text, requestId);
  return without === text ? null : Buffer.from(without);
}
