import { z } from 'zod';
import { modelEntry, sourceEntry, upstreamEntry, whole } from '../catalog/file-entries.ts';
import type { Model } from '../catalog/model.ts';
import type { Route, Upstream } from '../catalog/upstreams.ts';
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
    source: sourceEntry.optional().describe('Where the prices are from. For people; not stored.'),
    upstreams: z
      .array(upstreamEntry({ allowPrivate }), 'must be a list')
      .default([])
      .describe('Endpoints of vendors, each with its key.'),
    models: z.array(modelEntry, 'must be a list').default([]).describe('What customers can call.'),
    plans: z.array(planEntry, 'must be a list').default([]).describe('What customers can buy.'),
  });
}
export type CatalogInput = z.infer<ReturnType<typeof catalogInput>>;

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
