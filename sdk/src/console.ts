import { SteygError } from './errors.ts';
import type { Console } from './generated/console.ts';
import { consoleOperations } from './generated/console-operations.ts';
import type { Graphql } from './graphql.ts';
import { createPending, type Pending, type WithResponse } from './internal/pending.ts';
import type { RequestOptions } from './options.ts';

/** The control plane's operations as methods. Their texts are loaded with the first call, apart from the rest. */

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

/** How to run one operation: comes with its document. */
interface OperationFacts {
  kind: 'query' | 'mutation' | 'subscription';
  /** From the data to the result, separated by dots. */
  path: string;
  /** Where the operation takes an idempotency key. */
  idempotencyKey?: 'variables' | 'input';
  text: string;
}

type Variables = Record<string, unknown>;
type Page =
  | (({ edges: { node: unknown }[] } | { nodes: unknown[] }) & {
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    })
  | null;

/** @internal */
export function createConsole(graphql: Graphql): Console {
  const domains = Object.entries<readonly string[]>(consoleOperations).map(([domain, words]) => {
    const methods = words.map((word) => {
      const name = word.replace(/\W/, '');
      return [name, createMethod(graphql, { domain, name, mark: word.slice(name.length) })];
    });
    return [domain, Object.fromEntries(methods)];
  });
  return Object.fromEntries(domains) as Console;
}

/** The document of an operation. Those of some domains are apart: few programs call them. */
async function factsOf(domain: string, name: string): Promise<OperationFacts> {
  const all: Record<string, OperationFacts> =
    domain === 'operator'
      ? (await import('./generated/operator-documents.ts')).operatorDocuments
      : domain === 'books'
        ? (await import('./generated/books-documents.ts')).booksDocuments
        : domain === 'machines'
          ? (await import('./generated/machines-documents.ts')).machinesDocuments
          : (await import('./generated/documents.ts')).documents;
  const facts = all[name];
  if (facts === undefined) throw new Error(`there is no operation ${domain}.${name}`);
  return facts;
}

/** `mark` says what a method returns: `~` a subscription, `*` a list in pages, none a result. */
function createMethod(graphql: Graphql, { domain, name, mark }: Record<'domain' | 'name' | 'mark', string>) {
  const prepare = async (given: Variables = {}) => {
    const { kind, path, text, idempotencyKey } = await factsOf(domain, name);
    const variables = idempotencyKey === undefined ? given : withIdempotencyKey(given, idempotencyKey);
    // Sent again after a failure, a mutation could happen twice, unless the server knows it by its key.
    const repeatable = kind !== 'mutation' || idempotencyKey !== undefined;
    return { document: text, variables, repeatable, path };
  };
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

/** A key of its own for every call that has none, so that a retry after a lost answer makes nothing twice. */
function withIdempotencyKey(variables: Variables, place: 'variables' | 'input'): Variables {
  const keyed = (holder: Variables): Variables => ({
    ...holder,
    idempotencyKey: holder['idempotencyKey'] ?? randomId(),
  });
  if (place === 'variables') return keyed(variables);
  return { ...variables, input: keyed((variables['input'] ?? {}) as Variables) };
}

/** 128 bits by chance. `randomUUID` would do, but a page that came without TLS has none. */
function randomId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function follow(data: unknown, path: string): unknown {
  let value = data;
  for (const step of path.split('.')) value = (value as Variables | null | undefined)?.[step] ?? null;
  return value;
}
