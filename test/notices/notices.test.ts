/** Notices: made once per occurrence, mailed once, cleared when they are over. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addGrant } from '../../server/billing/grants.ts';
import { formatUsd } from '../../server/core/money.ts';
import { transaction } from '../../server/database/lane.ts';
import { createNotices, type Notices } from '../../server/notices/notices.ts';
import { type BudgetState, dueNotices } from '../../server/notices/rules.ts';
import type { Mail } from '../../server/runtime/mail.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { lockWaits } from '../support/locks.ts';

const usd = (amount: number) => BigInt(Math.round(amount * 1_000)) * 10n ** 9n;
let database: TestDatabase;
let notices: Notices;
let mails: Mail[];
let events: { accountId: string; name: string; data: object }[];
let refuseMail: boolean;
let accountId: string;

beforeAll(async () => {
  database = await createDatabase();
  notices = createNotices({
    pool: database.pool,
    deliverMail: async (mail) => {
      if (refuseMail) throw new Error('the mailbox is full');
      mails.push(mail);
    },
    recordEvent: async (_, event) => events.push(event),
    seal: createSeal({ secretKeys: [randomBytes(32)] }),
    messengers: { checkAddress: () => null },
    formatUsd,
    upstreamHealth: () => [],
    publicUrl: 'https://steyg.example',
    log: { warn() {} },
  });
});
afterAll(() => database.drop());
beforeEach(async () => {
  mails = [];
  events = [];
  refuseMail = false;
  accountId = await account();
});

async function account(): Promise<string> {
  const id = uuidv7();
  await database.pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [
    id,
    'T',
    `${id}@example.com`,
  ]);
  return id;
}

/** Gives a grant that was made `agedDays` ago and lives for `days` in all. */
async function give(
  amount: bigint,
  life: { days: number; agedDays: number } | null = null,
  kind: 'trial' | 'purchase' = 'purchase',
) {
  const { id } = await addGrant(database.pool, {
    accountId,
    kind,
    amount,
    expiresAt: null,
    sourceRef: `order:${uuidv7()}`,
  });
  if (life !== null)
    await database.pool.query(
      `UPDATE "grant" SET created_at = now() - make_interval(days => $2), expires_at = now() + make_interval(days => $3) WHERE id = $1`,
      [id, life.agedDays, life.days - life.agedDays],
    );
  return id;
}

/** As settlements leave it: spent from one grant, the key used just now. */
async function spend(grantId: string, amount: bigint, held = 0n) {
  await database.pool.query('UPDATE "grant" SET spent = spent + $2, held = $3 WHERE id = $1', [grantId, amount, held]);
  await database.pool.query(
    `INSERT INTO key_spend (account_id, key_id, day, month, last_used_at) VALUES ($1, $2, now(), now(), now())`,
    [accountId, uuidv7()],
  );
}

const run = async () => {
  await notices.check();
  await deliver();
};
/** Sends what is due, and what waits for its next attempt. */
const deliver = async () => {
  await database.pool.query(`UPDATE notice_delivery SET next_attempt_at = now() WHERE status = 'pending'`);
  await notices.deliverDue();
};
/** The state of the mail of the newest notice. */
const mailState = async () => {
  const { rows } = await database.pool.query<{ status: string }>(
    `SELECT d.status FROM notice_delivery d JOIN notice n ON n.id = d.notice_id
     WHERE n.account_id = $1 ORDER BY n.created_at DESC, n.id DESC LIMIT 1`,
    [accountId],
  );
  return rows[0]?.status;
};
const told = () => mails.filter(({ to }) => to.startsWith(accountId)).map(({ subject }) => subject);
const mine = () => events.filter((event) => event.accountId === accountId).map(({ name }) => name);

describe('the rules', () => {
  const state = (changes: Partial<BudgetState>): BudgetState => ({
    left: usd(10),
    threshold: usd(1),
    ending: [],
    ...changes,
  });
  it.each<[string, Partial<BudgetState>, string[]]>([
    ['enough', {}, []],
    ['exactly the threshold', { left: usd(1) }, []],
    ['below it', { left: usd(1) - 1n }, ['balance_low']],
    ['nothing', { left: 0n }, ['balance_exhausted', 'balance_low']],
    ['low, but never to be told', { left: 1n, threshold: 0n }, []],
    ['nothing, low never to be told', { left: 0n, threshold: 0n }, ['balance_exhausted']],
  ])('%s', (_, changes, kinds) => {
    expect(dueNotices(state(changes), formatUsd).map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe('an account', () => {
  it('is told once when its balance is low, and again after it was not', async () => {
    const grant = await give(usd(5));
    await spend(grant, usd(4.5));
    await run();
    await run();
    expect(told()).toEqual(['Your Steyg balance is below 1 USD']);
    expect(mails.at(-1)?.text).toContain('0.5 USD are left');
    expect(mails.at(-1)?.links[0]).toBe('https://steyg.example/topup');
    expect(mine()).toEqual(['balance.low']);
    const second = await give(usd(5));
    await run();
    await spend(second, usd(5));
    await run();
    expect(told()).toHaveLength(3);
    expect(told()[1]).toBe('Your Steyg balance is 5.5 USD again');
    const states = (await notices.list({ accountId, limit: 10 })).filter(({ kind }) => kind !== 'recovered');
    expect(states).toMatchObject([{ clearedAt: null }, { clearedAt: expect.any(Date) }]);
  });

  it('hears one thing, not two, when everything is gone at once', async () => {
    const grant = await give(usd(5));
    await spend(grant, usd(5));
    await run();
    expect(told()).toEqual(['Your Steyg budget is used up']);
    expect(mine()).toEqual(['balance.exhausted']);
    await give(usd(0.5));
    await run();
    expect(told()).toHaveLength(1);
  });

  it('with more than a column holds is not warned, and keeps no other from being warned', async () => {
    const most = 2n ** 63n - 1n;
    const rich = await give(most);
    await give(most);
    await spend(rich, 1n);
    const other = accountId;
    accountId = await account();
    await spend(await give(usd(5)), usd(5));
    await run();
    expect(mine()).toEqual(['balance.exhausted']);
    expect(await notices.list({ accountId: other, limit: 1 })).toEqual([]);
  });

  it('is told nothing that stopped being so while the check waited for another one', async () => {
    await spend(await give(usd(5)), usd(5));
    const checked = await transaction(database.pool, async (client) => {
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.notices:' || $1, 0))`, [accountId]);
      const check = notices.check();
      await lockWaits(database.pool, 1);
      await give(usd(5));
      return [check];
    });
    await Promise.all(checked);
    expect(await notices.list({ accountId, limit: 1 })).toEqual([]);
    expect(mine()).toEqual([]);
  });

  it('is not warned of what running requests hold', async () => {
    const grant = await give(usd(5));
    await spend(grant, 0n, usd(5));
    await run();
    expect(told()).toEqual([]);
  });

  it('chooses when, or not at all; programs are told anyway', async () => {
    await notices.saveSettings(accountId, { lowBalance: usd(4), mail: false });
    expect(await notices.settings(accountId)).toMatchObject({ lowBalance: usd(4), mail: false });
    const grant = await give(usd(5));
    await spend(grant, usd(2));
    await run();
    expect(told()).toEqual([]);
    expect(mine()).toEqual(['balance.low']);
    await notices.saveSettings(accountId, { lowBalance: 0n, mail: true });
    await run();
    expect(told()).toEqual([]);
  });

  it.each<[string, { days: number; agedDays: number }, 'trial' | 'purchase', string[]]>([
    ['a trial on its sixth day', { days: 7, agedDays: 5 }, 'trial', ['trial.ending']],
    ['a trial on its third day', { days: 7, agedDays: 3 }, 'trial', []],
    ['a purchase with two days left', { days: 90, agedDays: 88 }, 'purchase', ['grant.expiring']],
    ['a purchase with five days left', { days: 90, agedDays: 85 }, 'purchase', []],
    ['a purchase for three days, made just now', { days: 3, agedDays: 0 }, 'purchase', []],
  ])('with %s', async (_, life, kind, names) => {
    await give(usd(5), life, kind);
    await run();
    await run();
    expect(mine()).toEqual(names);
    expect(told()).toHaveLength(names.length);
  });

  it('is not warned of the end of what it has used up', async () => {
    const trial = await give(usd(5), { days: 7, agedDays: 6 }, 'trial');
    await give(usd(5));
    await spend(trial, usd(5));
    await run();
    expect(mine()).toEqual([]);
  });

  it('without any grant, suspended, or made for probes, is left alone', async () => {
    await spend(uuidv7(), 0n);
    const grant = await give(usd(5));
    await spend(grant, usd(5));
    await database.pool.query(`UPDATE account SET kind = 'probe' WHERE id = $1`, [accountId]);
    await run();
    expect(mine()).toEqual([]);
  });

  it('is told once, however many look at once', async () => {
    const grant = await give(usd(5));
    await spend(grant, usd(4.5));
    await Promise.all(Array.from({ length: 8 }, () => notices.check()));
    await Promise.all(Array.from({ length: 8 }, () => notices.deliverDue()));
    expect(told()).toHaveLength(1);
    expect(mine()).toHaveLength(1);
  });

  it('gets its mail when the mailbox works again, and after many failures none', async () => {
    const grant = await give(usd(5));
    await spend(grant, usd(4.5));
    refuseMail = true;
    await run();
    expect(await mailState()).toBe('pending');
    refuseMail = false;
    await deliver();
    expect(told()).toHaveLength(1);
    expect(await notices.list({ accountId, limit: 1 })).toMatchObject([{ mailed: true }]);

    refuseMail = true;
    const second = await give(usd(5));
    await run();
    await spend(second, usd(5));
    for (let i = 0; i < 7; i++) await run();
    expect(await mailState()).toBe('failed');
  });

  it('is written to in the language of its owner', async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      `INSERT INTO app_user (name, email, locale) VALUES ('T', $1, 'vi') RETURNING id`,
      [`${accountId}@example.com`],
    );
    await database.pool.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, 'owner')`, [
      accountId,
      rows[0]?.id,
    ]);
    const grant = await give(usd(5));
    await spend(grant, usd(5));
    await run();
    expect(told()).toEqual(['Số dư Steyg của bạn đã hết']);
  });
});
