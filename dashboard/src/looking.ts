import type { SteygOptions } from '@steyg/sdk';

/** An operator's look at the pages of a customer: it belongs to one tab, and every request of that tab is part of it. */

const storageKey = 'steyg.view';

interface Look {
  grant: string;
  /** The page to return to. */
  back: string;
}

function look(): Look | null {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Look | null;
  } catch {
    return null;
  }
}

/** Begins on the customer's overview. Nothing of the operator's own data stays in the tab. */
export function beginLook(grant: string): void {
  sessionStorage.setItem(storageKey, JSON.stringify({ grant, back: location.pathname }));
  location.assign('/');
}

/** Ends on the page where it began. */
export function endLook(): void {
  const back = look()?.back ?? '/';
  sessionStorage.removeItem(storageKey);
  location.assign(back);
}

/** What requests are sent with: `fetch`, and in a look its grant. */
export const lookingFetch: NonNullable<SteygOptions['fetch']> = async (url, init) => {
  const current = look();
  if (current === null) return fetch(url, init);
  const headers = new Headers(init?.headers);
  headers.set('steyg-view', current.grant);
  const response = await fetch(url, { ...init, headers });
  // The session, the role or the time is over: never go on with the operator's own rights.
  if (response.status === 401) endLook();
  return response;
};
