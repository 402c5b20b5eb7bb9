import { GraphqlError, orThrow, ResultError, type Steyg, type Success } from '@steyg/sdk';
import {
  hashKey,
  type InfiniteData,
  MutationCache,
  QueryCache,
  QueryClient,
  type QueryKey,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { createContext, type ReactNode, use, useMemo, useRef, useState } from 'react';
import { viewerKey } from './answers.ts';
import { createPresses } from './presses.ts';

/** Queries and changes of the server's data, with the states that a page shows meanwhile. */

interface Connection {
  steyg: Steyg;
  origin: string;
  /** The published package of the SDK; null: the server's own. */
  sdkPackage: string | null;
}

const SteygContext = createContext<Connection | null>(null);

export function SteygProvider({ steyg, origin, sdkPackage, children }: Connection & { children: ReactNode }) {
  const value = useMemo(() => ({ steyg, origin, sdkPackage }), [steyg, origin, sdkPackage]);
  return <SteygContext value={value}>{children}</SteygContext>;
}

function useConnection() {
  const connection = use(SteygContext);
  if (connection === null) throw new Error('no client around this');
  return connection;
}

export function useSteyg(): Steyg {
  return useConnection().steyg;
}

/** The public address of the service, without a trailing slash. */
export function useOrigin(): string {
  return useConnection().origin;
}

/** What npm installs the SDK from: a published package, or this server. */
export function useSdkPackage(): string {
  const { origin, sdkPackage } = useConnection();
  return sdkPackage ?? `${origin}/sdk.tgz`;
}

export function createQueryClient(): QueryClient {
  // An ended session, a suspended account and a lowered role show as a refusal of the next query.
  const changed = new Set(['UNAUTHENTICATED', 'ACCOUNT_SUSPENDED', 'NOT_ALLOWED']);
  const onError = (error: unknown) => {
    // A page whose session is over waits for the sign-in: its polls need not ask again.
    const isOver = client.getQueryData<{ over?: boolean } | null>(viewerKey)?.over === true;
    if ((error instanceof GraphqlError || error instanceof ResultError) && changed.has(error.code) && !isOver) {
      void client.invalidateQueries({ queryKey: viewerKey });
    }
  };
  // Null is the answer for other people's objects, which these are when another person has signed in meanwhile.
  const onSuccess = (data: unknown, { queryKey }: { queryKey: QueryKey }) => {
    if (data === null && queryKey[0] !== viewerKey[0]) {
      void client.refetchQueries({ queryKey: viewerKey }, { cancelRefetch: false });
    }
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError, onSuccess }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The client retries automatically where that is safe.
      queries: { retry: false, staleTime: 5_000 },
      // Offline, a change fails at once: a purchase must not happen hours later.
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  return client;
}

const HiddenContext = createContext(false);

/** `when`: what is below is out of sight. It reads no answers then, and stays as it was. */
export function Hidden({ when, children }: { when: boolean; children: ReactNode }) {
  return <HiddenContext value={when}>{children}</HiddenContext>;
}

export function useHidden(): boolean {
  return use(HiddenContext);
}

/** The last value from before what is below went out of sight. */
function useLast<T>(value: T): T {
  const isHidden = useHidden();
  const last = useRef(value);
  if (!isHidden) last.current = value;
  return last.current;
}

interface Ask<T> {
  key: QueryKey;
  ask: (steyg: Steyg, signal: AbortSignal) => Promise<T>;
  /** Polling interval while the page is visible, in milliseconds. */
  every?: number | ((data: T | undefined) => number | false);
  /** False: not yet. */
  when?: boolean;
}

/** Queries data, and again when it may have changed. */
export function useAsk<T>({ key, ask, every, when = true }: Ask<T>): UseQueryResult<T> {
  const steyg = useSteyg();
  const isHidden = useHidden();
  const query = useQuery<T>({
    queryKey: key,
    queryFn: ({ signal }) => ask(steyg, signal),
    enabled: when && !isHidden,
    subscribed: !isHidden,
    ...(every === undefined
      ? {}
      : { refetchInterval: typeof every === 'number' ? every : (query) => every(query.state.data) }),
  });
  return useLast(query);
}

type PageOfList<Node> = ({ edges: { node: Node }[] } | { nodes: Node[] }) & {
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

function nodesOf<Node>(page: PageOfList<Node> | null): Node[] {
  if (page === null) return [];
  return 'nodes' in page ? page.nodes : page.edges.map(({ node }) => node);
}

/** A list that is loaded page by page on demand. */
export function usePages<Node>({
  key,
  order,
  ask,
  every,
  when = true,
}: {
  key: QueryKey;
  /** The order of the list. Present elements stay until the list arrives in another order. */
  order?: string;
  ask: (steyg: Steyg, after: string | null, signal: AbortSignal) => Promise<PageOfList<Node> | null>;
  every?: number;
  when?: boolean;
}) {
  const steyg = useSteyg();
  const isHidden = useHidden();
  const query = useInfiniteQuery({
    queryKey: order === undefined ? key : [...key, order],
    placeholderData: (before: InfiniteData<PageOfList<Node> | null, string | null> | undefined, query) =>
      order !== undefined && hashKey(query?.queryKey.slice(0, -1) ?? []) === hashKey(key) ? before : undefined,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => ask(steyg, pageParam, signal),
    getNextPageParam: (page) => (page?.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null),
    enabled: when && !isHidden,
    subscribed: !isHidden,
    // All pages that were opened are asked for again: many of them less often.
    ...(every === undefined
      ? {}
      : {
          refetchInterval: ({ state }: { state: { data?: { pages: readonly unknown[] } | undefined } }) =>
            every * Math.max(1, state.data?.pages.length ?? 1) ** 2,
        }),
  });
  const { data, error, isPaused, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => data?.pages.flatMap(nodesOf), [data]);
  return useLast({ data: rows, error, isPaused, refetch, hasNextPage, isFetchingNextPage, fetchNextPage });
}

interface Change<Input, Result> {
  /** `idempotencyKey`: for what makes something. It stays the same for the same input until something was made. */
  change: (steyg: Steyg, input: Input, idempotencyKey: string) => Promise<Result>;
  /** The lists that show the changed objects; they are queried again. */
  refresh?: readonly QueryKey[];
  /** The optimistic state of the lists, rolled back if the server refuses. */
  expect?: { key: QueryKey; update: (current: never, input: Input) => unknown };
  done?: (result: Success<Result>, input: Input) => void;
}

/** Changes data. An expected refusal is an error here, like any other. What is under way is not asked for twice. */
export function useChange<Input, Result>({ change, refresh = [], expect, done }: Change<Input, Result>) {
  const steyg = useSteyg();
  const queries = useQueryClient();
  const [presses] = useState(createPresses);
  const mutation = useMutation<Success<Result>, Error, Input, { before: unknown } | undefined>({
    mutationFn: async (input) => {
      let made = false;
      try {
        const result = orThrow(await change(steyg, input, presses.keyOf(input)));
        made = true;
        return result;
      } finally {
        presses.end(input, made);
      }
    },
    onMutate: async (input) => {
      if (expect === undefined) return undefined;
      await queries.cancelQueries({ queryKey: expect.key });
      const before = queries.getQueryData(expect.key);
      if (before !== undefined) queries.setQueryData(expect.key, expect.update(before as never, input));
      return { before };
    },
    onError: (_error, _input, context) => {
      if (expect !== undefined && context?.before !== undefined) queries.setQueryData(expect.key, context.before);
    },
    onSuccess: (result, input) => done?.(result, input),
    onSettled: () => Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  const mutate: typeof mutation.mutate = (...args) => {
    if (presses.begin(args[0])) mutation.mutate(...args);
  };
  return { ...mutation, mutate };
}
