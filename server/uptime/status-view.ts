/** The view model behind every way of showing the status: figures by span, and events as one list. Pure. */

import type { Locale } from '../shared/page.ts';
import {
  type Announcement,
  addTallies,
  type Incident,
  type ModelStatus,
  meanLatencyMs,
  type StatusReport,
  type Tally,
} from './uptime.ts';

/** The spans for which uptime is shown, the shortest first. */
export const spans = ['hours24', 'days7', 'days30', 'days90'] as const;
export type StatusSpan = (typeof spans)[number];

export interface Figures {
  uptime: Readonly<Record<StatusSpan, Tally>>;
  /** Of the last 24 hours; null without data. */
  latencyMs: number | null;
}

/** The figures of a model, or of several together. */
export function figuresOf(models: readonly Pick<ModelStatus, 'last24Hours' | 'days'>[]): Figures {
  const lastDays = (count: number) => addTallies(models.flatMap(({ days }) => days.slice(-count)));
  const hours24 = addTallies(models.map(({ last24Hours }) => last24Hours));
  return {
    uptime: { hours24, days7: lastDays(7), days30: lastDays(30), days90: lastDays(90) },
    latencyMs: meanLatencyMs(hours24),
  };
}

interface EventTimes {
  id: string;
  /** `planned`: it has not begun. `over`: it has ended. */
  phase: 'planned' | 'open' | 'over';
  startedAt: Date;
  endedAt: Date | null;
  /** When it was measured or announced. */
  createdAt: Date;
  /** When it was last updated: its end, or else its beginning as announced. */
  changedAt: Date;
}

/** An event, past or planned: measured by probes, or announced by an operator. */
export type StatusEvent =
  | (EventTimes & { source: 'measured'; incident: Incident })
  | (EventTimes & { source: 'announced'; announcement: Announcement });

/** Incidents, then announcements, in the order of the report. */
export function eventsOf(
  report: Pick<StatusReport, 'generatedAt' | 'incidents' | 'announcements' | 'pastAnnouncements'>,
): StatusEvent[] {
  const { generatedAt, incidents, announcements, pastAnnouncements } = report;
  return [
    ...incidents.map((incident): StatusEvent => {
      const { id, startedAt, endedAt } = incident;
      const phase = endedAt === null ? 'open' : 'over';
      const changedAt = endedAt ?? startedAt;
      return { source: 'measured', incident, id, phase, startedAt, endedAt, createdAt: startedAt, changedAt };
    }),
    ...[...announcements, ...pastAnnouncements].map((announcement): StatusEvent => {
      const { id, startsAt: startedAt, endsAt: endedAt, createdAt } = announcement;
      const over = endedAt !== null && endedAt <= generatedAt;
      const phase = over ? 'over' : startedAt > generatedAt ? 'planned' : 'open';
      const changedAt = over ? endedAt : createdAt;
      return { source: 'announced', announcement, id, phase, startedAt, endedAt, createdAt, changedAt };
    }),
  ];
}

/** An announcement in a language; English where the operator wrote no other. */
export function saidIn(
  { title, titleVi, body, bodyVi }: Announcement,
  locale: Locale,
): { title: string; body: string } {
  return locale === 'vi' ? { title: titleVi ?? title, body: bodyVi ?? body } : { title, body };
}
