import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { idOf, openSocket } from '../gateway/socket-client.ts';
import { type Service, startService } from '../resilience/processes.ts';
import { pause, type ServerProcess } from '../start/server-process.ts';
import type { Customer } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { createPostgres, type TestPostgres } from '../support/postgres.ts';

/**
 * Turns over WebSockets while the process is killed and the database crashes. Each turn reports a number of tokens that no other
 * does, so that its entry is found.
 */

/** `SOCKET_TURNS=10000` runs as many. */
const turns = Number(process.env['SOCKET_TURNS'] ?? 1_000);
vi.setConfig({ testTimeout: 300_000 + turns * 200 });

let postgres: TestPostgres;
let service: Service;
beforeAll(async () => {
  postgres = await createPostgres();
  await ensureDatabase(postgres.url('postgres'), 'steyg');
  service = await startService(postgres.url('steyg'), {}, { features: { webSocket: true } });
});
afterAll(async () => {
  await service.close();
  await postgres.remove();
});

const firstNumber = 1_000;
const chainLength = 12;
const loopsEach = 8;

interface Loop {
  customer: Customer;
  model: string;
}

it(`${turns} turns, natively and by HTTP behind, over kills and crashes of the database: none is lost, doubled or overspent`, async () => {
  const port = await freePort();
  let server: ServerProcess = await service.start('one', {}, port);
  await server.ready();
  const grants = { rich: '1000', poor: '0.3' };
  const loops: Loop[] = await Promise.all(
    ['on-responses', 'on-chat-completions'].flatMap((model) =>
      Array.from({ length: loopsEach }, async (_none, at) => ({
        model,
        customer: await service.customer(at === 0 ? grants.poor : grants.rich),
      })),
    ),
  );
  let begun = 0;
  const finished = new Map<number, Loop>();
  let isUp = true;

  const converse = async (loop: Loop): Promise<void> => {
    while (finished.size < turns) {
      const client = await openSocket({ baseUrl: server.baseUrl }, loop.customer.secret).catch(() => null);
      if (client === null) {
        await pause(50);
        continue;
      }
      let previous: string | undefined;
      try {
        for (let length = 0; length < chainLength && finished.size < turns; length += 1) {
          const number = firstNumber + begun;
          begun += 1;
          const usage = {
            input_tokens: 10,
            prompt_tokens: 10,
            output_tokens: number,
            completion_tokens: number,
            total_tokens: number + 10,
          };
          const frames = await client.create({
            model: loop.model,
            ...(previous === undefined ? {} : { previous_response_id: previous }),
            input: [{ role: 'user', content: `[[usage ${JSON.stringify(usage)}]] [[len 20]] [[speed 400]]` }],
          });
          const last = frames.at(-1);
          if (last?.type === 'response.completed') finished.set(number, loop);
          if (last?.status === 402) return;
          if (last?.type !== 'response.completed') break;
          previous = idOf(frames);
        }
      } catch {
        // The connection ended.
      }
      client.socket.terminate();
      await pause(isUp ? 5 : 50);
    }
  };

  const misfortunes = async (): Promise<void> => {
    const kinds = 6;
    for (let kind = 0; kind < kinds; kind += 1) {
      const from = Math.floor((turns * (kind + 1)) / (kinds + 1));
      while (finished.size < from) await pause(5);
      isUp = false;
      if (kind % 2 === 0) {
        await server.kill();
        server = await service.start('one', {}, port);
      } else {
        await postgres.stop('immediate');
        await pause(200);
        await postgres.start();
      }
      await server.ready();
      isUp = true;
    }
  };
  await Promise.all([...loops.map(converse), misfortunes()]);

  // What a killed process has left on its disk is settled by the next one.
  await server.kill();
  server = await service.start('one', {}, port);
  await server.ready();
  await service.released();
  const entriesOf = async (): Promise<{ account_id: string; output: string; charged: string; outcome: string }[]> => {
    const { rows } = await service.pool.query(
      'SELECT account_id, output::text, charged::text, outcome FROM ledger_entry WHERE account_id = ANY ($1)',
      [loops.map(({ customer }) => customer.accountId)],
    );
    return rows;
  };
  const missing = async (): Promise<number[]> => {
    const known = new Set((await entriesOf()).map(({ account_id: account, output }) => `${account} ${output}`));
    return [...finished]
      .filter(([number, { customer }]) => !known.has(`${customer.accountId} ${number}`))
      .map(([n]) => n);
  };
  await expect.poll(missing, { timeout: 30_000 }).toEqual([]);

  const entries = await entriesOf();
  const counts = new Map<string, number>();
  for (const { output } of entries)
    if (Number(output) >= firstNumber) counts.set(output, (counts.get(output) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  expect(entries.length).toBeLessThanOrEqual(begun);
  for (const [at, { customer }] of loops.entries()) {
    const own = entries.filter(({ account_id: account }) => account === customer.accountId);
    const charged = own.reduce((sum, entry) => sum + BigInt(entry.charged), 0n);
    expect(charged).toBeLessThanOrEqual(at % loopsEach === 0 ? 300_000_000_000n : 1_000_000_000_000_000n);
  }
  for (const model of ['on-responses', 'on-chat-completions'])
    expect([...finished.values()].filter((loop) => loop.model === model).length).toBeGreaterThan(turns / 8);
  expect(service.simulator.sockets.continued).toBeGreaterThan(turns / 8);
  expect(await service.broken()).toEqual([]);
});
