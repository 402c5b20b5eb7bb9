import type { Protocol } from '../../core/protocol.ts';
import type { ReportedUsage } from '../../core/tokens.ts';
import { disguised, errorType, scrubIdentifiers } from '../envelope.ts';
import type { RequestFacts, StreamError, StreamState, WireContext, WireStream } from '../protocol.ts';
import { createSseReader } from '../sse.ts';
import { reportedAs } from '../usage.ts';
import {
  type AnswerSink,
  type Call,
  type Finish,
  finishOf,
  isWithoutArguments,
  nonsense,
  type StreamReader,
  type StreamWriter,
  shownUsage,
} from './answer.ts';
import { createBlockOrder } from './block-order.ts';
import { encodeText } from './json.ts';
import { createDistinctIds } from './tool-ids.ts';

/** A Responses upstream repeats the whole request in its last event; beyond this no event is sane. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;
const noBytes = new Uint8Array();

/**
 * Relays one stream between two protocols, event by event. The reader knows the upstream's protocol, the writer the
 * client's; where the stream stands is decided here alone.
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
  restoreCall: (call: Call) => Call;
}): WireStream {
  const writer = createWriter();
  let state: StreamState = 'waiting';
  let error: StreamError | null = null;
  let output = '';
  let outputBytes = 0;
  let outputPieces = 0;
  let called = false;
  /** The open block is a call that takes JSON, and no arguments have come for it yet. */
  let bare = false;
  const distinct = createDistinctIds();
  /** The upstream itself said why the answer ended. */
  let complete = false;

  const over = () => error !== null || state === 'terminated' || state === 'failed';

  function begin(): void {
    if (state !== 'waiting') return;
    state = 'open';
    output += writer.begin();
  }

  function count(text: string): void {
    if (text === '') return;
    outputBytes += Buffer.byteLength(text);
    outputPieces += 1;
  }

  const blocks = createBlockOrder({
    open(block) {
      bare = block.kind === 'call' && isWithoutArguments(block, '');
      output += writer.open(block);
    },
    delta(text) {
      bare &&= text.trim() === '';
      output += writer.delta(text);
    },
    close() {
      if (bare) output += writer.delta('{}');
      output += writer.close();
    },
  });

  function fail(found: StreamError): void {
    error = found;
    if (state === 'waiting') return;
    const { status, message, code = null } = disguised(client, found.status, context) ?? found;
    const scrubbed = scrubIdentifiers(message, context.requestId);
    output += writer.fail({ status, type: errorType(client, status), code, message: scrubbed });
    state = 'failed';
  }

  const sink: AnswerSink = {
    begin,
    text(kind, text) {
      begin();
      count(text);
      blocks.text(kind, text);
    },
    call(key, call) {
      begin();
      called = true;
      blocks.call(key, { ...restoreCall(call), id: distinct(call.id) });
    },
    callArguments(key, text) {
      count(text);
      if (!blocks.callArguments(key, text)) fail(nonsense('The model sent a malformed tool call.'));
    },
    callEnd(key) {
      blocks.callEnd(key);
    },
    finish(found) {
      complete = true;
      finish(found);
    },
    end() {
      if (state === 'waiting') return fail(nonsense('The upstream answered with nothing.'));
      if (state === 'open') sink.finish(finishOf(called ? 'calls' : 'stop'));
      terminate();
    },
    ping() {
      if (state !== 'waiting') output += writer.keepAlive;
    },
    fail,
  };

  function finish(found: Finish): void {
    if (state === 'finished') return;
    begin();
    blocks.flush();
    output += writer.finish(found);
    state = 'finished';
  }

  const reader = createReader(sink);

  function terminate(): void {
    // Content after the finish reason is against the rules, and still content.
    blocks.flush();
    output += writer.end(shownUsage(reader.usage(), facts.cacheWrite));
    state = 'terminated';
  }

  function take(type: string | null, data: Buffer | null): void {
    if (over()) return;
    // Comments, and the empty data that some vendors send in silence.
    if (data === null || data.length === 0) return sink.ping();
    if (!read(type, data)) fail(nonsense('The upstream sent an event that cannot be read.'));
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
        if (!over()) fail(nonsense('The upstream sent an event that is too large.'));
      },
    },
  });

  function handOut(): Uint8Array {
    if (output === '') return noBytes;
    const bytes = encodeText(output);
    output = '';
    return bytes;
  }

  function account(): ReportedUsage {
    const reported = reportedAs(reader.usage().reading, facts.cacheWrite);
    return {
      ...reported,
      partial: !complete || reported.partial,
      outputBytes,
      outputPieces,
      model: reader.model,
    };
  }

  return {
    get state() {
      return state;
    },
    get error() {
      return error;
    },
    get keepAlive() {
      return encodeText(writer.keepAlive);
    },
    account,
    write(chunk) {
      if (!over()) events.write(chunk);
      return handOut();
    },
    end() {
      const rest = over() ? null : events.end();
      // Several vendors leave out the last empty line. What cannot be read was cut, which `state` tells.
      if (rest !== null && rest.data !== null) read(rest.type, rest.data);
      return handOut();
    },
    stop(end) {
      if (state === 'terminated' || state === 'failed') return noBytes;
      if (state === 'finished') terminate();
      else if (end.reason === 'budget') {
        finish(finishOf('length'));
        const shown = shownUsage(reader.usage(), facts.cacheWrite);
        output += writer.end(end.usage === undefined ? shown : { usage: end.usage, reasoningTokens: null });
        state = 'terminated';
      } else {
        // The end is worded for messages; other protocols have types of their own.
        const type = client === 'messages' ? end.type : errorType(client, end.status);
        output += writer.fail({ status: end.status, type, code: end.code ?? null, message: end.message });
        state = 'failed';
      }
      return handOut();
    },
  };
}
