import type { SteygOptions } from '@steyg/sdk';
import { useSyncExternalStore } from 'react';

/** Whether the page waits for a server that has refused it for a moment: the client tries again automatically. */

let waits = 0;
const readers = new Set<() => void>();

function change(by: number): void {
  waits += by;
  for (const tell of readers) tell();
}

/** What the client tells of its requests. The next attempt follows at about the time that it names. */
export const watchRetries: NonNullable<SteygOptions['onEvent']> = (event) => {
  if (event.type !== 'retry') return;
  change(1);
  setTimeout(() => change(-1), event.delayMs + settleMs);
};

/** The attempt itself takes a moment, too: what waits must not flicker. */
const settleMs = 1_500;

function subscribe(tell: () => void): () => void {
  readers.add(tell);
  return () => void readers.delete(tell);
}

export function useIsRefused(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => waits > 0,
    () => false,
  );
}
