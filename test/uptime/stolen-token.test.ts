/** What somebody with the stolen token of a probe agent can do to public history, and with the agent's key. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecret, parseAgentToken } from '../../server/keys/secret.ts';
import { createProbeAgents, type ProbeAgents } from '../../server/uptime/agents/agents.ts';
import type { ProbeResult } from '../../server/uptime/probes/probe.ts';
import { createUptime, type Uptime } from '../../server/uptime/uptime.ts';
import { startApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let uptime: Uptime;
let agents: ProbeAgents;
beforeAll(async () => {
  service = await startApp();
  uptime = createUptime({ pool: service.pool });
  agents = createProbeAgents({
    pool: service.pool,
    tokens: { create: () => createSecret('agent'), parse: parseAgentToken },
  });
});
afterAll(() => service.close());

const minute = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * minute);

/** An agent that was made an hour ago. */
async function makeAgent(): Promise<{ id: string; token: string }> {
  const made = await agents.create({ name: `stolen-${randomUUID().slice(0, 8)}`, region: 'Elsewhere' }, 'test');
  if (made.kind !== 'created') throw new Error(made.kind);
  await service.pool.query('UPDATE probe_agent SET created_at = $2 WHERE id = $1', [made.agent.id, ago(60)]);
  return { id: made.agent.id, token: made.secret };
}

/** A model that is probed every minute. */
async function makeModel(): Promise<string> {
  const id = `model-${randomUUID().slice(0, 8)}`;
  await service.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ($1, $1, 'f', 1000, 100)`,
    [id],
  );
  await service.pool.query('INSERT INTO model_probing (model, every_minutes, effective_minutes) VALUES ($1, 1, 1)', [
    id,
  ]);
  return id;
}

function found(model: string, minutesAgo: number, outcome: 'up' | 'down'): ProbeResult {
  return {
    model,
    protocol: 'messages',
    mode: 'plain',
    startedAt: ago(minutesAgo),
    outcome,
    reason: outcome === 'up' ? null : 'timeout',
    status: outcome === 'up' ? 200 : null,
    latencyMs: outcome === 'up' ? 50 : null,
    timeToFirstByteMs: null,
  };
}

const call = (token: string, path: string, body?: object) =>
  fetch(`${service.baseUrl}/uptime/${path}`, {
    method: path === 'plan' ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

function tell(token: string, result: ProbeResult): Promise<Response> {
  const { startedAt } = result;
  return call(token, 'rounds', { id: randomUUID(), startedAt, endedAt: startedAt, results: [result] });
}

async function tellAll(token: string, results: readonly ProbeResult[]): Promise<number[]> {
  const statuses = [];
  for (const result of results) statuses.push((await tell(token, result)).status);
  return statuses;
}

/** All that is public of a model, and since when it is measured. */
async function shown(model: string) {
  const report = await uptime.report();
  const { state, measuredSince, last24Hours, days } = report.models.find(({ id }) => id === model) ?? {};
  const hours = await uptime.series({ model, from: ago(60 * 24 * 95), to: new Date(), by: 'hour' });
  return {
    state,
    measuredSince,
    last24Hours,
    days: days?.filter(({ up, down, noData }) => up + down + noData > 0),
    hours: hours.filter(({ up, down, noData }) => up + down + noData > 0),
    incidents: report.incidents.filter((incident) => incident.model === model),
  };
}

const nine = [9, 8, 7, 6, 5, 4, 3, 2, 1];

describe('a stolen token of a probe agent', () => {
  it('writes nothing from before the agent was made, and nothing that is older than ten minutes', async () => {
    const model = await makeModel();
    await uptime.record([found(model, 2, 'up')]);
    const before = await shown(model);
    const { id, token } = await makeAgent();
    expect(
      await tellAll(
        token,
        [60 * 24 * 6, 600, 61, 30, 11].map((at) => found(model, at, 'down')),
      ),
    ).toEqual([422, 422, 422, 422, 422]);
    await service.pool.query('UPDATE probe_agent SET created_at = now() WHERE id = $1', [id]);
    expect(await tellAll(token, [found(model, 5, 'up'), found(model, 1, 'down')])).toEqual([422, 422]);
    expect(await shown(model)).toEqual(before);
  });

  it('tells no more than the plan asks for, in one round or in many', async () => {
    const model = await makeModel();
    const { id, token } = await makeAgent();
    const many = Array.from({ length: 500 }, (_, i) => found(model, 9 - i / 60, 'up'));
    const [first] = many;
    const last = many.at(-1);
    if (first === undefined || last === undefined) throw new Error('no results');
    const answer = await call(token, 'rounds', {
      id: randomUUID(),
      startedAt: first.startedAt,
      endedAt: last.startedAt,
      results: many,
    });
    // 500 seconds, with half of a minute between two of them.
    expect(await answer.json()).toEqual({ recorded: 17, ignored: 483, repeated: false });
    expect(await tellAll(token, many.slice(0, 20))).toEqual(Array.from({ length: 20 }, () => 422));
    const { rows } = await service.pool.query('SELECT count(*)::int AS n FROM probe_result WHERE agent_id = $1', [id]);
    expect(rows).toEqual([{ n: 17 }]);
  });

  it('alone makes no model down, opens no incident and takes nothing from its uptime', async () => {
    const model = await makeModel();
    await uptime.record(nine.map((at) => found(model, at + 0.5, 'up')));
    const before = await shown(model);
    const { token } = await makeAgent();
    expect(
      await tellAll(
        token,
        nine.map((at) => found(model, at, 'down')),
      ),
    ).toEqual(nine.map(() => 200));
    const after = await shown(model);
    expect(after).toEqual(before);
    expect(after).toMatchObject({ state: 'up', incidents: [], last24Hours: { up: 9, down: 0 } });
  });

  it('alone is no evidence against a model that nobody else measures either', async () => {
    const model = await makeModel();
    const { token } = await makeAgent();
    expect(
      await tellAll(
        token,
        nine.map((at) => found(model, at, 'down')),
      ),
    ).toEqual(nine.map(() => 200));
    expect(await shown(model)).toMatchObject({ state: 'no_data', incidents: [], hours: [] });
  });

  it('does not make more of one failed probe of the service than it was', async () => {
    const model = await makeModel();
    await uptime.record(nine.map((at) => found(model, at + 0.5, at === 5 ? 'down' : 'up')));
    const { token } = await makeAgent();
    await tellAll(
      token,
      nine.map((at) => found(model, at, 'down')),
    );
    expect(await shown(model)).toMatchObject({ incidents: [], last24Hours: { down: 2 } });
  });

  it('does not hide what the service finds down', async () => {
    const model = await makeModel();
    const { token } = await makeAgent();
    await tellAll(
      token,
      nine.map((at) => found(model, at, 'up')),
    );
    await uptime.record(nine.map((at) => found(model, at - 0.5, 'down')));
    const { state, last24Hours, incidents } = await shown(model);
    expect([state, last24Hours?.down, incidents.length]).toEqual(['down', 9, 1]);
  });

  it('does not take the turns of the service', async () => {
    const model = await makeModel();
    const { token } = await makeAgent();
    expect((await tell(token, found(model, 0, 'up'))).status).toBe(200);
    const { rows } = await service.pool.query<{ probedAt: Date | null }>(
      'SELECT probed_at AS "probedAt" FROM model_probing WHERE model = $1',
      [model],
    );
    expect(rows).toEqual([{ probedAt: null }]);
  });
});

describe('what an agent finds down is believed', () => {
  const downs = (model: string) => nine.map((at) => found(model, at, 'down'));

  it('when the service finds the same', async () => {
    const model = await makeModel();
    const { token } = await makeAgent();
    await tellAll(token, downs(model));
    expect(await shown(model)).toMatchObject({ incidents: [] });
    await uptime.record(nine.map((at) => found(model, at - 0.5, 'down')));
    const { last24Hours, incidents, state } = await shown(model);
    expect([last24Hours?.down, incidents.length, state]).toEqual([9, 1, 'down']);
  });

  it('when a second agent finds the same', async () => {
    const model = await makeModel();
    const [one, two] = [await makeAgent(), await makeAgent()];
    await tellAll(one.token, downs(model));
    await tellAll(two.token, downs(model));
    const { last24Hours, incidents } = await shown(model);
    expect([last24Hours?.down, incidents.length]).toEqual([18, 1]);
  });

  it.each([
    [1, 0],
    [2, 9],
  ])('when the requests of several customers fail: of %i', async (customers, down) => {
    const model = await makeModel();
    for (let i = 0; i < customers; i++)
      await service.pool.query(
        `INSERT INTO request_minute (model, minute, account_id, succeeded, failed)
         SELECT $1, date_trunc('minute', now()) - n * interval '1 minute', $2, 0, 20 FROM generate_series(0, 12) AS n`,
        [model, (await service.customer()).accountId],
      );
    const { token } = await makeAgent();
    await tellAll(token, downs(model));
    expect((await shown(model)).last24Hours?.down).toBe(down);
  });
});

describe('an agent that is revoked', () => {
  it('leaves public history as it is without it: uptime, its beginning, and incidents', async () => {
    const model = await makeModel();
    const own = nine.slice(3).map((at) => found(model, at + 0.5, 'up'));
    await uptime.record(own);
    const before = await shown(model);
    // Of a time when one agent was believed, months ago and lately.
    const thief = await makeAgent();
    await service.pool.query('UPDATE probe_agent SET created_at = $2 WHERE id = $1', [thief.id, ago(60 * 24 * 80)]);
    await tellAll(
      thief.token,
      nine.map((at) => found(model, at, 'up')),
    );
    await service.pool.query(
      `INSERT INTO probe_result (id, model, protocol, mode, started_at, outcome, reason, agent_id)
       SELECT gen_random_uuid(), $1, 'messages', 'plain', now() - n * interval '1 day', 'down', 'timeout', $2
       FROM unnest(ARRAY[1, 2, 34, 36, 60, 80]) AS n`,
      [model, thief.id],
    );
    await service.pool.query(
      `WITH hours AS (
         INSERT INTO uptime_hour (model, protocol, mode, hour, down)
         SELECT model, protocol, mode, date_trunc('hour', started_at, 'UTC'), 1 FROM probe_result
         WHERE model = $1 AND started_at < now() - interval '12 hours' RETURNING *)
       INSERT INTO uptime_day (model, protocol, mode, day, down)
       SELECT model, protocol, mode, (hour AT TIME ZONE 'UTC')::date, 1 FROM hours`,
      [model],
    );
    await service.pool.query(`UPDATE model_probing SET measured_since = now() - interval '80 days' WHERE model = $1`, [
      model,
    ]);
    await service.pool.query(
      `INSERT INTO incident (id, model, impact, affected, started_at) VALUES ($2, $1, 'major', '{messages/plain}', now() - interval '5 minutes')`,
      [model, randomUUID()],
    );
    const rewritten = await shown(model);
    expect([rewritten.hours.length > before.hours.length, rewritten.incidents.length]).toEqual([true, 1]);

    const revoked = await agents.revoke(thief.id, { actor: 'test' });
    expect(revoked?.withdrawn).toEqual({ results: 15, incidents: 1 });
    expect(await shown(model)).toEqual(before);
    expect((await tell(thief.token, found(model, 0, 'down'))).status).toBe(401);
    const { rows } = await service.pool.query(
      `SELECT after FROM audit_entry WHERE subject = $1 ORDER BY created_at DESC LIMIT 1`,
      [`probe-agent:${thief.id}`],
    );
    expect(rows).toEqual([{ after: { keepResults: false, results: 15, incidents: 1 } }]);
  });

  it('takes its word on what others found along', async () => {
    const model = await makeModel();
    await uptime.record(nine.map((at) => found(model, at + 0.5, 'up')));
    const before = await shown(model);
    const [honest, thief] = [await makeAgent(), await makeAgent()];
    for (const { token } of [honest, thief])
      await tellAll(
        token,
        nine.map((at) => found(model, at, 'down')),
      );
    expect((await shown(model)).incidents).toHaveLength(1);
    await agents.revoke(thief.id, { actor: 'test' });
    expect(await shown(model)).toEqual(before);
  });

  it('but was honest keeps what it found, where that is said', async () => {
    const model = await makeModel();
    const { id, token } = await makeAgent();
    await tellAll(
      token,
      nine.map((at) => found(model, at, 'up')),
    );
    const before = await shown(model);
    expect((await agents.revoke(id, { actor: 'test', keepResults: true }))?.withdrawn.results).toBe(0);
    expect(await shown(model)).toEqual(before);
    expect(before.last24Hours?.up).toBe(9);
  });

  it('is not heard of again by a round that was under way', async () => {
    const model = await makeModel();
    const { id, token } = await makeAgent();
    const rounds = nine.map((at) => tell(token, found(model, at, 'up')));
    await agents.revoke(id, { actor: 'test' });
    await Promise.all(rounds);
    const { rows } = await service.pool.query('SELECT count(*)::int AS n FROM probe_result WHERE agent_id = $1', [id]);
    expect(rows).toEqual([{ n: 0 }]);
  });
});

describe('the key of a stolen token', () => {
  const keyOf = async (token: string) => ((await (await call(token, 'key')).json()) as { key: string }).key;
  const ask = (key: string, path: string, body: object) =>
    fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(body),
    });
  const question = 'Reply with the single word: pong';
  const messages = [{ role: 'user', content: question }];

  it('asks what probes ask and nothing else, of the models that are probed', async () => {
    const { token } = await makeAgent();
    const probe = { model: 'sim-small', max_tokens: 512, messages, stream: false };
    await service.pool.query(
      `INSERT INTO model_probing (model, every_minutes) VALUES ('sim-large', 0) ON CONFLICT (model) DO UPDATE SET every_minutes = 0`,
    );
    await service.pool.query(`UPDATE model SET enabled = false WHERE id LIKE 'model-%'`);
    const key = await keyOf(token);
    expect((await ask(key, '/v1/messages', probe)).status).toBe(200);
    expect((await ask(key, '/v1/chat/completions', probe)).status).toBe(200);
    const refused = [
      ['/v1/messages', { ...probe, model: 'sim-large' }],
      ['/v1/messages', { ...probe, max_tokens: 64_000 }],
      ['/v1/messages', { ...probe, messages: [{ role: 'user', content: `${question} ` }] }],
      ['/v1/messages', { ...probe, system: 'A secret task' }],
      ['/v1/messages', { model: 'sim-small', messages, max_tokens: 512, stream: false }],
      ['/v1/chat/completions', { ...probe, n: 8 }],
      ['/v1/responses', { ...probe, input: question }],
      ['/v1/responses/compact', probe],
      ['/v1/embeddings', { model: 'sim-small', input: ['a', 'b'] }],
      ['/v1/messages/count_tokens', probe],
      ['/v1/messages/estimate', probe],
    ] as const;
    for (const [path, body] of refused) expect([path, (await ask(key, path, body)).status]).toEqual([path, 403]);
    const read = (path: string) => fetch(`${service.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
    for (const path of ['/v1/usage', '/v1/key', '/v1/credits']) expect((await read(path)).status).toBe(403);
    expect((await read('/v1/models')).status).toBe(200);
    // The plan says which models, from the agent's next look at it on.
    await service.pool.query(`UPDATE model_probing SET every_minutes = 5 WHERE model = 'sim-large'`);
    expect((await call(token, 'plan')).status).toBe(200);
    expect((await ask(key, '/v1/messages', { ...probe, model: 'sim-large' })).status).toBe(200);
  });

  it('spends one limit of the day, however many secrets it is given', async () => {
    const { id, token } = await makeAgent();
    const keys: string[] = [];
    const ids = new Set<string>();
    for (let i = 0; i < 7; i++) {
      const key = await keyOf(token);
      keys.push(key);
      expect(
        (await ask(key, '/v1/messages', { model: 'sim-small', max_tokens: 512, messages, stream: false })).status,
      ).toBe(200);
      const { rows } = await service.pool.query<{ id: string }>('SELECT key_id AS id FROM probe_agent WHERE id = $1', [
        id,
      ]);
      ids.add(rows[0]?.id ?? '');
    }
    expect([new Set(keys).size, ids.size]).toEqual([7, 1]);
    const [keyId] = ids;
    const { rows } = await service.pool.query(
      `SELECT count(*)::int AS keys FROM api_key WHERE id = $1 AND limit_day IS NOT NULL AND deleted_at IS NULL`,
      [keyId],
    );
    expect(rows).toEqual([{ keys: 1 }]);
    // All of them are one key's spending.
    await service.pool.query('UPDATE api_key SET limit_day = 1 WHERE id = $1', [keyId]);
    const last = keys.at(-1) ?? '';
    expect(
      (await ask(last, '/v1/messages', { model: 'sim-small', max_tokens: 512, messages, stream: false })).status,
    ).toBe(402);
    expect(
      (await fetch(`${service.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${keys[0]}` } })).status,
    ).toBe(401);
  });
});
