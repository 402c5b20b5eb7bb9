/**
 * Batches as Anthropic answers them: https://platform.claude.com/docs/en/api/messages/batches. Each request of one is answered as it
 * would be alone, by a call of the simulator's own address, so that directives and refusals are the same.
 *
 * Names of requests script what only a batch does: `twice-…` is answered twice, `lost-…` never.
 */

import type { HttpExchange } from '../exchange.ts';
import { arrayOf, isObject, jsonOrUndefined, type ParsedObject, wordOf } from '../json.ts';

/** Marks the calls of a batch, which are no requests of a client. */
export const ofBatch = 'x-simulator-batch';

/** What tests do with batches. */
export interface BatchPlay {
  /** Runs those that wait, and resolves when they have ended. */
  run(): Promise<void>;
  /** A day passes: what waits has expired. */
  expire(): void;
  /** Whether the vendor answers 500 to what would delete something. */
  set failsToDelete(is: boolean);
  /** Names of all batches, oldest first. */
  readonly names: readonly string[];
}

interface Batch {
  id: string;
  path: string;
  headers: Record<string, string>;
  credential: string;
  requests: { customId: string; params: ParsedObject }[];
  total: number;
  results: string[];
  counts: Record<'succeeded' | 'errored' | 'canceled' | 'expired', number>;
  state: 'in_progress' | 'canceling' | 'ended';
  createdAt: number;
  cancelAt: number | null;
  endedAt: number | null;
}

const MAX_REQUESTS = 100_000;
const PATH = /^((?:\/as\/[^/]+)?)\/v1\/messages\/batches(?:\/([^/]+))?(?:\/(cancel|results))?$/;
const DAY_MS = 86_400_000;
/** Requests of a batch that run at once. */
const AT_ONCE = 16;

/** The body of a call about batches. */
export interface Read {
  kind: string;
  body: Buffer;
}

export function createBatches(settings: {
  hold: boolean;
  failsToDelete: boolean;
  apiKey: string | null;
  now: () => number;
  url: () => string;
}) {
  const batches = new Map<string, Batch>();
  const running = new Set<Promise<void>>();

  const end = (batch: Batch): void => {
    batch.state = 'ended';
    batch.endedAt = settings.now();
  };

  const finish = (batch: Batch, customId: string, result: ParsedObject): void => {
    const type = wordOf(result['type']) as keyof Batch['counts'];
    batch.counts[type] += 1;
    if (customId.startsWith('lost-')) return;
    const line = JSON.stringify({ custom_id: customId, result });
    batch.results.push(line);
    if (customId.startsWith('twice-')) batch.results.push(line);
  };

  const runOne = async (batch: Batch, { customId, params }: Batch['requests'][number]): Promise<void> => {
    if (batch.state === 'canceling') return finish(batch, customId, { type: 'canceled' });
    const answer = await fetch(`${settings.url()}${batch.path}/v1/messages`, {
      method: 'POST',
      headers: { ...batch.headers, 'content-type': 'application/json', [ofBatch]: '1' },
      body: JSON.stringify(params),
    });
    const body = jsonOrUndefined(await answer.text());
    finish(
      batch,
      customId,
      answer.status === 200 ? { type: 'succeeded', message: body } : { type: 'errored', error: body },
    );
  };

  const run = async (batch: Batch): Promise<void> => {
    const waiting = batch.requests.splice(0);
    const next = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await runOne(batch, one);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    end(batch);
  };

  const start = (batch: Batch): void => {
    const done = run(batch).catch(() => end(batch));
    running.add(done);
    void done.finally(() => running.delete(done));
  };

  const create = (exchange: HttpExchange, path: string, credential: string, body: unknown): void => {
    const requests = isObject(body) ? arrayOf(body['requests']) : [];
    const extra = isObject(body) ? Object.keys(body).find((name) => name !== 'requests') : undefined;
    if (extra !== undefined) return refuse(exchange, 400, `${extra}: Extra inputs are not permitted`);
    if (requests.length === 0)
      return refuse(exchange, 400, 'requests: List should have at least 1 item after validation, not 0');
    if (requests.length > MAX_REQUESTS)
      return refuse(exchange, 400, `requests: List should have at most ${MAX_REQUESTS} items`);
    const taken: Batch['requests'] = [];
    const names = new Set<string>();
    for (const [index, one] of requests.entries()) {
      const customId = isObject(one) ? wordOf(one['custom_id']) : '';
      const params = isObject(one) && isObject(one['params']) ? one['params'] : null;
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(customId))
        return refuse(
          exchange,
          400,
          `requests.${index}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`,
        );
      if (names.has(customId))
        return refuse(exchange, 400, `requests.${index}.custom_id: must be unique within the batch`);
      names.add(customId);
      if (params === null) return refuse(exchange, 400, `requests.${index}.params: Field required`);
      if (params['stream'] === true)
        return refuse(exchange, 400, `requests.${index}.params.stream: streaming is not supported in batches`);
      taken.push({ customId, params });
    }
    const { request } = exchange;
    const batch: Batch = {
      id: `msgbatch_sim${String(batches.size + 1).padStart(20, '0')}`,
      path,
      headers: Object.fromEntries(
        ['anthropic-version', 'anthropic-beta', 'x-api-key', 'authorization'].flatMap((name) => {
          const value = request.headers[name];
          return typeof value === 'string' ? [[name, value]] : [];
        }),
      ),
      credential,
      requests: taken,
      total: taken.length,
      results: [],
      counts: { succeeded: 0, errored: 0, canceled: 0, expired: 0 },
      state: 'in_progress',
      createdAt: settings.now(),
      cancelAt: null,
      endedAt: null,
    };
    batches.set(batch.id, batch);
    if (!settings.hold) start(batch);
    send(exchange, 200, present(batch));
  };

  const present = (batch: Batch): ParsedObject => {
    const ended = batch.state === 'ended';
    const moment = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
    return {
      id: batch.id,
      type: 'message_batch',
      processing_status: batch.state,
      request_counts: ended
        ? { processing: 0, ...batch.counts }
        : { processing: batch.total, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
      ended_at: moment(batch.endedAt),
      created_at: moment(batch.createdAt),
      expires_at: moment(batch.createdAt + DAY_MS),
      archived_at: null,
      cancel_initiated_at: moment(batch.cancelAt),
      results_url: ended ? `${settings.url()}/v1/messages/batches/${batch.id}/results` : null,
    };
  };

  return {
    isOwn: (path: string): boolean => PATH.test(path),

    answer(exchange: HttpExchange, path: string, read: Read): void {
      const [, prefix = '', id, action] = PATH.exec(path) ?? [];
      const { request } = exchange;
      const credential = String(
        request.headers['x-api-key'] ?? request.headers.authorization?.replace(/^Bearer /, '') ?? '',
      );
      if (settings.apiKey !== null && credential !== settings.apiKey)
        return refuse(exchange, 401, 'invalid x-api-key', 'authentication_error');
      if (request.headers['anthropic-version'] === undefined)
        return refuse(exchange, 400, 'anthropic-version: header is required');
      if (id === undefined) {
        if (request.method === 'POST')
          return create(exchange, prefix, credential, jsonOrUndefined(read.body.toString()));
        const data = [...batches.values()].reverse().map((batch) => present(batch));
        return send(exchange, 200, {
          data,
          has_more: false,
          first_id: data[0]?.['id'] ?? null,
          last_id: data.at(-1)?.['id'] ?? null,
        });
      }
      const batch = batches.get(id);
      // Another key's batch is not there either.
      if (batch === undefined || batch.credential !== credential)
        return refuse(exchange, 404, 'Not found', 'not_found_error');
      if (action === 'results') {
        if (batch.state !== 'ended') return refuse(exchange, 404, 'Results are not available yet', 'not_found_error');
        exchange.response.writeHead(200, { 'content-type': 'application/x-jsonl' });
        exchange.response.end(batch.results.map((line) => `${line}\n`).join(''));
        return;
      }
      if (action === 'cancel') {
        if (batch.state === 'in_progress') {
          batch.state = 'canceling';
          batch.cancelAt = settings.now();
          if (settings.hold) start(batch);
        }
        return send(exchange, 200, present(batch));
      }
      if (request.method === 'DELETE') {
        if (batch.state !== 'ended') return refuse(exchange, 400, 'Batch is still processing');
        if (settings.failsToDelete) return refuse(exchange, 500, 'Internal server error', 'api_error');
        batches.delete(id);
        return send(exchange, 200, { id, type: 'message_batch_deleted' });
      }
      send(exchange, 200, present(batch));
    },

    async run(): Promise<void> {
      for (const batch of batches.values())
        if (batch.state === 'in_progress' && batch.requests.length > 0) start(batch);
      await Promise.all(running);
    },

    expire(): void {
      for (const batch of batches.values()) {
        if (batch.state === 'ended') continue;
        for (const { customId } of batch.requests.splice(0)) finish(batch, customId, { type: 'expired' });
        end(batch);
      }
    },

    get names(): string[] {
      return [...batches.keys()];
    },
  };
}

function send(exchange: HttpExchange, status: number, body: unknown): void {
  exchange.response.writeHead(status, { 'content-type': 'application/json' });
  exchange.response.end(JSON.stringify(body));
}

function refuse(exchange: HttpExchange, status: number, message: string, type = 'invalid_request_error'): void {
  send(exchange, status, { type: 'error', error: { type, message }, request_id: 'req_simulated' });
}
