import type { Protocol } from '../../core/protocol.ts';
import { isOperator } from '../../people/principal.ts';
import type { Impact } from '../../uptime/incidents.ts';
import { type RequestTally, requestRatio } from '../../uptime/passive.ts';
import type { Absence } from '../../uptime/presence.ts';
import type { ProbeMode, ProbeResult } from '../../uptime/probes/probe.ts';
import type { State } from '../../uptime/state.ts';
import {
  addTallies,
  type Incident,
  type ModelStatus,
  meanLatencyMs,
  type Observer,
  type StatusReport,
  type Tally,
  uptimeRatio,
  type WayStatus,
} from '../../uptime/uptime.ts';
import { encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import { ProtocolType } from '../catalog/protocol.ts';
import type { GraphqlContext } from '../context.ts';
import { AnnouncementType } from '../notices/announcements.ts';
import { storedEnum } from '../types/enums.ts';
import { badInput } from '../types/errors.ts';
import { forwardPage } from '../types/paging.ts';
import { HourOrDay } from '../types/ranges.ts';
import { StatusUpdateType } from './status-updates.ts';

/** Uptime: the public results of probes. */

const StateType = builder.enumType('ServiceState', {
  description: 'How a model, or the whole service, does.',
  values: {
    UP: { value: 'up', description: 'It answers.' },
    DEGRADED: { value: 'degraded', description: 'Some ways to reach it fail.' },
    DOWN: { value: 'down', description: 'It does not answer.' },
    NO_DATA: { value: 'no_data', description: 'It has not been measured lately: neither up nor down.' },
  } satisfies Record<string, { value: State; description: string }>,
});

const ProbeModeType = storedEnum('ProbeMode', {
  description: 'How a probe asks for its answer.',
  values: {
    PLAIN: { value: 'plain', description: 'In one piece.' },
    STREAM: { value: 'stream', description: 'As a stream.' },
  } satisfies Record<string, { value: ProbeMode; description: string }>,
});

const ProbeOutcomeType = storedEnum('ProbeOutcome', {
  description: 'What a probe found.',
  values: {
    UP: { value: 'up', description: 'A whole, well-formed answer.' },
    DOWN: { value: 'down', description: 'No such answer.' },
    NO_DATA: { value: 'no_data', description: 'The probe’s own key, budget or limits stood in the way.' },
  } satisfies Record<string, { value: ProbeResult['outcome']; description: string }>,
});

const ImpactType = storedEnum('IncidentImpact', {
  description: 'How much of a model an incident touches.',
  values: {
    PARTIAL: { value: 'partial', description: 'Some ways to reach it.' },
    MAJOR: { value: 'major', description: 'All ways to reach it.' },
  } satisfies Record<string, { value: Impact; description: string }>,
});

const TallyType = builder.objectRef<Tally>('Uptime').implement({
  description: 'Probes of a stretch of time. Probes without data count as neither up nor down.',
  authScopes: { public: true },
  fields: (t) => ({
    up: t.exposeInt('up', { description: 'Probes that were answered.' }),
    down: t.exposeInt('down', { description: 'Probes that were not.' }),
    noData: t.exposeInt('noData', { description: 'Probes that say nothing.' }),
    maintenance: t.exposeInt('maintenance', {
      description: 'Probes in announced maintenance, which are part of no figure.',
    }),
    ratio: t.float({
      nullable: true,
      description: 'up / (up + down), cut to five decimals; null without data.',
      resolve: uptimeRatio,
    }),
    latencyMs: t.int({ nullable: true, description: 'Mean time of the probes that were up.', resolve: meanLatencyMs }),
  }),
});

const PointType = builder.objectRef<Tally & { at: Date }>('UptimePoint').implement({
  description: 'The probes of an hour or a day.',
  authScopes: { public: true },
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Where it begins.' }),
    uptime: t.field({ type: TallyType, description: 'Its probes.', resolve: (point) => point }),
  }),
});

const WayType = builder.objectRef<WayStatus>('ProbedWay').implement({
  description: 'The newest probe of one way to reach a model.',
  authScopes: { public: true },
  fields: (t) => ({
    protocol: t.expose('protocol', { type: ProtocolType, nullable: true, description: 'Which protocol.' }),
    mode: t.expose('mode', { type: ProbeModeType, nullable: true, description: 'In one piece, or as a stream.' }),
    outcome: t.expose('outcome', { type: ProbeOutcomeType, nullable: true, description: 'What the probe found.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why it was not up, e.g. `timeout`, `status_502`.',
    }),
    latencyMs: t.exposeInt('latencyMs', { nullable: true, description: 'Milliseconds until the last byte.' }),
    timeToFirstByteMs: t.exposeInt('timeToFirstByteMs', {
      nullable: true,
      description: 'Milliseconds until the first byte.',
    }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', description: 'When the probe was sent.' }),
  }),
});

const RequestShareType = builder.objectRef<RequestTally>('RequestShare').implement({
  description: 'How customers’ own requests by one protocol ended in the last 24 hours.',
  authScopes: { public: true },
  fields: (t) => ({
    protocol: t.expose('protocol', { type: ProtocolType, nullable: true, description: 'Which protocol.' }),
    succeeded: t.float({
      nullable: true,
      description: 'The share that succeeded; null: there were few.',
      resolve: (tally) => requestRatio([tally]),
    }),
    count: t.int({
      nullable: true,
      description: 'How many there were; only operators see it.',
      resolve: ({ succeeded, failed }, _args, { principal }) => (isOperator(principal) ? succeeded + failed : null),
    }),
  }),
});

const ObserverType = builder.objectRef<Observer>('UptimeObserver').implement({
  description: 'A machine that measures the service.',
  authScopes: { public: true },
  fields: (t) => ({
    agent: t.boolean({
      description: 'Whether it is an agent elsewhere; else the service measures itself, through its public address.',
      resolve: ({ kind }) => kind === 'agent',
    }),
    name: t.exposeString('name', { description: 'Its name; empty for the service.' }),
    region: t.exposeString('region', { description: 'Where it stands; empty for the service.' }),
    measuredAt: t.expose('measuredAt', { type: 'DateTime', description: 'When its last probe was sent.' }),
  }),
});

const AbsenceType = builder.objectRef<Absence>('ServiceAbsence').implement({
  description: 'A time in which the service itself was not running.',
  authScopes: { public: true },
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'When it was last alive.' }),
    to: t.expose('to', { type: 'DateTime', description: 'When it was alive again.' }),
  }),
});

const CauseType = storedEnum('IncidentCause', {
  description: 'Why probes of a model failed, where it was not the model.',
  values: {
    SERVICE: { value: 'service', description: 'The service itself was away or could not be reached.' },
  } as const,
});

const ModelStatusType = builder.objectRef<ModelStatus>('ModelStatus').implement({
  description: 'How a model does, and did.',
  authScopes: { public: true },
  fields: (t) => ({
    modelId: t.exposeString('id', { description: 'Catalog id.' }),
    displayName: t.exposeString('displayName', { description: 'What people read.' }),
    simulated: t.exposeBoolean('simulated', { description: 'Whether it runs on the built-in simulator.' }),
    state: t.expose('state', { type: StateType, description: 'How it does now.' }),
    measuredSince: t.expose('measuredSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the first probe with data was sent: figures of longer spans are figures since then. Null: never.',
    }),
    everyMinutes: t.exposeInt('everyMinutes', {
      nullable: true,
      description: 'Minutes between two rounds of probes; 0: it is not probed; null: not known yet.',
    }),
    requestsSucceeded: t.float({
      nullable: true,
      description: 'The share of customers’ own requests of the last 24 hours that succeeded; null: there were few.',
      resolve: ({ requests }) => requestRatio(requests),
    }),
    requests: t.field({
      type: [RequestShareType],
      description: 'The same by protocol.',
      resolve: ({ requests }) => requests,
    }),
    ways: t.expose('ways', { type: [WayType], description: 'The newest probe of each way to reach it.' }),
    last24Hours: t.expose('last24Hours', { type: TallyType, description: 'Probes of the last 24 hours.' }),
    last7Days: t.field({
      type: TallyType,
      description: 'Probes of the last 7 days.',
      resolve: ({ days }) => addTallies(days.slice(-7)),
    }),
    last30Days: t.field({
      type: TallyType,
      description: 'Probes of the last 30 days.',
      resolve: ({ days }) => addTallies(days.slice(-30)),
    }),
    last90Days: t.field({
      type: TallyType,
      description: 'Probes of the last 90 days.',
      resolve: ({ days }) => addTallies(days),
    }),
    days: t.field({
      type: [PointType],
      description: 'The last 90 days (UTC), the oldest first; days without probes are among them.',
      complexity: { field: 1, multiplier: 90 },
      resolve: ({ days }) => days.map(({ date, ...tally }) => ({ ...tally, at: new Date(date) })),
    }),
  }),
});

interface AffectedWay {
  protocol: Protocol;
  mode: ProbeMode;
}

const AffectedWayType = builder.objectRef<AffectedWay>('AffectedWay').implement({
  description: 'A way to reach a model.',
  authScopes: { public: true },
  fields: (t) => ({
    protocol: t.expose('protocol', { type: ProtocolType, nullable: true, description: 'Over which protocol.' }),
    mode: t.expose('mode', { type: ProbeModeType, nullable: true, description: 'In which mode.' }),
  }),
});

/** A way is stored as `protocol/mode`. */
function wayOf(way: string): AffectedWay {
  const [protocol, mode] = way.split('/');
  return { protocol: protocol as Protocol, mode: mode as ProbeMode };
}

const IncidentType = builder.objectRef<Incident>('Incident').implement({
  description: 'A time in which probes of a model failed: opened by three failures in a row, ended by two successes.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the incident.', resolve: ({ id }) => encodeId('Incident', id) }),
    modelId: t.exposeString('model', { description: 'Catalog id.' }),
    impact: t.expose('impact', { type: ImpactType, nullable: true, description: 'The worst of it.' }),
    affectedWays: t.field({
      type: [AffectedWayType],
      description: 'Every way that failed.',
      resolve: ({ affected }) => affected.map(wayOf),
    }),
    cause: t.expose('cause', {
      type: CauseType,
      nullable: true,
      description: 'Why, where it was not the model; null: the model failed, or more is not known.',
    }),
    updates: t.expose('updates', {
      type: [StatusUpdateType],
      description: 'What was said in its course, the oldest first.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the first failing probe was sent.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was over; null: it goes on.',
    }),
  }),
});

const StatusType = builder.objectRef<StatusReport>('ServiceStatus').implement({
  description: 'What the status page says.',
  authScopes: { public: true },
  fields: (t) => ({
    generatedAt: t.expose('generatedAt', { type: 'DateTime', description: 'As of when.' }),
    state: t.expose('state', { type: StateType, description: 'How the service as a whole does.' }),
    measuredSince: t.expose('measuredSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When the first probe with data was sent; null: none was.',
    }),
    observers: t.expose('observers', { type: [ObserverType], description: 'Who measured in the last two days.' }),
    absences: t.expose('absences', {
      type: [AbsenceType],
      description: 'When the service itself was not running in the last 90 days, the newest first.',
    }),
    models: t.expose('models', { type: [ModelStatusType], description: 'Every model of the catalog.' }),
    incidents: t.expose('incidents', {
      type: [IncidentType],
      description: 'Incidents of the last 90 days, those that go on first.',
    }),
    announcements: t.expose('announcements', { type: [AnnouncementType], description: 'What is announced now.' }),
  }),
});

/** One report an operation, however many of its fields and aliases read it. */
const reports = new WeakMap<GraphqlContext, Promise<StatusReport>>();

function reportOf(context: GraphqlContext): Promise<StatusReport> {
  let report = reports.get(context);
  if (report === undefined) {
    report = context.domains.uptime.report();
    reports.set(context, report);
  }
  return report;
}

/** Maximum range of a chart, by its unit. */
const maxHours = 31 * 24;
const maxDays = 3 * 366;

builder.queryFields((t) => ({
  status: t.field({
    type: StatusType,
    description: 'How the service does.',
    authScopes: { public: true },
    resolve: (_root, _args, context) => reportOf(context),
  }),
  uptime: t.field({
    type: [PointType],
    description: 'A model’s probes over time; hours or days without any are left out.',
    authScopes: { public: true },
    complexity: { field: 1, multiplier: 90 },
    args: {
      modelId: t.arg.string({ required: true, description: 'Catalog id.' }),
      protocol: t.arg({ type: ProtocolType, description: 'Only over this protocol.' }),
      mode: t.arg({ type: ProbeModeType, description: 'Only in this mode.' }),
      from: t.arg({ type: 'DateTime', required: true, description: 'From this moment on.' }),
      to: t.arg({ type: 'DateTime', required: true, description: 'Until before this moment.' }),
      period: t.arg({
        type: HourOrDay,
        required: true,
        description: 'How long the periods are; days are those of UTC.',
      }),
    },
    resolve: (_root, { modelId, protocol, mode, from, to, period }, { domains }) => {
      const hours = (to.getTime() - from.getTime()) / 3_600_000;
      if (hours <= 0) throw badInput('to', 'to must be after from.');
      if (hours > (period === 'hour' ? maxHours : maxDays * 24))
        throw badInput('from', 'This is longer than a chart can show.');
      return domains.uptime.series({
        model: modelId.slice(0, 256),
        from,
        to,
        by: period,
        ...(protocol == null ? {} : { protocol }),
        ...(mode == null ? {} : { mode }),
      });
    },
  }),
  incidents: t.connection(
    {
      type: IncidentType,
      description: 'Incidents, newest first.',
      authScopes: { public: true },
      args: { modelId: t.arg.string({ description: 'Only of this model.' }) },
      resolve: (_root, args, { domains }) =>
        forwardPage(args, (page) =>
          domains.uptime.listIncidents({
            ...page,
            ...(args.modelId == null ? {} : { model: args.modelId.slice(0, 256) }),
          }),
        ),
    },
    { name: 'IncidentConnection' },
    { name: 'IncidentEdge' },
  ),
}));
