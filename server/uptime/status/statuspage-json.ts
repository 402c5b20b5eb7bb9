import type { Announcement } from '../announcements.ts';
import type { StatusUpdate, UpdateState } from '../updates.ts';
import type { Incident, ModelStatus, StatusReport } from '../uptime.ts';
import { wayText } from './status-text.ts';
import { eventsOf, type StatusEvent } from './status-view.ts';
import { words } from './status-words.ts';

/**
 * The status report in the JSON shape of hosted status pages (`/api/v2/…` of theirs), which monitors and chat bots know
 * how to read. A model is a component; measured incidents and those that the operator announced are incidents;
 * announced maintenance is scheduled maintenance. The shape speaks English, and has no word for what was not measured:
 * such a component is `operational`, because nothing is known against it, and its description says so.
 */

/** Each document, by its address below `/api/v2/`. */
export const statuspageDocuments: Readonly<Record<string, (page: StatusPage) => object>> = {
  'summary.json': (page) => ({
    page: page.page,
    status: page.status,
    components: page.components,
    incidents: page.incidents.filter(isUnresolved),
    scheduled_maintenances: page.maintenances.filter(isUnresolved),
  }),
  'status.json': ({ page, status }) => ({ page, status }),
  'components.json': ({ page, components }) => ({ page, components }),
  'incidents.json': ({ page, incidents }) => ({ page, incidents }),
  'incidents/unresolved.json': ({ page, incidents }) => ({ page, incidents: incidents.filter(isUnresolved) }),
  'scheduled-maintenances.json': ({ page, maintenances }) => ({ page, scheduled_maintenances: maintenances }),
  'scheduled-maintenances/active.json': ({ page, maintenances }) => ({
    page,
    scheduled_maintenances: maintenances.filter(({ status }) => status === 'in_progress'),
  }),
  'scheduled-maintenances/upcoming.json': ({ page, maintenances }) => ({
    page,
    scheduled_maintenances: maintenances.filter(({ status }) => status === 'scheduled'),
  }),
};

type ComponentStatus = 'operational' | 'partial_outage' | 'major_outage' | 'under_maintenance';
type Impact = 'none' | 'minor' | 'major' | 'critical' | 'maintenance';
type EventStatus = UpdateState | 'scheduled';

interface Component {
  id: string;
  status: ComponentStatus;
}

interface Event {
  status: EventStatus;
  impact: Impact;
  started_at: string;
}

export interface StatusPage {
  page: object;
  status: { indicator: Exclude<Impact, 'maintenance'>; description: string };
  components: Component[];
  /** Newest first, as everything in this format. */
  incidents: Event[];
  maintenances: Event[];
}

const isUnresolved = ({ status }: Event): boolean => status !== 'resolved' && status !== 'completed';

const w = words.en;
const pageId = 'steyg';
const maxEvents = 50;

/** `url` is the public address of the page. */
export function statuspageOf(report: StatusReport, url: string): StatusPage {
  const { generatedAt, models } = report;
  const events = eventsOf(report);
  const underWay = (kind: Announcement['kind']) =>
    report.announcements.filter((each) => each.kind === kind && each.startsAt <= generatedAt);

  const worked = underWay('maintenance');
  const components = models.map((model, index) =>
    componentOf(model, {
      position: index + 1,
      isMaintained: worked.some((work) => isAbout(work, model)),
      changedAt: changeOf(model, report.incidents),
    }),
  );
  const componentsOf = (concerns: (model: ModelStatus) => boolean): Component[] => {
    const ids = new Set(models.filter(concerns).map(({ id }) => id));
    return components.filter(({ id }) => ids.has(id));
  };
  const isMaintenance = (event: StatusEvent) =>
    event.source === 'announced' && event.announcement.kind === 'maintenance';
  const isIncident = (event: StatusEvent) =>
    event.source === 'measured' || (event.announcement.kind === 'incident' && event.phase !== 'planned');
  const write = (event: StatusEvent) => {
    const facts =
      event.source === 'measured'
        ? measured(
            event,
            componentsOf(({ id }) => event.models.includes(id)),
          )
        : announced(
            event,
            componentsOf((model) => isAbout(event.announcement, model)),
          );
    return eventOf(facts, url);
  };
  const newestFirst = (some: StatusEvent[]) =>
    some
      .map(write)
      .toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1))
      .slice(0, maxEvents);

  return {
    page: { id: pageId, name: 'Steyg', url, time_zone: 'Etc/UTC', updated_at: generatedAt.toISOString() },
    status: overall(report, underWay('incident').length > 0),
    components,
    incidents: newestFirst(events.filter(isIncident)),
    maintenances: newestFirst(events.filter(isMaintenance)),
  };
}

const isAbout = ({ models }: Announcement, { id }: ModelStatus): boolean => models.length === 0 || models.includes(id);

function overall({ state, models }: StatusReport, isAnnounced: boolean): StatusPage['status'] {
  const description = w.overall[state];
  if (state === 'down') return { indicator: 'critical', description };
  if (state === 'degraded')
    return { indicator: models.some((model) => model.state === 'down') ? 'major' : 'minor', description };
  return isAnnounced ? { indicator: 'minor', description: w.kinds.incident } : { indicator: 'none', description };
}

function componentOf(
  { id, displayName, createdAt, measuredSince, state }: ModelStatus,
  { position, isMaintained, changedAt }: { position: number; isMaintained: boolean; changedAt: Date },
): Component & Record<string, unknown> {
  const measuredStatus = (
    { up: 'operational', degraded: 'partial_outage', down: 'major_outage', no_data: 'operational' } as const
  )[state];
  return {
    id,
    name: displayName,
    // Failures during maintenance are expected.
    status: isMaintained ? 'under_maintenance' : measuredStatus,
    created_at: createdAt.toISOString(),
    updated_at: changedAt.toISOString(),
    position,
    description: state === 'no_data' ? w.states.no_data : null,
    showcase: true,
    // Since when it is measured: what has no measurement has no uptime.
    start_date: (measuredSince ?? createdAt).toISOString().slice(0, 10),
    group_id: null,
    page_id: pageId,
    group: false,
    only_show_if_degraded: false,
  };
}

/** When the last incident or maintenance of a model began or ended. */
function changeOf({ id, createdAt }: ModelStatus, incidents: readonly Incident[]): Date {
  const moments = incidents
    .filter(({ model }) => model === id)
    .map(({ startedAt, endedAt }) => (endedAt ?? startedAt).getTime());
  return new Date(Math.max(createdAt.getTime(), ...moments));
}

/** An event, past or planned; `updates` are the oldest first. */
interface EventFacts {
  id: string;
  name: string;
  status: EventStatus;
  impact: Impact;
  createdAt: Date;
  startedAt: Date;
  resolvedAt: Date | null;
  updates: { status: EventStatus; body: string; at: Date }[];
  components: Component[];
  /** Of scheduled maintenance. */
  planned?: { from: Date; until: Date | null };
}

function measured(event: Extract<StatusEvent, { source: 'measured' }>, components: Component[]): EventFacts {
  const { impact, affected, cause } = event.incident;
  const { id, startedAt, endedAt } = event;
  const why = cause === null ? '' : `${w.serviceCause}. `;
  const body = `${why}${w.affected}: ${affected.map((way) => wayText(way, w)).join(', ')}.`;
  const said = saidSince(event.incident.updates);
  // A person knows more than `investigating`; only probes say that it is over.
  const latest = said.findLast(({ status }) => status !== 'resolved')?.status ?? 'investigating';
  return {
    id,
    name: `${event.models.join(', ')}: ${w.impacts[impact]}`,
    status: endedAt === null ? latest : 'resolved',
    impact: impact === 'major' ? 'major' : 'minor',
    createdAt: startedAt,
    startedAt,
    resolvedAt: endedAt,
    updates: [
      { status: 'investigating' as const, body, at: startedAt },
      ...said,
      ...(endedAt === null ? [] : [{ status: 'resolved' as const, body: `${w.over}.`, at: endedAt }]),
    ].toSorted(byTime),
    components,
  };
}

type Update = EventFacts['updates'][number];

function saidSince(updates: readonly StatusUpdate[]): Update[] {
  return updates.map(({ state, body, createdAt }) => ({ status: state, body, at: createdAt }));
}

const byTime = (a: Update, b: Update): number => a.at.getTime() - b.at.getTime();

function announced(event: Extract<StatusEvent, { source: 'announced' }>, components: Component[]): EventFacts {
  const { kind, title, body } = event.announcement;
  const { id, phase, createdAt, startedAt, endedAt } = event;
  const isPlanned = kind === 'maintenance';
  const [planned, open, over] = isPlanned
    ? (['scheduled', 'in_progress', 'completed'] as const)
    : (['identified', 'identified', 'resolved'] as const);
  const resolvedAt = phase === 'over' ? endedAt : null;
  const announcedFirst = isPlanned && createdAt < startedAt;
  const said = saidSince(event.announcement.updates);
  const status = { planned, open, over }[phase];
  return {
    id,
    name: title,
    status: phase === 'open' ? (said.at(-1)?.status ?? status) : status,
    impact: isPlanned ? 'maintenance' : 'minor',
    createdAt,
    startedAt,
    resolvedAt,
    updates: [
      ...(announcedFirst ? [{ status: planned, body, at: createdAt }] : []),
      ...(phase === 'planned' ? [] : [{ status: open, body, at: startedAt }]),
      ...said,
      // A person's last words stand for the end.
      ...(resolvedAt === null || said.at(-1)?.status === over
        ? []
        : [{ status: over, body: `${w.over}.`, at: resolvedAt }]),
    ].toSorted(byTime),
    components,
    ...(isPlanned ? { planned: { from: startedAt, until: endedAt } } : {}),
  };
}

function eventOf(facts: EventFacts, url: string): Event & Record<string, unknown> {
  const { id, name, status, impact, createdAt, startedAt, resolvedAt, updates, components, planned } = facts;
  const changedAt = updates.at(-1)?.at ?? createdAt;
  return {
    id,
    name,
    status,
    created_at: createdAt.toISOString(),
    updated_at: changedAt.toISOString(),
    monitoring_at: null,
    resolved_at: resolvedAt?.toISOString() ?? null,
    impact,
    shortlink: url,
    started_at: startedAt.toISOString(),
    page_id: pageId,
    incident_updates: updates.toReversed().map((update, index) => ({
      // Stable: later updates come before it in this list.
      id: `${id}-${updates.length - index}-${update.status}`,
      status: update.status,
      body: update.body,
      incident_id: id,
      created_at: update.at.toISOString(),
      updated_at: update.at.toISOString(),
      display_at: update.at.toISOString(),
      affected_components: null,
      deliver_notifications: false,
      custom_tweet: null,
      tweet_id: null,
    })),
    components,
    ...(planned === undefined
      ? {}
      : {
          scheduled_for: planned.from.toISOString(),
          scheduled_until: planned.until?.toISOString() ?? null,
        }),
  };
}
