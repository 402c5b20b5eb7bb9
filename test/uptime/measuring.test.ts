/** Absences of the service, planned work, pace and budget, and customers' own requests: what stands beside the probes. */

import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRequestEnds } from '../../server/uptime/passive.ts';
import { noteAlive } from '../../server/uptime/presence.ts';
import { monthlyCost, planPaces } from '../../server/uptime/probes/pace.ts';
import { type ProbeResult, type ProbeTarget, probe } from '../../server/uptime/probes/probe.ts';
import { createProbing } from '../../server/uptime/probes/probing.ts';
import { createProbeAccount, createProbeRound, grantedFor } from '../../server/uptime/probes/round.ts';
import { registerStatus } from '../../server/uptime/status/status.ts';
import { createUptime, type Uptime, uptimeRatio } from '../../server/uptime/uptime.ts';
import { startApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let uptime: Uptime;
/** The public pages, without the report that the service remembers for a while. */
let pages: FastifyInstance;
beforeAll(async () => {
  service = await startApp();
  uptime = createUptime({ pool: service.pool });
  pages = Fastify();
  registerStatus(pages, { uptime, publicUrl: service.url, freshMs: 0 });
});
afterEach(async () => {
  await service.pool.query(`UPDATE model SET enabled = false WHERE id LIKE 'own-%'`);
});
afterAll(() => service.close());

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
async function newModel(): Promise<string> {
  const id = `own-${randomUUID().slice(0, 8)}`;
  await service.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ($1, $1, 'f', 1000, 100)`,
    [id],
  );
  return id;
}
const result = (model: string, minutesAgo: number, outcome: ProbeResult['outcome']): ProbeResult => ({
  model,
  protocol: 'messages',
  mode: 'plain',
  startedAt: ago(minutesAgo),
  outcome,
  reason: outcome === 'up' ? null : 'status_502',
  status: outcome === 'up' ? 200 : 502,
  latencyMs: outcome === 'up' ? 20 : null,
  timeToFirstByteMs: null,
});
const of = async (model: string) => {
  const report = await uptime.report();
  const found = report.models.find(({ id }) => id === model);
  if (found === undefined) throw new Error('the model is not in the report');
  return { ...found, incidents: report.incidents.filter((incident) => incident.model === model), report };
};
const page = async (lang = 'en') => (await pages.inject(`/status?lang=${lang}`)).body;

describe('an absence of the service, without any agent', () => {
  it('is downtime and an incident of its own, not 100 %', async () => {
    const model = await newModel();
    await service.pool.query('DELETE FROM service_span');
    await uptime.record([result(model, 70, 'up'), result(model, 65, 'up')]);
    // It was last alive an hour ago, and comes back now.
    await service.pool.query(
      `INSERT INTO service_span (id, started_at, last_seen_at) VALUES (gen_random_uuid(), now() - interval '1 day', now() - interval '1 hour')`,
    );
    await Promise.all(Array.from({ length: 4 }, () => noteAlive(service.pool)));
    await uptime.record([result(model, 0, 'up')]);
    const found = await of(model);
    expect(found.last24Hours).toMatchObject({ up: 3, down: 12 });
    expect(uptimeRatio(found.last24Hours)).toBe(0.2);
    expect(found.incidents).toMatchObject([{ impact: 'major', cause: 'service', endedAt: null }]);
    expect(found.report.absences).toHaveLength(1);
    await uptime.record([result(model, 0, 'up')]);
    expect((await of(model)).incidents[0]?.endedAt).not.toBeNull();
    expect(await page()).toContain('When the service itself was not running');
    expect(await page('vi')).toContain('Những lúc dịch vụ không chạy');
  });

  it('that is a restart is none, and what nobody probed before has no data in it', async () => {
    const model = await newModel();
    await service.pool.query('DELETE FROM service_span');
    await service.pool.query(
      `INSERT INTO service_span (id, started_at, last_seen_at) VALUES (gen_random_uuid(), now() - interval '1 day', now() - interval '60 s')`,
    );
    await noteAlive(service.pool);
    await service.pool.query(
      `UPDATE service_span SET last_seen_at = now() - interval '2 days', started_at = now() - interval '3 days'`,
    );
    await noteAlive(service.pool);
    expect((await of(model)).last24Hours).toMatchObject({ up: 0, down: 0 });
  });
});

describe('maintenance', () => {
  const announce = (model: string, changes: object) =>
    uptime.announce({
      kind: 'maintenance',
      title: 'New disks',
      titleVi: 'Thay ổ đĩa',
      body: 'We change disks.',
      bodyVi: 'Chúng tôi thay ổ đĩa.',
      models: [model],
      startsAt: ago(30),
      endsAt: ago(-30),
      actor: 'test',
      ...changes,
    });

  it('that was announced before is in no figure and opens no incident; said afterwards, it excuses nothing', async () => {
    const [planned, late] = [await newModel(), await newModel()];
    for (const model of [planned, late]) expect((await announce(model, {})).kind).toBe('announced');
    await service.pool.query(
      `UPDATE announcement SET created_at = now() - interval '2 hours' WHERE models = ARRAY[$1]`,
      [planned],
    );
    for (const model of [planned, late])
      await uptime.record([60, 20, 15, 10].map((minutes) => result(model, minutes, minutes === 60 ? 'up' : 'down')));
    expect((await of(planned)).last24Hours).toMatchObject({ up: 1, down: 0, maintenance: 3 });
    expect((await of(planned)).incidents).toEqual([]);
    expect((await of(late)).last24Hours).toMatchObject({ up: 1, down: 3, maintenance: 0 });
    expect((await of(late)).incidents).toHaveLength(1);
    expect(await page()).toContain(', maintenance"');
  });

  it('and incidents have a person’s words over time, on the page, in feeds and for programs', async () => {
    const model = await newModel();
    const outcome = await announce(model, { kind: 'incident', endsAt: null });
    if (outcome.kind !== 'announced') throw new Error(outcome.kind);
    const { id } = outcome.announcement;
    const say = (state: string, body: string, bodyVi: string | null) =>
      uptime.addUpdate({ subject: { announcementId: id }, state: state as 'resolved', body, bodyVi, actor: 'test' });
    expect((await say('monitoring', 'A <fix> is out.', 'Đã <sửa> xong.')).kind).toBe('added');
    expect(await say('completed', 'Wrong kind.', null)).toMatchObject({ kind: 'invalid', field: 'state' });
    expect(await page()).toContain('A &#60;fix&#62; is out.');
    expect(await page('vi')).toContain('Đã &#60;sửa&#62; xong.');
    const feed = (await pages.inject('/status/history.atom?lang=vi')).body;
    expect(feed).toContain('Đang theo dõi');
    const incident = async () => {
      const { announcements } = (await pages.inject('/status.json')).json() as {
        announcements: { id: string; updates: { state: string; body: { en: string; vi: string | null } }[] }[];
      };
      return announcements.find((each) => each.id === id);
    };
    expect((await incident())?.updates).toMatchObject([
      { state: 'monitoring', body: { en: 'A <fix> is out.', vi: 'Đã <sửa> xong.' } },
    ]);
    expect((await say('resolved', 'It is over.', null)).kind).toBe('added');
    expect((await uptime.report()).pastAnnouncements.find((each) => each.id === id)?.updates).toHaveLength(2);
  });
});

describe('the pace of probes', () => {
  it('costs no more than the budget for any models, and never ends while something is left', () => {
    const model = fc.record({
      askedMinutes: fc.integer({ min: 0, max: 60 }),
      roundCost: fc.bigInt({ min: 0n, max: 10_000_000_000n }),
      left: fc.option(fc.bigInt({ min: 0n, max: 50_000_000_000_000n })),
    });
    fc.assert(
      fc.property(
        fc.array(model, { maxLength: 12 }),
        fc.bigInt({ min: 1n, max: 50_000_000_000_000n }),
        fc.integer({ min: 1, max: 44_640 }),
        (some, left, minutesLeft) => {
          const models = some.map((each, i) => ({ ...each, model: `m${i}` }));
          const paces = planPaces({ models, left, minutesLeft });
          let spent = 0;
          for (const { model: id, askedMinutes, roundCost, left: own } of models) {
            const minutes = paces.get(id) ?? -1;
            const probed = askedMinutes > 0 && (own !== 0n || roundCost === 0n);
            expect(minutes >= askedMinutes && minutes > 0).toBe(probed);
            // A pace of a day is as slow as it gets.
            if (minutes > 0 && minutes < 1_440) spent += (Number(roundCost) * minutesLeft) / minutes;
          }
          expect(spent).toBeLessThanOrEqual(Number(left) * 1.000_001);
        },
      ),
    );
  });

  it('is lowered visibly for the seeds, whose probes cost more than the budget of a month', async () => {
    const probing = createProbing({ pool: service.pool });
    const plan = await probing.plan(new Date('2026-12-01T00:00:00Z'));
    const asked = plan.models.reduce((sum, each) => sum + each.askedMonthlyCost, 0n);
    const kept = plan.models.reduce((sum, each) => sum + each.monthlyCost, 0n);
    expect(asked).toBeGreaterThan(plan.monthlyBudget);
    expect(kept).toBeLessThanOrEqual(plan.monthlyBudget);
    for (const each of plan.models) expect(each.effectiveMinutes).toBeGreaterThan(each.askedMinutes);
    expect(monthlyCost(1_000n, 5)).toBe(8_640_000n);
    // The page tells the pace that is kept.
    await probing.decide();
    const [first] = plan.models;
    expect(await page()).toMatch(/Probed every \d+ minutes\./);
    const json = (await pages.inject('/status.json')).json() as {
      models: { id: string; probed_every_minutes: number }[];
    };
    expect(json.models.find(({ id }) => id === first?.model)?.probed_every_minutes).toBeGreaterThan(0);
  });

  it('is a setting of each model, and a budget that is raised counts from the next round', async () => {
    const probing = createProbing({ pool: service.pool });
    const [model = '', other = ''] = await uptime.models();
    const actor = 'test';
    expect(await probing.saveModel({ model, everyMinutes: 30, monthlyBudget: null, actor })).toEqual({ kind: 'saved' });
    expect(await probing.saveModel({ model: other, everyMinutes: 0, monthlyBudget: null, actor })).toEqual({
      kind: 'saved',
    });
    expect(await probing.saveModel({ model: 'gone-1', everyMinutes: 5, monthlyBudget: null, actor })).toEqual({
      kind: 'unknown_model',
    });
    expect(await probing.saveModel({ model, everyMinutes: 1_441, monthlyBudget: null, actor })).toMatchObject({
      field: 'everyMinutes',
    });
    const account = createProbeAccount({
      accounts: service.accounts,
      keys: service.keys,
      monthlyBudget: async () => (await probing.settings()).monthlyBudget,
      granted: grantedFor(service.pool),
    });
    const round = createProbeRound({
      uptime,
      account,
      baseUrl: service.baseUrl,
      due: probing.due,
      protocols: ['messages'],
    });
    const probed = new Set((await round()).map((each) => each.model));
    expect([probed.has(model), probed.has(other)]).toEqual([true, false]);
    expect(await round()).toEqual([]);
    await service.pool.query(`UPDATE model_probing SET probed_at = probed_at - interval '20 minutes'`);
    expect(new Set((await round()).map((each) => each.model)).has(model)).toBe(false);
    await service.pool.query(`UPDATE model_probing SET probed_at = probed_at - interval '11 minutes'`);
    const budget = 31_000_000_000_000n;
    await probing.saveSettings({ everyMinutes: 5, monthlyBudget: budget, actor });
    expect(new Set((await round()).map((each) => each.model)).has(model)).toBe(true);
    const { rows } = await service.pool.query(
      `SELECT sum(g.amount)::bigint AS amount FROM "grant" g JOIN account a ON a.id = g.account_id WHERE a.kind = 'probe'`,
    );
    expect(rows).toEqual([{ amount: budget }]);
  });
});

describe('customers’ own requests', () => {
  it('stand beside the probes by model and protocol, without a count, and without those of probes', async () => {
    const beside = await startApp({ beside: service });
    const [model = ''] = await uptime.models();
    const { secret } = await beside.customer();
    const ask = (key: string) =>
      fetch(`${beside.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, max_tokens: 16, messages: [{ role: 'user', content: 'ping' }] }),
      });
    const target: ProbeTarget = { model, protocol: 'chat-completions', mode: 'plain' };
    for (let i = 0; i < 20; i++) expect((await (await ask(secret)).text()).length).toBeGreaterThan(0);
    const key = await createProbeAccount({ accounts: service.accounts, keys: service.keys }).key();
    expect(await probe({ baseUrl: beside.baseUrl, apiKey: key, target, timeoutMs: 10_000 })).toMatchObject({
      outcome: 'up',
    });
    await beside.close();
    const { rows } = await service.pool.query('SELECT protocol, succeeded, failed FROM request_hour WHERE model = $1', [
      model,
    ]);
    expect(rows).toEqual([{ protocol: 'chat-completions', succeeded: 20n, failed: 0n }]);
    const json = (await pages.inject('/status.json')).json() as { models: object[] };
    expect(json.models).toContainEqual(
      expect.objectContaining({ id: model, requests_succeeded: { last_24_hours: 1, 'chat-completions': 1 } }),
    );
    expect(await page()).toContain('Customers’ requests that succeeded');
  });

  it('count at once: a model whose customers all fail is not called up, whatever the last probe found', async () => {
    const [model = ''] = await uptime.models();
    const failures = createRequestEnds({ pool: service.pool, onFailure: (error) => expect(error).toBeNull() });
    for (let i = 0; i < 3; i++) {
      const { accountId } = await service.customer();
      for (let n = 0; n < 5; n++)
        failures.note({ accountId, model, protocol: 'messages', outcome: 'upstream_error', refused: false });
    }
    await failures.close();
    const report = await uptime.report();
    expect(report.models.find(({ id }) => id === model)?.state).not.toBe('up');
    expect(report.state).not.toBe('up');
  });
});
