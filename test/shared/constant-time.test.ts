/** Comparison of secrets. */

import { expect, it } from 'vitest';
import { isSameSecret } from '../../server/shared/constant-time.ts';

it('equal secrets are the same; any other byte, length or nothing at all is not', () => {
  expect(isSameSecret('Bearer abc', 'Bearer abc')).toBe(true);
  for (const other of ['Bearer abd', 'Bearer ab', 'Bearer abcd', ''])
    expect(isSameSecret('Bearer abc', other)).toBe(false);
});
