import { type AnswerBlock, shownUsage, type WholeAnswer } from '../dialogue/answers/answer.ts';
import { type AnswerContext, idStem } from '../dialogue/notes.ts';
import { writeStatus } from './finish.ts';
import { callText, type Item, itemId, writeItem } from './items.ts';
import { writeResponse } from './response-object.ts';

/** Writes a whole response, ready for `JSON.stringify`. */
export function writeResponsesAnswer(answer: WholeAnswer, answerContext: AnswerContext): Record<string, unknown> {
  const stem = idStem(answerContext.context);
  const { explanation } = answer.finish;
  const blocks: AnswerBlock[] = explanation
    ? [...answer.blocks, { kind: 'refusal', text: explanation }]
    : answer.blocks;
  const { status, incomplete_details } = writeStatus(
    answer.finish,
    blocks.some(({ kind }) => kind === 'refusal'),
  );
  const output = blocks.map((block, index): Item => {
    const text = block.kind === 'call' ? callText(block, block.arguments) : block.text;
    return writeItem(block, text, itemId(block.kind, stem, index), 'completed');
  });
  const usage = shownUsage(answer.usage, answerContext.facts.cacheWrite);
  return writeResponse(answerContext, { status, incomplete_details, output, usage });
}
