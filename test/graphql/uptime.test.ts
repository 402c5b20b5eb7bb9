import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Uptime through GraphQL: what operators set, whom they let measure, what they say, and what everybody sees. */

let plane: ControlPlane;
let operator: Browser;
let customer: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  customer = await createPerson(plane, 'customer@example.com', '203.0.113.2');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  await plane.database.pool.query(
    `UPDATE app_user SET operator = true, two_factor_enabled = true WHERE email = 'operator@example.com'`,
  );
  await plane.database.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ('up-1', 'Up 1', 'f', 1000, 100)`,
  );
  await plane.database.pool.query(
    `INSERT INTO price (id, model_id, input, cache_hit, output) VALUES (gen_random_uuid(), 'up-1', 3000000, 300000, 15000000)`,
  );
});
afterAll(() => plane.close());

it('operators let agents measure and take that back; nobody else can, and the token is told once', async () => {
  const create = `mutation { createProbeAgent(input: { name: "hanoi-1", region: "Hanoi" }) {
    ... on CreatedProbeAgent { token probeAgent { id name last4 lastSeenAt } } } }`;
  expect((await customer.send(create)).errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
  const made = (await operator.send(create)).data as {
    createProbeAgent: { token: string; probeAgent: { id: string; last4: string } };
  };
  const { token, probeAgent } = made.createProbeAgent;
  expect(token).toMatch(/^pa-steyg-/);
  expect(token.endsWith(probeAgent.last4)).toBe(true);
  const list = '{ operator { probeAgents { id name region revokedAt } } }';
  const listed = await operator.send(list);
  expect(listed.data).toMatchObject({ operator: { probeAgents: [{ id: probeAgent.id, revokedAt: null }] } });
  expect(JSON.stringify(listed)).not.toContain(token);
  const revoke = `mutation ($id: ID!) { revokeProbeAgent(input: { id: $id }) { ... on ProbeAgent { revokedAt } ... on Error { code } } }`;
  const variables = { id: probeAgent.id };
  expect((await operator.send(revoke, { variables })).data).toEqual({
    revokeProbeAgent: { revokedAt: expect.any(String) },
  });
  expect((await operator.send(revoke, { variables })).data).toEqual({ revokeProbeAgent: { code: 'NOT_FOUND' } });
});

it('operators set pace and budget, and see what a month costs beside', async () => {
  const save = `mutation ($input: SaveProbingInput!) { saveProbing(input: $input) {
    ... on Probing { everyMinutes monthlyBudget models { modelId askedMinutes effectiveMinutes askedMonthlyCost monthlyCost monthlyUpstreamCost } }
    ... on Error { code message } } }`;
  const send = async (input: object) => (await operator.send(save, { variables: { input } })).data;
  expect(await send({ everyMinutes: 5, monthlyBudget: '1000' })).toMatchObject({
    saveProbing: {
      monthlyBudget: '1000',
      // Six probes of 24 and 16 tokens, every five minutes for 30 days, at 3 and 15 USD a million.
      models: [
        { modelId: 'up-1', askedMinutes: 5, effectiveMinutes: 5, monthlyCost: '16.17408', monthlyUpstreamCost: null },
      ],
    },
  });
  expect(await send({ modelId: 'up-1', everyMinutes: 10, monthlyBudget: '0.0001' })).toMatchObject({
    saveProbing: { models: [{ askedMinutes: 10, effectiveMinutes: 1_440, askedMonthlyCost: '8.08704' }] },
  });
  expect(await send({ modelId: 'gone-1', everyMinutes: 10 })).toMatchObject({ saveProbing: { code: 'NOT_FOUND' } });
  expect(await send({ everyMinutes: 0, monthlyBudget: '1' })).toMatchObject({
    saveProbing: { code: 'BAD_INPUT', message: 'everyMinutes must be at least 1.' },
  });
  const everybody = await plane.send('{ status { models { modelId everyMinutes measuredSince } } }');
  expect(everybody.data).toEqual({
    status: { models: [{ modelId: 'up-1', everyMinutes: 1_440, measuredSince: null }] },
  });
});

it('operators say how an incident goes on, and everybody reads it', async () => {
  const id = randomUUID();
  await plane.database.pool.query(
    `INSERT INTO incident (id, model, impact, affected, started_at) VALUES ($1, 'up-1', 'major', '{messages/plain}', now() - interval '1 hour')`,
    [id],
  );
  const look =
    '{ status { incidents { id cause updates { state body bodyVi } } measuredSince observers { name } absences { from } } }';
  const found = (await plane.send(look)).data as { status: { incidents: { id: string }[] } };
  const incidentId = found.status.incidents[0]?.id;
  const say = `mutation ($input: AddStatusUpdateInput!) { addStatusUpdate(input: $input) {
    ... on StatusUpdate { state } ... on Error { code } } }`;
  const input = { incidentId, state: 'IDENTIFIED', body: 'A cable.', bodyVi: 'Đứt cáp.' };
  expect((await operator.send(say, { variables: { input } })).data).toEqual({
    addStatusUpdate: { state: 'IDENTIFIED' },
  });
  expect((await operator.send(say, { variables: { input: { ...input, state: 'COMPLETED' } } })).data).toEqual({
    addStatusUpdate: { code: 'BAD_INPUT' },
  });
  expect((await customer.send(say, { variables: { input } })).errors).toHaveLength(1);
  expect((await plane.send(look)).data).toMatchObject({
    status: {
      incidents: [{ cause: null, updates: [{ state: 'IDENTIFIED', body: 'A cable.', bodyVi: 'Đứt cáp.' }] }],
      measuredSince: null,
      observers: [],
    },
  });
});

it('nothing of uptime is changed by an operator who signed in without a code, nor is a budget beyond all reason', async () => {
  const hasty = await createPerson(plane, 'hasty@example.com', '203.0.113.3');
  await plane.database.pool.query(`UPDATE app_user SET operator = true WHERE email = 'hasty@example.com'`);
  const agentId = Buffer.from(`ProbeAgent:${randomUUID()}`).toString('base64');
  const mutations = [
    'createProbeAgent(input: { name: "n", region: "r" }) { __typename }',
    `revokeProbeAgent(input: { id: "${agentId}" }) { __typename }`,
    'saveProbing(input: { everyMinutes: 5, monthlyBudget: "2000" }) { __typename }',
    'announce(input: { kind: INFO, title: "t", body: "b" }) { __typename }',
    `endAnnouncement(input: { id: "${agentId}" }) { __typename }`,
    'addStatusUpdate(input: { state: IDENTIFIED, body: "b" }) { __typename }',
  ];
  const refusals = [];
  for (const mutation of mutations) {
    const { errors } = await hasty.send(`mutation { ${mutation} }`);
    refusals.push(errors?.[0]?.extensions?.['code']);
  }
  expect(refusals).toEqual(mutations.map(() => 'SECOND_FACTOR_REQUIRED'));
  expect((await hasty.send('{ operator { probing { everyMinutes } } }')).errors).toEqual([]);

  const save = `mutation ($input: SaveProbingInput!) { saveProbing(input: $input) { __typename ... on Error { code } } }`;
  const { data } = await operator.send(save, {
    variables: { input: { everyMinutes: 5, monthlyBudget: '10000.000001' } },
  });
  expect(data).toMatchObject({ saveProbing: { code: 'BAD_INPUT' } });
});
