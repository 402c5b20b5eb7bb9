import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, send } from './support.ts';

/** Budgets of members and projects at the front door, with two processes, money held in advance, and keys that move. */

let apps: [TestApp, TestApp];
beforeAll(async () => {
  const app = await startApp({ catalog: nativeCatalog() });
  apps = [app, await startApp({ beside: app })];
});
afterAll(async () => {
  await apps[1].close();
  await apps[0].close();
});

const pico = (usd: number) => BigInt(Math.round(usd * 1e6)) * 1_000_000n;

it('members and projects pass their budgets by at most one request together, and what is left of them is spent', {
  timeout: 240_000,
}, async () => {
  const [app] = apps;
  const { accounts, keys, pool } = app;
  const { accountId } = await app.customer({ usd: '50' });
  const members = [randomUUID(), randomUUID()];
  const limits = new Map<string, bigint>();
  const projects: string[] = [];
  for (const month of [0.01, 0.015]) {
    const made = await accounts.projects.create({
      accountId,
      name: `p${month}`,
      limits: { month: pico(month), lifetime: null },
      actor: 'test',
    });
    if (made.kind !== 'created') throw new Error(made.kind);
    projects.push(made.project.id);
    limits.set(made.project.id, pico(month));
  }
  const customers: Customer[] = [];
  for (let i = 0; i < 6; i += 1) {
    const made = await keys.create({ accountId, actor: 'test', projectId: i < 4 ? (projects[i % 2] ?? null) : null });
    if (made.kind !== 'created') throw new Error(made.kind);
    await pool.query('UPDATE api_key SET created_by = $2 WHERE id = $1', [made.key.id, members[i < 3 ? 0 : 1]]);
    customers.push({ accountId, keyId: made.key.id, secret: made.secret });
  }
  for (const [i, userId] of members.entries()) {
    const month = pico(i === 0 ? 0.06 : 0.04);
    await accounts.setMemberLimit({ accountId, userId, month, actor: 'test' });
    limits.set(userId, month);
  }

  /** By how much a budget was passed, at most. */
  let beyond = 0n;
  let escrows = 0;
  const end = new AbortController();
  const watching = (async () => {
    while (!end.signal.aborted) {
      const { rows } = await pool.query<{ id: string; used: bigint; escrows: number }>(
        `SELECT subject_id AS id, month_charged + held AS used,
                (SELECT count(*)::integer FROM hold h WHERE h.account_id = l.account_id AND h.escrow AND h.amount > 0) AS escrows
         FROM shared_limit l WHERE account_id = $1`,
        [accountId],
      );
      for (const row of rows) {
        escrows = Math.max(escrows, row.escrows);
        const over = row.used - (limits.get(row.id) ?? 0n);
        if (over > beyond) beyond = over;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();

  const codes = new Map<string, number>();
  const count = (code: string) => codes.set(code, (codes.get(code) ?? 0) + 1);
  const request = async (index: number): Promise<boolean> => {
    const customer = customers[index % customers.length] as Customer;
    const stream = index % 3 !== 0;
    const response = await send(apps[index % 2] as TestApp, protocols.chat, {
      secret: customer.secret,
      text: `[[len ${20 + (index % 5) * 10}]]`,
      more: { stream, max_completion_tokens: 100 },
    });
    const text = await response.text();
    if (response.status === 200) return true;
    const { error } = JSON.parse(text) as { error: { code: string } };
    count(error.code);
    // What runs may come back: asked again.
    return error.code === 'budget_reserved';
  };
  // Each client goes on until its key is refused for good; one key wanders between the projects all the time.
  const clients = Array.from({ length: 12 }, async (_, client) => {
    for (let i = 0; i < 400; i += 1) if (!(await request(client + 12 * i))) return;
  });
  const moving = (async () => {
    for (let i = 0; !end.signal.aborted; i += 1) {
      const { keyId } = customers[0] as Customer;
      await keys.change({
        accountId,
        id: keyId,
        projectId: projects[i % 2] ?? null,
        actor: 'test',
        mayLeaveLimits: true,
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  try {
    await Promise.all(clients);
  } finally {
    end.abort();
    await Promise.all([watching, moving]);
  }
  await app.quiet(accountId);
  // A limit bounds what is admitted: the last request of it is charged what it cost.
  const { rows: dearest } = await pool.query<{ cost: bigint }>(
    'SELECT max(cost) AS cost FROM ledger_entry WHERE account_id = $1',
    [accountId],
  );
  const oneRequest = dearest[0]?.cost ?? 0n;
  expect(beyond).toBeLessThanOrEqual(oneRequest);
  expect(escrows).toBeGreaterThan(0);
  expect(codes.get('member_limit_reached') ?? 0).toBeGreaterThan(0);
  expect(codes.get('project_limit_reached') ?? 0).toBeGreaterThan(0);
  const { rows } = await pool.query<{ id: string; charged: bigint }>(
    'SELECT subject_id AS id, month_charged AS charged FROM shared_limit WHERE account_id = $1',
    [accountId],
  );
  for (const { id, charged } of rows) expect(charged).toBeLessThanOrEqual((limits.get(id) ?? 0n) + oneRequest);
  // What an answer cost beyond what was left came with its last chunk.
  const { rows: short } = await pool.query<{ beyond: bigint; stream: boolean }>(
    'SELECT cost - charged AS beyond, stream FROM ledger_entry WHERE account_id = $1 AND charged < cost',
    [accountId],
  );
  for (const { beyond: lost, stream } of short) {
    expect(stream).toBe(true);
    expect(lost).toBeLessThan(pico(0.0001));
  }
  expect(await checkInvariants(pool, { accounts: [accountId] })).toEqual([]);
});
