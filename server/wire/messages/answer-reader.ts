import type { Answer, AnswerBlock } from '../dialogue/answer.ts';
import { isObject, type Json, stringifyJson, stringMember, typeOf } from '../dialogue/json.ts';
import { decodeToolId } from '../dialogue/tool-ids.ts';
import { UnreadableReply } from '../protocol.ts';
import { readMessagesUsage } from '../usage.ts';
import { readStop } from './finish.ts';
import { readThinkingTokens } from './usage.ts';

/** Reads a whole message. */
export function readMessagesAnswer(body: Json): Answer {
  if (!isObject(body) || !Array.isArray(body.content)) {
    throw new UnreadableReply('The upstream answered with no message.');
  }
  return {
    blocks: body.content.flatMap(readBlock),
    finish: readStop(body),
    usage: {
      reading: isObject(body.usage) ? readMessagesUsage(body.usage) : null,
      reasoningTokens: readThinkingTokens(body.usage),
    },
    model: stringMember(body, 'model'),
  };
}

/** Blocks of tools that ran at the vendor are left out: their text is in the text blocks. */
function readBlock(block: Json): AnswerBlock[] {
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
          id: decodeToolId(stringMember(block, 'id') ?? ''),
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
