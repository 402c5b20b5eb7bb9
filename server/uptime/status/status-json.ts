import type { Announcement } from '../announcements.ts';
import { requestRatio } from '../passive.ts';
import type { StatusUpdate } from '../updates.ts';
import {
  type Incident,
  type ModelStatus,
  meanLatencyMs,
  type StatusReport,
  type Tally,
  uptimeRatio,
} from '../uptime.ts';
import { figuresOf } from './status-view.ts';

/**
 * The status report for programs (`/status.json`), in snake_case as everything outside GraphQL. A figure without data
 * is null, never zero: `uptime` is a share between 0 and 1 of the probes with data, those since `measured_since` where
 * that is later than the beginning of the span.
 */
export function statusJson(report: StatusReport): object {
  return {
    object: 'status',
    generated_at: report.generatedAt.toISOString(),
    state: report.state,
    measured_since: report.measuredSince?.toISOString() ?? null,
    measured_from: report.observers.map((observer) => ({
      kind: observer.kind,
      name: observer.kind === 'service' ? null : observer.name,
      region: observer.kind === 'service' ? null : observer.region,
      measured_at: observer.measuredAt.toISOString(),
    })),
    service_away: report.absences.map(({ from, to }) => ({ from: from.toISOString(), to: to.toISOString() })),
    models: report.models.map(modelJson),
    incidents: report.incidents.map(incidentJson),
    announcements: report.announcements.map(announcementJson),
  };
}

function modelJson(model: ModelStatus): object {
  const { uptime, latencyMs } = figuresOf([model]);
  return {
    id: model.id,
    display_name: model.displayName,
    simulated: model.simulated,
    state: model.state,
    measured_since: model.measuredSince?.toISOString() ?? null,
    probed_every_minutes: model.everyMinutes,
    requests_succeeded: {
      last_24_hours: requestRatio(model.requests),
      ...Object.fromEntries(model.requests.map((tally) => [tally.protocol, requestRatio([tally])])),
    },
    uptime: {
      last_24_hours: uptimeRatio(uptime.hours24),
      last_7_days: uptimeRatio(uptime.days7),
      last_30_days: uptimeRatio(uptime.days30),
      last_90_days: uptimeRatio(uptime.days90),
    },
    latency_ms: latencyMs,
    protocols: model.ways.map((way) => ({
      protocol: way.protocol,
      mode: way.mode,
      state: way.outcome,
      reason: way.reason,
      latency_ms: way.latencyMs,
      time_to_first_byte_ms: way.timeToFirstByteMs,
      checked_at: way.checkedAt.toISOString(),
    })),
    days: model.days.map(({ date, ...tally }) => ({ date, ...dayJson(tally) })),
  };
}

function dayJson(tally: Tally): object {
  return {
    uptime: uptimeRatio(tally),
    up: tally.up,
    down: tally.down,
    no_data: tally.noData,
    maintenance: tally.maintenance,
    latency_ms: meanLatencyMs(tally),
  };
}

function incidentJson(incident: Incident): object {
  return {
    id: incident.id,
    model: incident.model,
    impact: incident.impact,
    cause: incident.cause,
    affected: incident.affected,
    started_at: incident.startedAt.toISOString(),
    ended_at: incident.endedAt?.toISOString() ?? null,
    updates: incident.updates.map(updateJson),
  };
}

function announcementJson(announcement: Announcement): object {
  return {
    id: announcement.id,
    kind: announcement.kind,
    title: { en: announcement.title, vi: announcement.titleVi },
    body: { en: announcement.body, vi: announcement.bodyVi },
    models: announcement.models,
    starts_at: announcement.startsAt.toISOString(),
    ends_at: announcement.endsAt?.toISOString() ?? null,
    updates: announcement.updates.map(updateJson),
  };
}

function updateJson({ id, state, body, bodyVi, createdAt }: StatusUpdate): object {
  return { id, state, body: { en: body, vi: bodyVi }, created_at: createdAt.toISOString() };
}
