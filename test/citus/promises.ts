import { expect } from 'vitest';
import { createKeys } from '../../server/keys/keys.ts';
import { everyProtocol } from '../gateway/support.ts';
import type { Service } from '../resilience/processes.ts';
import { type Direction, post, postPatiently } from '../resilience/support.ts';
import type { ServerProcess } from '../start/server-process.ts';
import type { LoadResult } from '../support/load.ts';

/** What is asked of the service on a Citus, wherever its tables lie. */

/** How long nodes and processes are killed while requests run, and how far apart, seconds. */
export const crashSeconds = Number(process.env['CITUS_CRASH_SECONDS'] ?? 60);
export const killEverySeconds = Math.min(20, crashSeconds / 4);

export type Asked = Pick<Direction, 'client' | 'model' | 'stream'>;
export const directions: readonly Asked[] = everyProtocol.map((client) => ({
  client,
  model: `on-${client.protocol}`,
  stream: false,
}));
const [, chat] = directions as [Asked, Asked, Asked];

export type Servers = readonly [ServerProcess, ServerProcess];

/** A line of figures for the reader of a run. */
export function print(name: string, figures: object): void {
  process.stdout.write(`${name} ${JSON.stringify(figures)}\n`);
}

/** Two processes never spend more of one account than it was given. */
export async function neverOverspend(service: Service, servers: Servers): Promise<void> {
  const customer = await service.customer('0.01');
  const answers: number[] = [];
  while (answers.filter((status) => status === 402).length < 20) {
    const wave = Array.from({ length: 10 }, async (_none, i) => {
      const response = await post(i % 2 === 0 ? servers[0] : servers[1], customer.secret, chat, '[[len 200]]', {
        max_tokens: 400,
      });
      await response.text();
      return response.status;
    });
    answers.push(...(await Promise.all(wave)));
  }
  await service.released();
  const { rows } = await service.pool.query<{ amount: bigint; spent: bigint }>(
    'SELECT amount, spent FROM "grant" WHERE account_id = $1',
    [customer.accountId],
  );
  const { rows: charged } = await service.pool.query<{ sum: string }>(
    'SELECT sum(charged)::text AS sum FROM ledger_entry WHERE account_id = $1',
    [customer.accountId],
  );
  print('hard cap', { served: answers.filter((status) => status === 200).length, asked: answers.length });
  expect(answers).toContain(200);
  expect(String(rows[0]?.spent)).toBe(charged[0]?.sum);
  expect(Number(rows[0]?.spent)).toBeLessThanOrEqual(Number(rows[0]?.amount));
  expect(await service.broken()).toEqual([]);
}

/** A deleted key that both processes hold money for is refused at the next request on each. */
export async function refuseDeleted(service: Service, servers: Servers, revocations: number): Promise<void> {
  const keys = createKeys({ pool: service.pool });
  const customers = await Promise.all(Array.from({ length: 8 }, () => service.customer('1000')));
  const seen = { keys: 0, served: 0, refused: 0, late: 0 };
  const use = async (server: ServerProcess, secret: string): Promise<number> => {
    const response = await postPatiently(server, secret, chat, '[[len 1]]');
    await response.text();
    return response.status;
  };
  // A key that is used often is admitted from the memory of each process, which must learn of its end all the same.
  const escrows = async (keyId: string): Promise<number> => {
    const { rows } = await service.pool.query<{ n: number }>(
      'SELECT count(DISTINCT process_id)::int AS n FROM hold WHERE key_id = $1 AND escrow',
      [keyId],
    );
    return rows[0]?.n ?? 0;
  };
  const revoke = async (accountId: string): Promise<void> => {
    const made = await keys.create({ accountId, actor: 'test' });
    if (made.kind !== 'created') throw new Error(made.kind);
    const { key, secret } = made;
    do {
      const uses = Array.from({ length: 12 }, (_none, i) => use(i % 2 === 0 ? servers[0] : servers[1], secret));
      seen.served += (await Promise.all(uses)).filter((status) => status === 200).length;
    } while ((await escrows(key.id)) < servers.length);
    await keys.delete({ accountId, id: key.id, actor: 'test' });
    const after = await Promise.all(servers.map((server) => use(server, secret)));
    for (const status of after) seen[status === 401 ? 'refused' : 'late'] += 1;
  };
  await Promise.all(
    customers.map(async ({ accountId }) => {
      for (; seen.keys < revocations; await revoke(accountId)) seen.keys += 1;
    }),
  );
  print('revocations', seen);
  expect(seen).toMatchObject({ keys: revocations, refused: 2 * revocations, late: 0 });
  await service.released();
  expect(await service.broken()).toEqual([]);
}

/**
 * Whatever a client got whole is in the ledger once, nothing is there twice, and the money adds up. What a node had prepared when it
 * died is there after a round of Citus.
 */
export async function expectNothingLost(service: Service, results: readonly LoadResult[]): Promise<void> {
  const accounts = [...new Set(results.map(({ accountId }) => accountId))];
  const whole = results.filter(({ fault }) => fault === null).map(({ requestId }) => requestId ?? '');
  const entries = (): Promise<Map<string, number>> => service.rows(accounts);
  await expect
    .poll(
      async () => {
        const found = await entries();
        return whole.filter((id) => found.get(id) !== 1);
      },
      { interval: 1_000 },
    )
    .toEqual([]);
  expect([...(await entries()).values()].filter((count) => count !== 1)).toEqual([]);
  expect(await service.broken()).toEqual([]);
}
