import { z } from 'zod';
import { isNetwork } from './networks.ts';
import { textProblem } from './plain-text.ts';

/** Validation of input by one path: a zod shape, every problem at once. */

/** One unusable member, with a clause ("must …") that follows its name. */
export interface FieldProblem<Field extends string> {
  field: Field;
  message: string;
}

/** The refusal of unusable input. `field` and `message` are those of the first problem. */
export interface InvalidInput<Field extends string> extends FieldProblem<Field> {
  kind: 'invalid';
  problems: readonly FieldProblem<Field>[];
}

/** Input with a single problem. */
export function invalidInput<Field extends string>(field: Field, message: string): InvalidInput<Field> {
  return { kind: 'invalid', field, message, problems: [{ field, message }] };
}

/** The problems of an input; null when there are none. Each member appears once, with its first problem. */
export function checkInput<Input extends object>(
  shape: z.ZodType<Input>,
  input: Input,
): InvalidInput<keyof Input & string> | null {
  const parsed = shape.safeParse(input);
  if (parsed.success) return null;
  const problems = new Map<string, string>();
  for (const { path, message } of parsed.error.issues) {
    const field = String(path[0] ?? '');
    if (!problems.has(field)) problems.set(field, message);
  }
  const named = [...problems].map(([field, message]) => ({ field: field as keyof Input & string, message }));
  const [first] = named;
  if (first === undefined) throw new Error('an input was refused without a problem');
  return { kind: 'invalid', ...first, problems: named };
}

/** Text that people read, of at most so many characters. */
export function shownText(maxCharacters: number) {
  return z.string().superRefine((text, context) => {
    const message = textProblem(text, maxCharacters);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

/** The same, or nothing at all. */
export function shownTextOrNothing(maxCharacters: number) {
  return z.string().superRefine((text, context) => {
    const message = text === '' ? null : textProblem(text, maxCharacters);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

/** Pico-USD or whole VND that are more than zero and fit into the database. */
export function amount(max: bigint) {
  return z.bigint().refine((value) => value > 0n && value <= max, 'must be more than zero');
}

/** The largest amount in pico-USD that the database holds. */
export const maxPico = 2n ** 63n - 1n;

const spendLimit = amount(maxPico).nullable();

/** Spending limits in pico-USD; null: none. */
export const spendLimitsShape = z.object({
  day: spendLimit,
  week: spendLimit,
  month: spendLimit,
  lifetime: spendLimit,
});

/** Above what the service admits to any key, and what a counter holds. */
const maxPerMinute = { requests: 1_000_000, tokens: 2_000_000_000, atOnce: 100_000 };
const maxNetworks = 100;

function whole(max: number) {
  return z.int('must be a whole number').min(1, 'must be at least 1').max(max, `must be at most ${max}`).nullable();
}

/** Limits of pace of a key or an account; null: none. Networks: empty, all. */
export const paceShape = {
  requestsPerMinute: whole(maxPerMinute.requests),
  tokensPerMinute: whole(maxPerMinute.tokens),
  maxConcurrent: whole(maxPerMinute.atOnce),
  addresses: z
    .array(z.string().refine(isNetwork, 'must be addresses or networks such as 203.0.113.0/24'))
    .max(maxNetworks, `must be at most ${maxNetworks}`),
};
