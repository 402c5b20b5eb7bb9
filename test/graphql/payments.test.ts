import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../server/database/lane.ts';
import { createAccessTokens } from '../../server/people/access-tokens.ts';
import { createTransfers, type Transfers } from '../../server/plans/bank/transfers.ts';
import { createOrders } from '../../server/plans/orders.ts';
import { savePlan } from '../../server/plans/plans.ts';
import { createUptime } from '../../server/uptime/uptime.ts';
import { bank, transfer } from '../plans/support.ts';
import { type Answer, type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Operators and payments, uptime, and customers' webhooks over GraphQL.

let plane: ControlPlane;
let an: Browser;
let binh: Browser;
let transfers: Transfers;
let token: string;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  transfers = createTransfers({ pool, accountNumbers: null });
  await transaction(pool, (client) =>
    savePlan(client, {
      plan: { id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10n ** 13n, validDays: null, enabled: true },
      actor: 'system',
    }),
  );
  an = await createPerson(plane, 'an@example.com', '203.0.113.1');
  binh = await createPerson(plane, 'binh@example.com', '203.0.113.2');
  token = await operatorToken();
});
afterAll(() => plane.close());

/** An operator's program: its scope stands in for a second factor. */
async function operatorToken(): Promise<string> {
  const outcome = await createAccessTokens({ pool: plane.database.pool }).create(
    {
      accountId: await accountId(an),
      name: 'operator',
      scopes: ['operator'],
      createdBy: null,
      expiresAt: null,
    },
    'command-line',
  );
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome.secret;
}

const operate = (query: string, variables: object = {}) =>
  plane.send(query, { variables: variables as Record<string, unknown>, headers: { authorization: `Bearer ${token}` } });

async function accountId(browser: Browser): Promise<string> {
  const { data } = await browser.send('{ me { accounts { id } } }');
  const id = (data as { me: { accounts: { id: string }[] } }).me.accounts[0]?.id ?? '';
  return Buffer.from(id, 'base64').toString().split(':')[1] ?? '';
}

async function order(): Promise<{ id: string; memo: string }> {
  const outcome = await createOrders({ pool: plane.database.pool, bank }).create({
    accountId: await accountId(binh),
    planId: 'starter',
  });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome.order;
}

/** What a field answered. */
function field(answer: Answer, name: string) {
  return answer.data?.[name] as { id: string; secret: string; endpoint: { id: string }; models: { days: object[] }[] };
}

interface Result {
  __typename: string;
  code?: string;
  [name: string]: unknown;
}

describe('an operator', () => {
  const queue = `{ operator { bankTransfers(queue: true, first: 100) {
    edges { node { id memo amountVnd order { id } review { reason order { id } surplusVnd } } } pageInfo { hasNextPage } } } }`;
  const inQueue = async () => {
    const { data, errors } = await operate(queue);
    expect(errors).toEqual([]);
    type Queue = { operator: { bankTransfers: { edges: { node: Result & { id: string } }[] } } };
    return (data as Queue).operator.bankTransfers.edges.map(({ node }) => node);
  };
  const match = `mutation ($transferId: ID!, $orderId: ID!) {
    matchTransfer(transferId: $transferId, orderId: $orderId) {
      __typename ... on BankTransfer { order { id } matchedBy } ... on Error { code message } } }`;

  it('finds what waits, matches it, and it waits no more', async () => {
    const { id, memo } = await order();
    const { transferId } = await transfers.receive(transfer({ memo: 'no code at all' }));
    expect((await inQueue()).some((one) => one.memo === 'no code at all')).toBe(true);
    const { data, errors } = await operate(match, { transferId, orderId: id });
    expect(errors).toEqual([]);
    expect(data?.['matchTransfer']).toMatchObject({
      __typename: 'BankTransfer',
      matchedBy: expect.stringMatching(/^token:/),
    });
    expect((await inQueue()).some((one) => one.memo === 'no code at all')).toBe(false);
    const found = await operate(
      'query ($memo: String) { operator { orders(memo: $memo) { edges { node { status } } } } }',
      {
        memo,
      },
    );
    expect(found.data).toEqual({ operator: { orders: { edges: [{ node: { status: 'PAID' } }] } } });
    const again = await operate(match, { transferId, orderId: id });
    expect(again.data?.['matchTransfer']).toMatchObject({ code: 'ALREADY_MATCHED' });
    const unknown = await operate(match, { transferId: 'x', orderId: id });
    expect(unknown.data?.['matchTransfer']).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('finds a transfer by part of its text, its reference or its amount, and says who matched it', async () => {
    const { id } = await order();
    const { transferId } = await transfers.receive(
      transfer({ memo: 'CHUYEN KHOAN HOA SEN', bankReference: 'FT-LOTUS-7', amountVnd: 731_000n }),
    );
    await transfers.receive(transfer({ memo: 'something else' }));
    await operate(match, { transferId, orderId: id });
    const search = `query ($search: String) { operator { bankTransfers(search: $search, first: 10) {
      totalCount edges { node { memo matchedBy matchedByName } } } } }`;
    for (const text of ['hoa sen', 'lotus-7', '731.000', ' 731000 ']) {
      const { data, errors } = await operate(search, { search: text });
      expect([text, errors]).toEqual([text, []]);
      expect([text, data]).toMatchObject([
        text,
        {
          operator: {
            bankTransfers: {
              totalCount: 1,
              edges: [{ node: { matchedBy: expect.any(String), matchedByName: expect.any(String) } }],
            },
          },
        },
      ]);
    }
    const nothing = await operate(search, { search: 'no such text' });
    expect(nothing.data).toMatchObject({ operator: { bankTransfers: { totalCount: 0 } } });
  });

  it('records what a statement says, once, and it is matched like any other', async () => {
    const { memo } = await order();
    const record = `mutation ($input: RecordTransferInput!) { recordTransfer(input: $input) {
      __typename ... on BankTransfer { id source order { id } } ... on Error { code } } }`;
    const input = {
      bankReference: 'FT777',
      amountVnd: '250000',
      memo: `ck ${memo}`,
      bookedAt: new Date().toISOString(),
    };
    const first = await operate(record, { input });
    expect(first.data?.['recordTransfer']).toMatchObject({ source: 'OPERATOR', order: { id: expect.any(String) } });
    const second = await operate(record, { input });
    expect(field(second, 'recordTransfer')['id']).toBe(field(first, 'recordTransfer')['id']);
    const nextWeek = new Date(Date.now() + 7 * 86_400_000).toISOString();
    for (const wrong of [
      { bankReference: '' },
      // The same reference with something else: the first one stands, and who tells it is told so.
      { amountVnd: '260000' },
      { memo: 'another' },
      { bookedAt: '2026-01-01' },
      { bankReference: 'FT778', bookedAt: nextWeek },
    ]) {
      const refused = await operate(record, { input: { ...input, ...wrong } });
      expect(refused.data?.['recordTransfer']).toMatchObject({ code: 'BAD_INPUT' });
    }
    const { rows } = await plane.database.pool.query(
      `SELECT actor, after FROM audit_entry WHERE action = 'transfer.record' AND after ->> 'bankReference' LIKE 'FT77%'`,
    );
    expect(rows).toEqual([
      {
        actor: expect.stringMatching(/^(user|token):/),
        after: expect.objectContaining({ bankReference: 'FT777', amountVnd: '250000' }),
      },
    ]);
  });

  it('closes what needs no order, with a note', async () => {
    const { transferId } = await transfers.receive(transfer({ direction: 'out', memo: 'rent' }));
    const close = `mutation ($id: ID!, $note: String!) { closeTransferReview(input: { transferId: $id, note: $note }) {
      __typename ... on BankTransfer { review { note closedBy } } ... on Error { code } } }`;
    const run = async (id: string, note: string) => (await operate(close, { id, note })).data?.['closeTransferReview'];
    expect(await run(transferId, 'our rent')).toMatchObject({ review: { note: 'our rent' } });
    expect(await run(transferId, 'again')).toMatchObject({ code: 'NOT_IN_QUEUE' });
    expect(await run('x', 'x')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await run(transferId, ' ')).toMatchObject({ code: 'BAD_INPUT' });
  });

  it('is the only one who can', async () => {
    const { id } = await order();
    const { transferId } = await transfers.receive(transfer({ memo: 'x' }));
    for (const document of [
      queue,
      '{ operator { orders { edges { node { memo } } } } }',
      `mutation { matchTransfer(transferId: "${transferId}", orderId: "${id}") { __typename } }`,
      `mutation { closeTransferReview(input: { transferId: "${transferId}", note: "x" }) { __typename } }`,
      `mutation { recordTransfer(input: { bankReference: "x", amountVnd: "1", memo: "", bookedAt: "2026-11-21" }) { __typename } }`,
      'mutation { announce(input: { kind: INFO, title: "x", body: "x" }) { __typename } }',
      'mutation { endAnnouncement(input: { id: "x" }) { __typename } }',
    ]) {
      for (const ask of [() => binh.send(document), () => plane.send(document)]) {
        const { errors } = await ask();
        expect(['FORBIDDEN', 'UNAUTHENTICATED']).toContain(errors[0]?.extensions['code']);
      }
    }
    expect((await transfers.find(transferId))?.orderId).toBeNull();
  });
});

const probe = (minutes: number, outcome: 'up' | 'down') => ({
  model: 'm',
  protocol: 'chat-completions' as const,
  mode: 'stream' as const,
  startedAt: new Date(Date.now() - minutes * 60_000),
  outcome,
  reason: null,
  status: 200,
  latencyMs: 120,
  timeToFirstByteMs: 60,
});

const chart = (from: Date, to: Date, period: string) =>
  plane.send(
    `query ($from: DateTime!, $to: DateTime!) { uptime(modelId: "m", from: $from, to: $to, period: ${period}, mode: STREAM) { at uptime { up down } } }`,
    { variables: { from: from.toISOString(), to: to.toISOString() } },
  );

describe('uptime', () => {
  const status = `{ status { state models { modelId displayName simulated state
    ways { protocol mode outcome latencyMs } last24Hours { up down noData ratio latencyMs } last7Days { ratio } last30Days { ratio }
    last90Days { ratio } days { at uptime { ratio } } } incidents { modelId impact affectedWays { mode } endedAt } announcements { title modelIds } } }`;

  it('is public', async () => {
    const { pool } = plane.database;
    await pool.query(
      `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ('m', 'M', 'f', 1000, 100)`,
    );
    await createUptime({ pool }).record([probe(20, 'up'), probe(15, 'down'), probe(10, 'down'), probe(5, 'down')]);
    const announced = await operate(
      `mutation { announce(input: { kind: INCIDENT, title: "We look into it", body: "Soon.", modelIds: ["m"] }) {
         __typename ... on Announcement { id } } }`,
    );
    const { data, errors } = await plane.send(status);
    expect(errors).toEqual([]);
    const report = data?.['status'] as { models: { days: object[] }[]; [name: string]: unknown };
    expect(report).toMatchObject({
      state: 'DOWN',
      incidents: [{ modelId: 'm', impact: 'MAJOR', affectedWays: [{ mode: 'STREAM' }], endedAt: null }],
      announcements: [{ title: 'We look into it', modelIds: ['m'] }],
    });
    expect(report.models[0]).toMatchObject({
      modelId: 'm',
      state: 'DOWN',
      ways: [{ protocol: 'CHAT_COMPLETIONS', mode: 'STREAM', outcome: 'DOWN' }],
      last24Hours: { up: 1, down: 3, noData: 0, ratio: 0.25, latencyMs: 120 },
    });
    expect(report.models[0]?.days).toHaveLength(90);
    const { id } = field(announced, 'announce');
    const ended = await operate('mutation ($id: ID!) { endAnnouncement(input: { id: $id }) { __typename } }', { id });
    expect(ended.data?.['endAnnouncement']).toMatchObject({ __typename: 'Announcement' });
    const list = await plane.send('{ incidents(first: 1, modelId: "m") { edges { node { modelId startedAt } } } }');
    expect((list.data as { incidents: { edges: object[] } }).incidents.edges).toHaveLength(1);
  });

  it('is drawn over time, within what a chart can show', async () => {
    const now = new Date();
    const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
    const { data, errors } = await chart(daysAgo(2), now, 'DAY');
    expect(errors).toEqual([]);
    const points = data?.['uptime'] as { uptime: { up: number; down: number } }[];
    expect(points.reduce((sum, { uptime }) => sum + uptime.up + uptime.down, 0)).toBe(4);
    for (const refused of [chart(now, daysAgo(1), 'DAY'), chart(daysAgo(60), now, 'HOUR')])
      expect((await refused).errors[0]?.extensions['code']).toBe('BAD_INPUT');
  });
});

describe('webhooks and notices', () => {
  const create = `mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) {
    __typename ... on WebhookEndpointWithSecret { secret endpoint { id url events enabled } } ... on Error { code message } } }`;

  it('are set up by the holder: the secret is shown once, and again only when it is replaced', async () => {
    const made = await an.send(create, {
      variables: { input: { url: 'https://example.com/hook', events: ['ORDER_PAID'] } },
    });
    expect(made.errors).toEqual([]);
    const { secret, endpoint } = field(made, 'createWebhookEndpoint');
    expect(secret).toMatch(/^whsec_/);
    const { id } = endpoint;
    const test = await an.send(
      `mutation ($id: ID!) { sendTestWebhook(id: $id) { __typename ... on WebhookDelivery { id event status } } }`,
      { variables: { id } },
    );
    expect(test.data?.['sendTestWebhook']).toMatchObject({ event: 'WEBHOOK_TEST', status: 'PENDING' });
    const { id: deliveryId } = field(test, 'sendTestWebhook');
    const replayed = await an.send(`mutation ($id: ID!) { replayWebhookDelivery(id: $id) { __typename } }`, {
      variables: { id: deliveryId },
    });
    expect(replayed.data?.['replayWebhookDelivery']).toEqual({ __typename: 'WebhookDelivery' });
    const log = await an.send(
      `{ me { accounts { webhookEndpoints { url deliveries(first: 10) { edges { node { event body status attempts { problem } } } } } } } }`,
    );
    expect(log.errors).toEqual([]);
    expect(log.text.match(/webhook\.test/g)?.length).toBeGreaterThanOrEqual(2);
    expect(log.text).not.toContain('whsec_');

    const rotated = await an.send(
      `mutation ($id: ID!) { rotateWebhookSecret(id: $id) { ... on WebhookEndpointWithSecret { secret } } }`,
      { variables: { id } },
    );
    expect(field(rotated, 'rotateWebhookSecret').secret).not.toBe(secret);
    const changed = await an.send(
      `mutation ($id: ID!) { updateWebhookEndpoint(input: { id: $id, enabled: false }) { ... on WebhookEndpoint { enabled url } } }`,
      { variables: { id } },
    );
    expect(changed.data?.['updateWebhookEndpoint']).toEqual({ enabled: false, url: 'https://example.com/hook' });

    const missing = Buffer.from('WebhookEndpoint:00000000-0000-7000-8000-000000000000').toString('base64');
    for (const document of [
      'query ($id: ID!) { node(id: $id) { id } }',
      'mutation ($id: ID!) { deleteWebhookEndpoint(id: $id) { __typename ... on Error { code message } } }',
      'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { __typename ... on Error { code message } } }',
      'mutation ($id: ID!) { sendTestWebhook(id: $id) { __typename ... on Error { code message } } }',
      'mutation ($id: ID!) { updateWebhookEndpoint(input: { id: $id, enabled: true }) { __typename ... on Error { code message } } }',
    ]) {
      const [foreign, none] = await Promise.all([
        binh.send(document, { variables: { id } }),
        binh.send(document, { variables: { id: missing } }),
      ]);
      expect(foreign.text).toBe(none.text);
    }
    const foreignReplay = await binh.send(`mutation ($id: ID!) { replayWebhookDelivery(id: $id) { __typename } }`, {
      variables: { id: deliveryId },
    });
    expect(foreignReplay.data?.['replayWebhookDelivery']).toEqual({ __typename: 'NotFoundError' });
    const gone = await an.send(`mutation ($id: ID!) { deleteWebhookEndpoint(id: $id) { __typename } }`, {
      variables: { id },
    });
    expect(gone.data?.['deleteWebhookEndpoint']).toEqual({ __typename: 'WebhookEndpoint' });
  });

  it.each(['http://example.com', 'https://127.0.0.1/', 'https://169.254.169.254/latest'])(
    'cannot be sent to %s',
    async (url) => {
      const { data } = await an.send(create, { variables: { input: { url } } });
      expect(data?.['createWebhookEndpoint']).toMatchObject({ __typename: 'InputError', code: 'BAD_INPUT' });
    },
  );

  it('is not told of kinds that a newer version has written: the page shows the others', async () => {
    const id = await accountId(an);
    const { pool } = plane.database;
    await pool.query('ALTER TABLE notice DROP CONSTRAINT notice_kind');
    await pool.query(
      `INSERT INTO notice (id, account_id, kind, subject, facts, mail)
       SELECT gen_random_uuid(), $1, kind, 'versions', '{}', 'none' FROM unnest($2::text[]) AS kind`,
      [id, ['balance_low', 'of_a_newer_version', 'balance_exhausted']],
    );
    await pool.query(
      `INSERT INTO notice (id, kind, subject, facts, mail) VALUES (gen_random_uuid(), 'of_a_newer_version', '', '{}', 'none')`,
    );
    const { data, errors } = await an.send('{ me { accounts { notices { nodes { kind } } } } }');
    expect(errors).toEqual([]);
    const [account] = (data as { me: { accounts: { notices: { nodes: { kind: string }[] } }[] } }).me.accounts;
    expect(account?.notices.nodes.map(({ kind }) => kind).toSorted()).toEqual(['BALANCE_EXHAUSTED', 'BALANCE_LOW']);
    const business = await operate('{ operator { notices { nodes { kind } } } }');
    expect(business.errors).toEqual([]);
    await pool.query(`DELETE FROM notice WHERE kind = 'of_a_newer_version' OR subject = 'versions'`);
  });

  it('say when to be told', async () => {
    const settings = '{ me { accounts { noticeSettings { lowBalance mail } notices { nodes { kind } } } } }';
    const read = async () =>
      ((await an.send(settings)).data as { me: { accounts: { noticeSettings: object }[] } }).me.accounts[0]
        ?.noticeSettings;
    expect(await read()).toEqual({ lowBalance: '1', mail: true });
    await an.send(`mutation { updateNoticeSettings(input: { lowBalance: "2.5", mail: false }) { __typename } }`);
    expect(await read()).toEqual({ lowBalance: '2.5', mail: false });
  });
});
