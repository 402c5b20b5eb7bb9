import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BatchFile, VendorBatch } from '../../billing/vendor-batches.ts';
import { describeError, requestIdHeaders } from '../../runtime/http.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { boundaryIn } from '../../wire/form-parts.ts';
import { bodyOf } from '../entrance/model-routes.ts';
import { principalOf } from '../reads/usage.ts';
import type { Refusal } from '../refusals/refusals.ts';
import { RefusalError } from '../refusals/refuse.ts';
import { batchIdOf, batchName, type FileKind, fileIdOf, fileName } from './batch-ids.ts';
import type { MessageBatchParts } from './message-batches.ts';
import { createBatchFileSending, maxFileBytes, readToItsEnd } from './openai-files.ts';
import { readResults } from './result-lines.ts';
import { askOpenai, objectOf, openaiTimes } from './vendor-forms.ts';

/**
 * `/v1/files` as far as batches need them, and `/v1/batches`, as OpenAI has them: https://developers.openai.com/api/docs/guides/batch. Files
 * lie at the vendor, and are found here by names of our own.
 */

const defaultPage = { files: 10_000, batches: 20 };
const maxPage = { files: 10_000, batches: 100 };
const chat = { protocol: 'chat-completions', authenticate: 'now' } as const;
const createMembers = new Set(['input_file_id', 'endpoint', 'completion_window', 'metadata']);

export function registerOpenaiBatches(app: FastifyInstance, parts: MessageBatchParts): void {
  const { store, calls, keeper, accept, standing, slots, refusals, catalog, log } = parts;
  const reads = { config: chat };
  const send = createBatchFileSending(parts);
  const stop = (refusal: Refusal): never => {
    throw new RefusalError(refusal);
  };
  const invalid = (message: string, param: string | null = null): never =>
    stop(refusals.invalidRequest(message, param));
  const noFile = (): never => stop(refusals.notFound('There is no file of this name.'));

  registerUpload();

  /** In its own scope, whose bodies are streams. */
  function registerUpload(): void {
    void app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      const config = {
        protocol: 'chat-completions',
        authenticate: 'admission',
        streamsUpTo: maxFileBytes + 65_536,
      } as const;
      scope.post('/v1/files', { config }, async (request, response) => {
        const principal = principalOf(request);
        const payload = request.body as Readable;
        const boundary = boundaryIn(request.headers['content-type']);
        const full = slots.take(principal.accountId, principal.keyId);
        try {
          if (full !== null) return stop(refusals.tooManyRequests(full === 'key' ? 'API key' : 'account'));
          if (boundary === null) return stop(refusals.unsupportedMediaType());
          const shut = await standing.look(principal, maxFileBytes);
          if (shut !== null) return stop(shut);
          const sent = await send({
            principal,
            form: payload as AsyncIterable<Buffer>,
            boundary,
            call: {
              principal,
              requestId: request.id,
              rawHeaders: request.raw.rawHeaders,
              headers: request.headers,
              numericCodes: false,
              version: undefined,
            },
          });
          if ('status' in sent) return stop(sent);
          return await answer(request, response, presentFile(await store.insertFile(sent.file, sent.gathered.lines)));
        } finally {
          readToItsEnd(payload);
          if (full === null) slots.give(principal.accountId, principal.keyId);
        }
      });
    });
  }

  /** A file of the caller's; the results of a batch are files as well. */
  const fileOf = async (request: FastifyRequest): Promise<NamedFile> => {
    const found = fileIdOf((request.params as { name?: string }).name ?? '');
    const scope = principalOf(request);
    if (found === null) return noFile();
    if (found.kind === 'input') {
      const file = await store.findFile(scope, found.id);
      return file === null ? noFile() : { kind: 'input', file };
    }
    const batch = await store.find(scope, 'openai', found.id);
    const vendorId = batch === null ? null : found.kind === 'output' ? batch.outputId : batch.errorId;
    return batch === null || vendorId === null ? noFile() : { kind: found.kind, batch, vendorId };
  };

  app.get('/v1/files', reads, async (request, response) => {
    const { after, limit, purpose } = request.query as Record<string, string | undefined>;
    // Results are named by their batches, and are in no list.
    if (purpose !== undefined && purpose !== 'batch') return answer(request, response, listOf([], false));
    const size = pageSize(limit, 'files');
    const cursor = after === undefined ? null : fileIdOf(after);
    if (after !== undefined && cursor?.kind !== 'input') return invalid('after: must be the id of a file', 'after');
    const { accountId, projectId } = principalOf(request);
    const found = await store.listFiles({ accountId, projectId, after: cursor?.id ?? null, limit: size });
    return answer(request, response, listOf(found.slice(0, size).map(presentFile), found.length > size));
  });

  app.get('/v1/files/:name', reads, async (request, response) => {
    const named = await fileOf(request);
    if (named.kind === 'input') return answer(request, response, presentFile(named.file));
    const found = keeper.reach(named.batch);
    const said =
      found === null
        ? null
        : await calls.ask(found.reach, askOpenai(found.reach, 'GET', `/files/${named.vendorId}`)).catch(() => null);
    const bytes = said === null || said.status !== 200 ? null : objectOf(said.body)?.['bytes'];
    return answer(request, response, presentResults(named, typeof bytes === 'number' ? bytes : 0));
  });

  app.get('/v1/files/:name/content', reads, async (request, response) => {
    const named = await fileOf(request);
    if (named.kind === 'input') return invalid('What was uploaded for a batch is not given back: it is not kept here.');
    const found = keeper.reach(named.batch);
    if (found === null) return stop(refusals.upstreamUnavailable());
    const stream = await calls
      .open(found.reach, askOpenai(found.reach, 'GET', `/files/${named.vendorId}/content`))
      .catch(() => null);
    if (stream === null || 'status' in stream) return stop(refusals.upstreamUnavailable());
    settleSoon(named.batch);
    const lines = async function* () {
      for await (const group of readResults(named.batch, found.upstream, stream, store, { count: 0 }))
        for (const { bytes } of group) yield Buffer.concat([bytes, newline]);
    };
    return response
      .headers(requestIdHeaders(request.id))
      .type('application/jsonl')
      .send(Readable.from(lines(), { objectMode: false }));
  });

  app.delete('/v1/files/:name', reads, async (request, response) => {
    const named = await fileOf(request);
    const source = named.kind === 'input' ? named.file : named.batch;
    const vendorId = named.kind === 'input' ? named.file.vendorId : named.vendorId;
    const stillNeeded = 'This file is still needed by a batch: delete it when the batch has ended.';
    // Results are what lines are settled by, and a batch that runs needs its lines.
    if (named.kind === 'input' ? await store.isFileNeeded(named.file) : !(await keeper.settle(named.batch)))
      return invalid(stillNeeded);
    const upstream = catalog.upstream(source.upstream);
    const reach = upstream === null ? null : parts.router.reach(upstream, source.upstreamKey);
    // It is deleted when the vendor says so: until then it can be asked for again.
    if (reach === null || !(await calls.remove(reach, askOpenai(reach, 'DELETE', `/files/${vendorId}`))))
      return stop(refusals.upstreamUnavailable());
    if (named.kind === 'input' && !(await store.removeFile(named.file))) return invalid(stillNeeded);
    const { name } = request.params as { name: string };
    return answer(request, response, { id: name, object: 'file', deleted: true });
  });

  const settleSoon = (batch: VendorBatch): void => {
    if (batch.state !== 'ended' || batch.settledAt !== null) return;
    keeper.settle(batch).catch((error: unknown) => {
      log.warn({ requestId: batch.id, ...describeError(error) }, 'the results of a batch were not read to their end');
    });
  };

  const current = async (request: FastifyRequest): Promise<VendorBatch> => {
    const id = batchIdOf('openai', (request.params as { name?: string }).name ?? '');
    const batch = id === null ? null : await store.find(principalOf(request), 'openai', id);
    if (batch === null) return stop(refusals.notFound('There is no batch of this name.'));
    const now = (await keeper.look(batch)) ?? batch;
    settleSoon(now);
    return now;
  };

  app.post('/v1/batches', { config: { ...chat, authenticate: 'admission' } }, async (request, response) => {
    const principal = principalOf(request);
    const asked = objectOf(bodyOf(request)) ?? invalid('The request body must be a JSON object.');
    const other = Object.keys(asked).find((name) => !createMembers.has(name));
    if (other !== undefined) return invalid(`${other.slice(0, 64)}: is not taken for batches; leave it out`);
    if (Object.keys(asked['metadata'] ?? {}).length > 0)
      return invalid('metadata: is not kept here; leave it out', 'metadata');
    if (asked['completion_window'] !== '24h') return invalid("completion_window: must be '24h'", 'completion_window');
    const named = fileIdOf(typeof asked['input_file_id'] === 'string' ? asked['input_file_id'] : '');
    const file = named?.kind === 'input' ? await store.findFile(principal, named.id) : null;
    if (file === null)
      return invalid('input_file_id: there is no file of this name; upload one with purpose batch', 'input_file_id');
    if (asked['endpoint'] !== file.endpoint)
      return invalid(`endpoint: must be ${file.endpoint}, as in the lines of the file`, 'endpoint');
    if (principal.suspended) return stop(refusals.accountSuspended());
    const upstream = catalog.upstream(file.upstream);
    const reach = upstream === null ? null : parts.router.reach(upstream, file.upstreamKey);
    if (upstream === null || reach === null) return stop(refusals.upstreamUnavailable());
    const accepted = await accept({
      batch: {
        accountId: principal.accountId,
        id: uuidv7(),
        keyId: principal.keyId,
        form: 'openai',
        endpoint: file.endpoint,
        inputFile: file.id,
      },
      gathered: {
        lines: [],
        lineCount: file.lines,
        models: file.models,
        priced: file.models.map(({ model, price }) => ({ model, priceId: price.id })),
        bound: file.bound,
      },
      place: { ...reach, upstream },
      requestId: request.id,
      repriced: refusals.invalidRequest(
        'input_file_id: prices have changed since the file was uploaded; upload it once more',
        'input_file_id',
      ),
      create: () =>
        calls.ask(
          reach,
          askOpenai(reach, 'POST', '/batches', {
            input_file_id: file.vendorId,
            endpoint: file.endpoint,
            completion_window: '24h',
          }),
        ),
    });
    if ('contentType' in accepted)
      return response
        .code(accepted.status)
        .headers(requestIdHeaders(request.id))
        .type(accepted.contentType)
        .send(accepted.body);
    if ('status' in accepted) return stop(accepted);
    return answer(request, response, presentBatch(accepted));
  });

  app.get('/v1/batches', reads, async (request, response) => {
    const { after, limit } = request.query as Record<string, string | undefined>;
    const size = pageSize(limit, 'batches');
    const cursor = after === undefined ? null : batchIdOf('openai', after);
    if (after !== undefined && cursor === null) return invalid('after: must be the id of a batch', 'after');
    const { accountId, projectId } = principalOf(request);
    const found = await store.list({ accountId, projectId, form: 'openai', after: cursor, before: null, limit: size });
    return answer(request, response, listOf(found.slice(0, size).map(presentBatch), found.length > size));
  });

  app.get('/v1/batches/:name', reads, async (request, response) =>
    answer(request, response, presentBatch(await current(request))),
  );

  app.post('/v1/batches/:name/cancel', { config: { ...chat, bodyless: true } }, async (request, response) => {
    const canceled = await keeper.cancel(await current(request));
    return answer(request, response, presentBatch(canceled ?? stop(refusals.upstreamUnavailable())));
  });

  function pageSize(limit: string | undefined, of: 'files' | 'batches'): number {
    const size = limit === undefined ? defaultPage[of] : Number(limit);
    return Number.isInteger(size) && size >= 1 && size <= maxPage[of]
      ? size
      : invalid(`limit: must be a whole number from 1 to ${maxPage[of]}`, 'limit');
  }
}

/** A file by its name. */
type NamedFile =
  | { kind: 'input'; file: BatchFile }
  | { kind: Exclude<FileKind, 'input'>; batch: VendorBatch; vendorId: string };

const newline = Buffer.from('\n');

function answer(request: FastifyRequest, response: FastifyReply, body: unknown): FastifyReply {
  return response.headers(requestIdHeaders(request.id)).send(body);
}

function listOf(data: readonly { id: string }[], hasMore: boolean) {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1_000);

/** https://developers.openai.com/api/reference/resources/files. The name that it was uploaded under is not kept. */
function presentFile({ id, bytes, createdAt }: BatchFile) {
  return {
    id: fileName('input', id),
    object: 'file',
    bytes,
    created_at: seconds(createdAt),
    expires_at: null,
    filename: 'batch.jsonl',
    purpose: 'batch',
    status: 'processed',
    status_details: null,
  };
}

function presentResults({ kind, batch }: Exclude<NamedFile, { kind: 'input' }>, bytes: number) {
  return {
    id: fileName(kind, batch.id),
    object: 'file',
    bytes,
    created_at: seconds(batch.endedAt ?? batch.createdAt),
    expires_at: null,
    filename: `batch_${kind}.jsonl`,
    purpose: 'batch_output',
    status: 'processed',
    status_details: null,
  };
}

function presentBatch(batch: VendorBatch) {
  const { id, endpoint, inputFile, outputId, errorId, lines, succeeded, errored, createdAt, times, state } = batch;
  return {
    id: batchName('openai', id),
    object: 'batch',
    endpoint,
    errors:
      state === 'failed'
        ? {
            object: 'list',
            data: [
              { code: 'failed', message: 'The vendor has refused the lines of this batch.', line: null, param: null },
            ],
          }
        : null,
    input_file_id: fileName('input', inputFile ?? id),
    completion_window: '24h',
    status: statusOf(batch),
    output_file_id: outputId === null ? null : fileName('output', id),
    error_file_id: errorId === null ? null : fileName('error', id),
    created_at: seconds(createdAt),
    ...Object.fromEntries(openaiTimes.map((name) => [name, times?.[name] ?? null])),
    request_counts: { total: lines, completed: succeeded, failed: errored },
    metadata: null,
  };
}

function statusOf({ state, times }: VendorBatch): string {
  if (state === 'failed') return 'failed';
  if (state === 'canceling') return 'cancelling';
  if (state === 'ended')
    return times?.['cancelled_at'] !== undefined
      ? 'cancelled'
      : times?.['expired_at'] !== undefined
        ? 'expired'
        : 'completed';
  if (times?.['finalizing_at'] !== undefined) return 'finalizing';
  return times?.['in_progress_at'] === undefined ? 'validating' : 'in_progress';
}
