import { Buffer } from 'node:buffer';
import type { ImageForm } from '../../core/image-price.ts';
import type { ReportedUsage } from '../../core/tokens.ts';
import { errorEvent, scrubIdentifiers, statusOfError } from '../envelope.ts';
import { leaf, shape, textOf, tryScanJson, valueOf } from '../json.ts';
import { createSkeletonCutter } from '../large-reply.ts';
import { eventLimits } from '../native.ts';
import type { RequestFacts, StreamEnd, StreamError, StreamState, WireContext, WireStream } from '../protocol.ts';
import { isDone } from '../streams/sse.ts';
import { readImageUsage, reportedAs, type UsageReading } from '../usage.ts';

/**
 * The stream of a request for images. An event holds a whole picture, of megabytes, so that bytes pass as they come: of each event only
 * what is not a picture is kept until its end. https://platform.openai.com/docs/api-reference/images-streaming
 */
export interface ImageStreamParts {
  facts: Pick<RequestFacts, 'imageAsk' | 'cacheWrite'>;
  context: WireContext;
  /** The request had pictures. */
  sentImages: boolean;
}

const eventShape = shape({
  type: leaf,
  usage: leaf,
  size: leaf,
  quality: leaf,
  error: shape({ type: leaf, code: leaf, message: leaf, usage: leaf }),
  code: leaf,
  message: leaf,
});

/** Bytes that are kept back until the first event shows whether it is an error. */
const maxPreludeBytes = 65_536;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** The longest name of an event that is read. */
const maxNameBytes = 64;
const nothing = new Uint8Array(0);
const keepAlive = Buffer.from(': keep-alive\n\n');
/** The longest name of a field with its colon. */
const nameBytes = 6;

export function createImageStream(parts: ImageStreamParts): WireStream {
  return new ImageStream(parts);
}

class ImageStream implements WireStream {
  state: StreamState = 'waiting';
  error: StreamError | null = null;
  noise = 0;
  private readonly parts: ImageStreamParts;
  private prelude: Uint8Array[] = [];
  private preludeBytes = 0;
  /** Of the running line: what its beginning says it is. */
  private line: 'unknown' | 'data' | 'name' | 'other' = 'unknown';
  /** The last line ended with CR, to which an LF may belong. */
  private hasReturned = false;
  /** The name of the running event, from its `event:` line. */
  private name = '';
  /** Bytes of the running event. */
  private eventBytes = 0;
  private beginning: Buffer = Buffer.alloc(0);
  private data: ReturnType<typeof createSkeletonCutter> | null = null;
  private events = 0;
  private completed = 0;
  private partials = 0;
  private readings: UsageReading[] = [];
  private form: ImageForm | null = null;
  /** A part of an event has come. */
  private inEvent = false;
  /** The vendor has said that no more will come. */
  private isWhole = false;

  constructor(parts: ImageStreamParts) {
    this.parts = parts;
  }

  /** Nothing may follow. */
  private get isOver(): boolean {
    return this.state === 'terminated' || this.state === 'failed';
  }

  get keepAlive(): Uint8Array {
    return this.inEvent ? nothing : keepAlive;
  }

  write(chunk: Uint8Array): Uint8Array {
    if (this.isOver) return nothing;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let at = 0;
    while (at < bytes.length && !this.isOver && this.error === null) {
      if (this.hasReturned && bytes[at] === lineFeed) at += 1;
      this.hasReturned = false;
      if (at === bytes.length) break;
      const end = lineEndIn(bytes, at);
      this.take(bytes.subarray(at, end));
      at = end;
      if (end === bytes.length) break;
      this.hasReturned = bytes[end] === carriageReturn;
      at += 1;
      this.endLine();
    }
    return this.release(bytes.subarray(0, at));
  }

  /** What may go out: nothing before the first event is known to be none of an error. */
  private release(bytes: Buffer): Uint8Array {
    if (this.error !== null) {
      if (this.state === 'waiting') return nothing;
      // The event is short: it came with the chunk, as a rule.
      this.state = 'failed';
      return Buffer.from(scrubIdentifiers(bytes.toString('utf8'), this.parts.context.requestId));
    }
    if (this.state === 'waiting') {
      if (this.events === 0 && this.preludeBytes + bytes.length <= maxPreludeBytes) {
        this.prelude.push(bytes);
        this.preludeBytes += bytes.length;
        return nothing;
      }
      this.state = 'open';
    }
    if (this.prelude.length === 0) return bytes;
    const all = Buffer.concat([...this.prelude, bytes]);
    this.prelude = [];
    return all;
  }

  private take(bytes: Buffer): void {
    this.inEvent ||= bytes.length > 0;
    this.eventBytes += bytes.length;
    if (this.line === 'other') return;
    if (this.line === 'data') {
      this.data?.write(bytes);
      return;
    }
    if (this.line === 'name') {
      if (this.name.length < maxNameBytes) this.name += bytes.toString('latin1', 0, maxNameBytes);
      return;
    }
    this.beginning = this.beginning.length === 0 ? bytes : Buffer.concat([this.beginning, bytes]);
    if (this.beginning.length < nameBytes) return;
    this.decide();
  }

  private decide(): void {
    const bytes = this.beginning;
    this.beginning = Buffer.alloc(0);
    const head = bytes.toString('latin1', 0, nameBytes);
    this.line = head.startsWith('data:') ? 'data' : head === 'event:' ? 'name' : 'other';
    if (this.line === 'name') this.name = bytes.toString('latin1', nameBytes, nameBytes + maxNameBytes);
    if (this.line !== 'data') return;
    if (this.data === null) this.data = createSkeletonCutter();
    else this.data.write(Buffer.from('\n'));
    this.data.write(bytes.subarray(5));
  }

  private endLine(): void {
    const isBlank = this.line === 'unknown' && this.beginning.length === 0;
    if (this.line === 'unknown' && !isBlank) this.decide();
    this.line = 'unknown';
    this.beginning = Buffer.alloc(0);
    if (!isBlank) return;
    const { data, name, eventBytes } = this;
    this.data = null;
    this.name = '';
    this.eventBytes = 0;
    this.inEvent = false;
    if (data === null) this.noise += 1;
    else this.read(data.end().bytes, name.trim(), eventBytes);
  }

  private read(data: Buffer, name: string, eventBytes: number): void {
    if (isDone(data)) {
      if (this.completed > 0) this.terminate();
      return;
    }
    const root = tryScanJson(data, eventShape, eventLimits);
    const type = root === null ? null : (textOf(data, root.members.get('type')) ?? (name === '' ? null : name));
    const failure = root?.members.get('error');
    // A refusal may be billed, too.
    const usage = root?.members.get('usage') ?? failure?.members.get('usage');
    if (usage?.kind === 'object') this.count(readImageUsage(valueOf(data, usage), this.parts.sentImages));
    if (root !== null && (type === 'error' || failure?.kind === 'object')) {
      const holder = failure?.kind === 'object' ? failure : root;
      const code = textOf(data, holder.members.get('code'));
      const said = textOf(data, holder.members.get('type'));
      const message = textOf(data, holder.members.get('message')) ?? '';
      this.error = { status: statusOfError(said, code), type: said ?? 'api_error', code, message };
      return;
    }
    this.events += 1;
    if (root === null || type === null) {
      this.noise += 1;
      // What is that long is a picture, whatever it is called.
      if (eventBytes > maxPreludeBytes) this.partials += 1;
      return;
    }
    if (type.endsWith('.partial_image')) this.partials += 1;
    if (!type.endsWith('.completed')) return;
    this.completed += 1;
    this.form = { quality: textOf(data, root.members.get('quality')), size: textOf(data, root.members.get('size')) };
    if (this.completed < this.asked) return;
    // What was used may be said behind the last picture.
    if (this.readings.length > 0) return this.terminate();
    this.state = 'finished';
    this.isWhole = true;
  }

  private get asked(): number {
    return this.parts.facts.imageAsk?.count ?? 1;
  }

  /** Each of several pictures has usage of its own; of one picture, a later report has what the earlier one had. */
  private count(reading: UsageReading | null): void {
    if (reading === null) return;
    if (this.asked > 1) this.readings.push(reading);
    else if (this.readings.every((earlier) => totalOf(earlier) <= totalOf(reading))) this.readings = [reading];
  }

  private terminate(): void {
    this.state = 'terminated';
    this.isWhole = true;
  }

  end(): Uint8Array {
    if (this.isOver) return nothing;
    const lacks = this.inEvent ? '\n\n' : '';
    if (this.inEvent) {
      this.endLine();
      this.endLine();
    }
    const bytes = this.events === 0 ? nothing : this.release(Buffer.from(lacks));
    // Fewer pictures than were asked for are an answer, too.
    if (this.error === null && !this.isOver && this.completed > 0) {
      this.state = 'finished';
      this.isWhole = true;
    }
    return bytes;
  }

  stop(end: StreamEnd): Uint8Array {
    if (this.isOver) return nothing;
    if (this.state === 'finished' && end.reason !== 'budget') {
      this.state = 'terminated';
      return nothing;
    }
    const { requestId } = this.parts.context;
    const before = this.inEvent ? '\n\n' : '';
    this.state = 'failed';
    const facts =
      end.reason === 'budget'
        ? {
            status: 402,
            type: 'billing_error',
            code: 'insufficient_quota',
            message: 'The budget does not reach further.',
          }
        : { status: end.status, type: end.type, code: end.code ?? null, message: end.message };
    return Buffer.from(before + errorEvent('chat-completions', { ...facts, requestId }));
  }

  account(): ReportedUsage {
    const { readings, completed, partials, parts } = this;
    const reading = readings.length === 0 ? null : readings.reduce(sumOf);
    // A first version is in the client's hands, whatever follows.
    const images = this.isWhole || this.partials === 0 ? completed : completed + 1;
    const { partial, ...reported } = reportedAs(reading, parts.facts.cacheWrite);
    return {
      ...reported,
      partial: partial || !this.isWhole,
      ...(images === 0 ? {} : { images }),
      ...(this.form === null ? {} : { imageForm: this.form }),
      ...(partials === 0 ? {} : { imagePartials: partials }),
      outputBytes: 0,
      outputPieces: completed + partials,
      model: null,
    };
  }
}

function totalOf({ usage: { input, cacheHit, output } }: UsageReading): number {
  return input + cacheHit + output;
}

/** Where the line ends that the byte at `from` belongs to: at LF, CR or the end of the bytes. */
function lineEndIn(bytes: Buffer, from: number): number {
  const feed = bytes.indexOf(lineFeed, from);
  const end = feed === -1 ? bytes.length : feed;
  const back = bytes.subarray(from, end).indexOf(carriageReturn);
  return back === -1 ? end : from + back;
}

/** Usage of two pictures of one request, each of which reports its own. */
function sumOf(one: UsageReading, other: UsageReading): UsageReading {
  const none = { input: 0, cacheHit: 0, output: 0 };
  const [a, b] = [one.imageTokens ?? none, other.imageTokens ?? none];
  return {
    ...one,
    usage: {
      input: one.usage.input + other.usage.input,
      cacheHit: one.usage.cacheHit + other.usage.cacheHit,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output: one.usage.output + other.usage.output,
    },
    imageTokens: { input: a.input + b.input, cacheHit: a.cacheHit + b.cacheHit, output: a.output + b.output },
    clamped: one.clamped || other.clamped,
    outputMissing: one.outputMissing || other.outputMissing,
  };
}
