import type { SteygOptions } from '@steyg/sdk';
import { useSyncExternalStore } from 'react';

/**
 * How old the history on the page may be: the server reads it from a replica where the operator has one, and says so in
 * `extensions.history` of its answers.
 */

type Fetch = NonNullable<SteygOptions['fetch']>;

let ageSeconds: number | null = null;
const listeners = new Set<() => void>();

function setAge(next: number | null): void {
  if (next === ageSeconds) return;
  ageSeconds = next;
  for (const listener of listeners) listener();
}

/** Another page has begun: what it shows has no age yet. */
export function forgetHistoryAge(): void {
  setAge(null);
}

/** Seconds; null: all of the page is current. */
export function useHistoryAge(): number | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    historyAge,
    () => null,
  );
}

export function historyAge(): number | null {
  return ageSeconds;
}

/** Quotes within a text have a backslash before them, so that no value can look like this. */
const mark = /"extensions":\{(?:[^{}]*,)?"history":\{"source":"replica","maxAgeSeconds":(\d{1,9})\}/;

/** The same fetch; what GraphQL answers say of the age of history is noted. The oldest of a page counts. */
export function watchingHistory(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return response;
    const text = await response.text();
    const age = mark.exec(text)?.[1];
    if (age !== undefined) setAge(Math.max(ageSeconds ?? 0, Number(age)));
    const { status, statusText, headers } = response;
    return new Response(text === '' ? null : text, { status, statusText, headers });
  };
}
