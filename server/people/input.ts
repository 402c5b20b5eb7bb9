import { z } from 'zod';
import { textProblem } from '../shared/plain-text.ts';
import { personAddress } from './address.ts';
import type { BadInput } from './outcomes.ts';
import { maxPasswordBytes, passwordProblem } from './sign-in/passwords.ts';

/** Input of people by one path: zod shapes whose messages are whole sentences, and every problem at once. */

/** An address to sign in with; parses to its canonical spelling. */
export const address = z.string().transform((text, context) => {
  const canonical = personAddress(text);
  if (canonical !== null) return canonical;
  context.addIssue({ code: 'custom', message: 'This is not an e-mail address.' });
  return z.NEVER;
});

/** The name of a person or of something that a person made. */
export const shownName = sentence((text) => {
  const problem = textProblem(text, 100);
  return problem === null ? null : `The name ${problem}.`;
});

/** A password that exists. Longer ones than any password can be are not worth the work of hashing them. */
export const givenPassword = sentence((text) =>
  Buffer.byteLength(text) > maxPasswordBytes ? `The password has more than ${maxPasswordBytes} bytes.` : null,
);

/** A password to be chosen. `personal`: texts of the person that it must not be. */
export const chosenPassword = (personal: readonly string[] = []) => sentence((text) => passwordProblem(text, personal));

function sentence(problemOf: (text: string) => string | null) {
  return z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

/** The parsed input, or its problems: each member once, with its first problem. */
export function parseInput<Shape extends z.ZodType>(
  shape: Shape,
  input: z.input<Shape>,
): { kind: 'parsed'; value: z.output<Shape> } | BadInput {
  const parsed = shape.safeParse(input);
  if (parsed.success) return { kind: 'parsed', value: parsed.data };
  const problems = new Map<string, string>();
  for (const { path, message } of parsed.error.issues) {
    const field = String(path[0] ?? '');
    if (!problems.has(field)) problems.set(field, message);
  }
  const [first, ...others] = [...problems].map(([field, message]) => ({ field, message }));
  if (first === undefined) throw new Error('an input was refused without a problem');
  return { kind: 'bad_input', ...first, others };
}
