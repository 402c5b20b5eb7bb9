/** Notices of limits that are nearly used: which limits, and in which day, week and month of the account's zone. */

import { randomBytes } from 'node:crypto';
import { assert, constantFrom, integer, property } from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addGrant } from '../../server/billing/grants.ts';
import { firstDayOf, nextStart } from '../../server/core/local-time.ts';
import { formatUsd } from '../../server/core/money.ts';
import { createNotices, type Notices } from '../../server/notices/notices.ts';
import { isRunning, type NoticeFacts } from '../../server/notices/rules.ts';
import { noticeText } from '../../server/notices/texts.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const usd = 10n ** 12n;
const periods = ['day', 'week', 'month'] as const;
/** West and east of the line of dates, half and quarter hours, summer time of an hour and of half an hour. */
const zones = [
  'UTC',
  'Asia/Ho_Chi_Minh',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/St_Johns',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
];

let database: TestDatabase;
let notices: Notices;
let accountId: string;
beforeAll(async () => {
  database = await createDatabase();
  notices = createNotices({
    pool: database.pool,
    deliverMail: async () => undefined,
    recordEvent: async () => undefined,
    seal: createSeal({ secretKeys: [randomBytes(32)] }),
    messengers: { checkAddress: () => null },
    formatUsd,
    upstreamHealth: () => [],
    publicUrl: 'https://steyg.example',
    log: { warn() {} },
  });
});
afterAll(async () => {
  await notices.close();
  await database.drop();
});
beforeEach(async () => {
  await account('UTC');
});

/** A new account with plenty of budget. */
async function account(timeZone: string): Promise<void> {
  accountId = uuidv7();
  await database.pool.query('INSERT INTO account (id, name, email, time_zone) VALUES ($1, $2, $3, $4)', [
    accountId,
    'T',
    `${accountId}@example.com`,
    timeZone,
  ]);
  await addGrant(database.pool, {
    accountId,
    kind: 'purchase',
    amount: 1_000n * usd,
    expiresAt: null,
    sourceRef: `order:${uuidv7()}`,
  });
}

/** A key, made by a person and in a project if they are given. */
async function key(
  limits: Record<string, bigint> = {},
  { createdBy = null as string | null, projectId = null as string | null } = {},
) {
  const id = uuidv7();
  await database.pool.query(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4, created_by, project_id, limit_day, limit_week, limit_month, limit_lifetime)
     VALUES ($1, $2, 'ci', $3, 'sk', 'abcd', $4, $5, $6, $7, $8, $9)`,
    [
      id,
      accountId,
      randomBytes(32),
      createdBy,
      projectId,
      limits['day'] ?? null,
      limits['week'] ?? null,
      limits['month'] ?? null,
      limits['lifetime'] ?? null,
    ],
  );
  return id;
}

/** Charges a key as settlements do: the sums of everything else follow by triggers. */
async function charge(keyId: string, amount: bigint): Promise<void> {
  await database.pool.query(
    `INSERT INTO key_spend (account_id, key_id, day, month, charged, last_used_at) VALUES ($1, $2, NULL, NULL, $3, now())
     ON CONFLICT (account_id, key_id) DO UPDATE SET charged = key_spend.charged + $3, last_used_at = now()`,
    [accountId, keyId, amount],
  );
}

const told = async () =>
  (await notices.list({ accountId, limit: 20 }))
    .filter(({ kind }) => kind === 'key_limit_near')
    .map(({ facts, clearedAt }) => ({ ...facts, over: clearedAt !== null }));
const open = async () =>
  (await told())
    .filter(({ over }) => !over)
    .map(({ limit_of, period }) => `${limit_of} ${period}`)
    .toSorted();

describe('the day, week and month that runs', () => {
  it.each([
    // [zone, moment, first day of the day, the week (Monday) and the month]
    ['UTC', '2026-11-22T23:59:59Z', '2026-11-22', '2026-11-16', '2026-11-01'],
    ['UTC', '2026-11-23T00:00:00Z', '2026-11-23', '2026-11-23', '2026-11-01'],
    // Sunday in UTC, Monday in Vietnam.
    ['Asia/Ho_Chi_Minh', '2026-11-22T16:59:59Z', '2026-11-22', '2026-11-16', '2026-11-01'],
    ['Asia/Ho_Chi_Minh', '2026-11-22T17:00:00Z', '2026-11-23', '2026-11-23', '2026-11-01'],
    ['Asia/Kolkata', '2026-11-30T18:29:59Z', '2026-11-30', '2026-11-30', '2026-11-01'],
    ['Asia/Kolkata', '2026-11-30T18:30:00Z', '2026-12-01', '2026-11-30', '2026-12-01'],
    ['Asia/Kathmandu', '2026-12-31T18:15:00Z', '2027-01-01', '2026-12-28', '2027-01-01'],
    // Summer time ends on November 1 at 06:00 UTC: midnight moves from 04:00 to 05:00.
    ['America/New_York', '2026-11-01T04:00:00Z', '2026-11-01', '2026-10-26', '2026-11-01'],
    ['America/New_York', '2026-11-02T04:59:59Z', '2026-11-01', '2026-10-26', '2026-11-01'],
    ['America/New_York', '2026-11-02T05:00:00Z', '2026-11-02', '2026-11-02', '2026-11-01'],
    // Summer time of half an hour ends on April 5: +11 becomes +10:30.
    ['Australia/Lord_Howe', '2026-04-04T13:00:00Z', '2026-04-05', '2026-03-30', '2026-04-01'],
    ['Australia/Lord_Howe', '2026-04-05T13:29:59Z', '2026-04-05', '2026-03-30', '2026-04-01'],
    ['Australia/Lord_Howe', '2026-04-05T13:30:00Z', '2026-04-06', '2026-04-06', '2026-04-01'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00Z', '2027-01-01', '2026-12-28', '2027-01-01'],
    ['Pacific/Pago_Pago', '2027-01-01T10:59:59Z', '2026-12-31', '2026-12-28', '2026-12-01'],
  ])('of %s at %s', (timeZone, at, ...first) => {
    const nowMs = Date.parse(at);
    expect(periods.map((period) => firstDayOf(period, nowMs, timeZone))).toEqual(first);
    periods.forEach((period, index) => {
      expect(isRunning({ period, since: first[index] ?? '' }, nowMs, timeZone)).toBe(true);
      const next = nextStart(period, nowMs, timeZone);
      expect(isRunning({ period, since: first[index] ?? '' }, next - 1, timeZone)).toBe(true);
      expect(isRunning({ period, since: first[index] ?? '' }, next, timeZone)).toBe(false);
    });
    expect(isRunning({ period: 'lifetime', since: '' }, nowMs, timeZone)).toBe(true);
  });

  it('is the one that the limits count, at any moment and in every zone', async () => {
    const cases: { zone: string; at: number }[] = [];
    assert(
      property(
        constantFrom(...zones),
        integer({ min: Date.UTC(2015, 0) / 1_000, max: Date.UTC(2030, 0) / 1_000 }),
        (zone, at) => void cases.push({ zone, at: at * 1_000 }),
      ),
      { numRuns: 500 },
    );
    const { rows } = await database.pool.query<{ starts: string[] }>(
      `SELECT array(SELECT date_trunc(p, at AT TIME ZONE zone)::date::text FROM unnest($3::text[]) WITH ORDINALITY AS t (p, n) ORDER BY n) AS starts
       FROM unnest($1::text[], $2::timestamptz[]) WITH ORDINALITY AS c (zone, at, place) ORDER BY place`,
      [cases.map(({ zone }) => zone), cases.map(({ at }) => new Date(at).toISOString()), periods],
    );
    expect(cases.map(({ zone, at }) => periods.map((period) => firstDayOf(period, at, zone)))).toEqual(
      rows.map(({ starts }) => starts),
    );
  });
});

describe('a limit that is nearly used is told', () => {
  it.each(zones)('of the day, the week and the month of %s, and not of those before', async (timeZone) => {
    await account(timeZone);
    const keyId = await key({ day: usd, week: usd, month: usd });
    await charge(keyId, (usd * 9n) / 10n);
    // A period that ended at the last midnight, and one that began then.
    await database.pool.query(
      `UPDATE key_spend SET day = (now() AT TIME ZONE $2)::date - 1, week = date_trunc('week', now() AT TIME ZONE $2)::date - 7,
              month = (date_trunc('month', now() AT TIME ZONE $2) - interval '1 month')::date WHERE key_id = $1`,
      [keyId, timeZone],
    );
    await notices.check();
    expect(await open()).toEqual([]);
    await database.pool.query(
      `UPDATE key_spend SET day = (now() AT TIME ZONE $2)::date, week = date_trunc('week', now() AT TIME ZONE $2)::date,
              month = date_trunc('month', now() AT TIME ZONE $2)::date WHERE key_id = $1`,
      [keyId, timeZone],
    );
    await notices.check();
    await notices.check();
    expect(await open()).toEqual(['key day', 'key month', 'key week']);
  });

  it('of a key by the week, once, and is over in the next week', async () => {
    const keyId = await key({ week: usd });
    await charge(keyId, (usd * 79n) / 100n);
    await notices.check();
    expect(await told()).toEqual([]);
    await charge(keyId, usd / 100n);
    await notices.check();
    await charge(keyId, usd / 100n);
    await notices.check();
    expect(await told()).toEqual([
      {
        limit_of: 'key',
        key_id: keyId,
        key_name: 'ci',
        period: 'week',
        spent_usd: '0.8',
        limit_usd: '1',
        percent: '80',
        over: false,
      },
    ]);
    await database.pool.query('UPDATE key_spend SET week = week - 7 WHERE key_id = $1', [keyId]);
    await notices.check();
    expect(await open()).toEqual([]);
  });

  it('of a member, over all keys that they made, by id alone', async () => {
    const userId = uuidv7();
    await database.pool.query(
      `INSERT INTO app_user (id, email, name, email_verified) VALUES ($1, $2, 'Pat Secretive', true)`,
      [userId, `${userId}@example.com`],
    );
    await database.pool.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, 'member')`, [
      accountId,
      userId,
    ]);
    await database.pool.query(
      `INSERT INTO shared_limit (account_id, subject_id, kind, limit_month) VALUES ($1, $2, 'member', $3)`,
      [accountId, userId, usd],
    );
    for (const createdBy of [userId, userId, null]) await charge(await key({}, { createdBy }), (usd * 4n) / 10n);
    await notices.check();
    expect(await told()).toEqual([
      {
        limit_of: 'member',
        member_id: userId,
        period: 'month',
        spent_usd: '0.8',
        limit_usd: '1',
        percent: '80',
        over: false,
      },
    ]);
    await database.pool.query('UPDATE shared_limit SET limit_month = $2 WHERE subject_id = $1', [userId, 2n * usd]);
    await notices.check();
    expect(await open()).toEqual([]);
  });

  it('of a project, by the month and in all', async () => {
    const projectId = uuidv7();
    await database.pool.query(`INSERT INTO project (id, account_id, name) VALUES ($1, $2, 'web')`, [
      projectId,
      accountId,
    ]);
    await database.pool.query('UPDATE shared_limit SET limit_month = $2, limit_lifetime = $3 WHERE subject_id = $1', [
      projectId,
      usd,
      2n * usd,
    ]);
    for (let made = 0; made < 2; made += 1) await charge(await key({}, { projectId }), (usd * 45n) / 100n);
    await notices.check();
    expect(await open()).toEqual(['project month']);
    await charge(await key({}, { projectId }), usd);
    await notices.check();
    expect(await open()).toEqual(['project lifetime', 'project month']);
    expect(await told()).toContainEqual(expect.objectContaining({ project_id: projectId, project_name: 'web' }));
  });

  it('of the account, over all its keys', async () => {
    await database.pool.query(
      `INSERT INTO account_limit (account_id, limit_day, limit_week, limit_lifetime) VALUES ($1, $2, $2, $3)`,
      [accountId, usd, 10n * usd],
    );
    for (let made = 0; made < 3; made += 1) await charge(await key(), (usd * 3n) / 10n);
    await notices.check();
    expect(await open()).toEqual(['account day', 'account week']);
  });

  it.each<[NoticeFacts, string, string]>([
    [
      { key_name: 'ci', period: 'week' },
      'Your Steyg key “ci” is near its weekly limit',
      'API key Steyg “ci” sắp chạm hạn mức theo tuần',
    ],
    [
      { limit_of: 'key', key_name: 'ci', period: 'day' },
      'Your Steyg key “ci” is near its daily limit',
      'API key Steyg “ci” sắp chạm hạn mức theo ngày',
    ],
    [
      { limit_of: 'member', period: 'month' },
      'A member of your Steyg account is near their monthly limit',
      'Một thành viên của tài khoản Steyg sắp chạm hạn mức theo tháng',
    ],
    [
      { limit_of: 'project', project_name: 'web', period: 'lifetime' },
      'Your Steyg project “web” is near its lifetime limit',
      'Dự án Steyg “web” sắp chạm hạn mức trọn đời',
    ],
    [
      { limit_of: 'account', period: 'week' },
      'Your Steyg account is near its weekly limit',
      'Tài khoản Steyg của bạn sắp chạm hạn mức theo tuần',
    ],
  ])('with words for %j', (facts, en, vi) => {
    expect(noticeText('key_limit_near', facts, 'en').subject).toBe(en);
    expect(noticeText('key_limit_near', facts, 'vi').subject).toBe(vi);
  });
});
