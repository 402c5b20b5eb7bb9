import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { formatUsd } from '../../server/core/money.ts';
import { createOrderMails } from '../../server/plans/order-mails.ts';
import type { Mail } from '../../server/runtime/mail.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { bank, createAccount, createDomain, createPlans, order, transfer } from './support.ts';

// Mails about orders: one for each thing that happened, in the owner's language.

let database: TestDatabase;
let sent: Mail[];
let broken = false;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
});
afterAll(() => database.drop());
beforeEach(() => {
  sent = [];
});

const mails = () =>
  createOrderMails({
    pool: database.pool,
    deliverMail: async (mail) => {
      if (broken) throw new Error('no mail server');
      sent.push(mail);
    },
    formatUsd,
    bank,
    publicUrl: 'https://steyg.example',
    log: { warn() {} },
  });

/** An account whose owner reads this language. */
async function owner(locale: string): Promise<string> {
  const accountId = await createAccount(database.pool);
  const { rows } = await database.pool.query(
    `INSERT INTO app_user (name, email, locale) VALUES ('Owner', $1, $2) RETURNING id`,
    [`${accountId}@owner.example`, locale],
  );
  await database.pool.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, 'owner')`, [
    accountId,
    rows[0].id,
  ]);
  return accountId;
}

it('an order that is made and paid is told once each, through repeated messages and senders side by side', async () => {
  const accountId = await owner('en');
  const made = await order(database.pool, accountId);
  await Promise.all([mails().send(), mails().send(), mails().send()]);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ to: `${accountId}@example.com`, subject: `Steyg order ${made.memo}: Starter` });
  for (const part of [
    '10 USD',
    '₫250,000',
    made.memo,
    bank.account,
    'at Vietcombank',
    'Vietnam time',
    'https://steyg.example/orders/',
  ])
    expect(sent[0]?.text).toContain(part);
  const movement = transfer({ memo: made.memo });
  const { transfers } = createDomain(database.pool);
  await Promise.all(Array.from({ length: 20 }, () => transfers.receive(movement)));
  await Promise.all([mails().send(), mails().send(), mails().send()]);
  expect(sent.map(({ subject }) => subject).slice(1)).toEqual([`Steyg order ${made.memo} is paid`]);
  expect(await mails().send()).toBe(0);
});

it('a transfer that an operator matched is told as such, in Vietnamese to those who read it', async () => {
  const accountId = await owner('vi');
  const made = await order(database.pool, accountId);
  const { transfers } = createDomain(database.pool);
  const first = await transfers.receive(transfer({ memo: 'không mã', amountVnd: 100_000n }));
  await transfers.matchByHand({ transferId: first.transferId, orderId: made.id, by: 'operator' });
  await mails().send();
  expect(sent.map(({ subject }) => subject)).toEqual([
    `Đơn hàng Steyg ${made.memo}: Starter`,
    `Một khoản chuyển đã được ghép với đơn hàng Steyg ${made.memo} của bạn`,
  ]);
  expect(sent[1]?.text).toContain('còn thiếu 150.000');
  const second = await transfers.receive(transfer({ memo: 'không mã', amountVnd: 150_000n }));
  await transfers.matchByHand({ transferId: second.transferId, orderId: made.id, by: 'operator' });
  await mails().send();
  expect(sent.at(-1)?.subject).toBe(`Đơn hàng Steyg ${made.memo} đã được thanh toán`);
  expect(sent).toHaveLength(3);
});

it('a refused order is not told, and a mail server that is away delays a mail and loses none', async () => {
  const accountId = await owner('en');
  const made = await order(database.pool, accountId);
  const { orders } = createDomain(database.pool);
  expect((await orders.create({ accountId, planId: 'unknown' })).kind).toBe('unknown_plan');
  broken = true;
  expect(await mails().send()).toBe(0);
  broken = false;
  expect(await mails().send()).toBe(1);
  expect(sent.map(({ subject }) => subject)).toEqual([`Steyg order ${made.memo}: Starter`]);
});

it('an order that is cancelled before its mail is sent is not told, and leaves no mail behind', async () => {
  const accountId = await owner('en');
  const made = await order(database.pool, accountId);
  await createDomain(database.pool).orders.cancel({ accountId, orderId: made.id });
  expect(await mails().send()).toBe(0);
  expect(sent).toEqual([]);
  const { rows } = await database.pool.query('SELECT FROM order_mail WHERE order_id = $1', [made.id]);
  expect(rows).toEqual([]);
});

it('accounts take turns: many orders of one delay the mail of another by one', async () => {
  const busy = await owner('en');
  for (let made = 0; made < 5; made += 1) await order(database.pool, busy);
  const other = await owner('en');
  await order(database.pool, other);
  expect(await mails().send()).toBe(6);
  expect(sent.slice(0, 2).map(({ to }) => to)).toEqual([`${busy}@example.com`, `${other}@example.com`]);
});

it('a run of the sender ends although each mail that it sends is followed by another order', async () => {
  const accountId = await owner('en');
  await order(database.pool, accountId);
  const { orders } = createDomain(database.pool);
  let made = 1;
  const sender = createOrderMails({
    pool: database.pool,
    async deliverMail() {
      if (made > 3) throw new Error('the run does not end');
      made += 1;
      await orders.create({ accountId, planId: 'starter' });
    },
    formatUsd,
    bank,
    publicUrl: 'https://steyg.example',
    log: { warn() {} },
  });
  expect(await sender.send()).toBe(1);
  expect(made).toBe(2);
  expect(await mails().send()).toBe(1);
});

it.each([
  ['en', 'Your gift of 10 USD is for', 'added to your budget', '10 USD and a bonus of 1 USD were added to your budget'],
  ['vi', 'Quà tặng 10 USD dành cho', 'đã được cộng vào số dư', '10 USD và thưởng thêm 1 USD đã được cộng vào số dư'],
])('a gift is told as one and a bonus is named (%s)', async (locale, gift, own, withBonus) => {
  const { orders, transfers } = createDomain(database.pool);
  const told = async (byHand: boolean, giftTo?: string) => {
    const accountId = await owner(locale);
    const outcome = await orders.create({ accountId, planId: 'starter', ...(giftTo === undefined ? {} : { giftTo }) });
    if (outcome.kind !== 'created') throw new Error(outcome.kind);
    const { transferId } = await transfers.receive(transfer({ memo: byHand ? 'none' : outcome.order.memo }));
    if (byHand) await transfers.matchByHand({ transferId, orderId: outcome.order.id, by: 'operator' });
    sent = [];
    await mails().send();
    return sent.map(({ text }) => text);
  };
  const receiver = await createAccount(database.pool);
  for (const giftTo of [receiver, `nobody-${locale}@example.com`])
    for (const byHand of [false, true]) {
      const [made, paid] = await told(byHand, giftTo);
      expect(made).toContain(giftTo);
      expect(paid).toContain(`${gift} ${giftTo}`);
      expect(paid).not.toContain(own);
    }
  await database.pool.query('INSERT INTO bonus_step (from_vnd, basis_points) VALUES (1, 1000)');
  const [made, paid] = await told(false);
  await database.pool.query('DELETE FROM bonus_step');
  expect(made).toContain(withBonus.slice(0, withBonus.indexOf('1 USD') + 5));
  expect(paid).toContain(withBonus);
});

it('a mail server that cannot be reached ends the run at the first mail, and runs pause longer and longer', async () => {
  await mails().send();
  sent = [];
  const accountId = await owner('en');
  for (let made = 0; made < 5; made += 1) await order(database.pool, accountId);
  let tried = 0;
  let isUp = false;
  let minutes = 0;
  const sender = createOrderMails({
    pool: database.pool,
    async deliverMail(mail) {
      tried += 1;
      if (!isUp) throw Object.assign(new Error('Connection timeout'), { code: 'ETIMEDOUT', command: 'CONN' });
      sent.push(mail);
    },
    formatUsd,
    bank,
    publicUrl: 'https://steyg.example',
    log: { warn() {} },
    now: () => minutes * 60_000,
  });
  const triedAt: number[] = [];
  for (; minutes <= 60; minutes += 1) {
    const before = tried;
    await sender.send();
    if (tried > before) triedAt.push(minutes);
  }
  expect(tried).toBe(triedAt.length);
  // 1, 2, 4 and 8 minutes, then every 15: no mail has used up its tries.
  expect(triedAt).toEqual([0, 1, 3, 7, 15, 30, 45, 60]);
  isUp = true;
  minutes = 75;
  expect(await sender.send()).toBe(5);
  expect(sent).toHaveLength(5);
});
