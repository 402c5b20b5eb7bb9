import { setFlagsFromString } from 'node:v8';

/**
 * Request bodies live outside of the collector's heap, and it looks through all of that heap whenever 64 MB of them
 * have come by, although nearly all are garbage by then: with contexts of a megabyte that took more CPU than
 * everything else together. Counted with the heap itself, they are freed in the rounds that look at what is new, and
 * the whole is looked at when it has grown in proportion. Costs memory: two to four times what is alive.
 */
export function countBodiesWithTheHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
