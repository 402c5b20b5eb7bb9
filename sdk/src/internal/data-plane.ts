import type { UsdAmount } from '../amounts.ts';
import type { Estimate } from '../generated/rest.ts';
import { operations } from '../generated/rest-operations.ts';
import type { RequestOptions } from '../options.ts';
import { type CallCost, createStream, type ModelStream, type Reader } from '../streams.ts';
import type { Call, Reply, Send } from './http.ts';
import { createPending, type Pending, type WithResponse } from './pending.ts';

/** What the protocols have in common: addresses, whole answers, streams, and the facts of a call. */

/**
 * What the gateway says about one call, beside what the vendor says.
 *
 * @example
 * ```ts
 * const { requestId, costUsd } = message.steyg;
 * ```
 */
export interface CallFacts {
  /** Id of the request: the ledger entry has the same. */
  requestId: string | null;
  /** In USD, exact. Null for the answer of a stream: ask `stream.cost()`. */
  costUsd: UsdAmount | null;
}

/** A vendor's answer as it came, with the facts of the call in `steyg`, which is not enumerable: copies lack it. */
export type Answer<T> = T & { readonly steyg: CallFacts };

export type OperationName = keyof typeof operations;

/** A model operation of one protocol. */
interface ModelOperation<Event, Final> {
  operation: OperationName;
  headers?: Record<string, string>;
  createReader: () => Reader<Event, Final>;
}

interface ModelMethods<Event, Final extends object> {
  create: (
    request: { stream?: unknown },
    options?: RequestOptions,
  ) => Pending<Answer<Final> | ModelStream<Event, Answer<Final>>>;
  stream: (request: object, options?: RequestOptions) => ModelStream<Event, Answer<Final>>;
}

/** Calls of the data plane. */
export interface DataPlaneClient {
  model<Event, Final extends object>(operation: ModelOperation<Event, Final>): ModelMethods<Event, Final>;
  post<T>(call: PostCall, options?: RequestOptions): Pending<T>;
  /** An estimate, with its members in camel case. */
  estimate(call: PostCall, options?: RequestOptions): Pending<Estimate>;
  /** An answer about the account, with its members in camel case. */
  get<T>(call: GetCall, options?: RequestOptions): Pending<T>;
}

interface PostCall {
  operation: OperationName;
  body: object;
  headers?: Record<string, string>;
}

interface GetCall {
  operation: OperationName;
  path?: Record<string, string>;
  query?: object | undefined;
}

export function createDataPlaneClient(parts: {
  baseUrl: string;
  send: Send;
  /** Looks a finished request up in the ledger. */
  cost: (requestId: string) => Promise<CallCost>;
}): DataPlaneClient {
  const { baseUrl, send, cost } = parts;
  const address = (operation: OperationName) => `${baseUrl}${operations[operation].path}`;
  // What an answer is, the caller's type says.
  const read = async (call: Omit<Call, 'credential'>, options: RequestOptions | undefined) => {
    const reply = await send({ ...call, credential: 'apiKey' }, options);
    return { ...from(reply), data: reply.json as never };
  };
  /** An answer in the service's own words, and not in a vendor's. */
  const own = async <T>(work: Promise<WithResponse<T>>) => {
    const answer = await work;
    (await import('./camel.ts')).withCamelNames(answer.data);
    return answer;
  };

  return {
    model<Event, Final extends object>({ operation, headers = {}, createReader }: ModelOperation<Event, Final>) {
      const call = { method: 'POST', url: address(operation), headers, credential: 'apiKey' } as const;
      const stream = (request: object, options?: RequestOptions) =>
        createStream<Event, Final, Answer<Final>>({
          connect: (signal) =>
            send({ ...call, body: { ...request, stream: true }, stream: true }, { ...options, signal }),
          signal: options?.signal,
          reader: createReader(),
          finish: (final, { requestId }) => withFacts(final, { requestId, costUsd: null }),
          cost,
        });
      const whole = async (request: object, options?: RequestOptions) => {
        const reply = await send({ ...call, body: request }, options);
        const costUsd = reply.response.headers.get('x-steyg-cost-usd');
        return { ...from(reply), data: withFacts(reply.json as Final, { requestId: reply.requestId, costUsd }) };
      };
      return {
        stream,
        create: (request, options) =>
          createPending<Answer<Final> | ModelStream<Event, Answer<Final>>>(
            request.stream === true ? begun(stream(request, options)) : whole(request, options),
          ),
      };
    },
    post: ({ operation, body, headers = {} }, options) =>
      createPending(read({ method: 'POST', url: address(operation), headers, body }, options)),
    estimate: ({ operation, body, headers = {} }, options) =>
      createPending(own(read({ method: 'POST', url: address(operation), headers, body }, options))),
    get({ operation, path = {}, query = {} }, options) {
      const filled = address(operation).replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(path[name] ?? ''),
      );
      const ask = async () => {
        const { queryOf } = await import('./camel.ts');
        return read({ method: 'GET', url: `${filled}${queryString(queryOf(operation, query))}` }, options);
      };
      return createPending(own(ask()));
    },
  };
}

/** Waits for the headers, so that a refusal is thrown where the call is made. */
async function begun<Event, Final>(
  stream: ModelStream<Event, Final>,
): Promise<WithResponse<ModelStream<Event, Final>>> {
  const response = await stream.response();
  return { data: stream, response, requestId: await stream.requestId() };
}

const from = ({ response, requestId }: Reply) => ({ response, requestId });

function queryString(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** Not enumerable, so that printing or copying the answer gives the vendor's own. */
function withFacts<T extends object>(answer: T, facts: CallFacts): Answer<T> {
  return Object.defineProperty(answer, 'steyg', { value: facts }) as Answer<T>;
}
