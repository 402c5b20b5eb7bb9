/** Embeddings as OpenAI makes them: https://platform.openai.com/docs/api-reference/embeddings/create */

import type { Directives } from '../directives.ts';
import { arrayOf, jsonOrUndefined, type ParsedObject, stringify, wordOf } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import type { Random } from '../random.ts';
import { countInputTokens } from '../tokens.ts';

const MEMBERS = ['model', 'input', 'encoding_format', 'dimensions', 'user'];
const DIMENSIONS = 8;
const MAX_DIMENSIONS = 3_072;
const MAX_INPUTS = 2_048;
/** Tokens of one input, and of all of a request. */
const MAX_INPUT_TOKENS = 8_192;
const MAX_TOKENS = 300_000;

/** What was asked for, as the vendor understands it. */
export interface EmbeddingAsk {
  model: string;
  /** Tokens of each input. */
  tokens: number[];
  dimensions: number;
  base64: boolean;
  /** The newest text, which may hold directives; empty where there are only tokens. */
  cue: string;
}

/** Reads the body; a refusal is worded as the vendor words it. */
export function readEmbeddingAsk(body: ParsedObject): EmbeddingAsk | VendorError {
  const unknown = Object.keys(body).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return invalidPrompt(`Unrecognized request argument supplied: ${unknown}`);
  const { input, encoding_format = 'float', dimensions = DIMENSIONS } = body;
  if (encoding_format !== 'float' && encoding_format !== 'base64') {
    return invalidPrompt(`'${String(encoding_format)}' is not one of ['base64', 'float'].`, 'encoding_format');
  }
  if (!Number.isInteger(dimensions) || Number(dimensions) < 1 || Number(dimensions) > MAX_DIMENSIONS) {
    return invalidPrompt(`Invalid value for 'dimensions' = ${String(dimensions)}.`, 'dimensions');
  }
  const inputs = inputsOf(input);
  if (inputs === null || inputs.length === 0 || inputs.some((one) => one.length === 0)) {
    return invalidPrompt("'$.input' is invalid. Please check the API reference.", 'input');
  }
  if (inputs.length > MAX_INPUTS) return invalidPrompt(`'input' array is too long: at most ${MAX_INPUTS}.`, 'input');
  const tokens = inputs.map((one) => (typeof one === 'string' ? countInputTokens(one) : one.length));
  const total = tokens.reduce((sum, count) => sum + count, 0);
  if (tokens.some((count) => count > MAX_INPUT_TOKENS) || total > MAX_TOKENS) {
    return invalidPrompt(`This model's maximum context length is ${MAX_INPUT_TOKENS} tokens.`, 'input');
  }
  const texts = inputs.filter((one) => typeof one === 'string');
  return {
    model: wordOf(body['model']),
    tokens,
    dimensions: Number(dimensions),
    base64: encoding_format === 'base64',
    cue: texts.at(-1) ?? '',
  };
}

function inputsOf(input: unknown): (string | unknown[])[] | null {
  if (typeof input === 'string') return [input];
  const list = arrayOf(input);
  if (!Array.isArray(input)) return null;
  if (list.every((one) => typeof one === 'string')) return list;
  if (list.every(isToken)) return [list];
  return list.every((one) => Array.isArray(one) && one.every(isToken)) ? (list as unknown[][]) : null;
}

function isToken(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

/** The whole answer. */
export function writeEmbeddings(ask: EmbeddingAsk, directives: Directives, random: Random): Buffer {
  const total = ask.tokens.reduce((sum, count) => sum + count, 0);
  const computed = { prompt_tokens: total, total_tokens: total };
  const usage = directives.usageJson === null ? computed : jsonOrUndefined(directives.usageJson);
  const data = ask.tokens.map((_count, index) => {
    const vector = Float32Array.from({ length: ask.dimensions }, () => random.next() * 2 - 1);
    const embedding = ask.base64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  return Buffer.from(
    stringify({ object: 'list', data, model: directives.model ?? ask.model, ...(directives.noUsage ? {} : { usage }) }),
  );
}
