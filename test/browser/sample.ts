import { orThrow } from '@steyg/sdk';
import type { Pool } from 'pg';
import { createPerson, mailTo, type Person, type Site, signInOperator, transferMoney } from './people.ts';
import type { Subjects } from './places.ts';

/** A service that has been in use for some days, so that pages show what people will see. */

export interface Sample {
  /** A person who uses it every day. */
  person: Person;
  /** A person who has just signed up. */
  newcomer: Person;
  subjects: Subjects;
}

const requests = 96;
const sessions = [
  '0f0a6c1e-7f1d-4b52-9c3e-5d8e1b2a7c11',
  '4be0643f-1d98-473b-97cd-ca98a65347dd',
  'a3bb189e-8bf9-3888-9912-ace4e6543002',
];
const days = 6;

/** Real requests, orders and transfers over the wire; only their times are moved into the past. */
export async function createSample(site: Site, pool: Pool): Promise<Sample> {
  const operator = await signInOperator(site);
  const { operator: control } = operator.steyg.console;
  orThrow(
    await control.savePlan({
      input: { planId: 'team', name: 'Team', priceVnd: '2400000', budget: '100', validDays: 180 },
    }),
  );
  await addModel(operator.steyg);

  const person = await createPerson(site, { name: 'Nguyễn Lan Anh' });
  const newcomer = await createPerson(site, { name: 'Trần Quốc Bảo' });
  for (const name of ['Phạm Thị Hồng Nhung', 'Lê Minh', 'Công ty TNHH Phần mềm Sao Mai và Cộng sự']) {
    await createPerson(site, { name });
  }
  const { keys, orders, accounts } = person.steyg.console;
  const shop = orThrow(await keys.createProject({ input: { name: 'Trang bán hàng', limits: { month: '25' } } }));
  orThrow(await keys.createProject({ input: { name: 'Nghiên cứu', limits: { month: '10', lifetime: '100' } } }));
  const secrets: string[] = [];
  for (const input of [
    { name: 'MacBook của Lan Anh', limits: { day: '5' } },
    { name: 'CI dự án bán hàng', models: ['sim-small', 'sim-medium'], limits: { month: '40' }, projectId: shop.id },
    { name: 'agent-staging-with-a-rather-long-name-that-somebody-gave-it' },
  ]) {
    const { secret } = orThrow(await keys.createKey({ input }));
    secrets.push(secret ?? '');
  }
  const deleted = orThrow(await keys.createKey({ input: { name: 'Điện thoại cũ' } }));
  orThrow(await keys.deleteKey({ id: deleted.key.id }));

  await useModels(site, secrets, Math.floor(requests / 3));
  const starter = orThrow(await orders.createOrder({ input: { planId: 'starter' } }));
  await transferMoney(site, { amountVnd: 250_000, memo: starter.memo });
  await useModels(site, secrets, requests - Math.floor(requests / 3));
  await nothingHeld(pool);
  await moveIntoThePast(pool, person.accountId);

  const partial = orThrow(await orders.createOrder({ input: { planId: 'team' } }));
  await transferMoney(site, { amountVnd: 1_000_000, memo: partial.memo });
  orThrow(await orders.cancelOrder({ id: orThrow(await orders.createOrder({ input: { planId: 'starter' } })).id }));
  const open = orThrow(await orders.createOrder({ input: { planId: 'starter' } }));
  await transferMoney(site, { amountVnd: 250_000, memo: 'CHUYEN TIEN STEYG LE MINH' });
  await transferMoney(site, { amountVnd: 199_000, memo: `${open.memo.slice(0, 8)}?` });

  orThrow(await accounts.inviteMember({ email: 'dong.nghiep@example.com', role: 'MEMBER' }));
  orThrow(await accounts.createAccessToken({ input: { name: 'báo cáo hằng tuần', scopes: ['READ'] } }));
  await addColleague(site, person);
  await addCodes(operator.steyg, person);
  orThrow(
    await person.steyg.console.webhooks.createWebhookEndpoint({
      input: { url: 'https://hooks.example.com/steyg', description: 'Kênh #chi-phi' },
    }),
  );
  const me = await person.steyg.console.people.me();
  const accountId = me?.accounts[0]?.id ?? '';
  orThrow(await control.giveGrant({ input: { accountId, amount: '2', reason: 'Đền bù sự cố ngày 18/11' } }));
  orThrow(
    await control.announce({
      input: {
        kind: 'MAINTENANCE',
        title: 'Database maintenance on Sunday',
        titleVi: 'Bảo trì cơ sở dữ liệu vào Chủ nhật',
        body: 'Requests may wait up to a minute between 02:00 and 02:30 (Hanoi).',
        bodyVi: 'Từ 02:00 đến 02:30 (giờ Hà Nội), yêu cầu có thể chậm tối đa một phút.',
        startsAt: new Date(Date.now() + 30 * 3_600_000).toISOString(),
        endsAt: new Date(Date.now() + 30.5 * 3_600_000).toISOString(),
      },
    }),
  );
  await measureThePast(pool);
  await billThePast(operator.steyg, pool);
  await tellNotices(pool, person.accountId);
  await addPasskeys(pool, person.email);
  orThrow(await control.beginAccountView({ accountId }));
  const entries = await person.steyg.console.ledger.listEntries({ first: 1 });
  return {
    person,
    newcomer,
    subjects: {
      orderId: open.id,
      accountId,
      requestId: entries?.edges[0]?.node.requestId ?? '',
      modelId: 'sim-large',
    },
  };
}

type Control = Person['steyg'];

/** A member with a budget of a month and a key of their own. */
async function addColleague(site: Site, person: Person): Promise<void> {
  const colleague = await createPerson(site, { name: 'Đỗ Thị Mỹ Duyên' });
  const { accounts, keys } = person.steyg.console;
  const { accountId } = person;
  orThrow(await accounts.inviteMember({ accountId, email: colleague.email, role: 'MEMBER' }));
  for (;;) {
    const link = (await mailTo(site, colleague.email)).links.find((each) => each.includes('/invitation'));
    if (link !== undefined) {
      const token = new URL(link).searchParams.get('token') ?? '';
      orThrow(await colleague.steyg.console.accounts.acceptInvitation({ token }));
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const members = await accounts.listMembers({ accountId });
  const { id = '' } = members?.find(({ email }) => email === colleague.email) ?? {};
  orThrow(await keys.setMemberBudget({ input: { id, month: '12' } }));
  const made = orThrow(
    await colleague.steyg.console.keys.createKey({ input: { accountId, name: 'Máy tính của Duyên' } }),
  );
  await useModels(site, [made.secret ?? ''], 4);
}

/** Codes, of which one is redeemed, an amount that buyers choose, and a bonus for large orders. */
async function addCodes(steyg: Control, person: Person): Promise<void> {
  const { operator } = steyg.console;
  const fair = orThrow(
    await operator.createCodes({ input: { name: 'Vietnam Mobile Day', count: 20, amount: '3', validDays: 30 } }),
  );
  const old = orThrow(await operator.createCodes({ input: { name: 'Lớp học tháng 10', count: 5, planId: 'starter' } }));
  orThrow(await person.steyg.console.orders.redeemCode({ code: fair.codes[0] ?? '' }));
  orThrow(await operator.revokeCodes({ batchId: old.batch.id }));
  orThrow(await operator.saveTopUp({ topUp: { planId: 'starter', minVnd: '50000', maxVnd: '20000000' } }));
  orThrow(await operator.saveBonusSteps({ steps: [{ fromVnd: '2000000', basisPoints: 750 }] }));
}

/** A vendor's bill of which one day differs. */
async function billThePast(steyg: Control, pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ upstream: string; line: string }>(
    `SELECT upstream, concat_ws(',', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), model, sum(input)
              + CASE WHEN row_number() OVER (ORDER BY min(created_at)) = 3 THEN 61234 ELSE 0 END,
            sum(cache_hit), sum(cache_write_5m + cache_write_1h), sum(output)) AS line
     FROM ledger_entry WHERE upstream IS NOT NULL
     GROUP BY upstream, model, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  );
  for (const upstream of new Set(rows.map((row) => row.upstream))) {
    const lines = rows.filter((row) => row.upstream === upstream).map(({ line }) => line);
    const csv = `day,model,input,cache_hit,cache_write,output\n${lines.join('\n')}\n`;
    orThrow(await steyg.console.books.importVendorUsage({ input: { upstream, csv } }));
  }
}

/** As an authenticator would have left them; nobody signs in with them here. */
async function addPasskeys(pool: Pool, email: string): Promise<void> {
  await pool.query(
    `INSERT INTO user_passkey (name, user_id, credential_id, public_key, counter, device_type, backed_up, created_at, last_used_at)
     SELECT one.name, id, one.name, 'x', 0, 'multiDevice', one.name <> 'YubiKey', now() - interval '4 days', used
     FROM app_user, (VALUES ('iPhone của Lan Anh', now() - interval '3 hours'), ('YubiKey', NULL)) AS one (name, used)
     WHERE email = $1`,
    [email],
  );
}

/** One more model, of another family, with two generations of prices. */
async function addModel(steyg: Control): Promise<void> {
  const { operator: control } = steyg.console;
  const modelId = 'sen-coder-flash';
  orThrow(
    await control.saveModel({
      input: {
        modelId,
        displayName: 'Sen Coder Flash',
        family: 'sen',
        contextWindow: 256_000,
        maxOutputTokens: 32_000,
        capabilities: ['tools'],
      },
    }),
  );
  orThrow(
    await control.savePrices({ input: { modelId, prices: { input: '0.15', cacheHit: '0.015', output: '0.6' } } }),
  );
  orThrow(
    await control.savePrices({
      input: {
        modelId,
        prices: {
          input: '0.12',
          cacheHit: '0.012',
          output: '0.5',
          tiers: [{ abovePromptTokens: 128_000, input: '0.24', cacheHit: '0.024', output: '0.75' }],
          clock: {
            timeZone: 'Asia/Shanghai',
            exceptDates: ['2027-01-01'],
            windows: [
              {
                weekdays: ['MON', 'TUE', 'WED', 'THU', 'FRI'],
                hours: ['09:00-12:00', '14:00-18:00'],
                input: '0.24',
                cacheHit: '0.024',
                output: '1',
                tiers: [{ abovePromptTokens: 128_000, input: '0.48', cacheHit: '0.048', output: '1.5' }],
              },
            ],
          },
        },
      },
    }),
  );
  const costs = { input: '0.08', cacheHit: '0.008', output: '0.3' };
  orThrow(
    await control.setRoutes({
      modelId,
      routes: [{ upstreamId: 'simulator-chat', upstreamModel: 'sim-small', costs }],
    }),
  );
}

/** Agents at work: a long conversation that is mostly read from the cache, in either protocol. */
async function useModels(site: Site, secrets: readonly string[], count: number): Promise<void> {
  const models = ['sim-large', 'sim-medium', 'sim-small', 'sen-coder-flash', 'sim-medium'];
  const one = async (index: number): Promise<void> => {
    const model = models[index % models.length] ?? '';
    // The second key may not call every model, and people meet that too.
    const secret = secrets[index % secrets.length] ?? '';
    const context = 'The build of the shop fails in the step that signs the invoices. '.repeat(600 + (index % 7) * 250);
    const wish = index % 17 === 5 ? '[[status 500]]' : `[[len ${1_200 + (index % 9) * 700}]]`;
    const messages = index % 2 === 0;
    const response = await fetch(`${site.baseUrl}/v1/${messages ? 'messages' : 'chat/completions'}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        ...(messages ? { 'anthropic-version': '2023-06-01' } : {}),
        ...(index % 5 === 4
          ? {}
          : {
              'x-claude-code-session-id': sessions[index % sessions.length] ?? '',
              'x-steyg-tags': `team=${index % 2 === 0 ? 'shop' : 'search'},env=${index % 3 === 0 ? 'prod' : 'staging'}`,
            }),
      },
      body: JSON.stringify({
        model,
        max_tokens: 8_000,
        stream: index % 3 !== 0,
        ...(messages ? { system: [{ type: 'text', text: context, cache_control: { type: 'ephemeral' } }] } : {}),
        messages: [
          ...(messages ? [] : [{ role: 'system', content: context }]),
          { role: 'user', content: `Step ${index}: go on. ${wish}` },
        ],
      }),
    });
    await response.text();
  };
  for (let index = 0; index < count; index += 4) {
    await Promise.all([0, 1, 2, 3].filter((more) => index + more < count).map((more) => one(index + more)));
  }
}

async function nothingHeld(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ held: boolean }>('SELECT EXISTS (SELECT FROM hold) AS held');
    if (rows[0]?.held !== true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Spreads what was just done over the last days. The ledger refuses to be rewritten, so this needs a superuser who
 * turns its rules off: it is for pictures, and nothing that a test may judge.
 */
async function moveIntoThePast(pool: Pool, accountId: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`SET session_replication_role = replica`);
    await client.query(
      `CREATE TEMP TABLE moved AS
       SELECT request_id AS was, at,
              (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || right(replace(request_id::text, '-', ''), 20))::uuid AS now
       FROM (SELECT request_id, created_at - make_interval(secs =>
                      (1 - (row_number() OVER (ORDER BY request_id))::float / count(*) OVER ()) ^ 1.2 * 86400 * ${days}) AS at
             FROM ledger_entry WHERE account_id = $1) AS spread`,
      [accountId],
    );
    await client.query(
      `UPDATE ledger_entry e SET request_id = m.now, created_at = m.at FROM moved m WHERE e.request_id = m.was`,
    );
    await client.query(
      `UPDATE posting p SET request_id = m.now, created_at = m.at FROM moved m WHERE p.request_id = m.was`,
    );
    await client.query(
      `UPDATE attribution a SET request_id = m.now, created_at = m.at FROM moved m WHERE a.request_id = m.was`,
    );
    await client.query('DELETE FROM usage_hour WHERE account_id = $1', [accountId]);
    await client.query(
      `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, input, cache_hit, cache_write_5m,
                               cache_write_1h, output, cost, charged, upstream_cost)
       SELECT account_id, date_trunc('hour', created_at, 'UTC'), model, key_id, outcome, count(*),
              sum(input), sum(cache_hit), sum(cache_write_5m), sum(cache_write_1h), sum(output), sum(cost),
              sum(charged), sum(coalesce(upstream_cost, 0))
       FROM ledger_entry WHERE account_id = $1 GROUP BY 1, 2, 3, 4, 5`,
      [accountId],
    );
    const ago = `make_interval(hours => CASE kind WHEN 'trial' THEN 150 ELSE 76 END)`;
    await client.query(
      `UPDATE "grant" SET created_at = created_at - ${ago}, expires_at = expires_at - ${ago} WHERE account_id = $1`,
      [accountId],
    );
    await client.query(
      `UPDATE purchase_order SET created_at = created_at - interval '77 hours', paid_at = paid_at - interval '76 hours'
       WHERE account_id = $1`,
      [accountId],
    );
    await client.query(`UPDATE api_key SET created_at = created_at - interval '150 hours' WHERE account_id = $1`, [
      accountId,
    ]);
    await client.query(`UPDATE account SET created_at = created_at - interval '151 hours' WHERE id = $1`, [accountId]);
  } finally {
    // Not one that others may be given: the rules are off in it.
    client.release(true);
  }
}

/** Ninety days of probes, with two bad days and one on which nothing was measured. */
async function measureThePast(pool: Pool): Promise<void> {
  const ways = `(SELECT m.id AS model, w.protocol, w.mode FROM model m,
    (VALUES ('messages', 'stream'), ('messages', 'plain'), ('chat-completions', 'stream'), ('chat-completions', 'plain'),
     ('responses', 'stream'), ('responses', 'plain')) AS w (protocol, mode)) AS way`;
  await pool.query(
    `INSERT INTO uptime_day (model, protocol, mode, day, up, down, no_data, latency_ms)
     SELECT model, protocol, mode, day,
            CASE WHEN ago = 40 THEN 0 WHEN ago = 12 AND model = 'sim-large' THEN 200 WHEN ago = 61 THEN 280 ELSE 288 END,
            CASE WHEN ago = 40 THEN 0 WHEN ago = 12 AND model = 'sim-large' THEN 88 WHEN ago = 61 THEN 8 ELSE 0 END,
            CASE WHEN ago = 40 THEN 288 ELSE 0 END, CASE WHEN ago = 40 THEN 0 ELSE 288 * (420 + ago * 2) END
     FROM ${ways}, (SELECT (now() AT TIME ZONE 'UTC')::date - ago AS day, ago FROM generate_series(1, 84) AS ago) AS days
     ON CONFLICT DO NOTHING`,
  );
  await pool.query(
    `INSERT INTO uptime_hour (model, protocol, mode, hour, up, down, no_data, latency_ms)
     SELECT model, protocol, mode, date_trunc('hour', now(), 'UTC') - make_interval(hours => ago), 12, 0, 0, 12 * (380 + ago * 9)
     FROM ${ways}, generate_series(1, 23) AS ago ON CONFLICT DO NOTHING`,
  );
  await pool.query(
    `INSERT INTO model_probing (model, measured_since) SELECT model, min(day) FROM uptime_day GROUP BY model
     ON CONFLICT (model) DO UPDATE SET measured_since = excluded.measured_since`,
  );
  await pool.query(
    `INSERT INTO incident (id, model, impact, affected, started_at, opened_at, ended_at)
     SELECT gen_random_uuid(), model, impact, affected, at, at + interval '6 minutes', at + lasted
     FROM (VALUES ('sim-large', 'major', ARRAY['messages/stream', 'messages/plain', 'chat-completions/stream'], now() - interval '12 days', interval '7 hours 20 minutes'),
                  ('sim-small', 'partial', ARRAY['chat-completions/stream'], now() - interval '61 days', interval '41 minutes'))
          AS past (model, impact, affected, at, lasted)`,
  );
}

/** What the account and the operators were told in these days. */
async function tellNotices(pool: Pool, accountId: string): Promise<void> {
  const soon = new Date(Date.now() + 30 * 3_600_000).toISOString();
  const past = new Date(Date.now() - 40 * 3_600_000).toISOString();
  const told: [account: boolean, kind: string, facts: Record<string, string>, hours: number, over: number | null][] = [
    [true, 'balance_low', { balance_usd: '0.94', threshold_usd: '1' }, 80, 76],
    [true, 'burn_rate', { spent_usd: '5.2317', limit_usd: '5', minutes: '60' }, 50, 48],
    [
      true,
      'key_limit_near',
      { key_name: 'CI dự án bán hàng', spent_usd: '32.1', limit_usd: '40', percent: '80' },
      40,
      null,
    ],
    [true, 'grant_expiring', { amount_usd: '3.4', expires_at: soon }, 20, null],
    [true, 'price_changed', { model: 'sen-coder-flash', valid_from: past }, 41, null],
    [true, 'model_incident', { model: 'sim-large', impact: 'major', started_at: past }, 40, 39],
    [false, 'upstream_failing', { upstream: 'simulator-messages', failures: '12' }, 30, 28],
    [false, 'transfer_waiting', { transfer_id: 'x', amount_vnd: '250000', reason: 'no_memo' }, 5, null],
    [false, 'margin_low', { percent: '8', minimum: '15' }, 12, null],
    [false, 'shortfall', { amount_usd: '0.000431', hour: past }, 60, 58],
    [
      false,
      'bill_differs',
      { upstream: 'simulator-chat', model: 'sim-small', day: past.slice(0, 10), percent: '3' },
      8,
      null,
    ],
    [false, 'bill_missing', { upstream: 'simulator-messages', day: past.slice(0, 10), days: '2' }, 7, null],
  ];
  for (const [ofAccount, kind, facts, hours, over] of told) {
    await pool.query(
      `INSERT INTO notice (id, account_id, kind, subject, facts, created_at, mail, cleared_at)
       VALUES (gen_random_uuid(), $1, $2, '', $3, now() - make_interval(hours => $4), 'sent', now() - make_interval(hours => $5))`,
      [ofAccount ? accountId : null, kind, JSON.stringify(facts), hours, over],
    );
  }
}
