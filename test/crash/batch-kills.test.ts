import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Cable, layCable } from '../resilience/cable.ts';
import { type Service, startService } from '../resilience/processes.ts';
import { pause, type ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';
import { type BatchVendor, startBatchVendor } from './batch-vendor.ts';

/** kill -9 in the middle of a batch's life: whatever was done until then, each line is charged once and all money returns. */

vi.setConfig({ testTimeout: 300_000 });

let database: TestDatabase;
let service: Service;
let vendor: BatchVendor;
let cable: Cable;
let catalog: string;
beforeAll(async () => {
  [database, vendor] = await Promise.all([createDatabase(), startBatchVendor()]);
  service = await startService(database.url);
  cable = await layCable(database.url);
  catalog = join(createDirectory('steyg-batches-'), 'catalog.yaml');
  const prices = '{ input: "2", cacheHit: "0.2", output: "8" }';
  const model = (id: string) =>
    `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 200000, maxOutputTokens: 4000, prices: ${prices}, routes: [{ upstream: ${id}, model: vendor-${id} }] }`;
  writeFileSync(
    catalog,
    `upstreams:
  - { id: messages, protocol: messages, profile: anthropic, baseUrl: "${vendor.url}" }
  - { id: openai, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${vendor.url}/v1" }
models:
${model('messages')}
${model('openai')}`,
  );
});
afterAll(async () => {
  await service.close();
  await vendor.close();
  await cable.remove();
  await database.drop();
});
beforeEach(() => {
  vendor.stopAfter = null;
  vendor.before = { create: async () => undefined, cancel: async () => undefined, upload: async () => undefined };
});

const running: ServerProcess[] = [];
// Any process settles any batch: those of one test must not do another's work.
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.kill()));
});

const start = async (name: string, env: Record<string, string> = {}): Promise<ServerProcess> => {
  const started = await service.start(name, { CATALOG_FILE: catalog, BATCH_POLL_MS: '200', ...env });
  running.push(started);
  await started.ready();
  return started;
};
const never = (): Promise<void> => new Promise(() => undefined);
async function reached(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}

type Form = 'messages' | 'openai';
const forms: Form[] = ['messages', 'openai'];

const call = (server: ServerProcess, { secret }: Customer, path: string, body?: string | FormData): Promise<Response> =>
  fetch(`${server.baseUrl}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'anthropic-version': '2023-06-01',
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    ...(body === undefined ? {} : { body }),
  });

async function upload(server: ServerProcess, customer: Customer, names: readonly string[]): Promise<string> {
  const lines = names.map((custom_id) =>
    JSON.stringify({
      custom_id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'openai', max_completion_tokens: 5, messages: [{ role: 'user', content: 'hello' }] },
    }),
  );
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('file', new Blob([lines.join('\n')]), 'x.jsonl');
  const answer = await call(server, customer, 'files', form);
  return ((await answer.json()) as { id: string }).id;
}

/** Asks for a batch of lines of these names. */
async function create(
  form: Form,
  server: ServerProcess,
  customer: Customer,
  names: readonly string[],
): Promise<Response> {
  if (form === 'messages')
    return call(
      server,
      customer,
      'messages/batches',
      JSON.stringify({
        requests: names.map((custom_id) => ({
          custom_id,
          params: { model: 'messages', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] },
        })),
      }),
    );
  const input_file_id = await upload(server, customer, names);
  return call(
    server,
    customer,
    'batches',
    JSON.stringify({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
  );
}

const paths: Record<Form, string> = { messages: 'messages/batches', openai: 'batches' };

/** Money and entries of an account as they are now. */
async function standing({ accountId }: Customer) {
  const { rows } = await service.pool.query(
    `SELECT (SELECT count(*) FROM ledger_entry WHERE account_id = $1)::int AS entries,
            (SELECT coalesce(sum(charged), 0) FROM ledger_entry WHERE account_id = $1)::text AS charged,
            (SELECT coalesce(sum(held), 0) FROM "grant" WHERE account_id = $1)::text AS held,
            (SELECT coalesce(sum(spent), 0) FROM "grant" WHERE account_id = $1)::text AS spent,
            (SELECT count(*) FROM vendor_batch WHERE account_id = $1 AND settled_at IS NULL)::int AS open`,
    [accountId],
  );
  return rows[0] as { entries: number; charged: string; held: string; spent: string; open: number };
}

/** 10 x 1 and 1 x 4 USD a million: half of the list's prices. */
const lineCharge = 14_000_000;

async function allSettled(customer: Customer, lines: number, charged: number): Promise<void> {
  await reached(async () => (await standing(customer)).open === 0);
  const all = String(charged * lineCharge);
  expect(await standing(customer)).toEqual({ entries: lines, charged: all, held: '0', spent: all, open: 0 });
  expect(await service.broken()).toEqual([]);
}

/** What waits for a lock and is like this. */
const waiting = "wait_event_type = 'Lock' AND datname = current_database() AND query LIKE $1";

/**
 * Keeps a table from being written while `work` runs, until a statement that is like the given one waits for it. Then `fall` happens,
 * and the statement never does.
 */
async function stuckAt(
  table: string,
  statement: string,
  work: () => unknown,
  fall: () => Promise<unknown>,
): Promise<void> {
  const locker = await service.pool.connect();
  const count = async (what: string): Promise<number> =>
    (await service.pool.query(`SELECT ${what} FROM pg_stat_activity WHERE ${waiting}`, [statement])).rowCount ?? 0;
  try {
    await locker.query('BEGIN');
    await locker.query(`LOCK TABLE ${table} IN SHARE MODE`);
    work();
    await reached(async () => (await count('pid')) > 0);
    await fall();
    await reached(async () => (await count('pg_terminate_backend(pid)')) === 0);
  } finally {
    await locker.query('ROLLBACK');
    locker.release();
  }
}

const names = (count: number, kind = 'line'): string[] =>
  Array.from({ length: count }, (_, index) => `${kind}-${index}`);

describe.each(forms)('%s', (form) => {
  it('while results are read: before the first line, in the middle, after the last, and at the end of the books', async () => {
    const server = await start(`${form}-reading`);
    const customer = await service.customer();
    const lines = [...names(900), ...names(100, 'failing')];
    expect((await create(form, server, customer, lines)).status).toBe(200);
    expect((await standing(customer)).held).not.toBe('0');
    await server.kill();
    vendor.end();
    // Groups of 200 are settled together: none, some and nearly all of them are in the books when the process dies.
    for (const sent of [0, 450, 870]) {
      const before = vendor.stopped;
      vendor.stopAfter = sent;
      const reading = await start(`${form}-reading`);
      await reached(() => vendor.stopped > before);
      await reached(async () => (await standing(customer)).entries >= Math.floor(sent / 200) * 200);
      await reading.kill();
      expect((await standing(customer)).entries).toBe(Math.floor(sent / 200) * 200);
    }
    // All lines are in the books, and it dies before it has noted that.
    vendor.stopAfter = 1_000;
    const before = vendor.stopped;
    const last = await start(`${form}-reading`);
    await reached(() => vendor.stopped > before);
    await reached(async () => (await standing(customer)).entries === (form === 'messages' ? 1_000 : 800));
    await stuckAt(
      'vendor_batch',
      'UPDATE vendor_batch SET settled_at%',
      () => vendor.goOn(),
      () => last.kill(),
    );
    expect(await standing(customer)).toMatchObject({ entries: 1_000, open: 1 });
    vendor.stopAfter = null;
    await start(`${form}-reading`);
    await allSettled(customer, 1_000, 900);
  });

  it('while lines are being charged: another process finishes, and what the dead one has on its disk is charged no second time', async () => {
    const first = await start(`${form}-dead`);
    const customer = await service.customer();
    vendor.stopAfter = 0;
    await create(form, first, customer, names(500));
    const end = () => {
      vendor.stopAfter = null;
      vendor.end();
    };
    await stuckAt('ledger_entry', '%INSERT INTO ledger_entry%', end, () => first.kill());
    await start(`${form}-other`);
    await allSettled(customer, 500, 500);
    await start(`${form}-dead`);
    await service.released();
    await allSettled(customer, 500, 500);
  });

  it('while it is accepted: what was held is free again, and nothing is charged', async () => {
    const customer = await service.customer();
    const asked = (server: ServerProcess) => void create(form, server, customer, names(3)).catch(() => undefined);
    // Its row is written, and nothing is held yet.
    let server = await start(`${form}-accepting`);
    await stuckAt(
      'hold',
      'INSERT INTO hold%',
      () => asked(server),
      () => server.kill(),
    );
    expect(await standing(customer)).toMatchObject({ held: '0', open: 1 });
    // It is held, and the vendor has it.
    const before = vendor.created;
    let answer: () => void = () => undefined;
    vendor.before.create = () => new Promise((resolve) => (answer = resolve));
    server = await start(`${form}-accepting`);
    asked(server);
    await reached(() => vendor.created > before);
    await server.kill();
    expect(await standing(customer)).toMatchObject({ open: 2 });
    expect((await standing(customer)).held).not.toBe('0');
    // The vendor has answered, and that is not written yet.
    server = await start(`${form}-accepting`);
    asked(server);
    await reached(() => vendor.created > before + 1);
    await stuckAt(
      'vendor_batch',
      'UPDATE vendor_batch b SET vendor_id%',
      () => answer(),
      () => server.kill(),
    );
    expect(await standing(customer)).toMatchObject({ open: 3 });
    vendor.before.create = async () => undefined;
    // The time after which nobody waits for a vendor's answer any more.
    await service.pool.query(`UPDATE vendor_batch SET poll_at = now() WHERE account_id = $1 AND state = 'preparing'`, [
      customer.accountId,
    ]);
    server = await start(`${form}-accepting`);
    await allSettled(customer, 0, 0);
    const listed = (await (await call(server, customer, paths[form])).json()) as { data: unknown[] };
    expect(listed.data).toEqual([]);
    // All of the money is there for the next one.
    expect((await create(form, server, customer, names(3))).status).toBe(200);
    vendor.end();
    await allSettled(customer, 3, 3);
  });

  it('while it is canceled: what ran before is charged, the rest is free', async () => {
    const first = await start(`${form}-canceling`);
    const customer = await service.customer();
    const { id } = (await (await create(form, first, customer, [...names(5), ...names(7, 'canceled')])).json()) as {
      id: string;
    };
    const taken = new Promise<void>((resolve) => {
      vendor.before.cancel = () => {
        resolve();
        return never();
      };
    });
    call(first, customer, `${paths[form]}/${id}/cancel`, '').catch(() => undefined);
    await taken;
    await first.kill();
    const again = await start(`${form}-canceling`);
    const now = (await (await call(again, customer, `${paths[form]}/${id}`)).json()) as Record<string, unknown>;
    expect(now['processing_status'] ?? now['status']).toMatch(/^cancell?ing$/);
    vendor.end();
    await allSettled(customer, 12, 5);
  });
});

it('while a file is sent: nothing is there of it, and nothing is held', async () => {
  const server = await start('uploading');
  const customer = await service.customer();
  const taken = new Promise<void>((resolve) => {
    vendor.before.upload = () => {
      resolve();
      return never();
    };
  });
  upload(server, customer, names(3)).catch(() => undefined);
  await taken;
  await server.kill();
  const again = await start('uploading');
  const { data } = (await (await call(again, customer, 'files')).json()) as { data: unknown[] };
  expect(data).toEqual([]);
  expect(await standing(customer)).toMatchObject({ held: '0', open: 0 });
});

it('a connection to the database that breaks while a batch is written ends no process', async () => {
  const server = await start('cut', { DATABASE_URL: cable.url });
  const customer = await service.customer();
  const before = vendor.created;
  let answer: Promise<Response> | null = null;
  const ask = () => {
    answer = create('messages', server, customer, names(3));
  };
  await stuckAt('vendor_batch', 'INSERT INTO vendor_batch %', ask, async () => {
    cable.cut();
    expect((await answer)?.status).toBeGreaterThanOrEqual(500);
  });
  cable.mend();
  await server.ready();
  expect(vendor.created).toBe(before);
  expect((await create('messages', server, customer, names(3))).status).toBe(200);
  vendor.end();
  await reached(async () => (await standing(customer)).entries === 3);
  expect(await server.status('/healthz')).toBe(200);
});
