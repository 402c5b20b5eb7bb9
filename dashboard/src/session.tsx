import type { MeAnswer } from '@steyg/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import { useAsk, viewerKey } from './data.tsx';
import { recall, remember } from './remembered.ts';

/** The session: who is signed in, and which of their accounts the pages are about. */

export type Viewer = NonNullable<MeAnswer>;
export type Person = NonNullable<Viewer['user']>;
export type AccountSummary = Viewer['accounts'][number];

/** Null without a session. Scripts cannot read the session's cookie; only the server knows. */
export function useViewer() {
  const queries = useQueryClient();
  const viewer = useAsk({
    key: viewerKey,
    ask: async (steyg, signal) => {
      const now = await steyg.console.people.me({}, { signal });
      const before = queries.getQueryData<Viewer | null>(viewerKey);
      // Another person signed in on another tab: this tab's data must be dropped.
      if (before?.user != null && before.user.id !== now?.user?.id) forgetAllButViewer(queries);
      return now;
    },
  });
  const { refetch } = viewer;
  // The tabs of a browser share one session.
  useEffect(() => {
    const channel = openSessionChannel();
    channel.addEventListener('message', () => void refetch());
    return () => channel.close();
  }, [refetch]);
  return viewer;
}

const openSessionChannel = () => new BroadcastChannel('steyg.session');

function forgetAllButViewer(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== viewerKey[0] });
}

interface Session {
  person: Person;
  sessions: Viewer['sessions'];
  accounts: readonly AccountSummary[];
  /** Null: the person belongs to no account, as an operator may. */
  account: AccountSummary | null;
  chooseAccount(id: string): void;
}

const SessionContext = createContext<Session | null>(null);
const storageKey = 'steyg.account';

export function SessionProvider({ viewer, person, children }: { viewer: Viewer; person: Person; children: ReactNode }) {
  const [chosen, setChosen] = useState(() => recall(storageKey));
  const chooseAccount = useCallback((id: string) => {
    setChosen(id);
    remember(storageKey, id);
  }, []);
  const session = useMemo<Session>(() => {
    const { accounts, sessions } = viewer;
    return {
      person,
      sessions,
      accounts,
      account: accounts.find(({ id }) => id === chosen) ?? accounts[0] ?? null,
      chooseAccount,
    };
  }, [viewer, person, chosen, chooseAccount]);
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('used outside of a session');
  return session;
}

/** The session, or null without one. */
export function useMaybeSession(): Session | null {
  return use(SessionContext);
}

/** The account that the page is about. Pages below the account's guard always have one. */
export function useAccount(): AccountSummary {
  const { account } = useSession();
  if (account === null) throw new Error('no account around this');
  return account;
}

/** The person's abilities on the account. Until they are loaded, no action is offered. */
export function useAbilities(): { keys: boolean; billing: boolean; members: boolean; role: string | null } {
  const { person } = useSession();
  const account = useAccount();
  const { data } = useAsk({
    key: ['members', account.id],
    ask: (steyg, signal) => steyg.console.accounts.listMembers({ accountId: account.id }, { signal }),
  });
  const role = data?.find(({ email }) => email === person.email)?.role ?? null;
  const leads = role === 'OWNER' || role === 'ADMIN';
  return { keys: leads || role === 'MEMBER', billing: leads, members: leads, role };
}

/** Drops all data of the signed-in person, here and in the browser's other tabs. */
export function useForget(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(async () => {
    await queries.cancelQueries();
    forgetAllButViewer(queries);
    const channel = openSessionChannel();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel never leaves its origin
    channel.postMessage('changed');
    channel.close();
    await queries.invalidateQueries({ queryKey: viewerKey });
  }, [queries]);
}
