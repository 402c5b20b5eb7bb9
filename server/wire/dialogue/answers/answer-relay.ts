import type { Protocol } from '../../../core/protocol.ts';
import { disguised, errorType, overflowFacts, scrubIdentifiers } from '../../envelope.ts';
import type { RequestFacts, StreamEnd, StreamError, StreamState, WireContext } from '../../protocol.ts';
import { encodeText } from '../json.ts';
import { createDistinctIds } from '../tool-ids.ts';
import {
  type AnswerSink,
  type Finish,
  finishOf,
  isWithoutArguments,
  nonsense,
  type StreamReader,
  type StreamWriter,
  shownUsage,
  type TextKind,
  type ToolCall,
} from './answer.ts';
import { type BlockOrder, createBlockOrder } from './block-order.ts';

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

/** What a piece of content belongs to: text of a kind, or the arguments of the call with that key. */
type Said = { kind: TextKind } | { key: string };

export interface AnswerRelayParts {
  client: Protocol;
  cacheWrite: RequestFacts['cacheWrite'];
  context: WireContext;
  writer: StreamWriter;
  restoreCall: (call: ToolCall) => ToolCall;
}

/**
 * Keeps the one state of a translated stream: in order, ended once, and in the words of the client's protocol. A class, like
 * all that belongs to one stream: V8 makes a hidden class for each object literal with an accessor.
 */
export class AnswerRelay implements AnswerSink {
  state: StreamState = 'waiting';
  error: StreamError | null = null;
  /** The upstream itself reported why the answer ended. */
  complete = false;
  /** Why, as it was reported; null: not yet. */
  finishKind: Finish['kind'] | null = null;
  /** Content so far. */
  readonly content: ContentCount = { outputBytes: 0, outputPieces: 0 };
  /** How often the upstream has said anything. */
  acts = 0;
  /** What it said last, if that was content: {@link lastText} of it. */
  lastSaid: Said | null = null;
  lastText = '';
  private readonly parts: AnswerRelayParts;
  /** What the upstream has reported so far. */
  private readonly usage: StreamReader['usage'];
  private readonly names = new CallNames();
  private readonly distinct = createDistinctIds();
  private readonly blocks: BlockOrder;
  private output = '';

  constructor(parts: AnswerRelayParts, usage: StreamReader['usage']) {
    this.parts = parts;
    this.usage = usage;
    this.blocks = blocksOf(parts.writer, (text) => {
      this.output += text;
    });
  }

  /** Nothing of the upstream is read any more. */
  get over(): boolean {
    return this.error !== null || this.state === 'terminated' || this.state === 'failed';
  }

  begin(): void {
    if (this.state !== 'waiting') return;
    this.act(null, '');
    this.state = 'open';
    this.output += this.parts.writer.begin();
  }

  text(kind: TextKind, text: string): void {
    this.begin();
    if (text === '') return;
    if (this.lastSaid === null || !('kind' in this.lastSaid) || this.lastSaid.kind !== kind) this.act({ kind }, text);
    else this.act(this.lastSaid, text);
    count(this.content, text);
    this.names.shown();
    this.blocks.text(kind, text);
  }

  /** Takes content that belongs to the same as some before. */
  say(said: Said, text: string): void {
    if ('kind' in said) this.text(said.kind, text);
    else this.callArguments(said.key, text);
  }

  /** Counts content that is written elsewhere. */
  shown(bytes: number): void {
    this.content.outputBytes += bytes;
    this.content.outputPieces += 1;
  }

  /** What the client gets from the character at `from` on, which waits to be handed out. */
  outputFrom(from: number): string {
    return this.output.slice(from);
  }

  get outputLength(): number {
    return this.output.length;
  }

  private act(said: Said | null, text: string): void {
    this.acts += 1;
    this.lastSaid = said;
    this.lastText = text;
  }

  call(key: string, call: ToolCall): void {
    this.begin();
    this.act(null, '');
    if (!this.names.call(key, call)) return;
    this.blocks.call(key, { ...this.parts.restoreCall(call), id: this.distinct(call.id) });
  }

  callArguments(key: string, text: string): void {
    this.act(text === '' ? null : { key }, text);
    count(this.content, text);
    if (!this.names.took(key, text) && !this.blocks.callArguments(key, text))
      this.fail(nonsense('The model sent a malformed tool call.'));
  }

  callEnd(key: string): void {
    this.act(null, '');
    if (!this.names.took(key, '')) this.blocks.callEnd(key);
  }

  finish(found: Finish): void {
    const { names } = this;
    if (names.isAll) return this.fail(nonsense('The model called a tool without naming it.'));
    this.complete = true;
    this.finishKind = found.kind;
    this.close(found.kind === 'calls' && !names.hasNamed && names.isAny ? { ...found, kind: 'stop' } : found);
  }

  end(): void {
    if (this.state === 'waiting') return this.fail(nonsense('The upstream answered with nothing.'));
    if (this.state === 'open') this.finish(finishOf(this.names.hasNamed ? 'calls' : 'stop'));
    if (this.error === null) this.terminate();
  }

  ping(): void {
    this.act(null, '');
    if (this.state !== 'waiting') this.output += this.parts.writer.keepAlive;
  }

  fail(found: StreamError): void {
    const { client, context, writer } = this.parts;
    this.error = found;
    if (this.state === 'waiting') return;
    const {
      status,
      message,
      code = null,
    } = disguised(client, found.status, context) ?? overflowFacts(client, found) ?? { ...found, code: null };
    const scrubbed = scrubIdentifiers(message, context.requestId);
    this.output += writer.fail({ status, type: errorType(client, status), code, message: scrubbed });
    this.state = 'failed';
  }

  /** Ends the answer on the gateway's side. */
  stop(end: StreamEnd): void {
    if (this.state === 'terminated' || this.state === 'failed') return;
    if (this.state === 'finished') this.terminate();
    else if (end.reason === 'budget') {
      this.close(finishOf('length'));
      this.terminate(end.usage === undefined ? undefined : { usage: end.usage, reasoningTokens: null });
    } else {
      const { client, writer } = this.parts;
      // The end is worded for messages; other protocols have types of their own.
      const type = client === 'messages' ? end.type : errorType(client, end.status);
      this.output += writer.fail({ status: end.status, type, code: end.code ?? null, message: end.message });
      this.state = 'failed';
    }
  }

  /** The bytes for the client since the last call. */
  handOut(): Uint8Array {
    if (this.output === '') return noBytes;
    const bytes = encodeText(this.output);
    this.output = '';
    return bytes;
  }

  private close(found: Finish): void {
    if (this.state === 'finished') return;
    this.begin();
    this.blocks.flush();
    this.output += this.parts.writer.finish(found);
    this.state = 'finished';
  }

  private terminate(shown = shownUsage(this.usage(), this.parts.cacheWrite)): void {
    // Content after the finish reason is against the rules, and still content.
    this.blocks.flush();
    this.output += this.parts.writer.end(shown);
    this.state = 'terminated';
  }
}

/** Which calls have a name. Those without are left out where there is anything else to show: no client could carry them out. */
class CallNames {
  private readonly keys = new Set<string>();
  private isMeant = false;
  private isElse = false;
  hasNamed = false;

  get isAny(): boolean {
    return this.keys.size > 0;
  }

  /** They have arguments, and nothing else came. */
  get isAll(): boolean {
    return this.isMeant && !this.isElse;
  }

  /** Whether the call has a name. */
  call(key: string, { name }: ToolCall): boolean {
    if (name === '') this.keys.add(key);
    else this.hasNamed = true;
    this.isElse ||= this.hasNamed;
    return name !== '';
  }

  /** Something else came that can be shown. */
  shown(): void {
    this.isElse = true;
  }

  /** Whether this is one of them; then its arguments go nowhere. */
  took(key: string, text: string): boolean {
    if (!this.keys.has(key)) return false;
    this.isMeant ||= text.trim() !== '';
    return true;
  }
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
