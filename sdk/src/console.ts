import { SteygError } from './errors.ts';
import type { Console } from './generated/console.ts';
import { consoleOperations } from './generated/console-operations.ts';
import type { Graphql } from './graphql.ts';
import { createPending, type Pending, type WithResponse } from './internal/pending.ts';
import type { RequestOptions } from './options.ts';

/** The control plane's operations as methods. Their texts are loaded with the first call that needs one. */

/** A page of a list, as it is answered: its elements with their cursors, or, of a report, alone. */
type PageOf<T> = Extract<T, { edges: readonly unknown[] } | { nodes: readonly unknown[] }>;

/** A field of what may be null: null then. */
export type Below<T, Field extends string> = T extends null ? null : Field extends keyof T ? T[Field] : never;

/** A field of what may be of another type: null then. */
export type Narrowed<T, Field extends string> = T extends { [Name in Field]: infer Value } ? Value : null;

/** One element of a list. */
export type ElementOf<T> =
  PageOf<T> extends { edges: readonly { node: infer Node }[] }
    ? Node
    : PageOf<T> extends { nodes: readonly (infer Row)[] }
      ? Row
      : never;

/**
 * A list: awaited it is its first page, iterated it is every element of every page.
 *
 * @example
 * ```ts
 * const page = await steyg.console.keys.listKeys({ first: 10 });
 * for await (const key of steyg.console.keys.listKeys()) console.log(key.name);
 * ```
 */
export interface Paged<T> extends Pending<T>, AsyncIterable<ElementOf<T>> {}

/**
 * Events as they happen. Leaving the loop ends the subscription. A connection that breaks is made again, ten times in a
 * row at most (or `maxRetries`); the service then tells its present state anew, so an event may come twice, and what
 * passed in between may be missing.
 *
 * @example
 * ```ts
 * for await (const order of steyg.console.orders.orderStatus({ id })) console.log(order.status);
 * ```
 */
export interface Subscription<T> extends AsyncIterable<T> {}

/** What of a result is a success. */
export type Success<T> = Exclude<T, { __typename: `${string}Error` }>;

/** What of a result is an expected error. */
export type Failure<T> = Extract<T, { __typename: `${string}Error` }>;

/**
 * An expected error, thrown by `orThrow`.
 *
 * @example
 * ```ts
 * if (error instanceof ResultError && error.type === 'NotFoundError') return null;
 * ```
 */
export class ResultError extends SteygError {
  override name = 'ResultError';
  /** The error's GraphQL type, e.g. `InputError`. */
  readonly type: string;
  /** For programs. */
  readonly code: string;
  /** The whole error, with what its type has besides. */
  readonly result: object;

  constructor(result: object) {
    const { __typename: type = 'Error', message = type, code = type } = result as Partial<Record<string, string>>;
    super(message);
    this.type = type;
    this.code = code;
    this.result = result;
  }
}

/**
 * True for the expected errors of an operation's result, and narrows its type.
 *
 * @example
 * ```ts
 * const result = await steyg.console.keys.createKey({ input: { name: 'laptop' } });
 * if (isFailure(result)) console.error(result.code, result.message);
 * else console.log(result.secret);
 * ```
 */
export function isFailure<T>(result: T): result is Failure<T> {
  const { __typename: type } = (result ?? {}) as { __typename?: string };
  return type?.endsWith('Error') === true;
}

/**
 * The success of an operation's result; an expected error is thrown as a `ResultError`.
 *
 * @example
 * ```ts
 * const { secret } = orThrow(await steyg.console.keys.createKey({ input: { name: 'laptop' } }));
 * ```
 */
export function orThrow<T>(result: T): Success<T> {
  if (isFailure(result)) throw new ResultError(result);
  return result as Success<T>;
}

type Variables = Record<string, unknown>;
type Page =
  | (({ edges: { node: unknown }[] } | { nodes: unknown[] }) & {
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    })
  | null;

/**
 * @internal `persisted`: operations are sent by the names of their documents, and their texts are loaded only for a
 * service that does not know them.
 */
export function createConsole(graphql: Graphql, persisted: boolean): Console {
  const domains = Object.entries<readonly string[]>(consoleOperations).map(([domain, words]) => {
    const methods = words.map((word) => {
      const name = word.replace(/\W/, '');
      return [name, createMethod(graphql, { domain, name, mark: word.slice(name.length), persisted })];
    });
    return [domain, Object.fromEntries(methods)];
  });
  return Object.fromEntries(domains) as Console;
}

interface Method {
  domain: string;
  name: string;
  /** What it returns: `~` a subscription, `*` a list in pages, otherwise a result. */
  mark: string;
  persisted: boolean;
}

function createMethod(graphql: Graphql, { domain, name, mark, persisted }: Method) {
  const prepare = async (variables: Variables | undefined) =>
    (await import('./internal/operations.ts')).prepare({ domain, name, persisted }, variables);
  const ask = async (variables: Variables | undefined, options: RequestOptions | undefined) => {
    const operation = await prepare(variables);
    const answer = await graphql.run(operation, options);
    return { ...answer, data: follow(answer.data, operation.path) };
  };
  if (mark === '~') {
    return async function* subscribe(variables?: Variables, options?: RequestOptions) {
      const operation = await prepare(variables);
      for await (const data of graphql.subscribe(operation, options)) yield follow(data, operation.path);
    };
  }
  if (mark === '') return (variables?: Variables, options?: RequestOptions) => createPending(ask(variables, options));
  return (variables?: Variables, options?: RequestOptions) =>
    createPaged(
      (after) => ask(after === null ? variables : { ...variables, after }, options) as Promise<WithResponse<Page>>,
    );
}

/** The first page is requested once for all consumers: await, iteration, or both. */
function createPaged(ask: (after: string | null) => Promise<WithResponse<Page>>) {
  const first = createPending(ask(null));
  // A consumer that only iterates gets the error there.
  first.catch(() => undefined);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page: Page = await first; page !== null; ) {
        yield* 'nodes' in page ? page.nodes : page.edges.map(({ node }) => node);
        const next: string | null = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
        if (next === null) return;
        page = (await ask(next)).data;
      }
    },
  });
}

function follow(data: unknown, path: string): unknown {
  let value = data;
  for (const step of path.split('.')) value = (value as Variables | null | undefined)?.[step] ?? null;
  return value;
}
