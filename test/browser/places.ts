import { pages, pathTo } from '../../dashboard/src/pages.ts';

/** The list of all pages, by who sees them; a page that is missing here fails a test. */

export type Who = 'nobody' | 'person' | 'operator';

/** What pages about one thing are about. */
export interface Subjects {
  /** Order, account and request as they stand in addresses. */
  orderId: string;
  accountId: string;
  requestId: string;
  modelId: string;
}

export interface Place {
  name: string;
  path: string;
}

const forNobody = [
  'home',
  'signIn',
  'signUp',
  'forgotPassword',
  'resetPassword',
  'verifyEmail',
  'linkIdentity',
  'invitation',
  'guides',
  'guide',
] as const satisfies (keyof typeof pages)[];

const forPerson = [
  'home',
  'start',
  'keys',
  'projects',
  'activity',
  'entry',
  'batches',
  'topUp',
  'order',
  'models',
  'playground',
  'connect',
  'guides',
  'guide',
  'notices',
  'members',
  'security',
  'settings',
  'invitation',
  'device',
] as const satisfies (keyof typeof pages)[];

/** What an address needs beside its path, e.g. the token of a mail's link. */
const searches: Partial<Record<keyof typeof pages, string>> = {
  resetPassword: '?token=x',
  verifyEmail: '?token=x',
  linkIdentity: '?token=x',
  invitation: '?token=x',
  activity: '?range=week&group=key',
};

/** The pages of a kind of visitor. The operator's are those of the operator alone. */
export function placesOf(who: Who, { orderId, accountId, requestId, modelId }: Subjects): Place[] {
  const parts: Partial<Record<keyof typeof pages, Record<string, string>>> = {
    guide: { name: 'claude-code' },
    order: { id: orderId },
    entry: { requestId },
    operatorAccount: { id: accountId },
    operatorRequest: { id: accountId, requestId },
    operatorModel: { modelId },
  };
  const names = Object.keys(pages) as (keyof typeof pages)[];
  const shown: readonly (keyof typeof pages)[] =
    who === 'nobody' ? forNobody : who === 'person' ? forPerson : names.filter((name) => name.startsWith('operator'));
  const places = shown.map((name) => ({
    name: name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    path: `${pathTo(pages[name], parts[name] ?? {})}${searches[name] ?? ''}`,
  }));
  return who === 'nobody' ? [...places, { name: 'not-found', path: '/no-such-page' }] : places;
}

/** Pages that no list has: none, unless one was added and forgotten. */
export function unseenPages(): string[] {
  const seen = new Set<string>([...forNobody, ...forPerson]);
  return Object.keys(pages).filter((name) => !seen.has(name) && !name.startsWith('operator'));
}
