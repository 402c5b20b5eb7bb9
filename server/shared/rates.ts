/**
 * Rates counted by this process alone, as buckets that fill up again: with several processes a subject has the rates of each.
 * They protect a process, not a price, so an exact count across processes is not worth a write per request.
 */
export interface Rates {
  /** Takes from the budget of a subject. Returns null, or the whole seconds until that much is available again. */
  take(subject: string, amount?: number): number | null;
  /** Takes an amount that was used already; the budget may go below zero, and the next requests wait for it. */
  charge(subject: string, amount: number): void;
}

export interface Rate {
  /** The full budget of an idle subject. */
  burst: number;
  perSecond: number;
}

interface Bucket {
  level: number;
  at: number;
}

/** Maximum subjects in memory: beyond it the least recently seen one is dropped. */
const maxSubjects = 20_000;

export function createRates(rate: Rate, now: () => number = () => performance.now()): Rates {
  const buckets = new Map<string, Bucket>();

  const bucketOf = (subject: string): Bucket => {
    const at = now();
    const bucket = buckets.get(subject) ?? { level: rate.burst, at };
    bucket.level = Math.min(rate.burst, bucket.level + ((at - bucket.at) / 1_000) * rate.perSecond);
    bucket.at = at;
    // Reinserted at the end, so that the first entry is the least recently seen.
    buckets.delete(subject);
    buckets.set(subject, bucket);
    if (buckets.size > maxSubjects) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    return bucket;
  };

  return {
    take(subject, amount = 1) {
      const bucket = bucketOf(subject);
      // An amount beyond the burst waits for a full bucket, or it would wait for ever.
      const needed = Math.min(amount, rate.burst);
      if (bucket.level >= needed) {
        bucket.level -= amount;
        return null;
      }
      return Math.max(1, Math.ceil((needed - bucket.level) / rate.perSecond));
    },
    charge(subject, amount) {
      bucketOf(subject).level -= amount;
    },
  };
}
