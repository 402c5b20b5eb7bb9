/** The vendors' prompt caches: which part of an input is a hit, a write or new. */

import { createHash } from 'node:crypto';
import { countPromptTokens, type Segment } from './prompt.ts';

/** How the input of one request splits. The four parts are disjoint; together they are all of its tokens. */
export interface CachedInput {
  input: number;
  cacheHit: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
}

export interface PromptCache {
  /**
   * The messages vendor's caching: only marked prefixes are written, and each marker looks back at most twenty segments
   * for a prefix that was written before.
   */
  marked(scope: string, segments: readonly Segment[]): CachedInput;
  /**
   * The chat vendors' caching: every prefix is kept, in steps of 64 tokens. Writes are reported only when a marker
   * asks for them, because those vendors otherwise charge them as plain input.
   */
  automatic(scope: string, segments: readonly Segment[]): CachedInput;
}

const LIFETIME_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 };
const LOOK_BACK = 20;
const STEP_TOKENS = 64;
const STEP_BYTES = STEP_TOKENS * 4;

interface Entry {
  expiresAt: number;
  lifetimeMs: number;
}

function chain(previous: string, text: string | Uint8Array): string {
  return createHash('sha256').update(previous).update(text).digest('base64');
}

/**
 * Remembers seen prefixes as digests, from which no text can be recovered. `now` is in milliseconds; `limit` bounds the
 * number of digests, the oldest go first.
 */
export function createPromptCache({ now, limit = 100_000 }: { now: () => number; limit?: number }): PromptCache {
  const entries = new Map<string, Entry>();

  const has = (digest: string): boolean => (entries.get(digest)?.expiresAt ?? 0) > now();
  const keep = (digest: string, lifetimeMs: number): void => {
    // Removed first, so that insertion order is order of use.
    entries.delete(digest);
    entries.set(digest, { expiresAt: now() + lifetimeMs, lifetimeMs });
    for (const oldest of entries.keys()) {
      if (entries.size <= limit) break;
      entries.delete(oldest);
    }
  };
  const refresh = (digest: string): void => keep(digest, entries.get(digest)?.lifetimeMs ?? LIFETIME_MS['5m']);

  return {
    marked(scope, segments) {
      const digests: string[] = [];
      const tokensUpTo: number[] = [];
      for (const segment of segments) {
        digests.push(chain(digests.at(-1) ?? `marked ${scope}`, segment.text));
        tokensUpTo.push((tokensUpTo.at(-1) ?? 0) + segment.tokens);
      }
      const marks = segments.flatMap((segment, index) => (segment.mark === null ? [] : [{ index, ttl: segment.mark }]));
      let hit = -1;
      for (const { index } of marks.toReversed()) {
        for (let at = index; hit < 0 && at >= 0 && at >= index - LOOK_BACK; at -= 1) {
          if (has(digests[at] ?? '')) hit = at;
        }
        if (hit >= 0) break;
      }
      if (hit >= 0) refresh(digests[hit] ?? '');
      const cacheHit = hit < 0 ? 0 : (tokensUpTo[hit] ?? 0);
      const written = { '5m': 0, '1h': 0 };
      let upTo = cacheHit;
      for (const { index, ttl } of marks) {
        if (index <= hit) continue;
        written[ttl] += (tokensUpTo[index] ?? 0) - upTo;
        upTo = tokensUpTo[index] ?? 0;
        keep(digests[index] ?? '', LIFETIME_MS[ttl]);
      }
      const total = tokensUpTo.at(-1) ?? 0;
      return { input: total - upTo, cacheHit, cacheWrite5m: written['5m'], cacheWrite1h: written['1h'] };
    },

    automatic(scope, segments) {
      const bytes = Buffer.from(segments.map((segment) => segment.text).join('\n'));
      const total = countPromptTokens(segments);
      const steps = Math.floor(Math.min(bytes.length / STEP_BYTES, total / STEP_TOKENS));
      let digest = `automatic ${scope}`;
      let hits = 0;
      for (let step = 0; step < steps; step += 1) {
        digest = chain(digest, bytes.subarray(step * STEP_BYTES, (step + 1) * STEP_BYTES));
        if (hits === step && has(digest)) hits += 1;
        keep(digest, LIFETIME_MS['5m']);
      }
      const cacheHit = hits * STEP_TOKENS;
      const asked = segments.some((segment) => segment.mark !== null);
      const cacheWrite5m = asked ? (steps - hits) * STEP_TOKENS : 0;
      return { input: total - cacheHit - cacheWrite5m, cacheHit, cacheWrite5m, cacheWrite1h: 0 };
    },
  };
}
