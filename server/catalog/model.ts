import { z } from 'zod';
import { type ReasoningEffort, reasoningEfforts } from '../core/effort.ts';
import { type ModelKind, modelKinds } from '../core/kind.ts';
import { textProblem } from '../shared/plain-text.ts';

/** Catalog entries of models: their shape, and the validation of an operator's input. */

/**
 * `pass`: sent unchanged on the native path; `refuse`: for upstreams that may charge for it. Translation always refuses
 * it.
 */
export const unknownMemberRules = ['pass', 'refuse'] as const;
export type UnknownMembers = (typeof unknownMemberRules)[number];

/** A catalog entry as an operator writes it. */
export interface Model {
  /** Lower case; what clients send as `model`. */
  id: string;
  displayName: string;
  family: string;
  kind: ModelKind;
  /** In tokens. */
  contextWindow: number;
  maxOutputTokens: number;
  /** Names of the gates (fields and betas) that are open for this model. */
  allow: string[];
  /** Capabilities, e.g. `tools`, `vision`, `thinking`; shown to people and clients. */
  capabilities: string[];
  /** Supported reasoning efforts; empty: not stated. */
  efforts: ReasoningEffort[];
  /**
   * Minimum speed of hidden reasoning, tokens per second; null: not stated. The spend brake counts silence at this
   * speed, and a stream that the client left is charged at it.
   */
  reasoningTokensPerSecond: number | null;
  /** How requests with unknown top-level members are treated. */
  unknownMembers: UnknownMembers;
  enabled: boolean;
}

/** Prefix that some clients put before an id; no id begins with it. */
export const clientPrefix = 'steyg/';

const idPattern = /^[a-z0-9](?:[a-z0-9._:/-]{0,126}[a-z0-9])?$/;

function text(most: number) {
  return z.string('must be text').superRefine((value, context) => {
    const problem = textProblem(value, most);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });
}

const tokens = z
  .number('must be a whole number')
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(100_000_000, 'must be at most 100000000');

const names = (most: number) =>
  z
    .array(z.string('must be text').regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'must be a name such as web_search'))
    .max(most, `must have at most ${most} entries`)
    .default([]);

export const modelId = z
  .string('must be text')
  .regex(idPattern, 'must be lower-case letters, digits and . _ : / - between them, at most 128')
  .refine((id) => !id.startsWith(clientPrefix), `must not begin with ${clientPrefix}, which clients add`);

export const modelShape = {
  id: modelId.describe('What clients send as `model`. The identity of the entry: another id is another model.'),
  displayName: text(100).describe('The name that people read.'),
  family: text(60).describe('The family that pages group models by, such as `claude`.'),
  kind: z
    .enum(modelKinds, `must be one of ${modelKinds.join(', ')}`)
    .default('text')
    .describe(
      '`text` answers messages, chat completions and responses; `embedding` answers `/v1/embeddings`; `image` makes images at `/v1/images/generations` and `/v1/images/edits`.',
    ),
  contextWindow: tokens.describe('Tokens of prompt and answer together; told to clients.'),
  maxOutputTokens: tokens.describe(
    'Tokens of the longest answer, of the dearest image for a model of images. It bounds what is held for a request without a limit.',
  ),
  allow: names(100).describe(
    'Fields and betas that the tenant and price gates open for this model, such as `web_search`. All others that cost extra or reach other data are refused.',
  ),
  capabilities: names(50).describe('Shown to people and clients: `tools`, `vision`, `thinking`, `caching`.'),
  efforts: z
    .array(z.enum(reasoningEfforts, `must be one of ${reasoningEfforts.join(', ')}`))
    // Sorted, so that another order in the input is no change.
    .transform((known) => reasoningEfforts.filter((effort) => known.includes(effort)))
    .default([])
    .describe('Reasoning efforts that the model takes. Empty: not stated, and every word is passed on.'),
  reasoningTokensPerSecond: z
    .int('must be a whole number of tokens a second')
    .min(0, 'must not be negative')
    .max(10_000, 'must be at most 10000')
    .nullish()
    .transform((speed) => speed ?? null)
    .describe(
      'Lowest speed of hidden reasoning. The spend brake counts silence at it, and a stream that the client left is charged at it. Left out: not stated.',
    ),
  unknownMembers: z
    .enum(unknownMemberRules, 'must be pass or refuse')
    .default('pass')
    .describe('Top-level members of a request that no table knows: sent on unchanged, or refused by name.'),
  enabled: z
    .boolean('must be true or false')
    .default(true)
    .describe('`false`: the model is neither listed nor called; its ledger entries stay.'),
};
