/** Uptime: totals, incidents, announcements and the status page. */

import Fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chooseLocale } from '../../server/shared/page.ts';
import type { ProbeResult } from '../../server/uptime/probes/probe.ts';
import { registerStatus } from '../../server/uptime/status/status.ts';
import { createUptime, meanLatencyMs, type Uptime, uptimeRatio } from '../../server/uptime/uptime.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let uptime: Uptime;
let count = 0;
let model: string;

beforeAll(async () => {
  database = await createDatabase();
  uptime = createUptime({ pool: database.pool });
});
afterAll(() => database.drop());
beforeEach(async () => {
  count += 1;
  model = `model-${String(count).padStart(3, '0')}`;
  await database.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ($1, $2, 'f', 1000, 100)`,
    [model, `<b>Model</b> ${count}`],
  );
});

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const result = (
  minutesAgo: number,
  outcome: ProbeResult['outcome'],
  changes: Partial<ProbeResult> = {},
): ProbeResult => ({
  model,
  protocol: 'messages',
  mode: 'plain',
  startedAt: ago(minutesAgo),
  outcome,
  reason: outcome === 'up' ? null : 'status_502',
  status: outcome === 'up' ? 200 : 502,
  latencyMs: outcome === 'up' ? 200 : null,
  timeToFirstByteMs: outcome === 'up' ? 100 : null,
  ...changes,
});
const mine = async () => {
  const report = await uptime.report();
  const found = report.models.find(({ id }) => id === model);
  if (found === undefined) throw new Error('the model is not in the report');
  return { ...found, incidents: report.incidents.filter((incident) => incident.model === model) };
};
const status = async () => {
  const app = Fastify();
  registerStatus(app, { uptime, publicUrl: 'https://steyg.example', freshMs: 0 });
  return app;
};

describe('probes on record', () => {
  it('add up by hour and by day, and what has no data counts as neither', async () => {
    await uptime.record([
      result(3, 'up'),
      result(2, 'up', { latencyMs: 400 }),
      result(1, 'down'),
      result(0, 'no_data'),
    ]);
    const { days, last24Hours, state } = await mine();
    expect(days).toHaveLength(90);
    expect(days.at(-1)?.date).toBe(new Date().toISOString().slice(0, 10));
    expect(last24Hours).toEqual({ up: 2, down: 1, noData: 1, maintenance: 0, latencyMs: 600n });
    expect([uptimeRatio(last24Hours), meanLatencyMs(last24Hours)]).toEqual([0.66666, 300]);
    expect(uptimeRatio(days[0] ?? last24Hours)).toBeNull();
    expect(state).toBe('up');
    const hours = await uptime.series({ model, from: ago(120), to: ago(-60), by: 'hour' });
    expect(hours.reduce((sum, { up }) => sum + up, 0)).toBe(2);
    const streams = await uptime.series({ model, mode: 'stream', from: ago(2000), to: ago(-60), by: 'day' });
    expect(streams).toEqual([]);
  });

  it('agree with the raw rows, for any rows and concurrent writers', async () => {
    const outcomes = ['up', 'down', 'no_data'] as const;
    const results = Array.from({ length: 120 }, (_, i) =>
      result(i * 17, outcomes[(i * 7) % 3] ?? 'up', {
        protocol: i % 2 === 0 ? 'messages' : 'chat-completions',
        mode: i % 5 === 0 ? 'stream' : 'plain',
        latencyMs: i,
      }),
    );
    await Promise.all(Array.from({ length: 6 }, (_, i) => uptime.record(results.slice(i * 20, i * 20 + 20))));
    for (const [table, column] of [
      ['uptime_hour', 'hour'],
      ['uptime_day', 'day'],
    ]) {
      const { rows } = await database.pool.query(
        `SELECT * FROM (
           SELECT protocol, mode, date_trunc('${column}', started_at AT TIME ZONE 'UTC') AS at,
                  count(*) FILTER (WHERE outcome = 'up')::int, count(*) FILTER (WHERE outcome = 'down')::int,
                  count(*) FILTER (WHERE outcome = 'no_data')::int,
                  coalesce(sum(latency_ms) FILTER (WHERE outcome = 'up'), 0)::bigint
           FROM probe_result WHERE model = $1 GROUP BY 1, 2, 3) AS raw
         EXCEPT
         SELECT protocol, mode, ${column === 'hour' ? `hour AT TIME ZONE 'UTC'` : 'day::timestamp'}, up, down, no_data, latency_ms
         FROM ${table} WHERE model = $1`,
        [model],
      );
      expect(rows).toEqual([]);
    }
  });

  it('open an incident by rule, show it, and end it by rule', async () => {
    await uptime.record([result(30, 'up'), result(25, 'down'), result(20, 'down')]);
    expect((await mine()).incidents).toEqual([]);
    await uptime.record([result(15, 'down')]);
    const open = await mine();
    expect(open.state).toBe('down');
    expect(open.incidents).toMatchObject([{ impact: 'major', affected: ['messages/plain'], endedAt: null }]);
    expect(open.incidents[0]?.startedAt.getTime()).toBeCloseTo(ago(25).getTime(), -4);
    // It answers again, and the incident is open until it has done so twice: neither up nor down.
    await uptime.record([result(10, 'up')]);
    expect((await mine()).state).toBe('degraded');
    await uptime.record([result(5, 'up')]);
    const over = await mine();
    expect([over.state, over.incidents[0]?.endedAt === null]).toEqual(['up', false]);
    expect(await uptime.listIncidents({ model, limit: 5 })).toHaveLength(1);
  });

  it('make one incident however many processes record at once', async () => {
    const failures = Array.from({ length: 12 }, (_, i) => result(60 - i * 5, 'down'));
    await Promise.all(failures.map((failure) => uptime.record([failure])));
    expect((await mine()).incidents).toHaveLength(1);
  });

  it('without data for an hour mean no data, not up and not down', async () => {
    await uptime.record([result(90, 'up')]);
    expect(await mine()).toMatchObject({ state: 'no_data', ways: [{ outcome: 'no_data', reason: 'stale' }] });
    await uptime.record([result(1, 'no_data', { reason: 'status_402' })]);
    expect((await mine()).state).toBe('no_data');
  });

  it('of a model that left the catalog leave no incident open', async () => {
    await uptime.record([result(15, 'down'), result(10, 'down'), result(5, 'down')]);
    await database.pool.query('UPDATE model SET enabled = false WHERE id = $1', [model]);
    await uptime.endAbandoned();
    expect(await uptime.listIncidents({ model, limit: 1 })).not.toMatchObject([{ endedAt: null }]);
    expect(await uptime.models()).not.toContain(model);
  });

  it('are forgotten one by one, but not what they add up to by day', async () => {
    await uptime.record([result(60 * 24 * 40, 'up')]);
    await uptime.prune();
    const { rows } = await database.pool.query('SELECT FROM probe_result WHERE model = $1', [model]);
    expect(rows).toEqual([]);
    expect((await mine()).days.reduce((sum, { up }) => sum + up, 0)).toBe(1);
  });
});

describe('announcements', () => {
  const text = { kind: 'maintenance' as const, titleVi: null, bodyVi: null, models: [], actor: 'user:op' };

  it('are told until they end', async () => {
    const outcome = await uptime.announce({
      ...text,
      title: 'Works',
      body: 'One\ntwo',
      startsAt: ago(1),
      endsAt: null,
    });
    if (outcome.kind !== 'announced') throw new Error(outcome.message);
    const { id } = outcome.announcement;
    const shown = async () => (await uptime.report()).announcements.some((item) => item.id === id);
    expect(await shown()).toBe(true);
    expect(await uptime.endAnnouncement({ id, actor: 'user:op' })).not.toBeNull();
    expect(await shown()).toBe(false);
    expect(await uptime.endAnnouncement({ id, actor: 'user:op' })).toBeNull();
    expect(await uptime.endAnnouncement({ id: 'x', actor: 'user:op' })).toBeNull();
  });

  it('end when the operator says, as long as that is in the future', async () => {
    const outcome = await uptime.announce({ ...text, title: 'Long', body: 'B', startsAt: ago(1), endsAt: ago(-30) });
    if (outcome.kind !== 'announced') throw new Error(outcome.message);
    const { id } = outcome.announcement;
    const later = ago(-90);
    expect(await uptime.endAnnouncement({ id, actor: 'user:op', endsAt: later })).toMatchObject({ endsAt: later });
    const sooner = ago(-10);
    expect(await uptime.endAnnouncement({ id, actor: 'user:op', endsAt: sooner })).toMatchObject({ endsAt: sooner });
    expect(await uptime.endAnnouncement({ id, actor: 'user:op', endsAt: ago(1) })).toBeNull();
    expect((await uptime.report()).announcements.find((item) => item.id === id)).toMatchObject({ endsAt: sooner });
    await uptime.endAnnouncement({ id, actor: 'user:op' });
    expect(await uptime.endAnnouncement({ id, actor: 'user:op', endsAt: later })).toBeNull();
  });

  it('are gone when they are ended before they began, and told of as past when they were in force', async () => {
    const made = async (startsAt: Date) => {
      const outcome = await uptime.announce({ ...text, title: 'Plan', body: 'B', startsAt, endsAt: null });
      if (outcome.kind !== 'announced') throw new Error(outcome.message);
      return outcome.announcement.id;
    };
    const [planned, begun] = [await made(ago(-60)), await made(ago(60))];
    for (const id of [planned, begun]) expect(await uptime.endAnnouncement({ id, actor: 'user:op' })).not.toBeNull();
    for (const id of [planned, begun]) expect(await uptime.endAnnouncement({ id, actor: 'user:op' })).toBeNull();
    const { announcements, pastAnnouncements } = await uptime.report();
    const ids = (list: { id: string }[]) => list.map(({ id }) => id).filter((id) => id === planned || id === begun);
    expect(ids(announcements)).toEqual([]);
    expect(ids(pastAnnouncements)).toEqual([begun]);
    const app = await status();
    const feed = (await app.inject({ url: '/status/history.atom?lang=en' })).body;
    const [, entry = ''] = feed.split(`#announcement-${begun}</id>`);
    expect(entry).toMatch(/^\s*<title>Maintenance: Plan \(Over\)<\/title>/);
    expect(feed).not.toContain(planned);
  });

  it.each([
    ['title', { title: '' }],
    ['body', { body: 'a\u0000' }],
    ['titleVi', { titleVi: 'x'.repeat(201) }],
    ['endsAt', { endsAt: new Date(0) }],
    ['models', { models: ['\u0000'] }],
    ['models', { models: ['no-such-model'] }],
  ])('are refused for their %s', async (field, changes) => {
    const good = { ...text, title: 'T', body: 'B', startsAt: ago(0), endsAt: null };
    expect(await uptime.announce({ ...good, ...changes })).toMatchObject({ kind: 'invalid', field });
  });
});

describe('the status page', () => {
  it('says everything in one document, requests nothing but the face of the server, and escapes what people wrote', async () => {
    await uptime.record([result(5, 'up'), result(4, 'down', { reason: '<script>alert(1)</script>' })]);
    await uptime.announce({
      kind: 'info',
      title: '<script>alert(2)</script>',
      titleVi: 'Bảo trì',
      body: '"><img src=x onerror=alert(3)>',
      bodyVi: null,
      models: ['<i>'],
      startsAt: ago(1),
      endsAt: null,
      actor: 'user:op',
    });
    const app = await status();
    const response = await app.inject({ url: '/status' });
    expect(response.statusCode).toBe(200);
    const html = response.body;
    expect(html).toContain('<html lang="en">');
    expect(html).toContain(`<code>${model}</code>`);
    // A link to another form of the page is no request; an icon or a stylesheet would be one. The face is this server's.
    expect(html).not.toMatch(
      /<script|<img|<b>Model|<i>,|<link(?! rel="alternate")|@import|url\((?!\/fonts\/be-vietnam-pro-)/,
    );
    const ways = /href="(?:\/(?:(?:status|pricing|docs)[^"]*|sign-in|sign-up)?|#content)"/g;
    expect(html.replaceAll(ways, '')).not.toMatch(/href=|https?:/);
    expect(html).toContain('&#60;script&#62;');
    const policy = String(response.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    const { createHash } = await import('node:crypto');
    const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? '';
    expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  });

  it('says since when it measures wherever a figure stands, until a span was measured as a whole', async () => {
    await uptime.record([result(12, 'up')]);
    const app = await status();
    const since = new Date((await mine()).measuredSince ?? 0).toISOString();
    expect(Math.abs(Date.parse(since) - ago(12).getTime())).toBeLessThan(60_000);
    const section = async (lang: string) =>
      (await app.inject({ url: `/status?lang=${lang}` })).body
        .split(`id="model-${model}"`)[1]
        ?.split('</section>')[0] ?? '';
    for (const [lang, word] of [
      ['en', 'Since'],
      ['vi', 'Từ'],
    ]) {
      const figures = (await section(lang ?? '')).split('<dl')[1] ?? '';
      expect(figures.match(/<dt>[^<]+<\/dt><dd>100\s?%<\/dd>/g)).toEqual([expect.stringContaining(`<dt>${word} `)]);
    }
    const json = (await app.inject({ url: '/status.json' })).json();
    expect(json.models.find(({ id }: { id: string }) => id === model)).toMatchObject({ measured_since: since });
    expect(Date.parse(json.measured_since)).toBeLessThanOrEqual(Date.parse(since));
    for (const form of ['atom', 'rss'])
      expect((await app.inject({ url: `/status/history.${form}?lang=en` })).body).toContain('Measured since ');

    await database.pool.query(`UPDATE model_probing SET measured_since = now() - interval '8 days' WHERE model = $1`, [
      model,
    ]);
    const figures = (await section('en')).split('<dl')[1] ?? '';
    expect([...figures.matchAll(/<dt>([^<]+)<\/dt><dd>100/g)].map(([, label]) => label)).toEqual([
      '24 hours',
      '7 days',
      expect.stringMatching(/^Since /),
    ]);
  });

  it('draws 90 days for each protocol, with every figure in words too', async () => {
    // Within a second, and minutes ago: all of one day, which right after midnight is yesterday.
    await uptime.record([
      result(4.02, 'up'),
      result(4.01, 'down'),
      result(4, 'up', { protocol: 'chat-completions', mode: 'stream' }),
    ]);
    const html = (await (await status()).inject({ url: '/status?lang=en' })).body;
    const section = html.split(`id="model-${model}"`)[1]?.split('</section>')[0] ?? '';
    const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(ago(4));
    const pictures = section.split('role="img"').slice(1);
    expect(pictures).toHaveLength(2);
    const [messages = '', chat = ''] = pictures.map((picture) => picture.split('</div>')[0] ?? '');
    expect(messages).toMatch(
      new RegExp(
        `aria-label="Messages, Since [^"]+ \\(UTC\\): 50%. Days with failures: ${day}: 50%. Days without data: 89."`,
      ),
    );
    expect(chat).toMatch(
      /aria-label="Chat completions, Since [^"]+ \(UTC\): 100%. No day with failures. Days without data: 89."/,
    );
    for (const picture of [messages, chat]) expect(picture.match(/<i class="\w+" data-day="[^"]+">/g)).toHaveLength(90);
    expect(messages).toContain(`<i class="poor" data-day="${day}: 50%">`);
    expect(messages.match(/class="none"/g)).toHaveLength(89);
  });

  it('says an incident’s beginning, end and length, and what it affected', async () => {
    await uptime.record([result(200, 'down'), result(190, 'down'), result(180, 'down')]);
    await uptime.record([result(80, 'up'), result(70, 'up')]);
    const app = await status();
    const item = (html: string) =>
      html.split('<li class="card">').find((part) => part.includes(`<strong>${model}</strong>`)) ?? '';
    const english = item((await app.inject({ url: '/status?lang=en' })).body);
    expect(english).toMatch(/down <span class="badge">Over/);
    expect(english).toContain('took 2 hours');
    expect(english).toContain('Affected: Messages (in one piece)');
    const vietnamese = item((await app.inject({ url: '/status?lang=vi' })).body);
    expect(vietnamese).toContain('kéo dài 2 giờ');
    // Where it is read, and as it is written there.
    expect(vietnamese).toMatch(/\d\d:\d\d \d\d\/\d\d\/\d{4} \(giờ Việt Nam\)/);
  });

  it('speaks the language that is asked for', async () => {
    const app = await status();
    const page = async (url: string, accept?: string) =>
      (await app.inject({ url, headers: accept === undefined ? {} : { 'accept-language': accept } })).body;
    expect(await page('/status', 'vi-VN,vi;q=0.9,en;q=0.8')).toContain('<html lang="vi">');
    expect(await page('/status?lang=en', 'vi')).toContain('<html lang="en">');
    expect(await page('/status?lang=vi')).toContain('Trạng thái');
  });

  it.each([
    [undefined, undefined, 'en'],
    ['vi', 'en', 'vi'],
    ['__proto__', 'vi', 'vi'],
    [['vi'], 'en', 'en'],
    [undefined, 'fr, vi;q=0.5, en;q=0.4', 'vi'],
    [undefined, 'vi;q=0, en', 'en'],
    [undefined, 'vi;q=abc', 'vi'],
    [undefined, `${'a,'.repeat(10_000)}vi`, 'en'],
  ])('chooses by %j and %s', (asked, accept, expected) => {
    expect(chooseLocale(asked, accept)).toBe(expected);
  });

  it('for programs tells no data from zero', async () => {
    await uptime.record([result(2, 'down'), result(1, 'down')]);
    const app = await status();
    const response = await app.inject({ url: '/status.json' });
    expect(response.headers['access-control-allow-origin']).toBe('*');
    const body = response.json<{ models: { id: string; uptime: object; days: { uptime: number | null }[] }[] }>();
    const found = body.models.find(({ id }) => id === model);
    expect(found?.uptime).toEqual({ last_24_hours: 0, last_7_days: 0, last_30_days: 0, last_90_days: 0 });
    expect(found?.days.filter(({ uptime }) => uptime === null)).toHaveLength(89);
  });

  it.each(['atom', 'rss'])('is also a feed (%s) whose items keep their ids', async (form) => {
    await uptime.record([result(30, 'down'), result(20, 'down'), result(10, 'down')]);
    await uptime.announce({
      kind: 'maintenance',
      title: 'A & B <move>',
      titleVi: null,
      body: 'From "here" to there',
      bodyVi: null,
      models: [],
      startsAt: ago(1),
      endsAt: null,
      actor: 'user:op',
    });
    const app = await status();
    const feed = async () => (await app.inject({ url: `/status/history.${form}?lang=en` })).body;
    const open = await feed();
    const [incident] = (await mine()).incidents;
    const id = `https://steyg.example/status#incident-${incident?.id}`;
    expect(open).toContain(id);
    expect(open).toContain(`${model}: down (Open)`);
    expect(open).toContain('A &#38; B &#60;move&#62;');
    expect(open).not.toMatch(/<move>|&(?!#\d+;)/);
    await uptime.record([result(2, 'up'), result(1, 'up')]);
    const over = await feed();
    expect(over).toContain(id);
    expect(over).toContain(`${model}: down (Over)`);
    const { headers } = await app.inject({ url: `/status/history.${form}` });
    expect(headers['content-type']).toBe(`application/${form}+xml; charset=utf-8`);
  });

  it('queries the database once for concurrent readers, and keeps the last answer while it is unreachable', async () => {
    let asked = 0;
    let away = false;
    let now = 0;
    const app = Fastify();
    registerStatus(app, {
      publicUrl: 'https://steyg.example',
      clock: () => now,
      uptime: {
        report: async () => {
          asked += 1;
          if (away) throw new Error('connection refused');
          return uptime.report();
        },
      },
    });
    const ask = async () => (await app.inject({ url: '/status.json' })).statusCode;
    await Promise.all(Array.from({ length: 20 }, ask));
    await ask();
    expect(asked).toBe(1);
    away = true;
    now += 60_000;
    expect([await ask(), asked]).toEqual([200, 2]);
    now += 600_000;
    expect(await ask()).toBe(503);
    expect((await app.inject({ url: '/status' })).statusCode).toBe(503);
  });
});
