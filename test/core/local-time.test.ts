/** Time zones on the server's side: formatters are kept once for each zone, however a customer spells it. */

import { expect, it } from 'vitest';
import { nextStart } from '../../server/core/local-time.ts';
import { windowAt } from '../../server/core/price-clock.ts';
import { quietUntil } from '../../server/notices/quiet.ts';

/** The formatters that are made while something runs. */
function formattersOf(work: () => void): number {
  const known = Intl.DateTimeFormat;
  let made = 0;
  Intl.DateTimeFormat = new Proxy(known, {
    construct(target, args: unknown[]) {
      made += 1;
      return Reflect.construct(target, args) as object;
    },
  });
  try {
    work();
  } finally {
    Intl.DateTimeFormat = known;
  }
  return made;
}

/** The name with the letters of these positions in upper case, the others in lower case. */
const spelling = (name: string, mask: number) =>
  Array.from(name.toLowerCase(), (letter, at) => (mask & (1 << at) ? letter.toUpperCase() : letter)).join('');

it.each([
  [
    'starts of periods',
    (timeZone: string) => nextStart('day', Date.UTC(2026, 0, 1), timeZone),
    Date.UTC(2026, 0, 1, 15),
  ],
  [
    'quiet hours',
    (timeZone: string) => quietUntil(new Date(Date.UTC(2026, 0, 1)), { from: 480, to: 600, timeZone })?.getTime(),
    Date.UTC(2026, 0, 1, 1),
  ],
  ['prices by the clock', (timeZone: string) => windowAt({ timeZone, exceptDates: [], windows: [] }, 0), null],
])('%s keep one formatter for a thousand spellings of a zone, and read all alike', (_, read, expected) => {
  const answers = new Set<unknown>();
  const made = formattersOf(() => {
    for (let mask = 0; mask < 1_000; mask += 1) answers.add(read(spelling('Asia/Tokyo', mask)));
  });
  expect(made).toBe(1);
  expect([...answers]).toEqual([expected]);
});
