/** The entries of a catalog file that belong to the catalog: upstreams and models. Their descriptions document the keys. */

import { z } from 'zod';
import { modelShape } from './model.ts';
import { costsInput, pricesInput } from './price.ts';
import { upstreamInput, upstreamModelInput } from './upstreams.ts';

/** A vendor's key travels in a header: other characters could not be sent, or would inject headers. */
export function isSecret(text: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(text);
}

export const whole = (least: number, most: number) =>
  z
    .number('must be a whole number')
    .int('must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`);

/** The public list that the prices of a file are from. */
export const sourceEntry = z.strictObject({
  address: z.string('must be text').min(1, 'must not be empty').max(500, 'is too long').describe('A page or a file.'),
  date: z.iso.date('must be a date such as "2026-12-31"').describe('The day on which the prices were read.'),
});

/** An upstream with its key. */
export function upstreamEntry({ allowPrivate }: { allowPrivate: boolean }) {
  return upstreamInput({ allowPrivate }).extend({
    apiKeyEnv: z
      .string('must be text')
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
      .optional()
      .describe(
        'The environment variable that has the key. It becomes the only key of the upstream; left out with `apiKey`: the keys stay.',
      ),
    apiKey: z
      .string('must be text')
      .refine(isSecret, 'must be a key: visible ASCII characters')
      .optional()
      .describe('The key itself, for tests; `apiKeyEnv` keeps it out of the file.'),
  });
}

const routeEntry = z.strictObject({
  upstream: z.string('must be text').describe('The `id` of an upstream of the file or of the database.'),
  model: upstreamModelInput.describe('The name of the model at that upstream.'),
  priority: whole(0, 1_000).default(0).describe('Lower is tried first.'),
  weight: whole(1, 1_000).default(1).describe('The share of requests among routes of the same priority.'),
  costs: costsInput
    .optional()
    .describe('What the vendor charges on this route; the margin is counted against it. Left out: unknown.'),
});

/** A model with its prices and routes. */
export const modelEntry = z.strictObject({
  ...modelShape,
  prices: pricesInput.describe('What customers pay. A change is a new price version; requests under way keep theirs.'),
  routes: z
    .array(routeEntry, 'must be a list')
    .optional()
    .describe('All places where the model runs: others are switched off. Left out: they stay as they are.'),
});
