/** Single flight: callers share a load that began after they asked. */

import { expect, test } from 'vitest';
import { singleFlight } from '../../server/shared/single-flight.ts';

/** A load whose runs end on the test's command. */
function gated() {
  const runs: PromiseWithResolvers<void>[] = [];
  const load = singleFlight(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  return { runs, load };
}

test('callers during a load share the next one, which begins after they asked', async () => {
  const { runs, load } = gated();
  const done: string[] = [];
  const first = load().then(() => done.push('first'));
  const later = [load(), load(), load()].map((promise) => promise.then(() => done.push('later')));
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await first;
  await Promise.resolve();
  expect(done).toEqual(['first']);
  expect(runs).toHaveLength(2);
  runs[1]?.resolve();
  await Promise.all(later);
  expect(runs).toHaveLength(2);
});

test('afterwards the next caller starts a load of their own', async () => {
  const { runs, load } = gated();
  const first = load();
  runs[0]?.resolve();
  await first;
  void load();
  expect(runs).toHaveLength(2);
});

test('a load that fails rejects for the callers that waited for it, and for no others', async () => {
  const { runs, load } = gated();
  const first = load();
  const second = load();
  runs[0]?.reject(new Error('first'));
  await expect(first).rejects.toThrow('first');
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.resolve();
  await expect(second).resolves.toBeUndefined();
});
