/** The view model behind every way of showing the status: figures by span, and events as one list. Pure. */

import type { Locale } from '../../shared/page.ts';
import type { Announcement } from '../announcements.ts';
import type { StatusUpdate } from '../updates.ts';
import {
  addTallies,
  type Incident,
  type ModelStatus,
  meanLatencyMs,
  type StatusReport,
  type Tally,
} from '../uptime.ts';

/** The spans for which uptime is shown, the shortest first. */
export const spans = ['hours24', 'days7', 'days30', 'days90'] as const;
export type StatusSpan = (typeof spans)[number];

export interface Figures {
  uptime: Readonly<Record<StatusSpan, Tally>>;
  /** Of the last 24 hours; null without data. */
  latencyMs: number | null;
}

const spanMs: Readonly<Record<StatusSpan, number>> = {
  hours24: 86_400_000,
  days7: 7 * 86_400_000,
  days30: 30 * 86_400_000,
  days90: 90 * 86_400_000,
};

/** Whether measuring had begun when a span began: otherwise its figure is one since then, and must say so. */
export function covers(measuredSince: Date | null, span: StatusSpan, now: Date): boolean {
  return measuredSince !== null && now.getTime() - measuredSince.getTime() >= spanMs[span];
}

export interface ShownFigure {
  span: StatusSpan;
  /** Null: of the whole span; else of the time since then. */
  since: Date | null;
  tally: Tally;
}

/** The figures that can be shown: of the spans that were measured as a whole, then one of all that was measured. */
export function shownFigures(
  { uptime }: Pick<Figures, 'uptime'>,
  measuredSince: Date | null,
  now: Date,
): ShownFigure[] {
  const whole = spans.filter((span) => covers(measuredSince, span, now));
  const figures = whole.map((span): ShownFigure => ({ span, since: null, tally: uptime[span] }));
  if (whole.length === spans.length) return figures;
  return [...figures, { span: 'days90', since: measuredSince, tally: uptime.days90 }];
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
  /** `models`: one, or all that an outage of the service itself made fail at once. */
  | (EventTimes & { source: 'measured'; incident: Incident; models: string[] })
  | (EventTimes & { source: 'announced'; announcement: Announcement });

/** Incidents, then announcements, in the order of the report. */
export function eventsOf(
  report: Pick<StatusReport, 'generatedAt' | 'incidents' | 'announcements' | 'pastAnnouncements'>,
): StatusEvent[] {
  const { generatedAt, incidents, announcements, pastAnnouncements } = report;
  return [
    ...together(incidents).map(({ incident, models }): StatusEvent => {
      const { id, startedAt, endedAt, updates } = incident;
      const phase = endedAt === null ? 'open' : 'over';
      const changedAt = newestOf(endedAt ?? startedAt, updates);
      return { source: 'measured', incident, models, id, phase, startedAt, endedAt, createdAt: startedAt, changedAt };
    }),
    ...[...announcements, ...pastAnnouncements].map((announcement): StatusEvent => {
      const { id, startsAt: startedAt, endsAt: endedAt, createdAt } = announcement;
      const over = endedAt !== null && endedAt <= generatedAt;
      const phase = over ? 'over' : startedAt > generatedAt ? 'planned' : 'open';
      const changedAt = newestOf(over ? endedAt : createdAt, announcement.updates);
      return { source: 'announced', announcement, id, phase, startedAt, endedAt, createdAt, changedAt };
    }),
  ];
}

function newestOf(moment: Date, updates: readonly StatusUpdate[]): Date {
  return new Date(Math.max(moment.getTime(), ...updates.map(({ createdAt }) => createdAt.getTime())));
}

/** How far apart the failures of models may be that the service itself made fail at once. */
const togetherMs = 10 * 60_000;

/** Incidents, those of one outage of the service itself as one. The rule that opens them looks at each model separately. */
export function together(incidents: readonly Incident[]): { incident: Incident; models: string[] }[] {
  const groups: { incident: Incident; models: string[] }[] = [];
  const near = (a: Date | null, b: Date | null) =>
    a === null || b === null ? a === b : Math.abs(a.getTime() - b.getTime()) <= togetherMs;
  for (const each of incidents) {
    const group = groups.find(
      ({ incident: { cause, startedAt, endedAt } }) =>
        each.cause === 'service' &&
        cause === 'service' &&
        near(startedAt, each.startedAt) &&
        near(endedAt, each.endedAt),
    );
    if (group === undefined) {
      groups.push({ incident: each, models: [each.model] });
      continue;
    }
    const { incident } = group;
    group.models = [...new Set([...group.models, each.model])].sort();
    group.incident = {
      // The same one, whichever of them is read first: feeds know it by its id.
      ...(incident.id < each.id ? incident : each),
      impact: incident.impact === 'major' ? 'major' : each.impact,
      affected: [...new Set([...incident.affected, ...each.affected])].sort(),
      startedAt: incident.startedAt < each.startedAt ? incident.startedAt : each.startedAt,
      endedAt:
        incident.endedAt === null || each.endedAt === null || incident.endedAt > each.endedAt
          ? incident.endedAt
          : each.endedAt,
      updates: [...incident.updates, ...each.updates].toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()),
    };
  }
  return groups;
}

/** The words of an update in a language; English where the operator wrote no other. */
export function updateIn({ body, bodyVi }: StatusUpdate, locale: Locale): string {
  return locale === 'vi' ? (bodyVi ?? body) : body;
}

/** An announcement in a language; English where the operator wrote no other. */
export function saidIn(
  { title, titleVi, body, bodyVi }: Announcement,
  locale: Locale,
): { title: string; body: string } {
  return locale === 'vi' ? { title: titleVi ?? title, body: bodyVi ?? body } : { title, body };
}
