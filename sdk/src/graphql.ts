import type { Subscription } from './console.ts';
import { ConfigurationError, ConnectionError, SteygError } from './errors.ts';
import { backoffMs, type Call, type Reply, type Send, sleep } from './internal/http.ts';
import { checkNames } from './internal/names.ts';
import { createPending, type Pending, type WithResponse } from './internal/pending.ts';
import { readEvents } from './internal/sse.ts';
import type { RequestOptions } from './options.ts';

/** The control plane's transport: one document with its variables, answered once or as a stream of events. */

/**
 * A GraphQL document: its text, or what code generators make of it, as text or as a tree that knows the text it was
 * parsed from. Their types of result and variables are used.
 *
 * @example
 * ```ts
 * const document = 'query { models { modelId } }' as TypedDocument<{ models: { modelId: string }[] }>;
 * ```
 */
export type TypedDocument<Result = unknown, Variables = Record<string, unknown>> = {
  toString(): string;
} & {
  // Where the generators' own document types carry theirs.
  __apiType?: (variables: Variables) => Result;
};

/** One entry of `errors` in a GraphQL answer. */
export interface GraphqlProblem {
  message: string;
  path?: (string | number)[] | undefined;
  extensions?: Record<string, unknown> | undefined;
}

/**
 * The control plane could not carry an operation out: not signed in, not allowed, a malformed document, or a fault. What
 * can be expected to happen (a wrong password, an unknown id) is not thrown: it is part of the operation's result.
 *
 * @example
 * ```ts
 * if (error instanceof GraphqlError && error.code === 'UNAUTHENTICATED') signInAgain();
 * ```
 */
export class GraphqlError extends SteygError {
  override name = 'GraphqlError';
  /** For programs, e.g. `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`, `INTERNAL`. */
  readonly code: string;
  readonly problems: readonly GraphqlProblem[];
  readonly requestId: string | null;
  /** What could be answered all the same. */
  readonly data: unknown;

  constructor(problems: readonly GraphqlProblem[], facts: { requestId: string | null; data: unknown }) {
    super(problems.map(({ message }) => message).join('\n') || 'The control plane answered with an error.');
    const code = problems[0]?.extensions?.['code'];
    this.code = typeof code === 'string' ? code : 'UNKNOWN';
    this.problems = problems;
    this.requestId = facts.requestId;
    this.data = facts.data;
  }
}

/** @internal */
export interface Graphql {
  run(operation: GraphqlOperation, options?: RequestOptions): Promise<WithResponse<unknown>>;
  subscribe(operation: GraphqlOperation, options?: RequestOptions): AsyncGenerator;
}

/** @internal A document that the service may know by a name. */
export interface PersistedDocument {
  /** A document identifier: GraphQL over HTTP, appendix "Persisted Documents". */
  id: string;
  /** Its operation's name. */
  operation: string;
  /** Loads the text, for a service that does not know it. */
  load(): Promise<string>;
}

/** @internal */
export interface GraphqlOperation {
  document: string | PersistedDocument;
  variables: object | undefined;
  /** False: it could happen twice if it were sent again. */
  repeatable: boolean;
}

interface Envelope {
  data?: unknown;
  errors?: GraphqlProblem[];
}

/** @internal */
export interface GraphqlParts {
  url: string;
  send: Send;
  /** How often in a row a broken subscription is begun again. */
  reconnections: number;
}

/** @internal */
export function createGraphql({ url, send, reconnections }: GraphqlParts): Graphql {
  const callOf = ({ document, variables = {}, repeatable }: GraphqlOperation): Call => {
    const call = { method: 'POST', url, credential: 'accessToken', repeatable } as const;
    if (typeof document !== 'string')
      return { ...call, body: { documentId: document.id, variables }, operation: document.operation };
    const operation = operationName(document);
    // The service leaves variables out that a document does not declare.
    const declared = [...document.matchAll(/\$(\w+)\s*:/g)].map(([, name = '']) => name);
    checkNames(`variable of ${operation ?? 'the document'}`, variables, declared);
    return { ...call, body: { query: document, variables }, ...(operation === undefined ? {} : { operation }) };
  };
  const run = async (operation: GraphqlOperation, options?: RequestOptions) => {
    const reply = await send(callOf(operation), options);
    const { response, requestId } = reply;
    return { data: dataOf(reply.json as Envelope, reply), response, requestId };
  };
  return {
    async run(operation: GraphqlOperation, options?: RequestOptions) {
      try {
        return await run(operation, options);
      } catch (error) {
        const text = await textFor(operation, error);
        if (text === null) throw error;
        return run({ ...operation, document: text }, options);
      }
    },
    async *subscribe(given: GraphqlOperation, options?: RequestOptions) {
      let operation = given;
      const most = options?.maxRetries ?? reconnections;
      let again = false;
      for (let broken = 0; ; broken += 1) {
        // A subscriber of hours waits longer for a service that is being restarted than a new one.
        const reply = await send(
          { ...callOf(operation), stream: true },
          again ? { ...options, maxRetries: most } : options,
        );
        again = true;
        try {
          for await (const { type, data } of readEvents(reply.chunks)) {
            if (type === 'complete') return;
            if (type !== 'next') continue;
            broken = 0;
            yield dataOf(JSON.parse(data) as Envelope, reply);
          }
          throw new ConnectionError('The subscription ended without being completed.');
        } catch (error) {
          const text = await textFor(operation, error);
          if (text !== null) {
            operation = { ...operation, document: text };
            continue;
          }
          if (!(error instanceof ConnectionError) || broken >= most) throw error;
        }
        await sleep(backoffMs(broken), options?.signal);
      }
    },
  };
}

/**
 * @internal Runs a document of the caller's own. Only a query is sent again after a failure that may have happened
 * after the work was done.
 */
export function runDocument<Result, Variables>(
  graphql: Graphql,
  document: TypedDocument<Result, Variables>,
  variables: Variables | undefined,
  options: RequestOptions | undefined,
): Pending<Result> {
  const text = textOf(document);
  if (has(text, 'subscription')) throw new ConfigurationError('This is a subscription: iterate steyg.subscribe(…).');
  const repeatable = !has(text, 'mutation');
  const work = graphql.run({ document: text, variables: variables as object | undefined, repeatable }, options);
  return createPending(work as Promise<WithResponse<Result>>);
}

/** @internal Subscribes with a document of the caller's own. */
export function subscribeDocument<Result, Variables>(
  graphql: Graphql,
  document: TypedDocument<Result, Variables>,
  variables: Variables | undefined,
  options: RequestOptions | undefined,
): Subscription<Result> {
  const operation = { document: textOf(document), variables: variables as object | undefined, repeatable: true };
  return graphql.subscribe(operation, options) as AsyncGenerator<Result>;
}

/** The text to send in place of a document's name that the service does not know: nothing was done then. */
async function textFor({ document }: GraphqlOperation, error: unknown): Promise<string | null> {
  if (typeof document === 'string') return null;
  return error instanceof GraphqlError && error.code === 'PERSISTED_DOCUMENT_NOT_FOUND' ? document.load() : null;
}

/** Trees of generators have no text of their own, but mostly where they come from. */
function textOf(document: TypedDocument<unknown, never>): string {
  const { loc } = document as { loc?: { source?: { body?: unknown } } };
  const text = loc?.source?.body ?? document.toString();
  if (typeof text === 'string' && !text.startsWith('[object ')) return text;
  throw new ConfigurationError(
    'This document has lost its text: hand over print(document), or let it be generated as a string.',
  );
}

/** Whether a document has an operation of this kind. */
const has = (text: string, kind: string) => new RegExp(`(^|[\\s}])${kind}\\b`).test(withoutText(text));

function dataOf({ data, errors }: Envelope, { requestId }: Reply): unknown {
  if (errors !== undefined && errors.length > 0) throw new GraphqlError(errors, { requestId, data: data ?? null });
  return data;
}

function operationName(document: string): string | undefined {
  return /\b(?:query|mutation|subscription)\s+(\w+)/.exec(withoutText(document))?.[1];
}

/** The document without strings and comments, which may say anything. */
function withoutText(document: string): string {
  return document.replaceAll(/"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*/g, '');
}
