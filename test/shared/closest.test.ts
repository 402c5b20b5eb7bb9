/** The name that somebody meant: what counts as a typing mistake, and what does not. */

import { expect, it } from 'vitest';
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
