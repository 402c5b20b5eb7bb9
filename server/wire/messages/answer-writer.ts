import { type AnswerBlock, shownUsage, type WholeAnswer } from '../dialogue/answers/answer.ts';
import { type AnswerContext, idStem } from '../dialogue/notes.ts';
import { mintSignature } from '../dialogue/signature.ts';
import { encodeToolId } from '../dialogue/tool-ids.ts';
import { writeStop } from './finish.ts';
import { parseArguments } from './request-writer.ts';
import { writeUsage } from './usage.ts';

/** Writes a whole message, ready for `JSON.stringify`. */
export function writeMessagesAnswer(answer: WholeAnswer, answerContext: AnswerContext): Record<string, unknown> {
  const { facts, context } = answerContext;
  return {
    id: `msg_${idStem(context)}`,
    type: 'message',
    role: 'assistant',
    model: context.catalogModel,
    content: answer.blocks.map((block) => writeBlock(block, answerContext)),
    ...writeStop(answer.finish),
    diagnostics: null,
    usage: writeUsage(shownUsage(answer.usage, facts.cacheWrite)),
  };
}

function writeBlock(block: AnswerBlock, { context, notes }: AnswerContext): Record<string, unknown> {
  if (block.kind === 'call') {
    const input = parseArguments(block.arguments);
    return { type: 'tool_use', id: encodeToolId(block.id), name: block.name, input };
  }
  if (block.kind === 'reasoning') {
    const thinking = notes.hideReasoning ? '' : block.text;
    return { type: 'thinking', thinking, signature: mintSignature(block.text, context) };
  }
  return { type: 'text', text: block.text, citations: null };
}
