/** The name that somebody meant: what counts as a typing mistake, and what does not. */

import { expect, it, vi } from 'vitest';
import { closest } from '../../server/shared/closest.ts';

const names = ['cursor', 'group_by', 'to', 'from', 'request_id'];

it.each([
  ['cursr', 'cursor'],
  ['curosr', 'cursor'],
  ['cursors', 'cursor'],
  ['grup_bi', 'group_by'],
  ['form', 'from'],
  ['cursor', 'cursor'],
])('%s is %s', (written, meant) => {
  expect(closest(written, names)).toBe(meant);
});

it.each(['since', 'id', 'xx', '', 'r'.repeat(10_000)])('%s is none of them', (written) => {
  expect(closest(written, names)).toBeNull();
});

it('compares with a bounded number of names, and with none of another length', () => {
  const cells = vi.spyOn(Math, 'min');
  try {
    closest(
      'group_by',
      Array.from({ length: 100_000 }, () => 'xxxxxxxx'),
    );
    // Of eight letters each.
    expect(cells.mock.calls.length).toBeLessThanOrEqual(256 * 8 * 8);
    cells.mockClear();
    expect(closest('r'.repeat(64), ['r'.repeat(100_000), 'r'])).toBeNull();
    expect(cells).not.toHaveBeenCalled();
  } finally {
    cells.mockRestore();
  }
});
