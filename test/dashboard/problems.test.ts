/** What a refused form shows: each problem at its input, or above the form's buttons. */

import { describe, expect, test } from 'vitest';
import { inputName, problemsAt } from '../../dashboard/src/problems.ts';

const refused = new Error('The input is not valid.');

const shown = (names: readonly string[], ...paths: string[][]) =>
  problemsAt(refused, Object.fromEntries(paths.map((path) => [inputName(path), path.join('.')])), names);

describe('the problems of a refused form', () => {
  test('stand at their inputs alone when the form has all of them', () => {
    expect(shown(['name', 'addresses'], ['input', 'name'], ['input', 'limits', 'addresses', '1'])).toEqual({
      fields: { name: 'input.name', addresses: 'input.limits.addresses.1' },
      rest: null,
    });
  });

  test('stand above the buttons, too, when one of them has no input in the form', () => {
    expect(shown(['name'], ['input', 'name'], ['input', 'models'])).toEqual({
      fields: { name: 'input.name' },
      rest: refused,
    });
  });

  test("of a list's item are not told at the input that is named like its member", () => {
    expect(shown(['output'], ['input', 'prices', 'tiers', '0', 'output'])).toEqual({ fields: {}, rest: refused });
  });

  test('leave the error to the form when it names no input', () => {
    expect(shown(['name'])).toEqual({ fields: {}, rest: refused });
  });
});
