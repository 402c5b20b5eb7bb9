import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { whileUnchanged } from '../../server/graphql/types/unchanged.ts';

/** A subscription's stream lives for hours: it keeps nothing of what it has sent, and ends with the rights of its subject. */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const hour = 3_600_000;

/** So many chunks, then none; each is noted in `sent` and held by nothing here. */
async function* chunks(count: number, sent: WeakRef<Uint8Array>[]): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i += 1) {
    const chunk = new Uint8Array(1_024);
    sent.push(new WeakRef(chunk));
    yield chunk;
  }
  await new Promise(() => undefined);
}

describe('the stream of a subscription', () => {
  it('keeps no chunk that it has handed on', async () => {
    const sent: WeakRef<Uint8Array>[] = [];
    const stream = whileUnchanged(chunks(200, sent), {
      isUnchanged: () => Promise.resolve(true),
      everyMs: hour,
      signal: new AbortController().signal,
    });
    for (let i = 0; i < 200; i += 1) await stream.next();
    const kept = async (): Promise<number> => {
      await nextTurn();
      collect();
      return sent.filter((chunk) => chunk.deref() !== undefined).length;
    };
    // The last ones may still be on the stack of a generator.
    await expect.poll(kept).toBeLessThan(5);
    expect(sent).toHaveLength(200);
  });

  it('ends when the subject has changed, also between two chunks', async () => {
    let asked = 0;
    const stream = whileUnchanged(chunks(1, []), {
      isUnchanged: () => {
        asked += 1;
        return Promise.resolve(asked < 3);
      },
      everyMs: 1,
      signal: new AbortController().signal,
    });
    expect((await stream.next()).done).toBe(false);
    await expect.poll(() => asked).toBe(3);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('fails as its source fails, and asks no more', async () => {
    const { signal } = new AbortController();
    const broken: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('broken')) }),
    };
    const stream = whileUnchanged(broken, { isUnchanged: () => Promise.resolve(true), everyMs: hour, signal });
    await expect(stream.next()).rejects.toThrow('broken');
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});
