import { z } from 'zod';
import { type Model, modelShape } from '../catalog/model.ts';
import { costsInput, pricesInput } from '../catalog/price.ts';
import { type Route, type Upstream, upstreamInput, upstreamModelInput } from '../catalog/upstreams.ts';
import { parseUsd } from '../core/money.ts';
import type { CatalogPrice } from '../core/price.ts';
import type { Plan } from '../plans/plans.ts';
import { textProblem } from '../shared/plain-text.ts';

/** The content of a catalog file, checked and in the units of the domains. */
export interface CatalogContent {
  upstreams: readonly { upstream: Upstream /** Null: the keys it has stay. */; secret: string | null }[];
  models: readonly ModelContent[];
  plans: readonly Plan[];
}

export interface ModelContent {
  model: Model;
  prices: CatalogPrice;
  /** All routes of the model; null: the present ones stay. `line` is where the file names the model. */
  routes: readonly (Omit<Route, 'modelId'> & { line: number | null })[] | null;
}

/** The schema of the file; the parser adds checks across entries, and the line of every fault. */
export function catalogInput({ allowPrivate }: { allowPrivate: boolean }) {
  return z.strictObject({
    upstreams: z
      .array(
        upstreamInput({ allowPrivate }).extend({
          apiKeyEnv: z
            .string('must be text')
            .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
            .optional(),
          apiKey: z.string('must be text').refine(isSecret, 'must be a key: visible ASCII characters').optional(),
        }),
        'must be a list',
      )
      .default([]),
    models: z.array(modelEntry, 'must be a list').default([]),
    plans: z.array(planEntry, 'must be a list').default([]),
  });
}
export type CatalogInput = z.infer<ReturnType<typeof catalogInput>>;

/** A vendor's key travels in a header: other characters could not be sent, or would inject headers. */
export function isSecret(text: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(text);
}

const whole = (least: number, most: number) =>
  z
    .number('must be a whole number')
    .int('must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`);

const upstreamId = z.string('must be text');

const routeEntry = z.strictObject({
  upstream: upstreamId,
  model: upstreamModelInput,
  priority: whole(0, 1_000).default(0),
  weight: whole(1, 1_000).default(1),
  costs: costsInput.optional(),
});

const modelEntry = z.strictObject({
  ...modelShape,
  prices: pricesInput,
  routes: z.array(routeEntry, 'must be a list').optional(),
});

const planEntry = z.strictObject({
  id: z.string('must be text').regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and hyphens'),
  name: z.string('must be text').superRefine((text, context) => {
    const problem = textProblem(text, 60);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  }),
  priceVnd: whole(1, 1_000_000_000_000),
  budgetUsd: z.string('must be USD as text, such as "10"').transform((text, context) => {
    const amount = parseUsd(text);
    if (amount !== null && amount > 0n) return amount;
    context.addIssue({ code: 'custom', message: 'must be USD as text, such as "10", more than 0', input: text });
    return z.NEVER;
  }),
  validDays: whole(1, 36_500).optional(),
  enabled: z.boolean('must be true or false').default(true),
});
