/** The session: who is signed in, and which of their accounts the pages are about. */

import type { MeAnswer } from '@steyg/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { viewerKey } from './answers.ts';
import { useAsk } from './data.tsx';
import { recall, remember } from './remembered.ts';
import { holdsTyping, watchTyping } from './typed.ts';

export type Viewer = NonNullable<MeAnswer>;
export type Person = NonNullable<Viewer['user']>;
export type AccountSummary = Viewer['accounts'][number];

/** `over`: the session has ended while its page holds what its person typed: the page is kept, unseen, until they are back. */
type LastViewer = Viewer & { over?: boolean };

/** Null without a session. Scripts cannot read the session's cookie; only the server knows. */
export function useViewer() {
  const queries = useQueryClient();
  const hasSignedOut = useRef(false);
  const viewer = useAsk({
    key: viewerKey,
    ask: async (steyg, signal): Promise<LastViewer | null> => {
      const now = await steyg.console.people.me({}, { signal });
      const before = queries.getQueryData<LastViewer | null>(viewerKey);
      // What the person has typed must not be lost with the session. Without it, and after a sign-out, nothing stays.
      const isKept = !hasSignedOut.current && (before?.over === true || holdsTyping());
      if (now === null && before?.user != null && isKept) return { ...before, over: true };
      hasSignedOut.current = false;
      // Another person signed in on another tab: this tab's data must be dropped.
      if (before?.user != null && before.user.id !== now?.user?.id) forgetAllButViewer(queries);
      return now;
    },
  });
  const { refetch } = viewer;
  useEffect(watchTyping, []);
  // The tabs of a browser share one session.
  useEffect(() => {
    const channel = openSessionChannel();
    channel.addEventListener('message', ({ data }) => {
      hasSignedOut.current = data === 'signed-out';
      void refetch();
    });
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
  /** Signed in with a one-time code besides, or with a passkey. */
  twoFactors: boolean;
  /** When an operator's look at this account ends; null: people who see their own. */
  viewUntil: string | null;
  /** What the person is trusted with as an operator; null: no operator, or one who looks at a customer. */
  operator: Viewer['operator'];
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
    const { accounts, operator, sessions, viewUntil } = viewer;
    return {
      person,
      sessions,
      twoFactors: person.secondFactor || sessions.some(({ current, passkey }) => current && passkey),
      viewUntil,
      operator,
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

/** Whether the operator's role allows a mutation. The server's table decides; this is what to offer. */
export function useMay(): (mutation: string) => boolean {
  const operator = use(SessionContext)?.operator ?? null;
  return (mutation) => operator?.allowedMutations.includes(mutation) === true;
}

/** The account that the page is about. Pages below the account's guard always have one. */
export function useAccount(): AccountSummary {
  const { account } = useSession();
  if (account === null) throw new Error('no account around this');
  return account;
}

/** The person's abilities on the account. Until they are loaded, no action is offered, and none while it is suspended. */
export function useAbilities(): { keys: boolean; billing: boolean; members: boolean; role: string | null } {
  const { person } = useSession();
  const account = useAccount();
  const { data } = useAsk({
    key: ['members', account.id],
    ask: (steyg, signal) => steyg.console.accounts.listMembers({ accountId: account.id }, { signal }),
  });
  const role = data?.find(({ email }) => email === person.email)?.role ?? null;
  const isOpen = account.status !== 'SUSPENDED';
  const leads = isOpen && (role === 'OWNER' || role === 'ADMIN');
  return { keys: leads || (isOpen && role === 'MEMBER'), billing: leads, members: leads, role };
}

/** Drops all data of the signed-in person, here and in the browser's other tabs. */
export function useForget(): (signedOut?: 'signed-out') => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    async (signedOut) => {
      await queries.cancelQueries();
      forgetAllButViewer(queries);
      if (signedOut !== undefined) queries.setQueryData(viewerKey, null);
      tellOtherTabs(signedOut ?? 'changed');
      await queries.invalidateQueries({ queryKey: viewerKey });
    },
    [queries],
  );
}

/** The session is there again: everything on the page is asked for once more, and nothing of it is dropped. */
export function useResume(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(async () => {
    tellOtherTabs('changed');
    await queries.invalidateQueries({ queryKey: viewerKey });
    await queries.invalidateQueries();
  }, [queries]);
}

function tellOtherTabs(what: 'changed' | 'signed-out'): void {
  const channel = openSessionChannel();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel never leaves its origin
  channel.postMessage(what);
  channel.close();
}
