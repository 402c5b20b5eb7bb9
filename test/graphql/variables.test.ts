/** The check of variables does bounded work, whatever an anonymous request sends: it runs before authorization. */

import { Kind, parse } from 'graphql';
import { expect, it, vi } from 'vitest';
import { variableErrors } from '../../server/graphql/guard/variables.ts';
import { buildSchema } from '../../server/graphql/schema.ts';

const schema = buildSchema();

const [signUp] = parse(
  'mutation ($input: SignUpInput!, $more: [ID!]) { signUp(input: $input) { __typename } }',
).definitions;

/** The errors of these variables, and how many cells of the comparison of names and how many quoted names they took. */
function workFor(variables: Record<string, unknown>) {
  if (signUp?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
  const cells = vi.spyOn(Math, 'min');
  const quoted = vi.spyOn(JSON, 'stringify');
  try {
    const errors = variableErrors(schema, signUp, variables, { hideSchema: false });
    return { errors: errors.length, cells: cells.mock.calls.length, quoted: quoted.mock.calls.length };
  } finally {
    cells.mockRestore();
    quoted.mockRestore();
  }
}

/** Members that are alike to `email` and unlike each other. */
const junk = (count: number) => Object.fromEntries(Array.from({ length: count }, (_each, i) => [`ema${i}`, 1]));

it.each([
  ['unknown members of one input', (count: number) => ({ input: junk(count) })],
  [
    'wrong items of a list',
    (count: number) => ({ more: Array.from({ length: count }, () => ({})), input: junk(count) }),
  ],
])('%s cost as much in thousands as in tens', (_what, variables) => {
  const few = workFor(variables(20));
  expect(few.errors).toBe(10);
  expect(few.cells).toBeGreaterThan(0);
  expect(workFor(variables(6_800)).quoted).toBe(few.quoted);
  expect(workFor(variables(6_800))).toEqual(few);
});
