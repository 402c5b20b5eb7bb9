import { Buffer } from 'node:buffer';
import type { ReportedUsage } from '../../../core/tokens.ts';
import { type RequestFacts, type StreamEnd, UnreadableReply, type WireStream } from '../../protocol.ts';
import { createOutput } from '../../streams/output.ts';
import { createSseReader, type SseEvent, type SseReader } from '../../streams/sse.ts';
import { reportedAs } from '../../usage.ts';
import { boundReply } from '../bounds.ts';
import { encodeText } from '../json.ts';
import { type AnswerSink, type AnswerUsage, countedUsage, nonsense, type StreamReader } from './answer.ts';
import { AnswerRelay, type AnswerRelayParts } from './answer-relay.ts';
import { TextRepetition } from './text-repetition.ts';

/**
 * A Responses upstream repeats the whole request in its last event. A whole answer that is larger is not translated either, and
 * above the smaller size an event is weighed like one.
 */
const MAX_EVENT_BYTES = 8_388_608;
const LARGE_EVENT_BYTES = 65_536;

export interface TranslatedStreamParts extends Omit<AnswerRelayParts, 'cacheWrite'> {
  facts: Pick<RequestFacts, 'cacheWrite'>;
  createReader: (sink: AnswerSink) => StreamReader;
}

/**
 * Relays one stream between two protocols, event by event. The reader knows the upstream's protocol, the writer the
 * client's; the state of the answer is kept by the relay between them.
 */
export class TranslatedStream implements WireStream {
  noise = 0;
  /** Events so far. */
  private count = 0;
  private readonly parts: TranslatedStreamParts;
  private readonly answer: AnswerRelay;
  private readonly reader: StreamReader;
  private readonly events: SseReader;
  private readonly repetition = new TextRepetition();
  /** What an event says that repeats the learned one. */
  private repeatedAs: AnswerRelay['lastSaid'] = null;
  /** What the client gets around its word; null: that takes the writer. */
  private around: { before: Buffer; after: Buffer } | null = null;
  private readonly output = createOutput();
  /** What the upstream had reported after so many events. */
  private reported: ReturnType<typeof reportedAs> = reportedAs(null, 'none');
  private reportedAt = 0;

  constructor(parts: TranslatedStreamParts) {
    const { client, context, writer, restoreCall, facts } = parts;
    this.parts = parts;
    const answer = new AnswerRelay({ client, context, writer, restoreCall, cacheWrite: facts.cacheWrite }, () =>
      this.usage(),
    );
    this.answer = answer;
    this.reader = parts.createReader(answer);
    this.events = createSseReader({
      maxEventBytes: MAX_EVENT_BYTES,
      sink: {
        event: (event) => this.take(event),
        repeated: (bytes, start) => this.repeated(bytes, start),
        oversized() {
          if (!answer.over) answer.fail(nonsense('The upstream sent an event that is too large.'));
        },
      },
    });
  }

  get state(): WireStream['state'] {
    return this.answer.state;
  }

  get error(): WireStream['error'] {
    return this.answer.error;
  }

  get keepAlive(): Uint8Array {
    return encodeText(this.parts.writer.keepAlive);
  }

  account(): ReportedUsage {
    const { answer, reader, parts, count } = this;
    if (count !== this.reportedAt) {
      this.reported = reportedAs(this.usage().reading, parts.facts.cacheWrite);
      this.reportedAt = count;
    }
    const { reported } = this;
    const partial = !answer.complete || reported.partial;
    const { finishKind } = answer;
    return {
      ...reported,
      ...answer.content,
      partial,
      model: reader.model,
      ...(finishKind === null ? {} : { finish: finishKind }),
    };
  }

  write(chunk: Uint8Array): Uint8Array {
    const { answer, count } = this;
    const { outputPieces } = answer.content;
    this.output.expect(chunk.length * 2);
    if (!answer.over) this.events.write(chunk);
    if (answer.content.outputPieces === outputPieces) this.noise += this.count - count + chunk.length / 1_024;
    else this.noise = 0;
    return this.handOut();
  }

  end(): Uint8Array {
    const rest = this.answer.over ? null : this.events.end();
    // Several vendors leave out the last empty line. An event that cannot be read was cut; `state` tells it.
    if (rest !== null && rest.data !== null) {
      this.count += 1;
      this.read(rest.type, rest.data);
    }
    return this.handOut();
  }

  stop(end: StreamEnd): Uint8Array {
    this.answer.stop(end);
    return this.handOut();
  }

  private handOut(): Uint8Array {
    this.output.add(this.answer.handOut());
    return this.output.take();
  }

  private usage(): AnswerUsage {
    return countedUsage(this.reader.usage(), this.parts.context);
  }

  private take(event: SseEvent): void {
    const { answer } = this;
    if (answer.over) return;
    const { type, data } = event;
    const { acts, outputLength } = answer;
    this.count += 1;
    this.repetition.forget();
    // Comments, and the empty data that some vendors send in silence.
    if (data === null || data.length === 0) return answer.ping();
    if (!this.read(type, data)) answer.fail(nonsense('The upstream sent an event that cannot be read.'));
    if (answer.state === 'open' && answer.acts === acts + 1) this.learn(event, outputLength);
  }

  private learn(event: SseEvent, outputLength: number): void {
    const { answer, repetition } = this;
    const { lastSaid, lastText } = answer;
    if (lastSaid === null || answer.error !== null || !repetition.learn(event, lastText)) return;
    this.repeatedAs = lastSaid;
    this.learnAround(outputLength);
  }

  /** Learns what the client gets around the last text, where that is all that the writer has to do with it. */
  private learnAround(outputLength: number): void {
    const { answer, parts } = this;
    const { lastSaid, lastText } = answer;
    const forgets = lastSaid !== null && 'kind' in lastSaid && parts.writer.forgets.includes(lastSaid.kind);
    this.around = forgets ? aroundOf(answer.outputFrom(outputLength), JSON.stringify(lastText)) : null;
  }

  /** An event that says what the one before said, with another word: where it ends, or -1 when it is none. */
  private repeated(bytes: Buffer, start: number): number {
    const { answer, repeatedAs, around, output } = this;
    if (answer.state !== 'open' || answer.error !== null || repeatedAs === null) return -1;
    const word = this.repetition.find(bytes, start);
    if (word === null) return -1;
    if (around === null) {
      const text = bytes.toString('utf8', word.start, word.end);
      const isPlain = word.textBytes === word.end - word.start;
      const { outputLength } = answer;
      answer.say(repeatedAs, isPlain ? text : (JSON.parse(`"${text}"`) as string));
      // The first text of a block comes with what opens it.
      this.learnAround(outputLength);
    } else {
      answer.shown(word.textBytes);
      if (answer.outputLength > 0) output.add(answer.handOut());
      output.range(around.before, 0, around.before.length);
      output.range(bytes, word.start, word.end);
      output.range(around.after, 0, around.after.length);
    }
    return word.eventEnd;
  }

  /** False when the data is no JSON, deeper than any parser goes, or more than is translated. */
  private read(type: string | null, data: Buffer): boolean {
    try {
      if (data.length > LARGE_EVENT_BYTES) boundReply(data);
      this.reader.event(type, data.toString('utf8'));
      return true;
    } catch (problem) {
      if (problem instanceof SyntaxError || problem instanceof RangeError || problem instanceof UnreadableReply)
        return false;
      throw problem;
    }
  }
}

/** What stands around the word in what the client gets; null when that is more than one event, or when the word is not there once. */
function aroundOf(shown: string, word: string): { before: Buffer; after: Buffer } | null {
  const at = shown.indexOf(word);
  const isOne = shown.indexOf('\n\n') === shown.length - 2;
  if (!isOne || at < 0 || shown.indexOf(word, at + 1) >= 0) return null;
  return {
    before: Buffer.from(shown.slice(0, at + 1)),
    after: Buffer.from(shown.slice(at + word.length - 1)),
  };
}
