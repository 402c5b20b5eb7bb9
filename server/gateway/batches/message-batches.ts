import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VendorBatch, VendorBatches } from '../../billing/vendor-batches.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Router } from '../../catalog/router.ts';
import type { Log } from '../../core/log.ts';
import type { Principal } from '../../keys/keyring.ts';
import { describeError, requestIdHeaders } from '../../runtime/http.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { BatchFault, batchRequests } from '../../wire/batches/batch-input.ts';
import { JsonFault, leaf, scanJson, shape, textOf } from '../../wire/json.ts';
import type { WireError } from '../../wire/protocol.ts';
import { bodyOf } from '../entrance/model-routes.ts';
import type { Standing } from '../entrance/standing.ts';
import type { Slots } from '../limits/slots.ts';
import type { createReader } from '../read.ts';
import { principalOf } from '../reads/usage.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import { RefusalError } from '../refusals/refuse.ts';
import { upstreamHeaders } from '../upstream/request-headers.ts';
import type { AcceptBatch } from './accept-batch.ts';
import { batchIdOf, batchName } from './batch-ids.ts';
import type { BatchKeeper } from './batch-keeper.ts';
import { createBatchGatherer } from './batch-request.ts';
import { readResults } from './result-lines.ts';
import type { VendorCalls } from './vendor-calls.ts';
import { vendorForms } from './vendor-forms.ts';

/**
 * `/v1/messages/batches` as Anthropic has it: https://platform.claude.com/docs/en/api/messages/batches. What is asked goes to the vendor
 * and what it answers to the client, line by line; nothing of either is kept.
 */
export interface MessageBatchParts {
  store: VendorBatches;
  calls: VendorCalls;
  keeper: BatchKeeper;
  accept: AcceptBatch;
  read: ReturnType<typeof createReader>;
  standing: Pick<Standing, 'look'>;
  slots: Slots;
  refusals: Refusals;
  catalog: Pick<Catalog, 'upstream'>;
  router: Pick<Router, 'reach'>;
  /** The address whose path ends in `/api`; read for each answer. */
  readonly baseUrl: string;
  log: Log;
}

/** As at the vendor: https://platform.claude.com/docs/en/build-with-claude/batch-processing#batch-limitations. The body ends sooner. */
const maxRequests = 100_000;
/** Batches that a process reads at once: each may be as large as a body. */
const maxReading = 2;
const defaultPage = 20;
const maxPage = 1_000;

const requestShape = { ...shape({ custom_id: leaf, params: leaf }), every: true };
const requestLimits = { maxDepth: 128, maxValues: 100_000, refuseDuplicates: true };
const customIds = /^[a-zA-Z0-9_-]{1,64}$/;

export function registerMessageBatches(app: FastifyInstance, parts: MessageBatchParts): void {
  const { store, calls, keeper, accept, read, standing, slots, refusals, log } = parts;
  const reads = { config: { protocol: 'messages', authenticate: 'now' } } as const;
  const url = '/v1/messages/batches';
  let reading = 0;

  const present = (batch: VendorBatch) => presentMessageBatch(batch, parts.baseUrl);

  /** The batch of the address, if it is the caller's. Another's is not there. */
  const named = async (request: FastifyRequest): Promise<VendorBatch> => {
    const { name = '' } = request.params as { name?: string };
    const id = batchIdOf('messages', name);
    const batch = id === null ? null : await store.find(principalOf(request), 'messages', id);
    if (batch === null) throw new RefusalError(refusals.notFound('There is no batch of this name.'));
    return batch;
  };

  /** The batch with what its vendor says now, or with what it said last. */
  const current = async (request: FastifyRequest): Promise<VendorBatch> => {
    const batch = await named(request);
    const now = (await keeper.look(batch)) ?? batch;
    settleSoon(now);
    return now;
  };

  const settleSoon = (batch: VendorBatch): void => {
    if (batch.state !== 'ended' || batch.settledAt !== null) return;
    keeper.settle(batch).catch((error: unknown) => {
      log.warn({ requestId: batch.id, ...describeError(error) }, 'the results of a batch were not read to their end');
    });
  };

  const create = async (request: FastifyRequest, principal: Principal): Promise<VendorBatch | Refusal | WireError> => {
    const raw = bodyOf(request);
    const shut = await standing.look(principal, raw.length);
    if (shut !== null) return shut;
    const id = uuidv7();
    const call = {
      protocol: 'messages',
      asks: 'text',
      principal,
      requestId: request.id,
      rawHeaders: request.raw.rawHeaders,
      headers: request.headers,
      numericCodes: false,
      version: String(request.headers['anthropic-version']),
    } as const;
    const gathered = createBatchGatherer({ read, refusals, call, sourceId: id });
    const sent: (string | Uint8Array)[] = ['{"requests":['];
    let turnBytes = 0;
    try {
      for (const { start, end } of batchRequests(raw)) {
        const name = `requests.${gathered.lines.length}`;
        if (gathered.lines.length >= maxRequests)
          return refusals.invalidRequest(`requests: a batch may have at most ${maxRequests} requests`);
        const one = readRequest(raw.subarray(start, end), name, refusals);
        if ('status' in one) return one;
        const taken = await gathered.take(one.customId, one.params, name);
        if ('status' in taken) return taken;
        sent.push(
          `${gathered.lines.length === 1 ? '' : ','}{"custom_id":${JSON.stringify(one.customId)},"params":`,
          taken.body,
          '}',
        );
        turnBytes += end - start;
        if (turnBytes > 131_072) {
          turnBytes = 0;
          await nextTurn();
        }
      }
    } catch (error) {
      if (error instanceof BatchFault) return refusals.invalidRequest(error.message);
      throw error;
    }
    sent.push(']}');
    const { place } = gathered;
    if (place === null) return refusals.invalidRequest('requests: must have at least one request');
    return accept({
      batch: {
        accountId: principal.accountId,
        id,
        keyId: principal.keyId,
        form: 'messages',
        endpoint: '/v1/messages',
        inputFile: null,
      },
      gathered: { ...piecesOf(gathered), lineCount: gathered.lines.length },
      place,
      requestId: request.id,
      repriced: refusals.upstreamUnavailable(),
      create: () =>
        calls.ask(place, {
          method: 'POST',
          path: url,
          headers: {
            ...upstreamHeaders({
              rawHeaders: request.raw.rawHeaders,
              client: 'messages',
              upstream: 'messages',
              secret: place.key?.secret ?? null,
              trace: null,
            }),
            'content-length': String(sent.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)),
          },
          body: Readable.from(
            sent.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
            { objectMode: false },
          ),
        }),
    });
  };

  app.post(url, { config: { protocol: 'messages', authenticate: 'admission' } }, async (request, response) => {
    const principal = principalOf(request);
    const full = slots.take(principal.accountId, principal.keyId);
    if (full !== null) throw new RefusalError(refusals.tooManyRequests(full === 'key' ? 'API key' : 'account'));
    if (reading >= maxReading) {
      slots.give(principal.accountId, principal.keyId);
      throw new RefusalError(refusals.overloaded());
    }
    reading += 1;
    try {
      const accepted = await create(request, principal);
      if ('contentType' in accepted)
        return await response
          .code(accepted.status)
          .headers(requestIdHeaders(request.id))
          .type(accepted.contentType)
          .send(accepted.body);
      if ('status' in accepted) throw new RefusalError(accepted);
      return await answer(request, response, present(accepted));
    } finally {
      reading -= 1;
      slots.give(principal.accountId, principal.keyId);
    }
  });

  app.get(url, reads, async (request, response) => {
    const { limit, before_id: before, after_id: after } = request.query as Record<string, string | undefined>;
    if (before !== undefined && after !== undefined)
      throw new RefusalError(refusals.invalidRequest('before_id: give it or after_id, not both', 'before_id'));
    const size = limit === undefined ? defaultPage : Number(limit);
    if (!Number.isInteger(size) || size < 1 || size > maxPage)
      throw new RefusalError(refusals.invalidRequest(`limit: must be a whole number from 1 to ${maxPage}`, 'limit'));
    const cursor = (name: 'before_id' | 'after_id', value: string | undefined): string | null => {
      if (value === undefined) return null;
      const id = batchIdOf('messages', value);
      if (id === null) throw new RefusalError(refusals.invalidRequest(`${name}: must be the id of a batch`, name));
      return id;
    };
    const { accountId, projectId } = principalOf(request);
    const found = await store.list({
      accountId,
      projectId,
      form: 'messages',
      after: cursor('after_id', after),
      before: cursor('before_id', before),
      limit: size,
    });
    const page = found.slice(0, size);
    if (before !== undefined) page.reverse();
    const data = page.map(present);
    return answer(request, response, {
      data,
      has_more: found.length > size,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  });

  app.get(`${url}/:name`, reads, async (request, response) =>
    answer(request, response, present(await current(request))),
  );

  app.post(
    `${url}/:name/cancel`,
    { config: { protocol: 'messages', authenticate: 'now', bodyless: true } },
    async (request, response) => {
      const batch = await current(request);
      const canceled = await keeper.cancel(batch);
      if (canceled === null) throw new RefusalError(refusals.upstreamUnavailable());
      return answer(request, response, present(canceled));
    },
  );

  app.delete(`${url}/:name`, reads, async (request, response) => {
    const batch = await current(request);
    // The vendor's rule, too: https://platform.claude.com/docs/en/api/messages/batches/delete
    if (batch.state !== 'ended' && batch.state !== 'failed')
      throw new RefusalError(
        refusals.invalidRequest(
          'This batch is still being processed: cancel it first, then delete it when it has ended.',
        ),
      );
    // Its results are what its lines are settled by.
    if (batch.state === 'ended' && !(await keeper.settle(batch)))
      throw new RefusalError(refusals.upstreamUnavailable());
    // What a vendor has is deleted when the vendor says so: until then it can be asked for again.
    if (batch.vendorId !== null) {
      const found = keeper.reach(batch);
      if (found === null) throw new RefusalError(refusals.upstreamUnavailable());
      for (const ask of vendorForms.messages.forget(batch, found.reach))
        if (!(await calls.remove(found.reach, ask))) throw new RefusalError(refusals.upstreamUnavailable());
    }
    await store.remove(batch);
    return answer(request, response, { id: batchName('messages', batch.id), type: 'message_batch_deleted' });
  });

  app.get(`${url}/:name/results`, reads, async (request, response) => {
    const batch = await current(request);
    if (batch.state !== 'ended')
      throw new RefusalError(refusals.invalidRequest('This batch has no results yet: its processing has not ended.'));
    const found = keeper.reach(batch);
    const [ask] = found === null ? [] : vendorForms.messages.results(batch, found.reach);
    if (found === null || ask === undefined) throw new RefusalError(refusals.upstreamUnavailable());
    const stream = await calls.open(found.reach, ask).catch(() => null);
    if (stream === null || 'status' in stream) throw new RefusalError(refusals.upstreamUnavailable());
    const lines = async function* () {
      for await (const group of readResults(batch, found.upstream, stream, store, { count: 0 }))
        for (const { bytes } of group) yield Buffer.concat([bytes, newline]);
    };
    return response
      .headers(requestIdHeaders(request.id))
      .type('application/x-jsonl')
      .send(Readable.from(lines(), { objectMode: false }));
  });
}

const newline = Buffer.from('\n');

function answer(request: FastifyRequest, response: FastifyReply, body: unknown): FastifyReply {
  return response.headers(requestIdHeaders(request.id)).send(body);
}

/** The values of a gatherer as they are now. */
function piecesOf({ lines, models, priced, bound }: ReturnType<typeof createBatchGatherer>) {
  return { lines, models, priced, bound };
}

/** One element of `requests`. */
function readRequest(bytes: Buffer, name: string, refusals: Refusals): { customId: string; params: Buffer } | Refusal {
  const wrong = (message: string, param: string | null = null): Refusal =>
    refusals.invalidRequest(`${name}: ${param === null ? '' : `${param}: `}${message}`, param);
  try {
    const { members } = scanJson(bytes, requestShape, requestLimits);
    const other = [...members.keys()].find((member) => member !== 'custom_id' && member !== 'params');
    if (other !== undefined) return wrong('Extra inputs are not permitted; a request has custom_id and params', null);
    const customId = textOf(bytes, members.get('custom_id'));
    if (customId === null || !customIds.test(customId))
      return wrong('must be 1 to 64 letters, digits, underscores or hyphens', 'custom_id');
    const params = members.get('params');
    if (params?.kind !== 'object') return wrong('must be an object', 'params');
    return { customId, params: bytes.subarray(params.start, params.end) };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return wrong(`cannot be read: ${error.message}`);
  }
}

/** A batch in Anthropic's shape. Until it has ended all of its requests are processing, as at the vendor. */
function presentMessageBatch(batch: VendorBatch, baseUrl: string) {
  const { succeeded, errored, canceled, expired, lines, state } = batch;
  const name = batchName('messages', batch.id);
  const hasEnded = state === 'ended' || state === 'failed';
  const moment = (date: Date | null): string | null => date?.toISOString() ?? null;
  return {
    id: name,
    type: 'message_batch',
    processing_status: hasEnded ? 'ended' : state === 'preparing' ? 'in_progress' : state,
    request_counts: {
      processing: hasEnded ? 0 : lines - succeeded - errored - canceled - expired,
      succeeded,
      errored: state === 'failed' ? lines : errored,
      canceled,
      expired,
    },
    ended_at: moment(batch.endedAt),
    created_at: batch.createdAt.toISOString(),
    expires_at: moment(batch.expiresAt ?? new Date(batch.createdAt.getTime() + 86_400_000)),
    archived_at: null,
    cancel_initiated_at: moment(batch.cancelAt),
    results_url: state === 'ended' ? `${baseUrl}/v1/messages/batches/${name}/results` : null,
  };
}
