import { figuresOf } from './status-view.ts';
import {
  type Announcement,
  type Incident,
  type ModelStatus,
  meanLatencyMs,
  type StatusReport,
  type Tally,
  uptimeRatio,
} from './uptime.ts';

/**
 * The status report for programs (`/status.json`), in snake_case as everything outside GraphQL. A figure without data
 * is null, never zero: `uptime` is a share between 0 and 1 of the probes with data.
 */
export function statusJson(report: StatusReport): object {
  return {
    object: 'status',
    generated_at: report.generatedAt.toISOString(),
    state: report.state,
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
    latency_ms: meanLatencyMs(tally),
  };
}

function incidentJson(incident: Incident): object {
  return {
    id: incident.id,
    model: incident.model,
    impact: incident.impact,
    affected: incident.affected,
    started_at: incident.startedAt.toISOString(),
    ended_at: incident.endedAt?.toISOString() ?? null,
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
  };
}
