import { Buffer } from 'node:buffer';
import { countValues, type JsonLimits } from '../json.ts';
import { type RequestFacts, UnreadableReply } from '../protocol.ts';
import type { AnswerBlock } from './answers/answer.ts';
import type { Dialogue } from './dialogue.ts';
import { Untranslatable } from './refusal.ts';

/**
 * Bounds of what is translated, requests and whole answers: they are parsed, rebuilt and written in synchronous pieces, which
 * must not hold up other requests for more than 200 ms. A native route, which passes bytes, takes more.
 */

/**
 * Bytes of the body, as weighed: what takes as long as a byte of text counts as one. It is some two million tokens of
 * text alone, 50,000 values alone, or 32 MB of media alone.
 */
const MAX_WEIGHT = 8_388_608;
/** A long agent conversation has some ten thousand values. */
const VALUE_WEIGHT = 160;
const MEDIA_WEIGHT = 0.25;

const limits: JsonLimits = { maxDepth: 512, maxValues: MAX_WEIGHT / VALUE_WEIGHT, refuseDuplicates: false };

/** Refuses a body that is too large to be translated, before anything of it is parsed. Returns what it weighs. */
export function boundBody(raw: Uint8Array, { textBytes }: RequestFacts): number {
  const weight = textBytes + (raw.length - textBytes) * MEDIA_WEIGHT;
  return bounded(weight > MAX_WEIGHT ? weight : weight + weightOf(raw));
}

/** Refuses calls whose arguments, which are JSON in a string, weigh too much beside the body. */
export function boundArguments({ turns }: Dialogue, bodyWeight: number): void {
  let weight = bodyWeight;
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue;
    for (const part of turn.parts) {
      if (part.kind === 'call' && !part.custom) weight = bounded(weight + weightOf(Buffer.from(part.arguments)));
    }
  }
}

/**
 * Refuses a whole answer that weighs more, before anything of it is parsed. The longest answers of models have a tenth of
 * the bytes. Returns what it weighs.
 */
export function boundReply(raw: Uint8Array): number {
  if (raw.length > MAX_WEIGHT) return boundedReply(raw.length);
  const values = countValues(raw, limits);
  // Parsing lists within lists takes thirty times as long as scanning them.
  if (values === null) throw new UnreadableReply('The answer is nested too deeply.');
  return boundedReply(raw.length + values * VALUE_WEIGHT);
}

/** Refuses an answer whose calls have arguments that weigh too much beside the answer: a Messages client gets them parsed. */
export function boundReplyArguments(blocks: readonly AnswerBlock[], replyWeight: number): void {
  let weight = replyWeight;
  for (const block of blocks) {
    if (block.kind === 'call') weight = boundedReply(weight + weightOf(Buffer.from(block.arguments)));
  }
}

function boundedReply(weight: number): number {
  if (weight <= MAX_WEIGHT) return weight;
  throw new UnreadableReply('The answer is too large to be translated.');
}

/** Arguments that no parser may be given; they are counted as nothing, and stay text. */
export function isNestedTooDeeply(text: string): boolean {
  return countValues(Buffer.from(text), limits) === null;
}

function weightOf(json: Uint8Array): number {
  return (countValues(json, limits) ?? 0) * VALUE_WEIGHT;
}

function bounded(weight: number): number {
  if (weight <= MAX_WEIGHT) return weight;
  const message =
    'The request body is too large to be translated for a model whose vendor speaks another protocol. ' +
    `At most ${MAX_WEIGHT} bytes are, with ${VALUE_WEIGHT} more for each JSON value, those in arguments of calls included, and inline media at a quarter.`;
  throw new Untranslatable({ message, param: null, code: 'request_too_large', status: 413 });
}
