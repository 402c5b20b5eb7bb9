import { setTimeout as delay } from 'node:timers/promises';

/** How often due deliveries are looked for while others are under way. */
const pollMs = 500;

/**
 * Sends what is due and what becomes due meanwhile, and returns how many deliveries were tried. Any number of processes may do so
 * at once: `lease` takes one delivery that no other has and answers how it is sent; null while none is due, or as many are
 * under way as may be. What a process that dies had leased is due again when its lease is over.
 */
export async function deliverDue(
  lease: () => Promise<(() => Promise<void>) | null>,
  signal?: AbortSignal,
): Promise<number> {
  let tried = 0;
  const failures: unknown[] = [];
  const underWay = new Set<Promise<void>>();
  for (;;) {
    const isOver = signal?.aborted === true || failures.length > 0;
    // Asked while some are under way, "none" may mean that there is no room, which is there again by the time of the answer.
    const wereUnderWay = underWay.size > 0;
    const send = isOver ? null : await lease().catch((error: unknown) => void failures.push(error));
    if (typeof send === 'function') {
      const work = send()
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          underWay.delete(work);
          tried += 1;
        });
      underWay.add(work);
      continue;
    }
    if (!wereUnderWay) break;
    // A receiver that hangs must not delay deliveries that become due for others.
    if (underWay.size > 0) await Promise.race([...underWay, delay(pollMs, undefined, { ref: false })]);
  }
  // The database is unreachable: deliveries under way are leased again.
  if (failures.length > 0) throw failures[0];
  return tried;
}
