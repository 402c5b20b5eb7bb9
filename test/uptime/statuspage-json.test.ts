import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { Announcement } from '../../server/uptime/announcements.ts';
import type { State } from '../../server/uptime/state.ts';
import { registerStatus } from '../../server/uptime/status/status.ts';
import { statuspageDocuments, statuspageOf } from '../../server/uptime/status/statuspage-json.ts';
import type { Incident, ModelStatus, StatusReport } from '../../server/uptime/uptime.ts';

/** The status in the shape of hosted status pages. */

const url = 'https://steyg.example/status';
const now = new Date('2026-11-21T12:00:00Z');
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000);

function modelOf(id: string, state: State): ModelStatus {
  const nothing = { up: 0, down: 0, noData: 0, maintenance: 0, latencyMs: 0n };
  const createdAt = new Date('2026-01-02T03:04:05Z');
  return {
    id,
    displayName: id.toUpperCase(),
    createdAt,
    simulated: false,
    state,
    measuredSince: createdAt,
    everyMinutes: 5,
    ways: [],
    requests: [],
    last24Hours: nothing,
    days: [],
    protocols: [],
  };
}

function announced(changes: Partial<Announcement>): Announcement {
  return {
    id: 'a1',
    kind: 'maintenance',
    title: 'Works',
    titleVi: 'Bảo trì',
    body: 'We move <things>.',
    bodyVi: null,
    models: [],
    startsAt: hours(-1),
    endsAt: null,
    createdBy: 'user:1',
    createdAt: hours(-24),
    updates: [],
    ...changes,
  };
}

const incident: Incident = {
  id: 'i1',
  model: 'big',
  impact: 'major',
  affected: ['messages/stream'],
  startedAt: hours(-3),
  endedAt: null,
  cause: null,
  updates: [],
};

function reportOf(changes: Partial<StatusReport> = {}): StatusReport {
  const models = changes.models ?? [modelOf('big', 'up'), modelOf('small', 'up')];
  return {
    generatedAt: now,
    state: 'up',
    measuredSince: hours(-24),
    observers: [],
    absences: [],
    models,
    incidents: [],
    announcements: [],
    pastAnnouncements: [],
    ...changes,
  };
}

const pageOf = (changes: Partial<StatusReport> = {}) => statuspageOf(reportOf(changes), url);

/** A document as a client reads it. */
function read(name: string, changes: Partial<StatusReport> = {}) {
  return JSON.parse(JSON.stringify(statuspageDocuments[name]?.(pageOf(changes))));
}

describe('the indicator', () => {
  it.each([
    ['none', reportOf()],
    ['none', reportOf({ state: 'no_data', models: [modelOf('big', 'no_data')] })],
    ['minor', reportOf({ state: 'degraded', models: [modelOf('big', 'degraded'), modelOf('small', 'up')] })],
    ['major', reportOf({ state: 'degraded', models: [modelOf('big', 'down'), modelOf('small', 'up')] })],
    ['critical', reportOf({ state: 'down', models: [modelOf('big', 'down')] })],
    ['minor', reportOf({ announcements: [announced({ kind: 'incident' })] })],
    ['none', reportOf({ announcements: [announced({ kind: 'incident', startsAt: hours(1) })] })],
    ['none', reportOf({ announcements: [announced({ kind: 'info' })] })],
    ['none', reportOf({ announcements: [announced({})] })],
  ])('is %s', (indicator, report) => {
    expect(statuspageOf(report, url).status).toEqual({ indicator, description: expect.stringMatching(/\w/) });
  });
});

describe('a component', () => {
  it.each([
    ['operational', 'up'],
    ['partial_outage', 'degraded'],
    ['major_outage', 'down'],
    ['operational', 'no_data'],
  ] as const)('is %s when its model is %s', (status, state) => {
    const [component] = read('components.json', { models: [modelOf('vendor/big', state)] }).components;
    expect(component).toMatchObject({
      id: 'vendor/big',
      name: 'VENDOR/BIG',
      status,
      position: 1,
      description: state === 'no_data' ? 'No data' : null,
      created_at: '2026-01-02T03:04:05.000Z',
      updated_at: '2026-01-02T03:04:05.000Z',
    });
  });

  it('that is worked on as announced is under maintenance, and only that one', () => {
    const statuses = (announcement: Announcement) =>
      pageOf({
        models: [modelOf('big', 'down'), modelOf('small', 'up')],
        announcements: [announcement],
      }).components.map(({ status }) => status);
    expect(statuses(announced({ models: ['big'] }))).toEqual(['under_maintenance', 'operational']);
    expect(statuses(announced({}))).toEqual(['under_maintenance', 'under_maintenance']);
    expect(statuses(announced({ startsAt: hours(1) }))).toEqual(['major_outage', 'operational']);
  });
});

describe('an incident', () => {
  it('that was measured is under investigation until it is over', () => {
    const [open] = read('incidents.json', { incidents: [incident] }).incidents;
    expect(open).toMatchObject({
      id: 'i1',
      name: 'big: down',
      status: 'investigating',
      impact: 'major',
      resolved_at: null,
      shortlink: url,
      components: [{ id: 'big' }],
    });
    const ended = { ...incident, endedAt: hours(-1) };
    const [over] = read('incidents.json', { incidents: [ended] }).incidents;
    expect(over).toMatchObject({
      status: 'resolved',
      resolved_at: hours(-1).toISOString(),
      updated_at: hours(-1).toISOString(),
      incident_updates: [
        { status: 'resolved', incident_id: 'i1' },
        { status: 'investigating', body: 'Affected: Messages (streamed).', created_at: hours(-3).toISOString() },
      ],
    });
    expect(read('incidents/unresolved.json', { incidents: [ended] }).incidents).toEqual([]);
    expect(read('incidents/unresolved.json', { incidents: [incident] }).incidents).toHaveLength(1);
  });

  it('that the operator announced stands beside them, newest first, and is resolved when it ends', () => {
    const told = announced({ id: 'a2', kind: 'incident', title: 'Slow', createdAt: hours(-1) });
    const page = { incidents: [incident], announcements: [told] };
    expect(read('incidents.json', page).incidents).toMatchObject([
      { id: 'a2', name: 'Slow', status: 'identified', impact: 'minor', components: [{ id: 'big' }, { id: 'small' }] },
      { id: 'i1' },
    ]);
    const past = { ...told, endsAt: hours(-0.5) };
    expect(read('summary.json', { pastAnnouncements: [past] }).incidents).toEqual([]);
    expect(read('incidents.json', { pastAnnouncements: [past] }).incidents).toMatchObject([
      { id: 'a2', status: 'resolved', incident_updates: [{ status: 'resolved' }, { status: 'identified' }] },
    ]);
  });
});

describe('announced maintenance', () => {
  const upcoming = announced({ id: 'next', startsAt: hours(2), endsAt: hours(3) });
  const active = announced({ id: 'now', endsAt: hours(1) });
  const completed = announced({ id: 'done', startsAt: hours(-5), endsAt: hours(-4) });
  const page = { announcements: [upcoming, active], pastAnnouncements: [completed] };
  const ids = (name: string) => read(name, page).scheduled_maintenances.map(({ id }: { id: string }) => id);

  it('is found by how far it is', () => {
    expect(ids('scheduled-maintenances.json')).toEqual(['next', 'now', 'done']);
    expect(ids('scheduled-maintenances/upcoming.json')).toEqual(['next']);
    expect(ids('scheduled-maintenances/active.json')).toEqual(['now']);
    expect(ids('summary.json')).toEqual(['next', 'now']);
    expect(read('incidents.json', page).incidents).toEqual([]);
  });

  it('says from when until when, and what became of it', () => {
    expect(read('scheduled-maintenances.json', page).scheduled_maintenances).toMatchObject([
      {
        status: 'scheduled',
        impact: 'maintenance',
        scheduled_for: hours(2).toISOString(),
        scheduled_until: hours(3).toISOString(),
        incident_updates: [{ status: 'scheduled', body: 'We move <things>.' }],
      },
      { status: 'in_progress', incident_updates: [{ status: 'in_progress' }, { status: 'scheduled' }] },
      { status: 'completed', resolved_at: hours(-4).toISOString() },
    ]);
  });
});

describe('the documents', () => {
  async function serve(use: (app: FastifyInstance) => Promise<void>, report = async () => reportOf()): Promise<void> {
    const app = Fastify();
    registerStatus(app, { uptime: { report }, publicUrl: 'https://steyg.example' });
    try {
      await use(app);
    } finally {
      await app.close();
    }
  }

  it('are where readers of hosted pages look for them, from the service’s address and from the page’s', () =>
    serve(async (app) => {
      for (const name of Object.keys(statuspageDocuments)) {
        const [first, second] = await Promise.all(
          ['', '/status'].map((page) => app.inject({ url: `${page}/api/v2/${name}` })),
        );
        expect(first?.statusCode).toBe(200);
        expect(first?.headers).toMatchObject({
          'access-control-allow-origin': '*',
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'public, max-age=30',
        });
        expect(first?.json()).toMatchObject({
          page: { id: 'steyg', name: 'Steyg', url, time_zone: 'Etc/UTC', updated_at: now.toISOString() },
        });
        expect(second?.body).toBe(first?.body);
      }
      expect((await app.inject({ url: '/api/v2/nothing.json' })).statusCode).toBe(404);
    }));

  it('say so when nothing can be read', () =>
    serve(
      async (app) => {
        expect((await app.inject({ url: '/api/v2/status.json' })).statusCode).toBe(503);
      },
      () => Promise.reject(new Error('away')),
    ));
});
