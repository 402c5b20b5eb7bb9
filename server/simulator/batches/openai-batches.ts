/**
 * Files and batches as OpenAI answers them: https://developers.openai.com/api/docs/guides/batch. A file is refused where its batch begins,
 * which then has failed, as at the vendor. Names of lines script what only a batch does, as in `batches.ts`.
 */

import type { HttpExchange } from '../exchange.ts';
import { isObject, jsonOrUndefined, type ParsedObject, wordOf } from '../json.ts';
import { ofBatch, type Read } from './batches.ts';

interface StoredFile {
  id: string;
  credential: string;
  text: string;
  purpose: 'batch' | 'batch_output';
}

interface Line {
  customId: string;
  body: ParsedObject;
}

interface Batch {
  id: string;
  prefix: string;
  credential: string;
  authorization: string;
  endpoint: string;
  input: string;
  lines: Line[];
  output: string[];
  errors: string[];
  total: number;
  completed: number;
  failed: number;
  times: Record<string, number>;
  status: string;
  outputId: string | null;
  errorId: string | null;
}

const PATH = /^((?:\/as\/[^/]+)?)\/v1\/(files|batches)(?:\/([^/]+))?(?:\/(content|cancel))?$/;
const ENDPOINTS = ['/v1/responses', '/v1/chat/completions', '/v1/embeddings', '/v1/completions', '/v1/moderations'];
const MAX_LINES = 50_000;
const MAX_FILE_BYTES = 200 * 1_048_576;
const DAY_S = 86_400;
/** Lines of a batch that run at once. */
const AT_ONCE = 16;

export function createOpenaiBatches(settings: {
  hold: boolean;
  failsToDelete: boolean;
  apiKey: string | null;
  now: () => number;
  url: () => string;
}) {
  const files = new Map<string, StoredFile>();
  const batches = new Map<string, Batch>();
  const running = new Set<Promise<void>>();
  /** Files so far: an id is given once. */
  let kept = 0;
  const seconds = (): number => Math.floor(settings.now() / 1_000);

  const keep = (credential: string, text: string, purpose: StoredFile['purpose']): StoredFile => {
    const file: StoredFile = { id: `file-sim${String((kept += 1)).padStart(20, '0')}`, credential, text, purpose };
    files.set(file.id, file);
    return file;
  };

  const end = (batch: Batch, status: 'completed' | 'cancelled' | 'expired'): void => {
    batch.status = status;
    batch.times[`${status}_at`] = seconds();
    if (batch.output.length > 0) batch.outputId = keep(batch.credential, batch.output.join(''), 'batch_output').id;
    if (batch.errors.length > 0) batch.errorId = keep(batch.credential, batch.errors.join(''), 'batch_output').id;
  };

  const runOne = async (batch: Batch, { customId, body }: Line): Promise<void> => {
    if (batch.status === 'cancelling') return;
    const answer = await fetch(settings.url() + batch.prefix + batch.endpoint, {
      method: 'POST',
      headers: { authorization: batch.authorization, 'content-type': 'application/json', [ofBatch]: '1' },
      body: JSON.stringify(body),
    });
    const said = jsonOrUndefined(await answer.text());
    if (customId.startsWith('lost-')) return;
    const line = JSON.stringify({
      id: `batch_req_${batch.completed + batch.failed}`,
      custom_id: customId,
      response: { status_code: answer.status, request_id: 'req_simulated', body: said },
      error: null,
    });
    const to = answer.status === 200 ? batch.output : batch.errors;
    if (answer.status === 200) batch.completed += 1;
    else batch.failed += 1;
    to.push(`${line}\n`);
    if (customId.startsWith('twice-')) to.push(`${line}\n`);
  };

  const run = async (batch: Batch): Promise<void> => {
    const waiting = batch.lines.splice(0);
    const next = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await runOne(batch, one);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    end(batch, batch.status === 'cancelling' ? 'cancelled' : 'completed');
  };

  const start = (batch: Batch): void => {
    const done = run(batch).catch(() => end(batch, 'completed'));
    running.add(done);
    void done.finally(() => running.delete(done));
  };

  const upload = async (exchange: HttpExchange, credential: string, body: Buffer): Promise<void> => {
    const type = exchange.request.headers['content-type'] ?? '';
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
      .formData()
      .catch(() => null);
    const file = form?.get('file');
    if (form === null || !(file instanceof File)) return refuse(exchange, 400, "'file' is a required property");
    if (form.get('purpose') !== 'batch') return refuse(exchange, 400, "Invalid value for 'purpose'.");
    if (file.size > MAX_FILE_BYTES) return refuse(exchange, 413, 'File is too large.');
    if (!file.name.endsWith('.jsonl'))
      return refuse(exchange, 400, 'Invalid file format for Batch API. Must be .jsonl');
    send(exchange, 200, presentFile(keep(credential, await file.text(), 'batch'), settings.now));
  };

  /** The lines of a file; a sentence where the vendor would fail the batch. */
  const linesOf = (text: string, endpoint: string): Line[] | string => {
    const names = new Set<string>();
    const models = new Set<string>();
    const lines: Line[] = [];
    for (const row of text.split('\n').filter((each) => each.trim() !== '')) {
      const one = jsonOrUndefined(row);
      const body = isObject(one) && isObject(one['body']) ? one['body'] : null;
      if (!isObject(one) || body === null) return 'This line is not parseable as valid JSON.';
      const customId = wordOf(one['custom_id']);
      if (names.has(customId)) return 'The custom_id for this request is a duplicate of another request.';
      if (one['method'] !== 'POST' || one['url'] !== endpoint)
        return 'The URL provided for this request does not match the batch endpoint.';
      if (body['stream'] === true) return 'Streaming is not supported in batches.';
      names.add(customId);
      models.add(wordOf(body['model']));
      if (models.size > 1) return 'Batches may have a single model.';
      lines.push({ customId, body });
    }
    if (lines.length === 0) return 'The batch file is empty.';
    return lines.length > MAX_LINES ? 'The batch file has too many requests.' : lines;
  };

  const create = (exchange: HttpExchange, prefix: string, credential: string, body: unknown): void => {
    const asked = isObject(body) ? body : {};
    const endpoint = wordOf(asked['endpoint']);
    if (!ENDPOINTS.includes(endpoint)) return refuse(exchange, 400, `Invalid value: '${endpoint}'.`, 'endpoint');
    if (asked['completion_window'] !== '24h')
      return refuse(exchange, 400, "Invalid value for 'completion_window'.", 'completion_window');
    const file = files.get(wordOf(asked['input_file_id']));
    if (file === undefined || file.credential !== credential)
      return refuse(exchange, 400, 'No such File object.', 'input_file_id');
    const lines = linesOf(file.text, endpoint);
    const batch: Batch = {
      id: `batch_sim${String(batches.size + 1).padStart(20, '0')}`,
      prefix,
      credential,
      authorization: exchange.request.headers.authorization ?? '',
      endpoint,
      input: file.id,
      lines: typeof lines === 'string' ? [] : lines,
      output: [],
      errors: [],
      total: typeof lines === 'string' ? 0 : lines.length,
      completed: 0,
      failed: 0,
      times: { expires_at: seconds() + DAY_S },
      status: 'validating',
      outputId: null,
      errorId: null,
    };
    batches.set(batch.id, batch);
    send(exchange, 200, presentBatch(batch, settings.now));
    if (typeof lines === 'string') {
      batch.status = 'failed';
      batch.times['failed_at'] = seconds();
      return;
    }
    batch.status = 'in_progress';
    batch.times['in_progress_at'] = seconds();
    if (!settings.hold) start(batch);
  };

  const aboutFile = (exchange: HttpExchange, credential: string, id: string, action: string | undefined): void => {
    const file = files.get(id);
    // Another key's file is not there either.
    if (file === undefined || file.credential !== credential)
      return refuse(exchange, 404, `No such File object: ${id}`);
    if (action === 'content') {
      exchange.response.writeHead(200, { 'content-type': 'application/octet-stream' });
      exchange.response.end(file.text);
      return;
    }
    if (exchange.request.method === 'DELETE') {
      if (settings.failsToDelete) return refuse(exchange, 500, 'The server had an error processing your request');
      files.delete(id);
      return send(exchange, 200, { id, object: 'file', deleted: true });
    }
    send(exchange, 200, presentFile(file, settings.now));
  };

  const aboutBatch = (exchange: HttpExchange, credential: string, id: string, action: string | undefined): void => {
    const batch = batches.get(id);
    if (batch === undefined || batch.credential !== credential)
      return refuse(exchange, 404, `No batch found with id '${id}'.`);
    if (action === 'cancel' && batch.status === 'in_progress') {
      batch.status = 'cancelling';
      batch.times['cancelling_at'] = seconds();
      if (settings.hold) start(batch);
    }
    send(exchange, 200, presentBatch(batch, settings.now));
  };

  return {
    isOwn: (path: string): boolean => PATH.test(path),

    async answer(exchange: HttpExchange, path: string, read: Read): Promise<void> {
      const [, prefix = '', kind, id, action] = PATH.exec(path) ?? [];
      const credential = exchange.request.headers.authorization?.replace(/^Bearer /, '') ?? '';
      if (settings.apiKey !== null && credential !== settings.apiKey)
        return refuse(exchange, 401, 'Incorrect API key provided.');
      if (id !== undefined) return (kind === 'files' ? aboutFile : aboutBatch)(exchange, credential, id, action);
      if (exchange.request.method !== 'POST') return send(exchange, 200, { object: 'list', data: [], has_more: false });
      if (kind === 'files') return upload(exchange, credential, read.body);
      create(exchange, prefix, credential, jsonOrUndefined(read.body.toString()));
    },

    async run(): Promise<void> {
      for (const batch of batches.values()) if (batch.status === 'in_progress' && batch.lines.length > 0) start(batch);
      await Promise.all(running);
    },

    expire(): void {
      for (const batch of batches.values()) {
        if (batch.status !== 'in_progress') continue;
        for (const { customId } of batch.lines.splice(0)) {
          const error = {
            code: 'batch_expired',
            message: 'This request could not be executed before the completion window expired.',
          };
          batch.errors.push(`${JSON.stringify({ id: 'batch_req_x', custom_id: customId, response: null, error })}\n`);
        }
        end(batch, 'expired');
      }
    },

    get names(): string[] {
      return [...batches.keys(), ...files.keys()];
    },
  };
}

function presentFile({ id, text, purpose }: StoredFile, now: () => number): ParsedObject {
  return {
    id,
    object: 'file',
    bytes: Buffer.byteLength(text),
    created_at: Math.floor(now() / 1_000),
    filename: 'batch.jsonl',
    purpose,
    status: 'processed',
  };
}

function presentBatch(batch: Batch, now: () => number): ParsedObject {
  const { id, endpoint, input, status, outputId, errorId, total, completed, failed, times } = batch;
  return {
    id,
    object: 'batch',
    endpoint,
    errors: null,
    input_file_id: input,
    completion_window: '24h',
    status,
    output_file_id: outputId,
    error_file_id: errorId,
    created_at: Math.floor(now() / 1_000),
    ...times,
    request_counts: { total, completed, failed },
    metadata: null,
  };
}

function send(exchange: HttpExchange, status: number, body: unknown): void {
  exchange.response.writeHead(status, { 'content-type': 'application/json' });
  exchange.response.end(JSON.stringify(body));
}

function refuse(exchange: HttpExchange, status: number, message: string, param: string | null = null): void {
  send(exchange, status, { error: { message, type: 'invalid_request_error', param, code: null } });
}
