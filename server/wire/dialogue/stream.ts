import type { Protocol } from '../../core/protocol.ts';
import type { ReportedUsage } from '../../core/tokens.ts';
import type { RequestFacts, WireContext, WireStream } from '../protocol.ts';
import { createSseReader } from '../sse.ts';
import { reportedAs } from '../usage.ts';
import {
  type AnswerSink,
  type AnswerUsage,
  countedUsage,
  nonsense,
  type StreamReader,
  type StreamWriter,
  type ToolCall,
} from './answer.ts';
import { createAnswerRelay } from './answer-relay.ts';
import { encodeText } from './json.ts';

/** A Responses upstream repeats the whole request in its last event; beyond this no event is sane. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * Relays one stream between two protocols, event by event. The reader knows the upstream's protocol, the writer the
 * client's; the state of the answer is kept by the relay between them.
 */
export function createTranslatedStream({
  client,
  facts,
  context,
  createReader,
  createWriter,
  restoreCall,
}: {
  client: Protocol;
  facts: Pick<RequestFacts, 'cacheWrite'>;
  context: WireContext;
  createReader: (sink: AnswerSink) => StreamReader;
  createWriter: () => StreamWriter;
  restoreCall: (call: ToolCall) => ToolCall;
}): WireStream {
  const writer = createWriter();
  const { cacheWrite } = facts;
  const answer = createAnswerRelay({
    client,
    cacheWrite,
    context,
    writer,
    restoreCall,
    usage,
  });
  const reader = createReader(answer.sink);
  function usage(): AnswerUsage {
    return countedUsage(reader.usage(), context);
  }

  function take(type: string | null, data: Buffer | null): void {
    if (answer.over) return;
    // Comments, and the empty data that some vendors send in silence.
    if (data === null || data.length === 0) return answer.sink.ping();
    if (!read(type, data)) answer.sink.fail(nonsense('The upstream sent an event that cannot be read.'));
  }

  /** False when the data is no JSON, or deeper than any parser goes. */
  function read(type: string | null, data: Buffer): boolean {
    try {
      reader.event(type, data.toString('utf8'));
      return true;
    } catch (problem) {
      if (problem instanceof SyntaxError || problem instanceof RangeError) return false;
      throw problem;
    }
  }

  const events = createSseReader({
    maxEventBytes: MAX_EVENT_BYTES,
    sink: {
      event: ({ type, data }) => take(type, data),
      oversized() {
        if (!answer.over) answer.sink.fail(nonsense('The upstream sent an event that is too large.'));
      },
    },
  });

  function account(): ReportedUsage {
    const reported = reportedAs(usage().reading, cacheWrite);
    const partial = !answer.complete || reported.partial;
    return { ...reported, ...answer.content, partial, model: reader.model };
  }

  return {
    get state() {
      return answer.state;
    },
    get error() {
      return answer.error;
    },
    get keepAlive() {
      return encodeText(writer.keepAlive);
    },
    account,
    write(chunk) {
      if (!answer.over) events.write(chunk);
      return answer.handOut();
    },
    end() {
      const rest = answer.over ? null : events.end();
      // Several vendors leave out the last empty line. An event that cannot be read was cut; `state` tells it.
      if (rest !== null && rest.data !== null) read(rest.type, rest.data);
      return answer.handOut();
    },
    stop(end) {
      answer.stop(end);
      return answer.handOut();
    },
  };
}
