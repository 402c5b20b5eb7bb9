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
            .optional()
            .describe(
              'The environment variable that has the key. It becomes the only key of the upstream; left out with `apiKey`: the keys stay.',
            ),
          apiKey: z
            .string('must be text')
            .refine(isSecret, 'must be a key: visible ASCII characters')
            .optional()
            .describe('The key itself, for tests; `apiKeyEnv` keeps it out of the file.'),
        }),
        'must be a list',
      )
      .default([])
      .describe('Endpoints of vendors, each with its key.'),
    models: z.array(modelEntry, 'must be a list').default([]).describe('What customers can call.'),
    plans: z.array(planEntry, 'must be a list').default([]).describe('What customers can buy.'),
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
  upstream: upstreamId.describe('The `id` of an upstream of the file or of the database.'),
  model: upstreamModelInput.describe('The name of the model at that upstream.'),
  priority: whole(0, 1_000).default(0).describe('Lower is tried first.'),
  weight: whole(1, 1_000).default(1).describe('The share of requests among routes of the same priority.'),
  costs: costsInput
    .optional()
    .describe('What the vendor charges on this route; the margin is counted against it. Left out: unknown.'),
});

const modelEntry = z.strictObject({
  ...modelShape,
  prices: pricesInput.describe('What customers pay. A change is a new price version; requests under way keep theirs.'),
  routes: z
    .array(routeEntry, 'must be a list')
    .optional()
    .describe('All places where the model runs: others are switched off. Left out: they stay as they are.'),
});

const planEntry = z.strictObject({
  id: z
    .string('must be text')
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and hyphens')
    .describe('The identity of the plan in orders and addresses.'),
  name: z
    .string('must be text')
    .superRefine((text, context) => {
      const problem = textProblem(text, 60);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .describe('The name that people read.'),
  priceVnd: whole(1, 1_000_000_000_000).describe('What a customer transfers, in VND.'),
  budgetUsd: z
    .string('must be USD as text, such as "10"')
    .transform((text, context) => {
      const amount = parseUsd(text);
      if (amount !== null && amount > 0n) return amount;
      context.addIssue({ code: 'custom', message: 'must be USD as text, such as "10", more than 0', input: text });
      return z.NEVER;
    })
    .describe('The budget that the customer gets for it, in USD as text.'),
  validDays: whole(1, 36_500).optional().describe('Days until bought budget ends. Left out: never.'),
  enabled: z
    .boolean('must be true or false')
    .default(true)
    .describe('`false`: the plan is not on sale; orders that were made stay.'),
});
