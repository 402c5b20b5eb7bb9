import { type AnswerSink, nonsense, type OpenStreamReader, type StreamReader } from '../dialogue/answers/answer.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listMember,
  objectMember,
  parseAnswer,
  stringifyJson,
  stringMember,
  typeOf,
} from '../dialogue/json.ts';
import { decodeToolId } from '../dialogue/tool-ids.ts';
import { statusOfError } from '../envelope.ts';
import { createMessagesUsage } from '../usage.ts';
import { readStop } from './finish.ts';
import { readThinkingTokens } from './usage.ts';

/** Reads the events of a Messages upstream. */
export function createMessagesStreamReader(sink: AnswerSink): StreamReader {
  const usage = createMessagesUsage();
  /** Open tool calls by block index, with the input that stands in until pieces of it arrive. */
  const inputs = new Map<string, JsonObject | null>();
  let reasoningTokens: number | null = null;

  function addUsage(reported: Json | undefined, take: 'start' | 'add'): void {
    if (!isObject(reported)) return;
    usage[take](reported);
    reasoningTokens = readThinkingTokens(reported) ?? reasoningTokens;
  }

  function start(message: JsonObject): void {
    reader.model = stringMember(message, 'model') ?? reader.model;
    addUsage(message.usage, 'start');
    sink.begin();
    // Calls that were decided before the answer began come with the message itself.
    listMember(message, 'content').forEach((block, index) => {
      if (isObject(block) && block.type === 'tool_use') {
        startCall(block, `start-${index}`);
        endCall(`start-${index}`);
      }
    });
  }

  function startBlock(block: JsonObject, key: string): void {
    switch (typeOf(block)) {
      case 'text':
        return sink.text('text', stringMember(block, 'text') ?? '');
      case 'thinking':
        return sink.text('reasoning', stringMember(block, 'thinking') ?? '');
      case 'tool_use':
        return startCall(block, key);
      // Other blocks belong to tools that ran at the vendor; their text is in the text blocks.
    }
  }

  function startCall(block: JsonObject, key: string): void {
    const id = decodeToolId(stringMember(block, 'id') ?? '');
    sink.call(key, { kind: 'call', id, name: stringMember(block, 'name') ?? '', custom: false, wrapped: false });
    inputs.set(key, objectMember(block, 'input') ?? {});
  }

  function readDelta(delta: JsonObject, key: string): void {
    switch (typeOf(delta)) {
      case 'text_delta':
        return sink.text('text', stringMember(delta, 'text') ?? '');
      case 'thinking_delta':
        return sink.text('reasoning', stringMember(delta, 'thinking') ?? '');
      case 'input_json_delta': {
        const piece = stringMember(delta, 'partial_json') ?? '';
        if (!inputs.has(key) || piece === '') return;
        inputs.set(key, null);
        return sink.callArguments(key, piece);
      }
    }
  }

  function endCall(key: string): void {
    const input = inputs.get(key);
    if (input === undefined) return;
    if (input !== null) sink.callArguments(key, stringifyJson(input));
    inputs.delete(key);
    sink.callEnd(key);
  }

  let isAny = false;
  const reader: OpenStreamReader = {
    model: null,
    usage: () => ({ reading: usage.read(), reasoningTokens }),
    event(name, data) {
      if (data.trim() === '[DONE]') return;
      const event = parseAnswer(data);
      if (!isObject(event)) return sink.fail(nonsense('The upstream sent an event that is no object.'));
      const key = typeof event.index === 'number' ? String(event.index) : '';
      switch (name === 'error' ? name : typeOf(event) || name || '') {
        case 'message_start':
          return start(objectMember(event, 'message') ?? {});
        case 'content_block_start':
          isAny = true;
          return startBlock(objectMember(event, 'content_block') ?? {}, key);
        case 'content_block_delta':
          return readDelta(objectMember(event, 'delta') ?? {}, key);
        case 'content_block_stop':
          return endCall(key);
        case 'message_delta': {
          isAny = true;
          addUsage(event.usage, 'add');
          const delta = objectMember(event, 'delta') ?? {};
          if (stringMember(delta, 'stop_reason')) sink.finish(readStop(delta));
          return;
        }
        case 'message_stop':
          // Neither a piece of content nor an ending came, so that nobody has said that it ended well.
          return isAny ? sink.end() : sink.fail(nonsense('The upstream answered with nothing.'));
        case 'ping':
          return sink.ping();
        case 'error':
          return sink.fail(readError(objectMember(event, 'error') ?? event));
      }
    },
  };
  return reader;
}

function readError(error: JsonObject): { status: number; type: string; message: string } {
  const type = stringMember(error, 'type');
  const message = stringMember(error, 'message') || 'The model failed at its vendor.';
  return { status: statusOfError(type, null), type: type ?? 'api_error', message };
}
