import { type AnswerBlock, type WholeAnswer, withoutEmptyCalls } from '../dialogue/answers/answer.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listMember,
  stringifyJson,
  stringMember,
  typeOf,
} from '../dialogue/json.ts';
import { UnreadableReply } from '../protocol.ts';
import { readStatus } from './finish.ts';
import { responsesAnswerUsage } from './usage.ts';

/**
 * Reads a whole response. `mintId` names calls that the vendor left without an id. One without output is a response all
 * the same when it says that it ended.
 */
export function readResponsesAnswer(body: Json, mintId: (ordinal: number) => string): WholeAnswer {
  if (!isObject(body)) throw new UnreadableReply('The upstream answered with no response.');
  const ended = body.status === 'completed' || body.status === 'incomplete';
  if (!Array.isArray(body.output) && !ended) throw new UnreadableReply('The upstream answered with no response.');
  if (body.status === 'failed' || body.status === 'cancelled')
    throw new UnreadableReply('The model failed at its vendor.');
  const items = listMember(body, 'output').filter(isObject);
  const blocks = withoutEmptyCalls(
    items
      .flatMap(readItem)
      .map((block, at) => (block.kind === 'call' && block.id === '' ? { ...block, id: mintId(at) } : block)),
  );
  return {
    blocks,
    finish: readStatus(body, {
      calls: blocks.some(({ kind }) => kind === 'call'),
      refusal: blocks.some(({ kind }) => kind === 'refusal'),
    }),
    usage: responsesAnswerUsage(body.usage),
    model: stringMember(body, 'model'),
  };
}

/** Items of tools that ran at the vendor are left out: what they found is in the text. */
export function readItem(item: JsonObject): AnswerBlock[] {
  switch (typeOf(item)) {
    case 'message':
      return listMember(item, 'content').flatMap(readContent);
    case 'reasoning': {
      const text = reasoningText(item);
      return text === '' ? [] : [{ kind: 'reasoning', text }];
    }
    case 'function_call':
    case 'custom_tool_call': {
      const custom = item.type === 'custom_tool_call';
      const name = stringMember(item, 'name') ?? '';
      const said = item[custom ? 'input' : 'arguments'] ?? '';
      const text = typeof said === 'string' ? said : stringifyJson(said);
      return [{ kind: 'call', id: stringMember(item, 'call_id') ?? '', name, arguments: text, custom, wrapped: false }];
    }
    default:
      return [];
  }
}

function readContent(part: Json): AnswerBlock[] {
  if (!isObject(part)) return [];
  if (part.type === 'output_text') return [{ kind: 'text', text: stringMember(part, 'text') ?? '' }];
  if (part.type === 'refusal') return [{ kind: 'refusal', text: stringMember(part, 'refusal') ?? '' }];
  return [];
}

/** The summary where there is one, else the reasoning itself. */
function reasoningText(item: JsonObject): string {
  const summary = textsOf(listMember(item, 'summary'));
  return (summary.length > 0 ? summary : textsOf(listMember(item, 'content'))).join('\n\n');
}

function textsOf(parts: Json[]): string[] {
  return parts.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []));
}
