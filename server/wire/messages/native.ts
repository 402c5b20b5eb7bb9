import { Buffer } from 'node:buffer';
import type { TokenPools } from '../../core/tokens.ts';
import { mintedThinkingEdits } from '../dialogue/minted-thinking.ts';
import { errorEvent, errorType, statusOfError } from '../envelope.ts';
import { countJson, countText, type Generated, isSaid, wordsOf } from '../generated.ts';
import { type JsonNode, leaf, listOf, shape, textOf, tryScanJson, valueOf } from '../json.ts';
import { answerModelEdits, eventLimits, type NativeProtocol, type ReplyProtocol } from '../native.ts';
import type { RequestFacts, WireContext } from '../protocol.ts';
import { addServed, asksForVariant } from '../served.ts';
import type { DataEvent } from '../streams/event-relay.ts';
import {
  type Dialect,
  type ErrorVerdict,
  editEvent,
  type Progress,
  type StreamProtocol,
} from '../streams/native-stream.ts';
import { isDone, sseEvent } from '../streams/sse.ts';
import { createMessagesUsage, readMessagesUsage, toMessagesUsage } from '../usage.ts';

/**
 * The messages protocol where client and upstream both speak it: bytes pass, `model` is spliced, usage is read. Only
 * thinking that the gateway itself has signed is taken out, because the vendor would refuse the whole request.
 */

const reply: ReplyProtocol = {
  shape: shape({
    type: leaf,
    model: leaf,
    usage: leaf,
    error: shape(),
    stop_reason: leaf,
    content: listOf(shape({ type: leaf, text: leaf, thinking: leaf, data: leaf, input: leaf })),
  }),
  list: 'content',
  noun: 'message',
  countItem: countBlock,
  usage: (root) => root.members.get('usage'),
  readUsage: readMessagesUsage,
  servedIn: 'usage',
  finish: (root) => root.members.get('stop_reason'),
};

function countBlock(generated: Generated, block: JsonNode): void {
  for (const name of ['text', 'thinking', 'data']) countText(generated, block.members.get(name));
  countJson(generated, block.members.get('input'));
}

const eventShape = shape({
  type: leaf,
  index: leaf,
  message: shape({ model: leaf, usage: leaf }),
  content_block: shape({ type: leaf, text: leaf, thinking: leaf, data: leaf, input: leaf }),
  delta: shape({ text: leaf, partial_json: leaf, thinking: leaf, content: leaf, stop_reason: leaf }),
  usage: leaf,
  error: shape({ type: leaf, message: leaf }),
});

const deltaTexts = ['text', 'partial_json', 'thinking', 'content'];

function createDialect(progress: Progress, context: WireContext, facts: RequestFacts): Dialect {
  const asksFor = asksForVariant(facts.gates);
  const usage = createMessagesUsage();
  const openBlocks = new Set<number>();
  let begun = false;
  /** A `message_delta` came, which says how the answer ends and what it took. */
  let ended = false;

  const isAny = (): boolean => ended || progress.pieces > 0 || progress.bytes > 0 || openBlocks.size > 0;

  function read(event: DataEvent): ReturnType<Dialect['read']> {
    const { data } = event;
    if (isDone(data)) return { kind: 'idle' };
    const root = tryScanJson(data, eventShape, eventLimits);
    if (root?.kind !== 'object') {
      if (event.type === 'error') return errorOf(data, undefined);
      progress.bytes += data.length;
      return { kind: 'pass' };
    }
    const type = event.type === 'error' ? event.type : (textOf(data, root.members.get('type')) ?? event.type ?? '');
    const index = root.members.get('index');
    switch (type) {
      case 'message_start': {
        begun = true;
        const message = root.members.get('message');
        progress.model = textOf(data, message?.members.get('model')) ?? progress.model;
        addUsage(data, message?.members.get('usage'), 'start');
        return editEvent(event, answerModelEdits(message?.members.get('model'), context));
      }
      case 'content_block_start': {
        if (index?.kind === 'number') openBlocks.add(Number(valueOf(data, index)));
        const block = root.members.get('content_block');
        if (block !== undefined) countBlock(progress, block);
        return { kind: 'pass' };
      }
      case 'content_block_delta': {
        const delta = root.members.get('delta');
        const before = progress.pieces;
        const texts = deltaTexts.map((name) => delta?.members.get(name));
        for (const text of texts) countText(progress, text);
        return { kind: 'pass', words: wordsOf(progress.pieces - before, texts, undefined) };
      }
      case 'content_block_stop':
        if (index?.kind === 'number') openBlocks.delete(Number(valueOf(data, index)));
        return { kind: 'pass' };
      case 'message_delta': {
        addUsage(data, root.members.get('usage'), 'add');
        const reason = root.members.get('delta')?.members.get('stop_reason');
        const stopped = isSaid(reason);
        if (stopped) progress.finish = textOf(data, reason) ?? '';
        ended = true;
        return stopped ? { kind: 'pass', state: 'finished' } : { kind: 'pass' };
      }
      case 'message_stop':
        return isAny() ? { kind: 'pass', state: 'terminated' } : nothingAtAll;
      case 'ping':
        return { kind: 'idle' };
      case '':
        return root.members.get('error')?.kind === 'object'
          ? errorOf(data, root.members.get('error'))
          : { kind: 'pass' };
      case 'error':
        return textOf(data, root.members.get('type')) === 'error'
          ? errorOf(data, root.members.get('error'))
          : { ...errorOf(data, root.members.get('error') ?? root), unsaid: 'instead' };
      default:
        return { kind: 'pass' };
    }
  }

  function addUsage(data: Buffer, reported: JsonNode | undefined, take: 'start' | 'add'): void {
    if (reported?.kind !== 'object') return;
    const said = valueOf(data, reported);
    usage[take](said);
    if (asksFor) {
      const served = addServed(progress.served, said);
      if (served !== undefined) progress.served = served;
    }
    progress.reading = usage.read();
  }

  /** The start of an answer that never began: an ending alone would be no stream that a client can read. */
  function beginning(pools: TokenPools): string {
    if (begun) return '';
    const message = {
      id: `msg_${context.requestId}`,
      type: 'message',
      role: 'assistant',
      model: context.catalogModel,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toMessagesUsage({ ...pools, output: 0 }),
    };
    return sseEvent('message_start', JSON.stringify({ type: 'message_start', message }));
  }

  function lengthEnding(pools: TokenPools): string {
    const blocks = [...openBlocks].map((index) =>
      sseEvent('content_block_stop', `{"type":"content_block_stop","index":${index}}`),
    );
    const delta = {
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: toMessagesUsage(pools),
    };
    return [beginning(pools), ...blocks, sseEvent('message_delta', JSON.stringify(delta))].join('');
  }

  return {
    read,
    budgetEnding: (pools, finished) => (finished ? '' : lengthEnding(pools)) + messageStop,
    terminator: () => messageStop,
    failure: (facts) => errorEvent('messages', facts),
  };
}

/** An answer that ends without content and without its ending: another route may have one, and nothing is charged. */
const nothingAtAll: ErrorVerdict = {
  kind: 'error',
  unsaid: 'instead',
  error: { status: 502, type: 'api_error', message: 'The upstream answered with nothing.' },
  edits: [],
};

const messageStop = sseEvent('message_stop', '{"type":"message_stop"}');

function errorOf(data: Buffer, error: JsonNode | undefined): ErrorVerdict {
  const type = textOf(data, error?.members.get('type'));
  const status = statusOfError(type, null);
  const message = textOf(data, error?.members.get('message')) ?? 'The model failed at its vendor.';
  return { kind: 'error', error: { status, type: type ?? errorType('messages', status), message }, edits: [] };
}

const stream: StreamProtocol = {
  maxEventBytes: 1_048_576,
  keepAlive: Buffer.from(sseEvent('ping', '{"type": "ping"}')),
  createDialect,
};

export const nativeMessages: NativeProtocol = {
  protocol: 'messages',
  requestEdits: (raw) => mintedThinkingEdits(raw),
  reply,
  stream,
};
