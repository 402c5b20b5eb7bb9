import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProjects } from '../../server/accounts/projects.ts';
import { setMemberLimit } from '../../server/accounts/shared-limits.ts';
import type { AdmitAsk, Admitted } from '../../server/billing/lane/ledger.ts';
import { readMemberSpend, readProjectMonths, readProjectSpend } from '../../server/billing/reads/shared-spend.ts';
import { decode, encode } from '../../server/billing/spool/spool-lines.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { expectSound } from './sound.ts';
import {
  addCustomer,
  addKey,
  addModel,
  admitted,
  ask,
  type Customer,
  grant,
  openLedger,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

/** Limits that several keys share, of members and of projects. They bound what is admitted, never what is charged. */

let db: TestDatabase;
let one: TestLedger;
let two: TestLedger;

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  // One output token costs one pico-USD and the context nothing.
  await addModel(db.pool, { id: 'coin', input: '0', cacheHit: '0', output: '0.000001' });
  await addModel(db.pool, { id: 'long', maxOutputTokens: 128_000 });
  [one, two] = await Promise.all([openLedger(db.url), openLedger(db.url)]);
});

afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await db.drop();
});

const actor = 'test';
/** The cost of `spend`, and what covers a request of `ask`: 100 tokens in, 100 out. */
const owed = usd('0.00105');
const covered = usd('0.0018');

const limitMember = (accountId: string, userId: string, month: bigint | null) =>
  setMemberLimit(db.pool, { accountId, userId, month, actor });

async function addProject(accountId: string, limits: { month?: bigint; lifetime?: bigint } = {}): Promise<string> {
  const made = await createProjects(db).create({
    accountId,
    name: randomUUID(),
    limits: { month: limits.month ?? null, lifetime: limits.lifetime ?? null },
    actor,
  });
  if (made.kind !== 'created') throw new Error(made.kind);
  return made.project.id;
}

/** A key that somebody made, and that lies in a project. */
async function keyOf(accountId: string, of: { member?: string; project?: string }): Promise<Customer> {
  const keyId = await addKey(db.pool, accountId);
  if (of.member !== undefined)
    await db.pool.query('UPDATE api_key SET created_by = $2 WHERE id = $1', [keyId, of.member]);
  if (of.project !== undefined) await move({ accountId, keyId }, of.project);
  return { accountId, keyId };
}

const move = ({ accountId, keyId }: Customer, projectId: string | null) =>
  createKeys(db).change({ accountId, id: keyId, actor, projectId, mayLeaveLimits: true });

async function spend({ ledger }: TestLedger, customer: Customer): Promise<void> {
  const asked = ask(customer);
  await ledger.settle(settlement(asked, await admitted(ledger, asked)));
}

const costing = (asked: AdmitAsk, admission: Admitted, output: number) =>
  settlement(asked, admission, { usage: { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output } });

async function used(accountId: string, subject: string): Promise<{ thisMonth: bigint; charged: bigint; held: bigint }> {
  const { rows } = await db.pool.query(
    'SELECT month_charged AS "thisMonth", charged, held FROM shared_limit WHERE account_id = $1 AND subject_id = $2',
    [accountId, subject],
  );
  return rows[0];
}

test('the first use of a key counts for a first limit that is set in the same moment, also by the first money', async () => {
  const { accountId } = await addCustomer(db.pool, { budget: null });
  const member = randomUUID();
  const key = await keyOf(accountId, { member });
  const holder = await db.pool.connect();
  try {
    await holder.query('BEGIN');
    // The limit is written, and its transaction waits for the audit log.
    await holder.query('LOCK TABLE audit_entry IN SHARE ROW EXCLUSIVE MODE');
    const limited = limitMember(accountId, member, usd('5'));
    const waiting = async (what: string) =>
      (await holder.query(`SELECT FROM pg_locks WHERE NOT granted AND locktype = $1`, [what])).rowCount;
    await expect.poll(() => waiting('relation'), { timeout: 60_000, interval: 20 }).toBe(1);
    await grant(db.pool, accountId, '5');
    let answered = false;
    const asked = ask(key);
    const admission = admitted(one.ledger, asked).finally(() => (answered = true));
    await expect
      .poll(async () => answered || (await waiting('advisory')) === 1, { timeout: 60_000, interval: 20 })
      .toBe(true);
    await holder.query('ROLLBACK');
    await limited;
    await one.ledger.settle(settlement(asked, await admission));
    expect(await used(accountId, member)).toMatchObject({ charged: owed, held: 0n });
  } finally {
    holder.release(true);
  }
});

describe.each(['member', 'project'] as const)('the monthly limit of a %s', (of) => {
  async function subjectOf(accountId: string, month: bigint | null): Promise<string> {
    if (of === 'project') return addProject(accountId, month === null ? {} : { month });
    return randomUUID();
  }

  async function set(accountId: string, subject: string, month: bigint | null): Promise<void> {
    if (of === 'member') await limitMember(accountId, subject, month);
    else await createProjects(db).change({ accountId, id: subject, limits: { month, lifetime: null }, actor });
  }

  async function twoKeys(
    month: bigint | null,
  ): Promise<{ accountId: string; subject: string; keys: [Customer, Customer] }> {
    const { accountId } = await addCustomer(db.pool);
    const subject = await subjectOf(accountId, month);
    const keys: [Customer, Customer] = [
      await keyOf(accountId, { [of]: subject }),
      await keyOf(accountId, { [of]: subject }),
    ];
    await set(accountId, subject, month);
    return { accountId, subject, keys };
  }

  test('is kept over its keys on all processes, and a refusal says whose it is', async () => {
    const { accountId, keys } = await twoKeys(2n * owed);
    await spend(one, keys[0]);
    const running = ask(keys[1]);
    await admitted(two.ledger, running);
    // What holds it may come back.
    expect(await one.ledger.admit(ask(keys[0]))).toMatchObject({ reason: 'reserved' });
    await two.ledger.release(running);
    await spend(two, keys[1]);
    const { rows } = await db.pool.query<{ at: Date }>(
      `SELECT (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC' AS at`,
    );
    expect(await one.ledger.admit(ask(keys[0]))).toMatchObject({
      reason: `${of}_limit`,
      required: usd('0.00027'),
      spendLimit: {
        of,
        period: 'month',
        limit: 2n * owed,
        spent: 2n * owed,
        held: 0n,
        returnsAtMs: rows[0]?.at.getTime(),
      },
    });
    // A key beside it is not concerned.
    await spend(one, { accountId, keyId: await addKey(db.pool, accountId) });
    await expectSound(db.pool, [accountId]);
  });

  test('is passed by one request at most, which is charged what it cost', async () => {
    const { accountId, subject, keys } = await twoKeys(100n);
    const asked = ask(keys[0], { model: 'coin', textBytes: 0, maxTokens: 40 });
    const admission = await admitted(one.ledger, asked);
    expect(admission).toMatchObject({ amount: 40n, uncovered: false });
    const long = ask(keys[1], { model: 'coin', textBytes: 0, maxTokens: 1_000 });
    const beyond = await admitted(two.ledger, long);
    expect(beyond).toMatchObject({ amount: 60n, uncovered: true });
    expect(await one.ledger.settle(costing(asked, admission, 20))).toMatchObject({ charged: 20n });
    // There is room for a part of it, and another one may cost more already.
    const next = ask(keys[0], { model: 'coin', textBytes: 0, maxTokens: 1_000, stream: false });
    expect(await one.ledger.admit(next)).toMatchObject({ reason: 'reserved' });
    expect(await two.ledger.settle(costing(long, beyond, 1_000))).toMatchObject({
      cost: 1_000n,
      charged: 1_000n,
      freeAfter: usd('5') - 1_020n,
    });
    expect(await used(accountId, subject)).toEqual({ thisMonth: 1_020n, charged: 1_020n, held: 0n });
    expect(await one.ledger.admit(ask(keys[0], { model: 'coin', textBytes: 0, maxTokens: 1 }))).toMatchObject({
      reason: `${of}_limit`,
    });
    await expectSound(db.pool, [accountId]);
  });

  test('that is lowered leaves running requests what they hold, and nothing more', async () => {
    const { accountId, subject, keys } = await twoKeys(1_000n);
    const asked = ask(keys[0], { model: 'coin', textBytes: 0, maxTokens: 40 });
    const admission = await admitted(one.ledger, asked);
    await set(accountId, subject, 10n);
    expect(await one.ledger.extend(asked, 5n)).toBe(0n);
    expect(await two.ledger.admit(ask(keys[1], { model: 'coin', textBytes: 0, maxTokens: 1 }))).toMatchObject({
      kind: 'refused',
    });
    expect(await one.ledger.settle(costing(asked, admission, 60))).toMatchObject({ charged: 60n });
    await set(accountId, subject, null);
    await admitted(two.ledger, ask(keys[1], { model: 'coin', textBytes: 0, maxTokens: 1_000 }));
    await expectSound(db.pool, [accountId]);
  });

  test('that is set while requests run leaves them what they cost: nobody chooses what the operator loses', async () => {
    const { accountId, subject, keys } = await twoKeys(null);
    const usage = { input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 128_000 };
    const cost = usd('1.9203');
    for (let round = 1n; round <= 2n; round += 1n) {
      const asked = ask(keys[0], { model: 'long', maxTokens: 128_000, stream: false });
      const admission = await admitted(one.ledger, asked);
      expect(admission.amount).toBeLessThan(usd('0.1'));
      await set(accountId, subject, 1n);
      expect(await two.ledger.settle(settlement(asked, admission, { stream: false, usage }))).toMatchObject({
        cost,
        charged: cost,
        freeAfter: usd('5') - round * cost,
      });
      expect((await used(accountId, subject)).charged).toBe(round * cost);
      expect(await one.ledger.admit(ask(keys[1]))).toMatchObject({ reason: `${of}_limit` });
      await set(accountId, subject, null);
    }
    // A prompt of more tokens than was estimated, too.
    const dense = ask(keys[0]);
    const admission = await admitted(one.ledger, dense);
    await set(accountId, subject, 1n);
    expect(await one.ledger.extend(dense, 1n)).toBe(0n);
    expect(await one.ledger.settle(settlement(dense, admission, { usage: { ...usage, output: 1_000 } }))).toMatchObject(
      {
        charged: usd('0.0153'),
      },
    );
    await expectSound(db.pool, [accountId]);
  });

  test('that is set while a request runs on money held in advance leaves it what it costs', async () => {
    const { accountId, subject, keys } = await twoKeys(null);
    const next = async () => {
      const asked = ask(keys[0], { model: 'coin', textBytes: 0, maxTokens: 40 });
      const admission = await admitted(one.ledger, asked);
      const { rowCount } = await db.pool.query('SELECT FROM hold WHERE request_id = $1', [asked.requestId]);
      return { asked, admission, isPromised: rowCount === 0 };
    };
    let running = await next();
    for (; !running.isPromised; running = await next())
      await one.ledger.settle(costing(running.asked, running.admission, 1));
    await set(accountId, subject, 1n);
    expect(await one.ledger.settle(costing(running.asked, running.admission, 1_000))).toMatchObject({
      charged: 1_000n,
    });
    await expectSound(db.pool, [accountId]);
  });

  test('does not bind the line of a version whose charges it bound', async () => {
    const { accountId, keys } = await twoKeys(40n);
    const asked = ask(keys[0], { model: 'coin', textBytes: 0, maxTokens: 40 });
    const line = encode(costing(asked, await admitted(one.ledger, asked), 60)).replace('{', '{"capped":true,');
    const decoded = decode(line);
    if (decoded === null || decoded === 'header') throw new Error(line);
    expect(await two.ledger.settle(decoded)).toMatchObject({ cost: 60n, charged: 60n });
    await expectSound(db.pool, [accountId]);
  });

  test('covers what an answer costs that cannot be stopped, of all but one', async () => {
    const { keys } = await twoKeys(2n * covered);
    expect(await admitted(one.ledger, ask(keys[0], { stream: false }))).toMatchObject({ amount: covered });
    const long = { stream: false, maxTokens: 5_000 };
    expect(await admitted(one.ledger, ask(keys[1], long))).toMatchObject({ amount: covered, uncovered: true });
    expect(await two.ledger.admit(ask(keys[0], long))).toMatchObject({ reason: 'reserved' });
  });

  test('is whole again in the next month, and past months stay on record', async () => {
    const { accountId, subject, keys } = await twoKeys(owed);
    await spend(one, keys[0]);
    expect(await one.ledger.admit(ask(keys[1]))).toMatchObject({ reason: `${of}_limit` });
    await db.pool.query(
      `UPDATE shared_limit SET month = month - interval '1 month' WHERE account_id = $1 AND subject_id = $2`,
      [accountId, subject],
    );
    await spend(two, keys[1]);
    expect(await used(accountId, subject)).toEqual({ thisMonth: owed, charged: 2n * owed, held: 0n });
    const { rows } = await db.pool.query('SELECT charged FROM shared_limit_month WHERE subject_id = $1', [subject]);
    expect(rows).toEqual([{ charged: owed }]);
    await expectSound(db.pool, [accountId]);
  });
});

describe('a member', () => {
  test('is charged what their keys spent before there was a limit', async () => {
    const { accountId } = await addCustomer(db.pool);
    const member = randomUUID();
    const customer = await keyOf(accountId, { member });
    await spend(one, customer);
    await limitMember(accountId, member, owed);
    expect(await used(accountId, member)).toEqual({ thisMonth: owed, charged: owed, held: 0n });
    expect(await two.ledger.admit(ask(customer))).toMatchObject({
      reason: 'member_limit',
      spendLimit: { spent: owed },
    });
    expect(await readMemberSpend(db.pool, { accountId, userId: null, months: 2 })).toMatchObject([
      { userId: member, isMember: false, keys: 1, limitMonth: owed, thisMonth: owed, months: [{ charged: owed }] },
    ]);
    await expectSound(db.pool, [accountId]);
  });

  test('of a key in a project is bound by both limits, of which the tighter one refuses', async () => {
    const { accountId } = await addCustomer(db.pool);
    const [member, project] = [randomUUID(), await addProject(accountId, { lifetime: owed })];
    const customer = await keyOf(accountId, { member, project });
    await limitMember(accountId, member, usd('1'));
    await spend(one, customer);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({
      reason: 'project_limit',
      spendLimit: { of: 'project', period: 'lifetime', returnsAtMs: null },
    });
    await limitMember(accountId, member, owed);
    expect(await one.ledger.admit(ask(customer))).toMatchObject({ reason: 'member_limit' });
  });

  test.each(['member', 'project', 'both'] as const)(
    'of a key in a project: one charge turns %s to the new month, and counts once for each',
    async (late) => {
      const { accountId } = await addCustomer(db.pool);
      const [member, project] = [randomUUID(), await addProject(accountId)];
      const customer = await keyOf(accountId, { member, project });
      await limitMember(accountId, member, usd('1'));
      await spend(one, customer);
      const turned = late === 'both' ? [member, project] : [late === 'member' ? member : project];
      await db.pool.query(
        `UPDATE shared_limit SET month = month - interval '1 month' WHERE account_id = $1 AND subject_id = ANY ($2)`,
        [accountId, turned],
      );
      await spend(two, customer);
      for (const subject of [member, project]) {
        const thisMonth = turned.includes(subject) ? owed : 2n * owed;
        expect(await used(accountId, subject)).toEqual({ thisMonth, charged: 2n * owed, held: 0n });
      }
      await expectSound(db.pool, [accountId]);
    },
  );
});

describe('a key that changes its project', () => {
  test('leaves what it was charged and takes along what it holds', async () => {
    const { accountId } = await addCustomer(db.pool);
    const [first, second] = [await addProject(accountId), await addProject(accountId, { month: usd('1') })];
    const customer = await keyOf(accountId, { project: first });
    await spend(one, customer);
    const asked = ask(customer);
    const admission = await admitted(one.ledger, asked);
    expect(await move(customer, second)).toMatchObject({ kind: 'changed' });
    expect(await used(accountId, first)).toEqual({ thisMonth: owed, charged: owed, held: 0n });
    expect((await used(accountId, second)).held).toBe(admission.amount);
    await two.ledger.settle(settlement(asked, admission));
    expect(await used(accountId, second)).toEqual({ thisMonth: owed, charged: owed, held: 0n });
    await expectSound(db.pool, [accountId]);
    await move(customer, null);
    await spend(one, customer);
    await move(customer, first);
    await spend(one, customer);
    const spends = new Map(
      (await readProjectSpend(db.pool, [first, second])).map((each) => [each.projectId, each.lifetime]),
    );
    expect([spends.get(first), spends.get(second)]).toEqual([2n * owed, owed]);
    const months = await readProjectMonths(db.pool, { projectIds: [first, second], months: 3 });
    expect([first, second].map((id) => months.get(id)?.map(({ charged }) => charged))).toEqual([[2n * owed], [owed]]);
    await expectSound(db.pool, [accountId]);
  });

  test('is charged in full, whatever budget it was admitted under and has come under since', async () => {
    const { accountId } = await addCustomer(db.pool);
    const [free, bound, narrow] = [
      await addProject(accountId),
      await addProject(accountId, { month: 100n }),
      await addProject(accountId, { month: 40n }),
    ];
    const charge = async (from: string): Promise<bigint> => {
      const customer = await keyOf(accountId, { project: from });
      const asked = ask(customer, { model: 'coin', textBytes: 0, maxTokens: 40 });
      const admission = await admitted(one.ledger, asked);
      // Its hold is exactly what the project has.
      expect(await move(customer, narrow)).toMatchObject({ kind: 'changed' });
      const { charged } = await two.ledger.settle(costing(asked, admission, 90));
      return charged;
    };
    expect(await charge(bound)).toBe(90n);
    await createProjects(db).change({ accountId, id: narrow, limits: { month: 130n, lifetime: null }, actor });
    expect(await charge(free)).toBe(90n);
    expect((await used(accountId, narrow)).charged).toBe(180n);
    await expectSound(db.pool, [accountId]);
  });

  test('stays where it is while the other one has no room for what it holds', async () => {
    const { accountId } = await addCustomer(db.pool);
    const [first, full] = [await addProject(accountId), await addProject(accountId, { month: owed })];
    const customer = await keyOf(accountId, { project: first });
    const asked = ask(customer);
    await admitted(one.ledger, asked);
    expect(await move(customer, full)).toEqual({ kind: 'project_full' });
    await one.ledger.release(asked);
    expect(await move(customer, full)).toMatchObject({ kind: 'changed' });
    await expectSound(db.pool, [accountId]);
  });
});

test.each(['budget', 'time zone'] as const)(
  'a key moves while the %s changes: neither waits in a circle',
  async (other) => {
    const { accountId } = await addCustomer(db.pool);
    const project = await addProject(accountId, { month: usd('1') });
    const customer = await keyOf(accountId, {});
    await spend(one, customer);
    const [mover, changer] = await Promise.all([db.pool.connect(), db.pool.connect()]);
    try {
      const pids = await Promise.all(
        [mover, changer].map(
          async (each) => (await each.query('SELECT pg_backend_pid() AS pid')).rows[0].pid as number,
        ),
      );
      /** Until the work is done, or waits for a lock. */
      const started = async (work: Promise<unknown>, pid: number): Promise<void> => {
        let isDone = false;
        const end = () => {
          isDone = true;
        };
        work.then(end, end);
        await expect
          .poll(async () => {
            const { rowCount } = await db.pool.query(
              `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'`,
              [pid],
            );
            return isDone || rowCount === 1;
          })
          .toBe(true);
      };
      await mover.query('BEGIN');
      await mover.query('UPDATE api_key SET project_id = $2 WHERE id = $1', [customer.keyId, project]);
      await changer.query('BEGIN');
      const changing = (
        other === 'budget'
          ? changer.query('UPDATE shared_limit SET limit_month = 7 WHERE subject_id = $1', [project])
          : changer.query(`UPDATE account SET time_zone = 'Asia/Tokyo' WHERE id = $1`, [accountId])
      ).then(() => null, String);
      await started(changing, pids[1] ?? 0);
      const moved = mover.query('COMMIT').then(() => null, String);
      await started(moved, pids[0] ?? 0);
      const changed = changing.then((error) => error ?? changer.query('COMMIT').then(() => null, String));
      expect(await Promise.all([moved, changed])).toEqual([null, null]);
    } finally {
      mover.release();
      changer.release();
    }
    await spend(two, { ...customer, keyId: await addKey(db.pool, accountId) });
    await expectSound(db.pool, [accountId]);
  },
);

test('a successor that the previous version makes counts for whom its predecessor counts for', async () => {
  const { accountId } = await addCustomer(db.pool);
  const [member, project] = [randomUUID(), await addProject(accountId)];
  const { keyId } = await keyOf(accountId, { member, project });
  await db.pool.query('UPDATE api_key SET personal = true WHERE id = $1', [keyId]);
  const place = 'created_by AS by, project_id AS project, personal';
  const { rows } = await db.pool.query(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4, models, replaces)
     SELECT gen_random_uuid(), account_id, name, sha256(hash), prefix, last4, models, id FROM api_key WHERE id = $1
     RETURNING id, ${place}`,
    [keyId],
  );
  expect(rows[0]).toMatchObject({ by: member, project, personal: true });
  await limitMember(accountId, member, usd('1'));
  await spend(one, { accountId, keyId: rows[0].id });
  expect([(await used(accountId, member)).charged, (await used(accountId, project)).charged]).toEqual([owed, owed]);
  // A key that replaces none lies where it is put.
  const { rows: other } = await db.pool.query(`SELECT ${place} FROM api_key WHERE id = $1`, [
    await addKey(db.pool, accountId),
  ]);
  expect(other).toEqual([{ by: null, project: null, personal: false }]);
  await expectSound(db.pool, [accountId]);
});

type Step =
  | { do: 'admit'; by: number; key: number; amount: number; stream: boolean }
  | { do: 'settle' | 'extend'; by: number; which: number; amount: number }
  | { do: 'release' | 'sweep'; by: number; which: number }
  | { do: 'move'; key: number; project: number }
  | { do: 'limit'; subject: number; amount: number | null };

const nat = fc.nat(9);
const amount = fc.nat(60);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('admit' as const), by: nat, key: nat, amount, stream: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('settle', 'extend'), by: nat, which: nat, amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('release', 'sweep'), by: nat, which: nat }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), key: nat, project: nat }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      subject: nat,
      amount: fc.option(fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 120 }))),
    }),
  },
);

test('whatever happens in whatever order on whatever process, a shared limit is passed by one request at most, and all is charged', {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      const { accountId } = await addCustomer(db.pool);
      const members: string[] = [randomUUID(), randomUUID()];
      const projects = [await addProject(accountId), await addProject(accountId, { month: 90n })];
      const subjects = [...members, ...projects];
      const limits = new Map<string, bigint | null>([[projects[1] as string, 90n]]);
      const keys: Customer[] = [];
      for (let i = 0; i < 5; i += 1)
        keys.push(
          await keyOf(accountId, {
            member: members[i % 2] as string,
            ...(i > 2 ? { project: projects[i - 3] as string } : {}),
          }),
        );
      // The other one's keys begin without a limit, so that one is set while they run.
      await limitMember(accountId, members[0] as string, 100n);
      limits.set(members[0] as string, 100n);
      let running: { asked: AdmitAsk; admission: Admitted; held: bigint }[] = [];
      const figures = async () => {
        const { rows } = await db.pool.query<{ id: string; used: bigint }>(
          'SELECT subject_id AS id, month_charged + held AS used FROM shared_limit WHERE account_id = $1',
          [accountId],
        );
        return new Map(rows.map(({ id, used: sum }) => [id, sum]));
      };
      const beyond: object[] = [];
      const losses: object[] = [];
      let before = await figures();
      for (const each of steps) {
        const { ledger } = [one, two][('by' in each ? each.by : 0) % 2] as TestLedger;
        const at = 'which' in each && running.length > 0 ? each.which % running.length : -1;
        const chosen = running[at];
        if (each.do === 'admit') {
          const key = keys[each.key % keys.length] as Customer;
          const asked = ask(key, { model: 'coin', textBytes: 0, maxTokens: each.amount, stream: each.stream });
          const admission = await ledger.admit(asked);
          if (admission.kind === 'admitted') running.push({ asked, admission, held: admission.amount });
        } else if (each.do === 'move') {
          await move(keys[each.key % keys.length] as Customer, [...projects, null][each.project % 3] ?? null);
        } else if (each.do === 'limit') {
          const subject = subjects[each.subject % subjects.length] as string;
          const month = each.amount === null ? null : BigInt(each.amount);
          if (members.includes(subject)) await limitMember(accountId, subject, month);
          else await createProjects(db).change({ accountId, id: subject, limits: { month, lifetime: null }, actor });
          limits.set(subject, month);
        } else if (chosen !== undefined) {
          const { asked, admission } = chosen;
          if (each.do === 'extend') chosen.held += await ledger.extend(asked, BigInt(each.amount));
          else if (each.do === 'settle') {
            // One that is covered costs its hold at most; what was given back pays for nothing any more.
            const most = admission.uncovered || chosen.held === 0n ? (asked.maxTokens ?? 0) : Number(chosen.held);
            const { cost, charged } = await ledger.settle(costing(asked, admission, Math.min(2 * each.amount, most)));
            if (charged < cost) losses.push({ each, cost, charged });
          } else {
            // A hold that was given back although its request still ran: it is settled late.
            await ledger.release(asked);
            chosen.held = 0n;
          }
          if (each.do === 'settle' || each.do === 'release') running = running.filter((other) => other !== chosen);
        }
        const after = await figures();
        for (const [id, sum] of after) {
          const limit = limits.get(id) ?? null;
          // A member's first limit counts what was spent and held before.
          const was = before.get(id) ?? sum;
          // One that was lowered is passed by no more than before.
          const mayPass = each.do === 'settle' && (chosen?.admission.uncovered === true || chosen?.held === 0n);
          if (limit !== null && sum > limit && sum > was && !mayPass) beyond.push({ each, id, limit, sum });
        }
        before = after;
      }
      expect(beyond).toEqual([]);
      expect(losses).toEqual([]);
      await expectSound(db.pool, [accountId]);
    }),
    { numRuns: 24 },
  );
});
