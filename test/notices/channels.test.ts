/** Channels of notices: each cause reaches each channel once, as its interface documents, and secrets stay sealed. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addGrant } from '../../server/billing/grants.ts';
import { formatUsd } from '../../server/core/money.ts';
import type { ChannelTerms } from '../../server/notices/channels.ts';
import { createNotices, type Notices } from '../../server/notices/notices.ts';
import { quietUntil } from '../../server/notices/quiet.ts';
import { accountNotices, businessNotices, type NoticeKind } from '../../server/notices/rules.ts';
import { isSignedWebhook } from '../../server/notices/signature.ts';
import { noticeText } from '../../server/notices/texts.ts';
import type { ReviewReason } from '../../server/plans/payment-decision.ts';
import type { Mail } from '../../server/runtime/mail.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { addModel } from '../billing/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { botToken, createStandIn, type StandIn, zaloApp } from './stand-in.ts';

let database: TestDatabase;
let standIn: StandIn;
let notices: Notices;
let mails: Mail[];
let logged: string[];
let failing: { upstreamId: string; consecutiveFailures: number; ejected: boolean }[];
let moment: Date | null;
let accountId: string;

beforeAll(async () => {
  database = await createDatabase();
  standIn = await createStandIn();
  logged = [];
  notices = openNotices();
});
const openNotices = (): Notices =>
  createNotices({
    pool: database.pool,
    seal: createSeal({ secretKeys: [randomBytes(32)] }),
    deliverMail: async (mail) => void mails.push(mail),
    recordEvent: async () => undefined,
    messengers: {
      checkAddress: (url) => (url.startsWith(standIn.url) ? null : 'private_address'),
      telegramUrl: standIn.url,
      zaloUrl: standIn.url,
      zaloTokenUrl: standIn.url,
      timeoutMs: 2_500,
    },
    allowAnyHost: true,
    formatUsd,
    upstreamHealth: () => failing,
    publicUrl: 'https://steyg.example',
    log: { warn: (fields, message) => void logged.push(JSON.stringify({ fields, message })) },
    now: () => moment ?? new Date(),
  });
afterAll(async () => {
  await notices.close();
  await standIn.close();
  await database.drop();
});
beforeEach(async () => {
  mails = [];
  failing = [];
  moment = null;
  standIn.received.length = 0;
  standIn.violations.length = 0;
  standIn.next.length = 0;
  await database.pool.query('DELETE FROM notice_channel; DELETE FROM notice; DELETE FROM business_notice_settings');
  // Accounts of earlier tests would be told again.
  await database.pool.query(`UPDATE account SET status = 'suspended'`);
  accountId = uuidv7();
  await database.pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [
    accountId,
    'T',
    `${accountId}@example.com`,
  ]);
});

type Kind = 'telegram' | 'slack' | 'discord' | 'zalo';
const termsOf = (kind: Kind): ChannelTerms => ({
  kind,
  name: kind,
  locale: 'en',
  kinds: [],
  target: { telegram: '-100123', zalo: '5510185758261927916', slack: '', discord: '' }[kind],
  secret: {
    telegram: botToken,
    slack: `${standIn.url}/services/T0001/B0001/secretOfSlack`,
    discord: `${standIn.url}/api/webhooks/1234/secret-of-discord`,
    zalo: standIn.zalo.refresh,
  }[kind],
  zaloAppId: kind === 'zalo' ? zaloApp.id : '',
  zaloAppSecret: kind === 'zalo' ? zaloApp.secret : '',
});
async function open(
  kind: Kind,
  owner: string | null = accountId,
  changes: Partial<ChannelTerms> = {},
): Promise<string> {
  const outcome = await notices.channels.create({ accountId: owner, actor: 'user:test', ...termsOf(kind), ...changes });
  if (outcome.kind !== 'created') throw new Error(JSON.stringify(outcome));
  return outcome.channel.id;
}
const kinds = ['telegram', 'slack', 'discord', 'zalo'] as const;

/** The balance of the account is low. */
async function becomeLow(): Promise<void> {
  const { id } = await addGrant(database.pool, {
    accountId,
    kind: 'purchase',
    amount: 5n * 10n ** 12n,
    expiresAt: null,
    sourceRef: `order:${uuidv7()}`,
  });
  await spend(id, 45n * 10n ** 11n);
}
async function spend(grantId: string, amount: bigint): Promise<void> {
  await database.pool.query('UPDATE "grant" SET spent = spent + $2 WHERE id = $1', [grantId, amount]);
  await database.pool.query(
    `INSERT INTO key_spend (account_id, key_id, day, month, last_used_at) VALUES ($1, $2, now(), now(), now())`,
    [accountId, uuidv7()],
  );
}
const makeDue = () =>
  database.pool.query(`UPDATE notice_delivery SET next_attempt_at = now() WHERE status = 'pending'`);
async function run(): Promise<void> {
  await notices.check();
  await notices.deliverDue();
}
const states = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ state: string }>(
    `SELECT concat_ws(' ', coalesce(c.kind, 'mail'), d.status, d.problem) AS state FROM notice_delivery d
     LEFT JOIN notice_channel c ON c.id = d.channel_id ORDER BY 1`,
  );
  return rows.map(({ state }) => state);
};

describe('a cause', () => {
  it('reaches every channel once, in the documented form, however many processes look and send', async () => {
    for (const kind of kinds) await open(kind);
    await becomeLow();
    await Promise.all(Array.from({ length: 4 }, () => notices.check()));
    await Promise.all(Array.from({ length: 4 }, () => notices.deliverDue()));
    await run();
    expect(standIn.violations).toEqual([]);
    expect(standIn.received.map(({ service, target }) => `${service} ${target}`).toSorted()).toEqual([
      'discord /api/webhooks/1234/secret-of-discord',
      'slack /services/T0001/B0001/secretOfSlack',
      'telegram -100123',
      'zalo 5510185758261927916',
    ]);
    for (const { text } of standIn.received) expect(text).toContain('Your Steyg balance is below 1 USD');
    expect(mails).toHaveLength(1);
  });

  it.each(kinds)('waits as long as %s asks, and arrives once', async (kind) => {
    await open(kind);
    standIn.next.push({ status: 429, retryAfterS: 7 });
    await becomeLow();
    await run();
    await notices.deliverDue();
    expect(standIn.received).toEqual([]);
    const { rows } = await database.pool.query(
      `SELECT extract(epoch FROM next_attempt_at - now())::float8 AS wait FROM notice_delivery WHERE status = 'pending'`,
    );
    expect(rows).toHaveLength(1);
    // Zalo names its limit in the body and says how long only in the header.
    expect(rows[0].wait).toBeGreaterThan(5);
    expect(rows[0].wait).toBeLessThanOrEqual(7);
    await makeDue();
    await notices.deliverDue();
    await notices.deliverDue();
    expect(standIn.received).toHaveLength(1);
    expect(standIn.violations).toEqual([]);
  });

  it.each([1e300, Number.POSITIVE_INFINITY])(
    'waits at most a day when a channel asks for %d seconds',
    async (seconds) => {
      await open('slack');
      standIn.next.push({ status: 429, retryAfterS: seconds });
      await becomeLow();
      await run();
      const { rows } = await database.pool.query(
        `SELECT status, extract(epoch FROM next_attempt_at - now())::float8 AS wait FROM notice_delivery
       WHERE channel_id IS NOT NULL`,
      );
      expect(rows).toMatchObject([{ status: 'pending' }]);
      expect(rows[0].wait).toBeGreaterThan(86_000);
      expect(rows[0].wait).toBeLessThanOrEqual(86_400);
    },
  );

  it.each([
    ['never answers', 'silence', 'telegram unknown timeout'],
    ['cuts the connection', 'cut', 'telegram unknown connection_lost'],
  ] as const)('that a service took and %s is not sent again', async (_, how, state) => {
    await open('telegram');
    standIn.next.push(how);
    await becomeLow();
    await run();
    await makeDue();
    await run();
    expect(standIn.received).toHaveLength(1);
    expect(await states()).toContain(state);
  });

  it('whose process died while sending is not sent again, and says so', async () => {
    const id = await open('telegram');
    await becomeLow();
    await notices.check();
    // As a killed process leaves it.
    await database.pool.query(
      `UPDATE notice_delivery SET status = 'sending', attempts = 1, next_attempt_at = now() WHERE channel_id = $1`,
      [id],
    );
    await run();
    expect(standIn.received).toEqual([]);
    expect(await states()).toContain('telegram unknown interrupted');
  });

  it('that the service refuses for good is given up, and the channel says why', async () => {
    const id = await open('slack');
    standIn.next.push({ status: 404, body: { error: 'no_service' } });
    await becomeLow();
    await run();
    await makeDue();
    await run();
    expect(standIn.received).toEqual([]);
    expect(await states()).toContain('slack failed status_404');
    expect(await notices.channels.findAny(id)).toMatchObject({ problem: 'status_404', deliveredAt: null });
  });

  it('is not sent to channels that are off, removed, or for other kinds', async () => {
    const off = await open('telegram');
    await notices.channels.change({ accountId, id: off, actor: 'user:test', enabled: false });
    const removed = await open('discord');
    await notices.channels.remove({ accountId, id: removed, actor: 'user:test' });
    await open('slack', accountId, { kinds: ['new_sign_in'] });
    await becomeLow();
    await run();
    expect(standIn.received).toEqual([]);
    expect(mails).toHaveLength(1);
  });

  it('that is muted is not told at all', async () => {
    await open('telegram');
    await notices.saveSettings(accountId, { muted: ['balance_low'] });
    await becomeLow();
    await run();
    expect([standIn.received, mails]).toEqual([[], []]);
  });

  it('renews the token of Zalo when it has expired, once for all that send at the same time', async () => {
    await open('zalo');
    await open('zalo', accountId, { target: '77777777', secret: 'another-token-that-is-not-valid' });
    await becomeLow();
    await run();
    standIn.zalo.access = 'revoked';
    await database.pool.query(`UPDATE notice SET cleared_at = now()`);
    await run();
    expect(standIn.received.map(({ target }) => target)).toEqual(['5510185758261927916', '5510185758261927916']);
    expect(await states()).toContain('zalo failed token_refused');
  });

  it('spends a refresh token of Zalo once when the transaction that stores the new pair is repeated', async () => {
    await open('zalo');
    // The first write of a sealed pair is undone as if for another transaction.
    await database.pool.query(`
      CREATE SEQUENCE undone;
      CREATE FUNCTION undo_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('undone') = 1 THEN RAISE EXCEPTION 'undone' USING ERRCODE = '40001'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER undo_once BEFORE UPDATE OF sealed ON notice_channel FOR EACH ROW EXECUTE FUNCTION undo_once()`);
    try {
      await becomeLow();
      await run();
      expect(await states()).toContain('zalo delivered');
      // What was stored is the pair that is valid now.
      await database.pool.query('UPDATE notice SET cleared_at = now()');
      await run();
      expect(standIn.received).toHaveLength(2);
    } finally {
      await database.pool.query(
        'DROP TRIGGER undo_once ON notice_channel; DROP FUNCTION undo_once; DROP SEQUENCE undone',
      );
    }
  });
});

describe('quiet hours', () => {
  const at = (iso: string) => new Date(iso);
  const night = { from: 1_320, to: 420, timeZone: 'Asia/Ho_Chi_Minh' };
  it.each<[string, string, typeof night, string | null]>([
    ['before', '2026-11-22T14:59:59Z', night, null],
    ['from the first minute', '2026-11-22T15:00:00Z', night, '2026-11-23T00:00:00.000Z'],
    ['after midnight', '2026-11-22T20:30:10Z', night, '2026-11-23T00:00:00.000Z'],
    ['after the last', '2026-11-23T00:00:00Z', night, null],
    [
      'within a day',
      '2026-11-22T05:00:00Z',
      { from: 720, to: 780, timeZone: 'Asia/Ho_Chi_Minh' },
      '2026-11-22T06:00:00.000Z',
    ],
    ['equal ends are never quiet', '2026-11-22T05:00:00Z', { from: 720, to: 720, timeZone: 'Asia/Ho_Chi_Minh' }, null],
    // The clocks of Berlin go back at 3:00 of this night, so that it is an hour longer.
    [
      'a night of nine hours',
      '2026-10-24T21:00:00Z',
      { from: 1_320, to: 420, timeZone: 'Europe/Berlin' },
      '2026-10-25T06:00:00.000Z',
    ],
    [
      'a night of seven hours',
      '2026-03-28T22:00:00Z',
      { from: 1_320, to: 420, timeZone: 'Europe/Berlin' },
      '2026-03-29T05:00:00.000Z',
    ],
  ])('%s', (_, now, hours, end) => {
    expect(quietUntil(at(now), hours)?.toISOString() ?? null).toBe(end);
  });

  it('hold messages back and give them as one summary, in the order of their causes', async () => {
    await open('telegram');
    await notices.saveSettings(accountId, {
      quietFrom: 1_320,
      quietTo: 420,
      timeZone: 'Asia/Ho_Chi_Minh',
      burnAmount: 10n ** 12n,
    });
    moment = new Date('2036-11-22T18:00:00Z');
    await becomeLow();
    await run();
    expect([standIn.received, mails]).toEqual([[], []]);
    const { rows } = await database.pool.query(`SELECT DISTINCT held, next_attempt_at FROM notice_delivery`);
    expect(rows).toEqual([{ held: true, next_attempt_at: new Date('2036-11-23T00:00:00Z') }]);
    await makeDue();
    await notices.deliverDue();
    expect(standIn.received).toHaveLength(1);
    const [{ text } = { text: '' }] = standIn.received;
    expect(text).toContain('Steyg: 2 notices');
    expect(text).toContain('Your Steyg balance is below 1 USD');
    expect(text).toContain('spent 4.5 USD in 60 minutes');
    expect(mails.map(({ subject }) => subject)).toEqual(['Steyg: 2 notices']);
  });

  it('do not hold back a new sign-in', async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      `INSERT INTO app_user (name, email, email_verified) VALUES ('T', $1, true) RETURNING id`,
      [`${accountId}@example.com`],
    );
    const userId = rows[0]?.id ?? '';
    await database.pool.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, 'owner')`, [
      accountId,
      userId,
    ]);
    await open('telegram');
    await notices.saveSettings(accountId, { quietFrom: 0, quietTo: 1_439 });
    const facts = { email: 'a@example.com', device: 'Chrome on Windows', network: '203.0.113.9' };
    for (let i = 0; i < 2; i += 1) await notices.tellSignIn({ userId, sessionId: 'one', facts });
    await run();
    expect(standIn.received.map(({ text }) => text)).toEqual([
      expect.stringContaining('Chrome on Windows, from 203.0.113.9'),
    ]);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      [`${accountId}@example.com`, 'New sign-in to Steyg'],
    ]);
  });
});

describe('the causes', () => {
  const told = async () => {
    const { rows } = await database.pool.query<{ kind: string; facts: object; over: boolean }>(
      `SELECT kind, facts, cleared_at IS NOT NULL AS over FROM notice ORDER BY created_at, kind`,
    );
    return rows;
  };

  it('a burn rate above what was chosen, told again only after it fell', async () => {
    const { id } = await addGrant(database.pool, {
      accountId,
      kind: 'purchase',
      amount: 10n ** 15n,
      expiresAt: null,
      sourceRef: `order:${uuidv7()}`,
    });
    await spend(id, 50n * 10n ** 12n);
    await notices.saveSettings(accountId, { burnAmount: 10n ** 12n, burnMinutes: 10 });
    await run();
    expect(await told()).toEqual([]);
    await spend(id, 2n * 10n ** 12n);
    await run();
    await spend(id, 10n ** 12n);
    await run();
    expect(await told()).toEqual([
      { kind: 'burn_rate', facts: { spent_usd: '2', limit_usd: '1', minutes: '10' }, over: false },
    ]);
    // An hour later nothing was spent any more.
    await database.pool.query(`UPDATE spend_sample SET minute = minute - interval '1 hour' WHERE account_id = $1`, [
      accountId,
    ]);
    await run();
    await spend(id, 3n * 10n ** 12n);
    await run();
    expect((await told()).map(({ kind, over }) => `${kind} ${over}`).toSorted()).toEqual([
      'burn_rate false',
      'burn_rate true',
    ]);
  });

  it('a key near its limit, once in each period', async () => {
    await addGrant(database.pool, {
      accountId,
      kind: 'purchase',
      amount: 10n ** 15n,
      expiresAt: null,
      sourceRef: `order:${uuidv7()}`,
    });
    const keyId = uuidv7();
    await database.pool.query(
      `INSERT INTO api_key (id, account_id, name, hash, prefix, last4, limit_day, limit_month) VALUES ($1, $2, 'ci', $3, 'sk', 'abcd', $4, $4)`,
      [keyId, accountId, randomBytes(32), 10n ** 12n],
    );
    await database.pool.query(
      `INSERT INTO key_spend (account_id, key_id, charged, day, day_charged, month, month_charged, last_used_at)
       VALUES ($1, $2, $3, (now() AT TIME ZONE 'UTC')::date, $3, date_trunc('month', now() AT TIME ZONE 'UTC')::date, $3, now())`,
      [accountId, keyId, 799n * 10n ** 9n],
    );
    await run();
    expect(await told()).toEqual([]);
    await database.pool.query(
      'UPDATE key_spend SET day_charged = $2, month_charged = $2, charged = $2 WHERE key_id = $1',
      [keyId, 8n * 10n ** 11n],
    );
    await run();
    await run();
    expect(
      (await told()).map(({ kind, facts }) => `${kind} ${(facts as { period: string }).period}`).toSorted(),
    ).toEqual(['key_limit_near day', 'key_limit_near month']);
    // The next day begins at nothing.
    await database.pool.query(`UPDATE key_spend SET day = day - 1 WHERE key_id = $1`, [keyId]);
    await run();
    expect((await told()).filter(({ over }) => over).map(({ facts }) => (facts as { period: string }).period)).toEqual([
      'day',
    ]);
  });

  it('a price change and an incident of a model reach those who use it, once', async () => {
    const model = `m-${randomBytes(4).toString('hex')}`;
    await addModel(database.pool, { id: model });
    await database.pool.query(
      `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests) VALUES ($1, date_trunc('hour', now()), $2, $3, 'success', 1)`,
      [accountId, model, uuidv7()],
    );
    await run();
    expect(await told()).toEqual([]);
    await database.pool.query(
      `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from) SELECT $2, model_id, input * 2, cache_hit, output, now() + interval '1 day' FROM price WHERE model_id = $1 LIMIT 1`,
      [model, uuidv7()],
    );
    await database.pool.query(
      `INSERT INTO incident (id, model, impact, affected, started_at) VALUES ($1, $2, 'major', '{messages/stream}', now())`,
      [uuidv7(), model],
    );
    await Promise.all([notices.check(), notices.check(), notices.check()]);
    await run();
    expect((await told()).map(({ kind, over }) => `${kind} ${over}`).toSorted()).toEqual([
      'model_incident false',
      'price_changed false',
    ]);
    await database.pool.query(`UPDATE incident SET ended_at = now() WHERE model = $1`, [model]);
    await run();
    await Promise.all([notices.check(), notices.check(), notices.check()]);
    await run();
    expect((await told()).find(({ kind }) => kind === 'model_incident')?.over).toBe(true);
    // One that it began, one that it ended.
    expect(mails.map(({ subject }) => subject).filter((subject) => subject.includes(model))).toHaveLength(3);
    expect(mails.at(-1)?.subject).toBe(`Steyg: ${model} works again`);
  });

  it('operators hear of failing upstreams, waiting transfers and low margins, and every operator of each once', async () => {
    for (const name of ['one', 'two'])
      await database.pool.query(
        `INSERT INTO app_user (name, email, email_verified, operator) VALUES ($1, $2, true, true)`,
        [name, `${name}-${accountId}@example.com`],
      );
    await open('telegram', null);
    await notices.saveBusinessSettings({ marginPercent: 20 }, 'user:test');
    failing = [{ upstreamId: 'big-vendor', consecutiveFailures: 0, ejected: true }];
    const transferId = uuidv7();
    await database.pool.query(
      `INSERT INTO bank_transfer (id, provider, provider_id, direction, amount_vnd, memo, booked_at, account_numbers)
       VALUES ($1, 'sepay', $2, 'in', 250000, 'no memo', now(), '{}')`,
      [transferId, transferId],
    );
    await database.pool.query(`INSERT INTO transfer_review (transfer_id, reason) VALUES ($1, 'no_memo')`, [transferId]);
    await database.pool.query(
      `INSERT INTO margin_hour (account_id, hour, model, upstream, requests, cost, charged, upstream_cost)
       VALUES ($1, date_trunc('hour', now()), 'm', 'u', 1, 100, 100, 90)`,
      [accountId],
    );
    await Promise.all([notices.check(), notices.check()]);
    await run();
    const kindsTold = (await told()).map(({ kind }) => kind).toSorted();
    expect(kindsTold).toEqual(['margin_low', 'transfer_waiting', 'upstream_failing']);
    expect(standIn.received.map(({ text }) => text.split('\n')[0] ?? '').toSorted()).toEqual([
      'Steyg operator: a transfer of 250000 VND waits',
      'Steyg operator: the margin of 24 hours is 10 %',
      'Steyg operator: upstream big-vendor fails',
    ]);
    expect(mails.filter(({ to }) => to.includes(accountId))).toHaveLength(6);
    await database.pool.query(`UPDATE transfer_review SET closed_at = now(), closed_by = 'test'`);
    await database.pool.query(
      `UPDATE notice SET last_seen_at = now() - interval '6 minutes' WHERE kind = 'upstream_failing'`,
    );
    await database.pool.query('UPDATE margin_hour SET upstream_cost = 10');
    failing = [];
    standIn.received.length = 0;
    await Promise.all([notices.check(), notices.check()]);
    await run();
    expect((await told()).filter(({ kind }) => kind !== 'recovered').map(({ over }) => over)).toEqual([
      true,
      true,
      true,
    ]);
    expect(standIn.received.map(({ text }) => text.split('\n')[0] ?? '').toSorted()).toEqual([
      'Steyg operator: the margin of 24 hours is 90 % again',
      'Steyg operator: upstream big-vendor works again',
    ]);
    await database.pool.query('DELETE FROM margin_hour');
    await database.pool.query('UPDATE app_user SET operator = false');
  });
});

describe('secrets', () => {
  it('of channels are sealed, and in no list, log or audit entry', async () => {
    for (const kind of kinds) await open(kind);
    standIn.next.push({ status: 500 }, { status: 403, body: { ok: false } });
    await becomeLow();
    await run();
    const { rows } = await database.pool.query<{ text: string }>(
      `SELECT to_jsonb(c)::text || encode(c.sealed, 'escape') AS text FROM notice_channel c
       UNION ALL SELECT e::text FROM audit_entry e UNION ALL SELECT d::text FROM notice_delivery d`,
    );
    const seen = [
      ...rows.map(({ text }) => text),
      JSON.stringify(await notices.channels.list(accountId)),
      ...logged,
    ].join('\n');
    for (const secret of [
      botToken,
      'secretOfSlack',
      'secret-of-discord',
      zaloApp.secret,
      standIn.zalo.refresh,
      standIn.zalo.access,
    ])
      expect(seen).not.toContain(secret);
    expect(seen).toContain('notice_channel.create');
  });

  it.each<[Kind, Partial<ChannelTerms>, string]>([
    ['telegram', { secret: 'not a token' }, 'secret'],
    ['telegram', { target: '../../x' }, 'target'],
    ['slack', { secret: 'https://10.0.0.1/services/T1/B1/x' }, 'secret'],
    ['discord', { secret: 'not an address' }, 'secret'],
    ['zalo', { zaloAppId: 'x' }, 'zaloAppId'],
    ['telegram', { kinds: ['shortfall'] }, 'kinds'],
    ['telegram', { kind: 'webhook', secret: 'https://example.com' }, 'kind'],
  ])('of %s that cannot be right are refused: %o', async (kind, changes, field) => {
    const outcome = await notices.channels.create({ accountId, actor: 'user:test', ...termsOf(kind), ...changes });
    expect(outcome).toMatchObject({ kind: 'invalid', field });
  });

  it('lead to no other host than those of Slack and Discord, and to no private address', async () => {
    const strict = createNotices({
      pool: database.pool,
      seal: createSeal({ secretKeys: [randomBytes(32)] }),
      deliverMail: async () => undefined,
      recordEvent: async () => undefined,
      messengers: { checkAddress: () => null },
      formatUsd,
      upstreamHealth: () => [],
      publicUrl: 'https://steyg.example',
      log: { warn() {} },
    });
    const attempt = (kind: Kind, secret: string) =>
      strict.channels.create({ accountId, actor: 'user:test', ...termsOf(kind), secret });
    expect(await attempt('slack', 'https://hooks.example.com/services/T1/B1/x')).toMatchObject({ field: 'secret' });
    expect(await attempt('discord', 'https://discord.com.example.com/api/webhooks/1/x')).toMatchObject({
      field: 'secret',
    });
    expect(await attempt('slack', 'https://hooks.slack.com/services/T1/B1/x')).toMatchObject({ kind: 'created' });
    expect(await attempt('discord', 'https://discord.com/api/webhooks/1/x')).toMatchObject({ kind: 'created' });
    await strict.close();
  });
});

it('messages of the business to a program are signed, and repeated with the same id until they arrive', async () => {
  const seen: { headers: Record<string, string | undefined>; body: string }[] = [];
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      seen.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(seen.length === 1 ? 503 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.address() as { port: number }).port;
  const open = createNotices({
    pool: database.pool,
    seal: createSeal({ secretKeys: [randomBytes(32)] }),
    deliverMail: async () => undefined,
    recordEvent: async () => undefined,
    messengers: { checkAddress: () => null },
    formatUsd,
    upstreamHealth: () => [{ upstreamId: 'u', consecutiveFailures: 5, ejected: true }],
    publicUrl: 'https://steyg.example',
    log: { warn() {} },
  });
  const made = await open.channels.create({
    ...termsOf('slack'),
    accountId: null,
    actor: 'user:test',
    kind: 'webhook',
    target: '',
    secret: `http://127.0.0.1:${port}/x`,
  });
  if (made.kind !== 'created' || made.signing === null) throw new Error('no channel');
  await open.check();
  await open.deliverDue();
  await makeDue();
  await open.deliverDue();
  await open.close();
  await new Promise((resolve) => server.close(resolve));
  expect(seen).toHaveLength(2);
  expect(new Set(seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const [{ headers, body } = { headers: {}, body: '' }] = seen;
  expect(isSignedWebhook({ secret: made.signing, headers, body, now: new Date() })).toBe(true);
  expect(JSON.parse(body)).toMatchObject({ type: 'upstream.failing', data: { upstream: 'u' } });
});

it('every kind has a text in both languages, without holes', () => {
  const facts = new Proxy(
    {},
    { get: (_, name) => (/_at$|^hour$|valid_from/.test(String(name)) ? '2026-11-22T10:00:00Z' : 'day') },
  );
  for (const kind of [...accountNotices, ...businessNotices] as NoticeKind[])
    for (const locale of ['en', 'vi'] as const) {
      const { subject, body } = noticeText(kind, facts, locale);
      expect(`${subject}${body}`).not.toMatch(/undefined|Invalid/);
    }
});

/** Typed by all reasons, so that a new one is missing here until it has words. */
const reviewReasons: Record<ReviewReason, true> = {
  no_memo: true,
  unknown_memo: true,
  several_memos: true,
  late: true,
  order_paid: true,
  order_cancelled: true,
  outgoing: true,
  no_amount: true,
  other_account: true,
  repeated: true,
  surplus: true,
  short: true,
};

it('the mail of a waiting transfer says why in words, for every reason that there is', () => {
  for (const reason of Object.keys(reviewReasons))
    for (const locale of ['en', 'vi'] as const) {
      const { body } = noticeText('transfer_waiting', { amount_vnd: '250000', reason }, locale);
      expect(body).toMatch(/: \p{Ll}.*\./u);
      expect(body).not.toContain('_');
    }
  expect(noticeText('transfer_waiting', { amount_vnd: '1', reason: 'of_a_later_version' }, 'en').body).toBe(
    'It could not be matched with an order. A person should look at it.',
  );
});

describe('sign-ins of one person', () => {
  const person = async (): Promise<string> => {
    const userId = uuidv7();
    await database.pool.query(`INSERT INTO app_user (id, email, name, updated_at) VALUES ($1, $2, 'T', now())`, [
      userId,
      `${userId}@example.com`,
    ]);
    await database.pool.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, 'owner')`, [
      accountId,
      userId,
    ]);
    return userId;
  };
  const signIn = (userId: string, device: string) =>
    notices.tellSignIn({
      userId,
      sessionId: uuidv7(),
      facts: { email: 'a@example.com', device, network: '203.0.113.0/24' },
    });
  const hourOver = () =>
    database.pool.query(
      `UPDATE notice_delivery SET created_at = created_at - interval '1 hour', delivered_at = delivered_at - interval '1 hour',
              next_attempt_at = next_attempt_at - interval '1 hour'`,
    );

  it('come as one message at once and one for the rest of the hour, over each channel; of another person at once', async () => {
    await open('telegram');
    const [one, other] = [await person(), await person()];
    await Promise.all(Array.from({ length: 12 }, (_, made) => signIn(one, `Browser ${made}`)));
    await notices.deliverDue();
    await signIn(one, 'Browser 12');
    await signIn(other, 'Other');
    await notices.deliverDue();
    const to = (userId: string) => mails.filter((mail) => mail.to === `${userId}@example.com`);
    expect([to(one).length, to(other).length]).toEqual([1, 1]);
    expect(standIn.received).toHaveLength(2);
    await hourOver();
    await signIn(one, 'Browser 13');
    await notices.deliverDue();
    expect(to(one)).toHaveLength(2);
    expect(to(one)[1]?.subject).toBe('Steyg: 13 new sign-ins');
    for (let made = 0; made < 14; made += 1)
      expect(to(one).some(({ text }) => text.includes(`Browser ${made},`))).toBe(true);
    expect(standIn.received).toHaveLength(3);
    await hourOver();
    await signIn(one, 'Browser 14');
    await notices.deliverDue();
    expect(to(one)).toHaveLength(3);
  });
});

describe('many causes at once', () => {
  const notice = (kind: NoticeKind, subject: string, owner: string) =>
    database.pool.query(
      `WITH made AS (INSERT INTO notice (id, account_id, kind, subject, facts, mail)
                     VALUES (gen_random_uuid(), $3, $1, $2, '{}', 'none') RETURNING id)
       INSERT INTO notice_delivery (id, notice_id, target, next_attempt_at)
       SELECT gen_random_uuid(), id, 'mail', now() - interval '1 minute' FROM made`,
      [kind, subject, owner],
    );

  it('of one account delay the mail of another, and that of a sign-in, by a few messages', async () => {
    const other = uuidv7();
    await database.pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [
      other,
      'T',
      `${other}@example.com`,
    ]);
    for (let made = 0; made < 60; made += 1) await notice('key_limit_near', `key${made}`, accountId);
    await notice('balance_exhausted', '', other);
    await notice('new_sign_in', 'session', accountId);
    await notices.deliverDue();
    expect(mails).toHaveLength(62);
    // Three senders side by side.
    expect(mails.slice(0, 4).map(({ subject }) => subject)).toContain(noticeText('new_sign_in', {}, 'en').subject);
    expect(mails.slice(0, 30).map(({ to }) => to)).toContain(`${other}@example.com`);
  });

  it('of one kind delay those of another by a few messages, sign-ins as well', async () => {
    for (const flood of ['new_sign_in', 'price_changed'] as const) {
      mails = [];
      for (let made = 0; made < 60; made += 1) {
        const id = uuidv7();
        await database.pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [
          id,
          'T',
          `${id}@example.com`,
        ]);
        await notice(flood, 'flood', id);
      }
      await notice('balance_exhausted', '', accountId);
      await notices.deliverDue();
      expect(mails).toHaveLength(61);
      expect(mails.slice(0, 30).map(({ to }) => to)).toContain(`${accountId}@example.com`);
      await database.pool.query('DELETE FROM notice');
    }
  });

  it('leave those of a newer version to that version', async () => {
    await database.pool.query('ALTER TABLE notice DROP CONSTRAINT notice_kind');
    await notice('of_a_newer_version' as NoticeKind, '', accountId);
    await notice('balance_exhausted', '', accountId);
    await notices.deliverDue();
    expect(mails).toHaveLength(1);
    expect(await states()).toEqual(['mail delivered', 'mail pending']);
    await database.pool.query('DELETE FROM notice');
  });

  it('of one account come as one message', async () => {
    await open('telegram');
    const { id } = await addGrant(database.pool, {
      accountId,
      kind: 'purchase',
      amount: 5n * 10n ** 12n,
      expiresAt: null,
      sourceRef: `order:${uuidv7()}`,
    });
    await spend(id, 1n);
    await database.pool.query(
      `WITH made AS (INSERT INTO api_key (id, account_id, name, hash, prefix, last4, limit_lifetime)
                     SELECT gen_random_uuid(), $1::uuid, 'key ' || i, decode(repeat(md5($1::uuid::text || i), 2), 'hex'), 'sk', '0000', 100
                     FROM generate_series(1, 30) i RETURNING id)
       INSERT INTO key_spend (account_id, key_id, day, month, charged, last_used_at)
       SELECT $1::uuid, id, now(), now(), 90, now() FROM made`,
      [accountId],
    );
    await run();
    expect(mails).toHaveLength(1);
    expect(standIn.received).toHaveLength(1);
  });
});

it('the watch does not read accounts whose budget is empty and unused, every few seconds', async () => {
  await becomeLow();
  await run();
  expect(mails).toHaveLength(1);
  await database.pool.query(`UPDATE key_spend SET last_used_at = now() - interval '1 hour'`);
  await database.pool.query(`UPDATE "grant" SET created_at = now() - interval '1 hour'`);
  await notices.saveSettings(accountId, { lowBalance: 0n });
  const idle = accountId;
  const isOpen = async (owner: string) =>
    (await database.pool.query('SELECT FROM notice WHERE account_id = $1 AND cleared_at IS NULL', [owner])).rowCount;
  // Another account shows that the watch has looked.
  accountId = uuidv7();
  await database.pool.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [
    accountId,
    'T',
    'busy@example.com',
  ]);
  await becomeLow();
  // A watch of its own, which does not go on under the tests after this one.
  const watching = openNotices();
  watching.start();
  await expect.poll(() => isOpen(accountId)).toBe(1);
  expect(await isOpen(idle)).toBe(1);
  await watching.close();
  // The thorough check clears it.
  await notices.check();
  expect(await isOpen(idle)).toBe(0);
});

it('a balance that is back is told once, also when it was used up and low', async () => {
  await open('telegram');
  await becomeLow();
  await database.pool.query(`UPDATE "grant" SET spent = amount WHERE account_id = $1`, [accountId]);
  await run();
  expect(mails.map(({ subject }) => subject)).toEqual(['Your Steyg budget is used up']);
  await addGrant(database.pool, {
    accountId,
    kind: 'purchase',
    amount: 7n * 10n ** 12n,
    expiresAt: null,
    sourceRef: `order:${uuidv7()}`,
  });
  await Promise.all([notices.check(), notices.check(), notices.check()]);
  await run();
  await run();
  expect(mails.map(({ subject }) => subject)).toEqual([
    'Your Steyg budget is used up',
    'Your Steyg balance is 7 USD again',
  ]);
  expect(standIn.received).toHaveLength(2);
});

it('quiet hours of which no zone was chosen are those of the account', async () => {
  await database.pool.query(`UPDATE account SET time_zone = 'Europe/Berlin' WHERE id = $1`, [accountId]);
  expect((await notices.settings(accountId)).timeZone).toBe('Europe/Berlin');
  await database.pool.query(
    'INSERT INTO notice_settings (account_id, low_balance, quiet_from, quiet_to) VALUES ($1, $2, 1320, 420)',
    [accountId, 10n ** 12n],
  );
  expect((await notices.settings(accountId)).timeZone).toBe('Europe/Berlin');
  // 23:00 in Berlin is 05:00 in Vietnam.
  moment = new Date('2026-11-22T22:00:00Z');
  await becomeLow();
  await notices.check();
  const { rows } = await database.pool.query(
    `SELECT d.next_attempt_at AS at FROM notice_delivery d JOIN notice n ON n.id = d.notice_id WHERE n.account_id = $1`,
    [accountId],
  );
  expect(rows).toEqual([{ at: new Date('2026-11-23T06:00:00Z') }]);
});
