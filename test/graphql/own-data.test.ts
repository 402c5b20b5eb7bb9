import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRetention } from '../../server/accounts/retention.ts';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { transaction } from '../../server/database/lane.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { savePlan } from '../../server/plans/plans.ts';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { transfer } from '../plans/support.ts';
import { readPdf } from '../support/pdf.ts';
import { codeOf } from './support/codes.ts';
import {
  type Browser,
  type ControlPlane,
  createControlPlane,
  createPerson,
  password,
  signIn,
} from './support/server.ts';

// The export of an account, its erasure, and what is deleted by the clock.

let plane: ControlPlane;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  await addModel(pool, { id: 'big' });
  await transaction(pool, (client) =>
    savePlan(client, {
      plan: { id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10n ** 13n, validDays: null, enabled: true },
      actor: 'system',
    }),
  );
});
afterAll(() => plane.close());

interface Owner {
  browser: Browser;
  accountId: string;
  globalId: string;
  keySecret: string;
}

/** A person whose account has used everything that is stored of one. */
async function busyOwner(email: string, ip: string): Promise<Owner> {
  const { pool } = plane.database;
  const browser = await createPerson(plane, email, ip);
  const { rows } = await pool.query('SELECT id FROM account WHERE email = $1', [email]);
  const accountId: string = rows[0].id;
  const globalId = Buffer.from(`Account:${accountId}`).toString('base64');
  await browser.send(
    'mutation ($id: ID!, $name: String!) { setCompany(input: { accountId: $id, company: { name: $name } }) { __typename } }',
    { variables: { id: globalId, name: `CÔNG TY ${email}` } },
  );
  const made = await browser.send(
    'mutation ($name: String!) { createKey(input: { name: $name }) { ... on NewApiKey { secret } } }',
    { variables: { name: `Laptop of ${email}` } },
  );
  const { secret: keySecret } = (made.data as { createKey: { secret: string } }).createKey;
  const order = await browser.send('mutation { createOrder(input: { planId: "starter" }) { ... on Order { memo } } }');
  const { memo } = (order.data as { createOrder: { memo: string } }).createOrder;
  await createTransfers({ pool, accountNumbers: null }).receive(transfer({ memo }));
  await browser.send('mutation { createOrder(input: { planId: "starter" }) { __typename } }');
  const keys = await pool.query('SELECT id FROM api_key WHERE account_id = $1', [accountId]);
  const ledger = await openLedger(plane.database.url);
  const asked = ask({ accountId, keyId: keys.rows[0].id });
  const attribution = { session: `session of ${email}`, user: null, tags: ['team=a'] };
  await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked), { attribution }));
  await ledger.close();
  return { browser, accountId, globalId, keySecret };
}

const open = (url: string) => plane.app.inject({ method: 'GET', url: url.replace(/^http:\/\/[^/]+/, '') });
const exportLink = 'mutation { createAccountExport { __typename ... on Download { url } ... on Error { code } } }';
const erase = `mutation ($id: ID!, $email: String!, $password: String, $code: String) {
  eraseAccount(input: { accountId: $id, email: $email, password: $password, code: $code }) {
    __typename ... on AccountErased { people } ... on Error { code } } }`;
/** What an erasure answers, with the password unless another proof is given. */
const eraseWith = async (browser: Browser, id: string, email: string, proof: object = { password }) =>
  (await browser.send(erase, { variables: { id, email, ...proof } })).data?.['eraseAccount'];

describe('an export', () => {
  it('has the members, keys, settings, orders, payments, grants and the whole ledger, and no secret', async () => {
    const { browser, accountId, keySecret } = await busyOwner('an@example.com', '203.0.113.1');
    const { data } = await browser.send(exportLink);
    const { url } = (data as { createAccountExport: { url: string } }).createAccountExport;
    const reply = await open(url);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
    });
    const lines = reply.body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string });
    expect(new Set(lines.map(({ type }) => type))).toEqual(
      new Set(['export', 'account', 'company', 'member', 'key', 'order', 'payment', 'grant', 'ledger_entry']),
    );
    const of = (type: string) => lines.filter((line) => line.type === type);
    expect(of('grant').map(({ amount_usd: amount }) => amount)).toEqual(expect.arrayContaining(['5', '10']));
    expect(of('order')).toHaveLength(2);
    const { charged } = await readBalance(plane.database.pool, accountId);
    expect(of('ledger_entry')).toEqual([
      expect.objectContaining({
        charged_usd: (Number(charged) / 1e12).toString(),
        model: 'big',
        session: 'session of an@example.com',
        user: null,
        tags: ['team=a'],
      }),
    ]);
    expect(reply.body).not.toContain(keySecret);
    expect(reply.body).not.toMatch(/hash|sealed|password/);
  });

  it('is for those who manage members, signed in, at most 10 times a day', async () => {
    const { browser, globalId } = await busyOwner('limited@example.com', '203.0.113.2');
    const stranger = await createPerson(plane, 'stranger@example.com', '203.0.113.3');
    const theirs = await stranger.send(
      'mutation ($id: ID!) { createAccountExport(accountId: $id) { ... on Error { code } } }',
      { variables: { id: globalId } },
    );
    expect(theirs.data?.['createAccountExport']).toEqual({ code: 'NOT_FOUND' });
    expect((await plane.send(exportLink)).errors[0]?.extensions['code']).toBe('UNAUTHENTICATED');
    const codes: unknown[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1)
      codes.push((await browser.send(exportLink)).data?.['createAccountExport']);
    expect(codes.at(9)).toMatchObject({ __typename: 'Download' });
    expect(codes.at(10)).toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    for (const stray of ['/downloads/account.ndjson', '/downloads/account.ndjson?grant=x.y'])
      expect((await open(stray)).statusCode).toBe(403);
  });
});

describe('an erasure', () => {
  it('forgets the person everywhere but in the books, which still hold', async () => {
    const { pool } = plane.database;
    const email = 'forget-me@example.com';
    const { browser, accountId, globalId } = await busyOwner(email, '203.0.113.4');
    // Where the person signs in from, and may use keys from, is told, stored and recorded, too.
    await signIn(plane.browser('192.0.2.77'), email);
    await pool.query(`UPDATE api_key SET addresses = '{192.0.2.0/24}' WHERE account_id = $1`, [accountId]);
    await pool.query(
      `INSERT INTO account_limit (account_id, addresses) VALUES ($1, '{192.0.2.0/24}')
       ON CONFLICT (account_id) DO UPDATE SET addresses = excluded.addresses`,
      [accountId],
    );
    await browser.send(
      `mutation { createNoticeChannel(input: { kind: TELEGRAM, name: "Phone of forget-me", target: "12345",
         secret: "123456789:AAExampleTokenOfABotThatIsPlayed_0000" }) { __typename } }`,
    );
    const named = await browser.send(
      'mutation { createProject(input: { name: "Project of forget-me" }) { __typename ... on Project { id } } }',
    );
    const { id: projectId } = (named.data as { createProject: { id: string } }).createProject;
    await browser.send(
      `mutation { updateProject(input: { id: "${projectId}", name: "Forget-me again" }) { __typename } }`,
    );
    const { rows: recorded } = await pool.query(
      `SELECT (SELECT count(*)::int FROM notice WHERE user_id IS NOT NULL AND facts::text LIKE '%192.0.2.77%') AS notices,
              (SELECT count(*)::int FROM audit_entry WHERE after->>'name' = 'Phone of forget-me') AS channels,
              (SELECT count(*)::int FROM audit_entry WHERE after->>'name' IN ('Project of forget-me', 'Forget-me again')) AS projects`,
    );
    expect(recorded).toEqual([{ notices: 1, channels: 1, projects: 2 }]);
    expect(await eraseWith(browser, globalId, 'another@example.com')).toMatchObject({ code: 'BAD_INPUT' });
    const before = await readBalance(pool, accountId);
    expect(await eraseWith(browser, globalId, ' Forget-Me@example.com ')).toEqual({
      __typename: 'AccountErased',
      people: 1,
    });
    const mails = await plane.mailsTo(email);
    // Files of earlier mails are gone.
    expect(mails.map(({ subject }) => subject)).toEqual(['Your Steyg account was erased']);

    // No table but those of the books has the person's address or the names that they chose.
    const { rows: tables } = await pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
    );
    const left: string[] = [];
    for (const { name } of tables) {
      const { rows } = await pool.query(
        `SELECT 1 FROM "${name}" AS t WHERE t::text ~ '(?i)forget-me|192[.]0[.]2[.]' LIMIT 1`,
      );
      if (rows.length > 0) left.push(name);
    }
    // The parties of a paid order's receipt are kept as long as the books.
    expect(left).toEqual(['order_parties']);

    // The proof: by the link of the mail, without a session, in the person's language and the other.
    const [proofUrl = ''] = /http\S+downloads\/erasure\S+/.exec(mails[0]?.text ?? '') ?? [];
    const { rows: ended } = await pool.query('SELECT id FROM api_key WHERE account_id = $1', [accountId]);
    for (const [lang, title, oneProject] of [
      ['en', 'Confirmation of erasure', 'Projects: names'],
      ['vi', 'Xác nhận xóa dữ liệu', 'Dự án: tên'],
    ] as const) {
      const answer = await plane.app.inject(
        proofUrl.replace(/^http:\/\/[^/]+/, '').replace(/lang=\w+/, `lang=${lang}`),
      );
      expect(answer.headers['content-type']).toBe('application/pdf');
      const { lines } = readPdf(answer.rawPayload);
      const text = lines.join('\n');
      expect(text).toContain(title);
      for (const id of [accountId, ...ended.map(({ id: key }) => key as string)]) expect(text).toContain(id);
      expect(lines[lines.indexOf(oneProject) + 1]).toBe('1');
      expect(text).not.toMatch(/forget-me|192\.0\.2/i);
    }
    const stray = proofUrl.replace(/^http:\/\/[^/]+/, '').replace(/grant=./, 'grant=x');
    expect((await plane.app.inject(stray)).statusCode).toBe(403);

    const after = await readBalance(pool, accountId);
    expect(after).toMatchObject({ granted: before.granted, charged: before.charged, free: 0n });
    expect(await checkInvariants(pool)).toEqual([]);
    const { rows: entries } = await pool.query('SELECT 1 FROM ledger_entry WHERE account_id = $1', [accountId]);
    expect(entries).toHaveLength(1);
    const { rows: orders } = await pool.query(
      'SELECT status FROM purchase_order WHERE account_id = $1 ORDER BY created_at',
      [accountId],
    );
    expect(orders).toEqual([{ status: 'paid' }, { status: 'cancelled' }]);
    const { rows: keys } = await pool.query('SELECT 1 FROM api_key WHERE account_id = $1 AND deleted_at IS NULL', [
      accountId,
    ]);
    expect(keys).toEqual([]);
    expect((await browser.send('{ me { user { name } } }')).data?.['me'] ?? null).toBeNull();
    // The mailbox has had its trial.
    const { rows: claims } = await pool.query('SELECT 1 FROM trial_claim WHERE account_id = $1', [accountId]);
    expect(claims).toHaveLength(1);
  });

  it('is an owner’s alone, and leaves people who belong to another account', async () => {
    const { pool } = plane.database;
    const { accountId, globalId } = await busyOwner('owner@example.com', '203.0.113.5');
    const admin = await createPerson(plane, 'admin@example.com', '203.0.113.6');
    await pool.query(
      `INSERT INTO member (account_id, user_id, role) SELECT $1, id, 'admin' FROM app_user WHERE email = 'admin@example.com'`,
      [accountId],
    );
    expect(await eraseWith(admin, globalId, 'owner@example.com')).toMatchObject({ code: 'NOT_ALLOWED' });
    await pool.query(`UPDATE member SET role = 'owner' WHERE account_id = $1`, [accountId]);
    expect(await eraseWith(admin, globalId, 'owner@example.com')).toEqual({ __typename: 'AccountErased', people: 1 });
    expect((await admin.send('{ me { user { email } } }')).data?.['me']).toEqual({
      user: { email: 'admin@example.com' },
    });
    expect(await eraseWith(admin, globalId, 'owner@example.com')).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('needs the password or a one-time code: a stolen session is not enough', async () => {
    const email = 'robbed@example.com';
    const browser = await createPerson(plane, email, '203.0.113.8');
    const { rows } = await plane.database.pool.query('SELECT id FROM account WHERE email = $1', [email]);
    const id = Buffer.from(`Account:${rows[0].id}`).toString('base64');
    expect(await eraseWith(browser, id, email, {})).toMatchObject({ code: 'BAD_INPUT' });
    expect(await eraseWith(browser, id, email, { code: '123456' })).toMatchObject({ code: 'BAD_INPUT' });
    expect(await eraseWith(browser, id, email, { password: 'a guess' })).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    const begun = await browser.send(
      'mutation ($password: String!) { beginSecondFactor(password: $password) { ... on SecondFactorSetup { uri } } }',
      { variables: { password } },
    );
    const { uri } = (begun.data as { beginSecondFactor: { uri: string } }).beginSecondFactor;
    await browser.send('mutation ($code: String!) { confirmSecondFactor(code: $code) { __typename } }', {
      variables: { code: codeOf(uri) },
    });
    expect(await eraseWith(browser, id, email, { code: '000000' })).toMatchObject({ code: 'INVALID_CODE' });
    expect(await eraseWith(browser, id, email, { code: codeOf(uri, 1) })).toMatchObject({ people: 1 });
  });

  it('of a suspended account is the operator’s alone, and is recorded as theirs', async () => {
    const { pool } = plane.database;
    const email = 'suspended@example.com';
    const browser = await createPerson(plane, email, '203.0.113.9');
    const operator = await createPerson(plane, 'eraser@example.com', '203.0.113.10');
    const { rows } = await pool.query(`UPDATE account SET status = 'suspended' WHERE email = $1 RETURNING id`, [email]);
    const id = Buffer.from(`Account:${rows[0].id}`).toString('base64');
    expect(await eraseWith(browser, id, email)).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await eraseWith(operator, id, email)).toMatchObject({ code: 'NOT_FOUND' });
    const { rows: operators } = await pool.query(
      `UPDATE app_user SET operator = true, two_factor_enabled = true WHERE email = 'eraser@example.com' RETURNING id`,
    );
    expect(await eraseWith(operator, id, email)).toMatchObject({ people: 1 });
    const { rows: entries } = await pool.query(`SELECT actor FROM audit_entry WHERE subject = $1 AND action = $2`, [
      `account:${rows[0].id}`,
      'account.erase',
    ]);
    expect(entries).toEqual([{ actor: `user:${operators[0].id}` }]);
  });

  it('forgets the address where other accounts wrote it down: in their invitations and the log of these', async () => {
    const { pool } = plane.database;
    const email = 'invited-elsewhere@example.com';
    const host = await createPerson(plane, 'host@example.com', '203.0.113.12');
    const browser = await createPerson(plane, email, '203.0.113.13');
    await host.send(`mutation { inviteMember(input: { email: "${email}", role: VIEWER }) { __typename } }`);
    await host.send(
      `mutation { inviteMember(input: { email: "another-guest@example.com", role: VIEWER }) { __typename } }`,
    );
    const mentions = async (address: string) =>
      (
        await pool.query(
          `SELECT (SELECT count(*)::int FROM audit_entry WHERE concat(before, after) LIKE $1) AS entries,
                  (SELECT count(*)::int FROM invitation WHERE email LIKE $1) AS invitations`,
          [`%${address}%`],
        )
      ).rows[0];
    expect(await mentions(email)).toMatchObject({ invitations: 1 });
    const { rows } = await pool.query('SELECT id FROM account WHERE email = $1', [email]);
    expect(await eraseWith(browser, Buffer.from(`Account:${rows[0].id}`).toString('base64'), email)).toMatchObject({
      people: 1,
    });
    expect(await mentions(email)).toEqual({ entries: 0, invitations: 0 });
    expect(await mentions('another-guest@example.com')).toEqual({ entries: 1, invitations: 1 });
  });

  it('reads the audit log by its indexes alone, however long it is', async () => {
    const { pool } = plane.database;
    const email = 'indexed@example.com';
    const browser = await createPerson(plane, email, '203.0.113.16');
    const { rows } = await pool.query('SELECT id FROM account WHERE email = $1', [email]);
    const sent = vi.spyOn(Client.prototype, 'query');
    expect(await eraseWith(browser, Buffer.from(`Account:${rows[0].id}`).toString('base64'), email)).toMatchObject({
      people: 1,
    });
    const calls: unknown[][] = sent.mock.calls;
    const updates = calls.filter(([text]) => typeof text === 'string' && text.startsWith('UPDATE audit_entry'));
    sent.mockRestore();
    // Facts, texts of grants, and mentions by each index; the first two once more, when earlier transactions have ended.
    expect(updates).toHaveLength(6);
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      // A table this small is read whole, unless the planner has to avoid it where it can.
      await client.query('SET LOCAL enable_seqscan = off');
      for (const [text, values] of updates) {
        const { rows: plan } = await client.query(`EXPLAIN ${String(text)}`, values as unknown[]);
        const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
        expect(lines).toMatch(/Index.* audit_entry_(subject_created_at_idx|email_before|email_after)/);
        expect(lines).not.toContain('Seq Scan on audit_entry');
      }
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('leaves what other accounts wrote down of a person who stays with one of them', async () => {
    const { pool } = plane.database;
    const email = 'stays-elsewhere@example.com';
    const host = await createPerson(plane, 'evidence@example.com', '203.0.113.14');
    const guest = await createPerson(plane, email, '203.0.113.15');
    await host.send(`mutation { inviteMember(input: { email: "${email}", role: ADMIN }) { __typename } }`);
    await pool.query(
      `INSERT INTO member (account_id, user_id, role)
       SELECT a.id, u.id, 'admin' FROM account a, app_user u WHERE a.email = 'evidence@example.com' AND u.email = $1`,
      [email],
    );
    const { rows } = await pool.query('SELECT id FROM account WHERE email = $1', [email]);
    expect(await eraseWith(guest, Buffer.from(`Account:${rows[0].id}`).toString('base64'), email)).toMatchObject({
      people: 0,
    });
    const { rows: evidence } = await pool.query(
      `SELECT (SELECT count(*)::int FROM audit_entry WHERE after ->> 'email' = $1
                 AND subject = (SELECT 'account:' || id FROM account WHERE email = 'evidence@example.com')) AS entries,
              (SELECT count(*)::int FROM invitation WHERE email = $1) AS invitations`,
      [email],
    );
    expect(evidence).toEqual([{ entries: 1, invitations: 1 }]);
  });

  it('leaves the facts of what its people did elsewhere, such as changes of prices', async () => {
    const { pool } = plane.database;
    const email = 'former-operator@example.com';
    const browser = await createPerson(plane, email, '203.0.113.11');
    const { rows } = await pool.query(
      `SELECT a.id, m.user_id AS "userId" FROM account a JOIN member m ON m.account_id = a.id WHERE a.email = $1`,
      [email],
    );
    await pool.query(
      `INSERT INTO audit_entry (id, actor, action, subject, before, after)
       VALUES (gen_random_uuid(), 'user:' || $1, 'model.price', 'model:priced', '{"input": "1"}', '{"input": "2"}')`,
      [rows[0].userId],
    );
    await eraseWith(browser, Buffer.from(`Account:${rows[0].id}`).toString('base64'), email);
    const { rows: entries } = await pool.query(`SELECT before, after FROM audit_entry WHERE subject = 'model:priced'`);
    expect(entries).toEqual([{ before: { input: '1' }, after: { input: '2' } }]);
  });
});

describe('the retention', () => {
  it('deletes unused sessions and old entries of the audit log, and nothing younger', async () => {
    const { pool } = plane.database;
    const browser = await createPerson(plane, 'retained@example.com', '203.0.113.7');
    const { rows } = await pool.query(`SELECT id FROM app_user WHERE email = 'retained@example.com'`);
    const old = (days: number) =>
      pool.query(
        `INSERT INTO user_session (expires_at, token, user_id, updated_at)
         VALUES (now() + interval '1 year', gen_random_uuid()::text, $1, now() - make_interval(days => $2)) RETURNING id`,
        [rows[0].id, days],
      );
    await old(31);
    await old(29);
    const attributed = (days: number) =>
      pool.query(
        `WITH noted AS (INSERT INTO attribution (account_id, request_id, session, tags, created_at)
           SELECT id, gen_random_uuid(), 'old', '{}', now() - make_interval(days => $1) FROM account WHERE email = $2)
         INSERT INTO attribution_hour (account_id, kind, hour, label, model, key_id, first_at, last_at)
         SELECT id, 'session', now() - make_interval(days => $1), 'old', 'big', gen_random_uuid(), now(), now()
         FROM account WHERE email = $2`,
        [days, 'retained@example.com'],
      );
    const entry = (days: number) =>
      pool.query(
        `INSERT INTO audit_entry (id, actor, action, subject, created_at)
         VALUES (gen_random_uuid(), 'system', 'test', 'retention', now() - make_interval(days => $1))`,
        [days],
      );
    await entry(366);
    await entry(364);
    await attributed(401);
    await attributed(399);
    const days = { sessionDays: 30, auditDays: 365, attributionDays: 400 };
    const retention = createRetention({ pool, days });
    expect(await retention.apply()).toMatchObject({ sessions: 1, auditEntries: 1, attributions: 1 });
    expect(await retention.apply()).toMatchObject({ sessions: 0, auditEntries: 0, attributions: 0 });
    const { rows: kept } = await pool.query(
      `SELECT (SELECT count(*) FROM attribution WHERE session = 'old') AS noted,
              (SELECT count(*) FROM attribution_hour WHERE label = 'old') AS sums`,
    );
    expect(kept).toEqual([{ noted: 1n, sums: 1n }]);
    expect((await browser.send('{ me { user { email } } }')).data?.['me']).not.toBeNull();
    // Without the duty that says so the log is append-only, and never is an entry of the last month deleted.
    await expect(pool.query(`DELETE FROM audit_entry WHERE subject = 'retention'`)).rejects.toThrow('append-only');
    await entry(29);
    const hasty = createRetention({ pool, days: { ...days, auditDays: 1 } });
    await expect(hasty.apply()).rejects.toThrow('append-only');
  });
});

describe('a link of somebody who has no access any more', () => {
  it('answers 410 after a demotion, a removal and the erasure, whatever its time says', async () => {
    const { browser, accountId, globalId } = await busyOwner('links@example.com', '203.0.113.91');
    const admin = await createPerson(plane, 'links-admin@example.com', '203.0.113.92');
    const { pool } = plane.database;
    await pool.query(
      `INSERT INTO member (account_id, user_id, role) SELECT $1, id, 'admin' FROM app_user WHERE email = 'links-admin@example.com'`,
      [accountId],
    );
    const links = async (of: Browser) => {
      const { data } = await of.send(
        `mutation ($id: ID!) {
           createAccountExport(accountId: $id) { ... on Download { url } }
           createLedgerDownload(input: { accountId: $id }) { ... on Download { url } } }`,
        { variables: { id: globalId } },
      );
      return Object.values(data as Record<string, { url: string }>).map(({ url }) => url);
    };
    const statuses = async (urls: readonly string[]) => {
      const answers = await Promise.all(urls.map((url) => open(url)));
      return answers.map(({ statusCode }) => statusCode);
    };
    const ofAdmin = await links(admin);
    expect(await statuses(ofAdmin)).toEqual([200, 200]);
    const ofOwner = await links(browser);
    await pool.query(`UPDATE member SET role = 'viewer' WHERE account_id = $1 AND role = 'admin'`, [accountId]);
    expect(await statuses(ofAdmin)).toEqual([410, 200]);
    await pool.query(`DELETE FROM member WHERE account_id = $1 AND role = 'viewer'`, [accountId]);
    expect(await statuses(ofAdmin)).toEqual([410, 410]);
    expect(await statuses(ofOwner)).toEqual([200, 200]);
    expect(await eraseWith(browser, globalId, 'links@example.com')).toMatchObject({ __typename: 'AccountErased' });
    expect(await statuses(ofOwner)).toEqual([410, 410]);
  });
});
