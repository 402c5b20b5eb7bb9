import type { ReportedUsage } from '../../core/tokens.ts';
import type { RequestFacts, StreamEnd, WireStream } from '../protocol.ts';
import { createSseReader, type SseReader } from '../sse.ts';
import { reportedAs } from '../usage.ts';
import { type AnswerSink, type AnswerUsage, countedUsage, nonsense, type StreamReader } from './answer.ts';
import { AnswerRelay, type AnswerRelayParts } from './answer-relay.ts';
import { encodeText } from './json.ts';

/** A Responses upstream repeats the whole request in its last event; beyond this no event is sane. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

export interface TranslatedStreamParts extends Omit<AnswerRelayParts, 'cacheWrite'> {
  facts: Pick<RequestFacts, 'cacheWrite'>;
  createReader: (sink: AnswerSink) => StreamReader;
}

/**
 * Relays one stream between two protocols, event by event. The reader knows the upstream's protocol, the writer the
 * client's; the state of the answer is kept by the relay between them.
 */
export class TranslatedStream implements WireStream {
  private readonly parts: TranslatedStreamParts;
  private readonly answer: AnswerRelay;
  private readonly reader: StreamReader;
  private readonly events: SseReader;

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
        event: ({ type, data }) => this.take(type, data),
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
    const { answer, reader, parts } = this;
    const reported = reportedAs(this.usage().reading, parts.facts.cacheWrite);
    const partial = !answer.complete || reported.partial;
    return { ...reported, ...answer.content, partial, model: reader.model };
  }

  write(chunk: Uint8Array): Uint8Array {
    if (!this.answer.over) this.events.write(chunk);
    return this.answer.handOut();
  }

  end(): Uint8Array {
    const rest = this.answer.over ? null : this.events.end();
    // Several vendors leave out the last empty line. An event that cannot be read was cut; `state` tells it.
    if (rest !== null && rest.data !== null) this.read(rest.type, rest.data);
    return this.answer.handOut();
  }

  stop(end: StreamEnd): Uint8Array {
    this.answer.stop(end);
    return this.answer.handOut();
  }

  private usage(): AnswerUsage {
    return countedUsage(this.reader.usage(), this.parts.context);
  }

  private take(type: string | null, data: Buffer | null): void {
    const { answer } = this;
    if (answer.over) return;
    // Comments, and the empty data that some vendors send in silence.
    if (data === null || data.length === 0) return answer.ping();
    if (!this.read(type, data)) answer.fail(nonsense('The upstream sent an event that cannot be read.'));
  }

  /** False when the data is no JSON, or deeper than any parser goes. */
  private read(type: string | null, data: Buffer): boolean {
    try {
      this.reader.event(type, data.toString('utf8'));
      return true;
    } catch (problem) {
      if (problem instanceof SyntaxError || problem instanceof RangeError) return false;
      throw problem;
    }
  }
}
