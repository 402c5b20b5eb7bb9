import { type AnswerBlock, type WholeAnswer, withoutEmptyCalls } from '../dialogue/answers/answer.ts';
import { isObject, type Json, stringifyJson, stringMember, typeOf } from '../dialogue/json.ts';
import { decodeToolId } from '../dialogue/tool-ids.ts';
import { UnreadableReply } from '../protocol.ts';
import { readMessagesUsage } from '../usage.ts';
import { readStop } from './finish.ts';
import { readThinkingTokens } from './usage.ts';

/**
 * Reads a whole message. `mintId` names calls that the vendor left without an id. One without content is a message all
 * the same when it says why it ended.
 */
export function readMessagesAnswer(body: Json, mintId: (ordinal: number) => string): WholeAnswer {
  if (!isObject(body)) throw new UnreadableReply('The upstream answered with no message.');
  const content = typeof body.content === 'string' ? [{ type: 'text', text: body.content }] : body.content;
  if (!Array.isArray(content) && !stringMember(body, 'stop_reason')) {
    throw new UnreadableReply('The upstream answered with no message.');
  }
  return {
    blocks: withoutEmptyCalls(
      (Array.isArray(content) ? content : []).flatMap((block, at) => readBlock(block, mintId(at))),
    ),
    finish: readStop(body),
    usage: {
      reading: isObject(body.usage) ? readMessagesUsage(body.usage) : null,
      reasoningTokens: readThinkingTokens(body.usage),
    },
    model: stringMember(body, 'model'),
  };
}

/** Blocks of tools that ran at the vendor are left out: their text is in the text blocks. */
function readBlock(block: Json, mintedId: string): AnswerBlock[] {
  if (!isObject(block)) return [];
  switch (typeOf(block)) {
    case 'text':
      return [{ kind: 'text', text: stringMember(block, 'text') ?? '' }];
    case 'thinking':
      return [{ kind: 'reasoning', text: stringMember(block, 'thinking') ?? '' }];
    case 'tool_use':
      return [
        {
          kind: 'call',
          id: decodeToolId(stringMember(block, 'id') || mintedId),
          name: stringMember(block, 'name') ?? '',
          arguments: stringifyJson(block.input ?? {}),
          custom: false,
          wrapped: false,
        },
      ];
    default:
      return [];
  }
}
