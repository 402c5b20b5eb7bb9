import type { Protocol } from '../../core/protocol.ts';
import { disguised, errorType, scrubIdentifiers } from '../envelope.ts';
import type { RequestFacts, StreamError, StreamState, WireContext, WireStream } from '../protocol.ts';
import {
  type AnswerSink,
  type Finish,
  finishOf,
  isWithoutArguments,
  nonsense,
  type StreamReader,
  type StreamWriter,
  shownUsage,
  type ToolCall,
} from './answer.ts';
import { type BlockOrder, createBlockOrder } from './block-order.ts';
import { encodeText } from './json.ts';
import { createDistinctIds } from './tool-ids.ts';

/** Keeps the state of one translated stream, between the reader of the upstream and the writer for the client. */

const noBytes = new Uint8Array();

/** Content of a streamed answer, in bytes of UTF-8 and in pieces. */
export interface ContentCount {
  outputBytes: number;
  outputPieces: number;
}

function count(content: ContentCount, text: string): void {
  if (text === '') return;
  content.outputBytes += Buffer.byteLength(text);
  content.outputPieces += 1;
}

/** A streamed answer between its reader and its writer: its state, and the text for the client. */
export interface AnswerRelay {
  /** Takes what the reader found. */
  sink: AnswerSink;
  readonly state: StreamState;
  readonly error: StreamError | null;
  /** Nothing of the upstream is read any more. */
  readonly over: boolean;
  /** The upstream itself reported why the answer ended. */
  readonly complete: boolean;
  /** Content so far. */
  readonly content: ContentCount;
  /** Ends the answer on the gateway's side. */
  stop(end: Parameters<WireStream['stop']>[0]): void;
  /** The bytes for the client since the last call. */
  handOut(): Uint8Array;
}

export interface AnswerRelayParts {
  client: Protocol;
  cacheWrite: RequestFacts['cacheWrite'];
  context: WireContext;
  writer: StreamWriter;
  restoreCall: (call: ToolCall) => ToolCall;
  /** What the upstream has reported so far. */
  usage: StreamReader['usage'];
}

/** Keeps the one state of a translated stream: in order, ended once, and in the words of the client's protocol. */
export function createAnswerRelay(parts: AnswerRelayParts): AnswerRelay {
  const { client, cacheWrite, context, writer, restoreCall, usage } = parts;
  let state: StreamState = 'waiting';
  let error: StreamError | null = null;
  let output = '';
  const content: ContentCount = { outputBytes: 0, outputPieces: 0 };
  const names = createCallNames();
  let complete = false;
  const distinct = createDistinctIds();
  const blocks = blocksOf(writer, (text) => {
    output += text;
  });

  function begin(): void {
    if (state !== 'waiting') return;
    state = 'open';
    output += writer.begin();
  }

  function fail(found: StreamError): void {
    error = found;
    if (state === 'waiting') return;
    const { status, message, code = null } = disguised(client, found.status, context) ?? found;
    const scrubbed = scrubIdentifiers(message, context.requestId);
    output += writer.fail({ status, type: errorType(client, status), code, message: scrubbed });
    state = 'failed';
  }

  function finish(found: Finish): void {
    if (state === 'finished') return;
    begin();
    blocks.flush();
    output += writer.finish(found);
    state = 'finished';
  }

  function terminate(shown = shownUsage(usage(), cacheWrite)): void {
    // Content after the finish reason is against the rules, and still content.
    blocks.flush();
    output += writer.end(shown);
    state = 'terminated';
  }

  const sink: AnswerSink = {
    begin,
    text(kind, text) {
      begin();
      count(content, text);
      if (text !== '') names.shown();
      blocks.text(kind, text);
    },
    call(key, call) {
      begin();
      if (!names.call(key, call)) return;
      blocks.call(key, { ...restoreCall(call), id: distinct(call.id) });
    },
    callArguments(key, text) {
      count(content, text);
      if (!names.took(key, text) && !blocks.callArguments(key, text))
        fail(nonsense('The model sent a malformed tool call.'));
    },
    callEnd(key) {
      if (!names.took(key, '')) blocks.callEnd(key);
    },
    finish(found) {
      if (names.isAll) return fail(nonsense('The model called a tool without naming it.'));
      complete = true;
      finish(found.kind === 'calls' && !names.hasNamed && names.isAny ? { ...found, kind: 'stop' } : found);
    },
    end() {
      if (state === 'waiting') return fail(nonsense('The upstream answered with nothing.'));
      if (state === 'open') sink.finish(finishOf(names.hasNamed ? 'calls' : 'stop'));
      if (error === null) terminate();
    },
    ping() {
      if (state !== 'waiting') output += writer.keepAlive;
    },
    fail,
  };

  function stop(end: Parameters<WireStream['stop']>[0]): void {
    if (state === 'terminated' || state === 'failed') return;
    if (state === 'finished') terminate();
    else if (end.reason === 'budget') {
      finish(finishOf('length'));
      terminate(end.usage === undefined ? undefined : { usage: end.usage, reasoningTokens: null });
    } else {
      // The end is worded for messages; other protocols have types of their own.
      const type = client === 'messages' ? end.type : errorType(client, end.status);
      output += writer.fail({ status: end.status, type, code: end.code ?? null, message: end.message });
      state = 'failed';
    }
  }

  return {
    sink,
    get state() {
      return state;
    },
    get error() {
      return error;
    },
    get over() {
      return error !== null || state === 'terminated' || state === 'failed';
    },
    get complete() {
      return complete;
    },
    content,
    stop,
    handOut() {
      if (output === '') return noBytes;
      const bytes = encodeText(output);
      output = '';
      return bytes;
    },
  };
}

/** Which calls have a name. Those without are left out where there is anything else to show: no client could carry them out. */
interface CallNames {
  /** Whether the call has a name. */
  call(key: string, call: ToolCall): boolean;
  /** Something else came that can be shown. */
  shown(): void;
  /** Whether this is one of them; then its arguments go nowhere. */
  took(key: string, argumentsText: string): boolean;
  readonly hasNamed: boolean;
  readonly isAny: boolean;
  /** They have arguments, and nothing else came. */
  readonly isAll: boolean;
}

function createCallNames(): CallNames {
  const keys = new Set<string>();
  let isMeant = false;
  let isElse = false;
  let hasNamed = false;
  return {
    call(key, { name }) {
      if (name === '') keys.add(key);
      else hasNamed = true;
      isElse ||= hasNamed;
      return name !== '';
    },
    shown() {
      isElse = true;
    },
    took(key, text) {
      if (!keys.has(key)) return false;
      isMeant ||= text.trim() !== '';
      return true;
    },
    get hasNamed() {
      return hasNamed;
    },
    get isAny() {
      return keys.size > 0;
    },
    get isAll() {
      return isMeant && !isElse;
    },
  };
}

/** The blocks of an answer, one after the other. A call that takes JSON and got no arguments closes with `{}`. */
function blocksOf(writer: StreamWriter, write: (text: string) => void): BlockOrder {
  let bare = false;
  return createBlockOrder({
    open(block) {
      bare = block.kind === 'call' && isWithoutArguments(block, '');
      write(writer.open(block));
    },
    delta(text) {
      bare &&= text.trim() === '';
      write(writer.delta(text));
    },
    close() {
      if (bare) write(writer.delta('{}'));
      write(writer.close());
    },
  });
}
