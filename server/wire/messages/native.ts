import { Buffer } from 'node:buffer';
import { noTokens, type ReportedUsage, type TokenPools } from '../../core/tokens.ts';
import { splice } from '../body.ts';
import { mintedThinkingEdits } from '../dialogue/minted-thinking.ts';
import { disguised, errorEvent, errorType, statusOfError } from '../envelope.ts';
import { createEventRelay, noBytes, type Verdict } from '../event-relay.ts';
import { type JsonNode, leaf, listOf, shape, textOf, tryScanJson, valueOf } from '../json.ts';
import {
  answerLimits,
  answerModelEdits,
  count,
  countJson,
  countText,
  type DataEvent,
  editEvent,
  type Generated,
  isAnswerWithoutContent,
  isSaid,
  type NativeProtocol,
  scrubEvent,
  wordsOf,
} from '../native.ts';
import {
  type RequestFacts,
  type StreamEnd,
  UnreadableReply,
  type WireContext,
  type WireReply,
  type WireStream,
} from '../protocol.ts';
import { sseEvent } from '../sse.ts';
import { createMessagesUsage, readMessagesUsage, reportedAs, toMessagesUsage } from '../usage.ts';

/**
 * The messages protocol where client and upstream both speak it: bytes pass, `model` is spliced, usage is read. Only
 * thinking that the gateway itself has signed is taken out, because the vendor would refuse the whole request.
 */
export const nativeMessages: NativeProtocol = {
  protocol: 'messages',
  requestEdits: (raw) => mintedThinkingEdits(raw),
  reply: readReply,
  stream: createMessagesStream,
};

const MAX_EVENT_BYTES = 1_048_576;
const ping = Buffer.from(sseEvent('ping', '{"type": "ping"}'));

/** A whole answer. */
const replyShape = shape({
  type: leaf,
  model: leaf,
  usage: leaf,
  error: shape(),
  content: listOf(shape({ type: leaf, text: leaf, thinking: leaf, data: leaf, input: leaf })),
});

function readReply(body: Uint8Array, facts: RequestFacts, context: WireContext): WireReply {
  const root = tryScanJson(body, replyShape, answerLimits);
  const content = root?.members.get('content');
  if (root === null || (content?.kind !== 'array' && !isAnswerWithoutContent(root))) {
    throw new UnreadableReply('The upstream answered with no message.');
  }
  const generated = { bytes: 0, pieces: 0 };
  countText(generated, content);
  for (const block of content?.items ?? []) countBlock(generated, block);
  const reported = root.members.get('usage');
  const reading = reported === undefined ? null : readMessagesUsage(valueOf(body, reported));
  const model = root.members.get('model');
  return {
    body: splice(body, answerModelEdits(model, context)),
    account: {
      ...reportedAs(reading, facts.cacheWrite),
      outputBytes: generated.bytes,
      outputPieces: generated.pieces,
      model: textOf(body, model),
    },
  };
}

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

function createMessagesStream(facts: RequestFacts, context: WireContext): WireStream {
  const generated: Generated = { bytes: 0, pieces: 0 };
  const usage = createMessagesUsage();
  const openBlocks = new Set<number>();
  let model: string | null = null;
  let begun = false;
  let usageAtEnd = false;

  function read(event: DataEvent): Verdict {
    const { data } = event;
    const root = tryScanJson(data, eventShape, answerLimits);
    if (root?.kind !== 'object') {
      if (event.type === 'error') return readError(event, undefined, context);
      generated.bytes += data.length;
      return { kind: 'pass' };
    }
    const type = textOf(data, root.members.get('type')) ?? event.type ?? '';
    const index = root.members.get('index');
    switch (type) {
      case 'message_start': {
        begun = true;
        const message = root.members.get('message');
        model = textOf(data, message?.members.get('model')) ?? model;
        addUsage(data, message?.members.get('usage'));
        return editEvent(event, answerModelEdits(message?.members.get('model'), context));
      }
      case 'content_block_start': {
        if (index?.kind === 'number') openBlocks.add(Number(valueOf(data, index)));
        const block = root.members.get('content_block');
        if (block !== undefined) countBlock(generated, block);
        return { kind: 'pass' };
      }
      case 'content_block_delta': {
        const delta = root.members.get('delta');
        const before = generated.pieces;
        const texts = deltaTexts.map((name) => delta?.members.get(name));
        for (const text of texts) countText(generated, text);
        return { kind: 'pass', words: wordsOf(generated.pieces - before, texts, undefined) };
      }
      case 'content_block_stop':
        if (index?.kind === 'number') openBlocks.delete(Number(valueOf(data, index)));
        return { kind: 'pass' };
      case 'message_delta': {
        usageAtEnd = addUsage(data, root.members.get('usage')) || usageAtEnd;
        const stopped = isSaid(root.members.get('delta')?.members.get('stop_reason'));
        return stopped ? { kind: 'pass', state: 'finished' } : { kind: 'pass' };
      }
      case 'message_stop':
        return { kind: 'pass', state: 'terminated' };
      case 'ping':
        return { kind: 'idle' };
      case '':
        return root.members.get('error')?.kind === 'object'
          ? readError(event, root.members.get('error'), context)
          : { kind: 'pass' };
      case 'error':
        return readError(event, root.members.get('error'), context);
      default:
        return { kind: 'pass' };
    }
  }

  function addUsage(data: Buffer, reported: JsonNode | undefined): boolean {
    if (reported?.kind !== 'object') return false;
    usage.add(valueOf(data, reported));
    return true;
  }

  const relay = createEventRelay({
    maxEventBytes: MAX_EVENT_BYTES,
    dialect: {
      read,
      repeated(bytes) {
        count(generated, bytes);
      },
      unread(bytes) {
        generated.bytes += bytes;
      },
    },
  });

  function account(): ReportedUsage {
    const reported = reportedAs(usage.read(), facts.cacheWrite);
    return {
      ...reported,
      partial: !relay.complete || !usageAtEnd || reported.partial,
      outputBytes: generated.bytes,
      outputPieces: generated.pieces,
      model,
    };
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

  function budgetEnding(pools: TokenPools): string {
    const blocks = [...openBlocks].map((index) =>
      sseEvent('content_block_stop', `{"type":"content_block_stop","index":${index}}`),
    );
    const delta = {
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: toMessagesUsage(pools),
    };
    return [beginning(pools), ...blocks, sseEvent('message_delta', JSON.stringify(delta)), messageStop].join('');
  }

  return {
    get state() {
      return relay.state;
    },
    get error() {
      return relay.error;
    },
    get keepAlive() {
      return relay.inEvent() ? noBytes : ping;
    },
    write: relay.write,
    end: relay.end,
    account,
    stop(end: StreamEnd) {
      const { state } = relay;
      if (state === 'terminated' || state === 'failed') return noBytes;
      if (state === 'finished') return Buffer.from(relay.close('terminated') + messageStop);
      if (end.reason === 'budget') {
        return Buffer.from(relay.close('terminated') + budgetEnding(end.usage ?? account().usage ?? noTokens));
      }
      return Buffer.from(relay.close('failed') + errorEvent('messages', { ...end, requestId: context.requestId }));
    },
  };
}

const messageStop = sseEvent('message_stop', '{"type":"message_stop"}');

function readError(event: DataEvent, error: JsonNode | undefined, context: WireContext): Verdict {
  const { data } = event;
  const type = textOf(data, error?.members.get('type'));
  const status = statusOfError(type, null);
  const message = textOf(data, error?.members.get('message')) ?? 'The model failed at its vendor.';
  const found = { status, type: type ?? errorType('messages', status), message };
  const instead = disguised('messages', status, context);
  if (instead !== null) {
    const bytes = Buffer.from(errorEvent('messages', instead));
    return { kind: 'error', error: found, with: bytes };
  }
  return { kind: 'error', error: found, with: scrubEvent(event, context.requestId) };
}
