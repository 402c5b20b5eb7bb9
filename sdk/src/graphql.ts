import { ConnectionError, SteygError } from './errors.ts';
import type { Call, Reply, Send } from './internal/http.ts';
import { createPending, type Pending, type WithResponse } from './internal/pending.ts';
import { readEvents } from './internal/sse.ts';
import type { RequestOptions } from './options.ts';

/** The control plane's transport: one document with its variables, answered once or as a stream of events. */

/**
 * A GraphQL document: its text, or what code generators make of it (their types of result and variables are used).
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

/** @internal */
export interface GraphqlOperation {
  document: string;
  variables: object | undefined;
  /** False: it could happen twice if it were sent again. */
  repeatable: boolean;
}

interface Envelope {
  data?: unknown;
  errors?: GraphqlProblem[];
}

/** @internal */
export function createGraphql({ url, send }: { url: string; send: Send }): Graphql {
  const callOf = ({ document, variables, repeatable }: GraphqlOperation): Call => {
    const operation = operationName(document);
    return {
      method: 'POST',
      url,
      credential: 'accessToken',
      repeatable,
      body: { query: document, variables: variables ?? {} },
      ...(operation === undefined ? {} : { operation }),
    };
  };
  return {
    async run(operation: GraphqlOperation, options?: RequestOptions) {
      const reply = await send(callOf(operation), options);
      const { response, requestId } = reply;
      return { data: dataOf(reply.json as Envelope, reply), response, requestId };
    },
    async *subscribe(operation: GraphqlOperation, options?: RequestOptions) {
      const reply = await send({ ...callOf(operation), stream: true }, options);
      for await (const { type, data } of readEvents(reply.chunks)) {
        if (type === 'complete') return;
        if (type === 'next') yield dataOf(JSON.parse(data) as Envelope, reply);
      }
      throw new ConnectionError('The subscription ended without being completed.');
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
  const text = document.toString();
  const repeatable = !/(^|[\s}])mutation\b/.test(withoutText(text));
  const work = graphql.run({ document: text, variables: variables as object | undefined, repeatable }, options);
  return createPending(work as Promise<WithResponse<Result>>);
}

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
