import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A vendor of batches in both forms that stops where a test wants it to: what it has said until then has arrived, and nothing
 * follows until its caller is gone.
 */
export interface BatchVendor {
  url: string;
  /** How many lines a reading of results sends before it stops; null: all of them. */
  stopAfter: number | null;
  /** Called before the vendor answers; an answer that never comes is one of a promise that never resolves. */
  before: Record<'create' | 'cancel' | 'upload', () => Promise<void>>;
  /** Ends every batch that runs, as it was asked to. */
  end(): void;
  /** Ends the readings that have stopped: they get no more lines. */
  goOn(): void;
  /** Readings of results that have stopped where they should. */
  readonly stopped: number;
  /** Batches that were asked for, whether or not the answer arrived. */
  readonly created: number;
  close(): Promise<void>;
}

interface Batch {
  names: string[];
  state: 'running' | 'canceling' | 'ended';
}

/** What a line is answered with: `failing-…` as an error, `canceled-…` not at all where the batch was canceled. */
const fails = (name: string): boolean => name.startsWith('failing-');
const isLeftOut = (name: string, batch: Batch): boolean => name.startsWith('canceled-') && batch.state === 'ended';

export async function startBatchVendor(): Promise<BatchVendor> {
  const batches = new Map<string, Batch>();
  const files = new Map<string, string[]>();
  const waiting: (() => void)[] = [];
  let stopped = 0;

  const vendor: BatchVendor = {
    url: '',
    stopAfter: null,
    before: { create: async () => undefined, cancel: async () => undefined, upload: async () => undefined },
    end() {
      for (const batch of batches.values()) batch.state = 'ended';
    },
    goOn() {
      vendor.stopAfter = null;
      for (const resolve of waiting.splice(0)) resolve();
    },
    get stopped() {
      return stopped;
    },
    get created() {
      return batches.size;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const sendLines = async (response: ServerResponse, lines: unknown[]): Promise<void> => {
    response.writeHead(200, { 'content-type': 'application/x-jsonl' });
    const some = lines.slice(0, vendor.stopAfter ?? lines.length).map((line) => `${JSON.stringify(line)}\n`);
    // Results of no lines have no head either, until something is said.
    response.flushHeaders();
    await new Promise((resolve) => response.write(some.join('') || '\n', resolve));
    if (vendor.stopAfter !== null) {
      stopped += 1;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    response.end();
  };

  const make = (names: string[]): string => {
    const id = `batch_${batches.size + 1}`;
    batches.set(id, { names, state: 'running' });
    return id;
  };
  const batchOf = (id: string): Batch => batches.get(id) ?? { names: [], state: 'running' };

  const messageBatch = (id: string) => {
    const { state, names } = batchOf(id);
    return {
      id,
      processing_status: state === 'ended' ? 'ended' : state === 'canceling' ? 'canceling' : 'in_progress',
      request_counts: state === 'ended' ? { succeeded: names.length } : {},
      ended_at: state === 'ended' ? new Date().toISOString() : null,
    };
  };
  const messageLine = (batch: Batch) => (custom_id: string) => ({
    custom_id,
    result: isLeftOut(custom_id, batch)
      ? { type: 'canceled' }
      : fails(custom_id)
        ? { type: 'errored', error: { type: 'error', error: { type: 'api_error', message: 'no' } } }
        : {
            type: 'succeeded',
            message: {
              type: 'message',
              model: 'vendor-messages',
              content: [],
              usage: { input_tokens: 10, output_tokens: 1 },
            },
          },
  });
  const openaiBatch = (id: string) => {
    const { state, names } = batchOf(id);
    const at = Math.floor(Date.now() / 1_000);
    const has = state === 'ended';
    const isCanceled = has && names.some((name) => name.startsWith('canceled-'));
    return {
      id,
      status: has ? (isCanceled ? 'cancelled' : 'completed') : state === 'canceling' ? 'cancelling' : 'in_progress',
      output_file_id: has ? `output-${id}` : null,
      error_file_id: has && names.some(fails) ? `error-${id}` : null,
      request_counts: { completed: has ? names.length : 0, failed: 0 },
      in_progress_at: at,
      ...(has ? { [isCanceled ? 'cancelled_at' : 'completed_at']: at } : {}),
    };
  };
  const openaiLine = (custom_id: string) => ({
    custom_id,
    response: fails(custom_id)
      ? { status_code: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } }
      : {
          status_code: 200,
          body: {
            model: 'vendor-openai',
            choices: [],
            usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
          },
        },
  });

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    const { method, url = '' } = request;
    const send = (value: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const [, results] = /batches\/([^/]+)\/results$/.exec(url) ?? [];
    if (results !== undefined) return sendLines(response, batchOf(results).names.map(messageLine(batchOf(results))));
    const [, kind, of = ''] = /files\/(output|error)-([^/]+)\/content$/.exec(url) ?? [];
    if (kind !== undefined) {
      const batch = batchOf(of);
      const names = batch.names.filter((name) => fails(name) === (kind === 'error') && !isLeftOut(name, batch));
      return sendLines(response, names.map(openaiLine));
    }
    const isMessages = url.includes('/messages/');
    const present = isMessages ? messageBatch : openaiBatch;
    const [, canceled] = /batches\/([^/]+)\/cancel$/.exec(url) ?? [];
    if (canceled !== undefined) {
      batchOf(canceled).state = 'canceling';
      await vendor.before.cancel();
      return send(present(canceled));
    }
    if (method === 'POST' && url.endsWith('/files')) {
      await vendor.before.upload();
      const id = `file-${files.size + 1}`;
      files.set(
        id,
        [...body.matchAll(/^{"custom_id":"([^"]+)"/gm)].map(([, name = '']) => name),
      );
      return send({ id });
    }
    if (method === 'POST') {
      const asked = JSON.parse(body) as { requests?: { custom_id: string }[]; input_file_id?: string };
      const id = make(asked.requests?.map(({ custom_id }) => custom_id) ?? files.get(asked.input_file_id ?? '') ?? []);
      await vendor.before.create();
      return send(present(id));
    }
    send(present(url.split('/').at(-1) ?? ''));
  };

  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vendor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return vendor;
}
