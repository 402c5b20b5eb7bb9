import type { CacheWrite } from '../../core/request.ts';
import type { ReportedUsage } from '../../core/tokens.ts';
import { splice } from '../body.ts';
import { scrubIdentifiers } from '../envelope.ts';
import { asBuffer, type JsonNode, leaf, shape, textOf, tryScanJson, valueOf } from '../json.ts';
import { answerLimits, type NativeProtocol, readWhole } from '../native.ts';
import { type Edit, type Span, UnreadableReply, type WireContext } from '../protocol.ts';

/**
 * Reads one line of a batch's results: whose it is, how it ended, and its usage. Lines are those of
 * https://platform.claude.com/docs/en/api/messages/batches/results and
 * https://developers.openai.com/api/docs/guides/batch#5-retrieve-the-results.
 */

export const lineEndings = ['succeeded', 'errored', 'canceled', 'expired'] as const;
export type LineEnding = (typeof lineEndings)[number];

export interface ResultLine {
  /** The name that the client gave it. */
  customId: string;
  ending: LineEnding;
  /** The answer within the line; null: there is none. */
  answer: Span | null;
  /** What says why it failed; empty for an answer. */
  failure: readonly Span[];
}

const resultShape = shape({
  custom_id: leaf,
  result: shape({ type: leaf, message: leaf }),
  response: shape({ status_code: leaf, body: leaf }),
  error: shape({ code: leaf }),
});

/** Null: it is no line of results. */
export function readResultLine(line: Uint8Array): ResultLine | null {
  const root = tryScanJson(line, resultShape, answerLimits);
  const customId = root?.kind === 'object' ? textOf(line, root.members.get('custom_id')) : null;
  if (root === null || customId === null) return null;
  const result = root.members.get('result');
  if (result?.kind === 'object') return { customId, ...messagesEnding(line, result) };
  return { customId, ...openaiEnding(line, root) };
}

function messagesEnding(line: Uint8Array, result: JsonNode): Omit<ResultLine, 'customId'> {
  const type = textOf(line, result.members.get('type'));
  const ending = lineEndings.find((known) => known === type) ?? 'errored';
  if (ending !== 'succeeded') return { ending, answer: null, failure: [spanOf(result)] };
  return { ending, answer: objectIn(result.members.get('message')), failure: [] };
}

function openaiEnding(line: Uint8Array, root: JsonNode): Omit<ResultLine, 'customId'> {
  const response = root.members.get('response');
  const status = response?.members.get('status_code');
  if (status?.kind === 'number' && Number(valueOf(line, status)) === 200)
    return { ending: 'succeeded', answer: objectIn(response?.members.get('body')), failure: [] };
  const error = root.members.get('error');
  const code = textOf(line, error?.members.get('code'));
  const ending = code === 'batch_expired' ? 'expired' : code === 'batch_cancelled' ? 'canceled' : 'errored';
  return { ending, answer: null, failure: [response, error].filter((node) => node !== undefined).map(spanOf) };
}

const spanOf = ({ start, end }: JsonNode): Span => ({ start, end });

function objectIn(node: JsonNode | undefined): Span | null {
  return node?.kind === 'object' ? spanOf(node) : null;
}

/** The usage of an answer, and the line as its client gets it. An answer that cannot be read has no usage. */
export function readLineAnswer(
  line: Uint8Array,
  { answer }: ResultLine,
  native: NativeProtocol,
  { cacheWrite, ...context }: LineContext,
): { account: ReportedUsage; edits: Edit[] } {
  const bytes = answer === null ? new Uint8Array(0) : asBuffer(line).subarray(answer.start, answer.end);
  try {
    const { account, edits } = readWhole(native, bytes, cacheWrite, context);
    const offset = answer?.start ?? 0;
    return { account, edits: edits.map((edit) => ({ ...edit, start: edit.start + offset, end: edit.end + offset })) };
  } catch (error) {
    if (!(error instanceof UnreadableReply)) throw error;
    const account = {
      usage: null,
      clamped: false,
      partial: false,
      outputBytes: bytes.length,
      outputPieces: 0,
      model: null,
    };
    return { account, edits: [] };
  }
}

/** What of the request and its route reading an answer needs. */
export interface LineContext extends Pick<WireContext, 'features' | 'catalogModel' | 'upstreamModel'> {
  cacheWrite: CacheWrite;
}

/** A line as its client gets it: the catalog's name of the model, and no name of the operator's account. */
export function lineForClient(line: Uint8Array, result: ResultLine | null, edits: readonly Edit[]): Uint8Array {
  const scrubbed = (result?.failure ?? []).map(
    ({ start, end }): Edit => ({ start, end, text: scrubIdentifiers(asBuffer(line).toString('utf8', start, end)) }),
  );
  const all = [...edits, ...scrubbed].sort((one, other) => one.start - other.start);
  return all.length === 0 ? line : splice(line, all);
}
