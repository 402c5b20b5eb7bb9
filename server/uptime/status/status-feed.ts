import { escapeText, type Locale, momentText } from '../../shared/page.ts';
import type { StatusUpdate } from '../updates.ts';
import type { StatusReport } from '../uptime.ts';
import { durationText, observersText, wayText } from './status-text.ts';
import { eventsOf, type StatusEvent, saidIn, updateIn } from './status-view.ts';
import { type StatusWords, words } from './status-words.ts';

/**
 * The feed of recent incidents and announcements: each is one item, which counts as updated when it ends. `origin` is
 * the service's public address; ids of items are stable as long as it is.
 */
export interface FeedInput {
  report: Pick<
    StatusReport,
    'generatedAt' | 'measuredSince' | 'observers' | 'incidents' | 'announcements' | 'pastAnnouncements'
  >;
  origin: string;
  locale: Locale;
}

interface Item {
  id: string;
  title: string;
  text: string;
  at: Date;
  changedAt: Date;
}

export function atomFeed({ report, origin, locale }: FeedInput): string {
  const w = words[locale];
  const items = itemsOf(report, locale);
  const page = `${origin}/status`;
  const entries = items.map(
    ({ id, title, text, at, changedAt }) => `<entry>
<id>${escapeText(`${page}#${id}`)}</id>
<title>${escapeText(title)}</title>
<link rel="alternate" type="text/html" href="${escapeText(page)}"/>
<published>${at.toISOString()}</published>
<updated>${changedAt.toISOString()}</updated>
<content type="text">${escapeText(text)}</content>
</entry>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${locale}">
<id>${escapeText(page)}</id>
<title>${escapeText(w.title)}</title>
<subtitle>${escapeText(measuringText(report, locale))}</subtitle>
<updated>${(newestChange(items) ?? report.generatedAt).toISOString()}</updated>
<author><name>Steyg</name></author>
<link rel="alternate" type="text/html" href="${escapeText(page)}"/>
<link rel="self" type="application/atom+xml" href="${escapeText(`${page}/history.atom?lang=${locale}`)}"/>
${entries.join('\n')}
</feed>
`;
}

export function rssFeed({ report, origin, locale }: FeedInput): string {
  const w = words[locale];
  const page = `${origin}/status`;
  const items = itemsOf(report, locale).map(
    ({ id, title, text, changedAt }) => `<item>
<guid isPermaLink="false">${escapeText(`${page}#${id}`)}</guid>
<title>${escapeText(title)}</title>
<link>${escapeText(page)}</link>
<pubDate>${changedAt.toUTCString()}</pubDate>
<description>${escapeText(text)}</description>
</item>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0">
<channel>
<title>${escapeText(w.title)}</title>
<link>${escapeText(page)}</link>
<description>${escapeText(`${w.incidents}. ${measuringText(report, locale)}`)}</description>
<language>${locale}</language>
<lastBuildDate>${report.generatedAt.toUTCString()}</lastBuildDate>
${items.join('\n')}
</channel>
</rss>
`;
}

/** Since when and from where the service is measured. */
function measuringText({ measuredSince, observers }: FeedInput['report'], locale: Locale): string {
  const w = words[locale];
  if (measuredSince === null) return w.overall.no_data;
  const from = observers.length === 0 ? '' : ` ${w.measuredFrom}: ${observersText(observers, locale)}.`;
  return `${w.measuredSince} ${momentText(measuredSince, locale)}.${from}`;
}

/** What a person said, the oldest first, after the facts. */
function updatesText(updates: readonly StatusUpdate[], locale: Locale): string {
  return updates
    .map(
      (update) =>
        `\n\n${words[locale].updateStates[update.state]} (${momentText(update.createdAt, locale)}): ${updateIn(update, locale)}`,
    )
    .join('');
}

function itemsOf(report: FeedInput['report'], locale: Locale): Item[] {
  const w = words[locale];
  return eventsOf(report)
    .map((event) => itemOf(event, locale, w))
    .toSorted((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
}

function itemOf(event: StatusEvent, locale: Locale, w: StatusWords): Item {
  const { id, phase, startedAt, endedAt, createdAt, changedAt } = event;
  const from = momentText(startedAt, locale);
  if (event.source === 'measured') {
    const { impact, affected, cause, updates } = event.incident;
    const until =
      endedAt === null
        ? w.goesOn
        : `${momentText(endedAt, locale)}, ${w.took} ${durationText(endedAt.getTime() - startedAt.getTime(), locale)}`;
    return {
      id: `incident-${id}`,
      title: `${event.models.join(', ')}: ${w.impacts[impact]} (${phase === 'over' ? w.over : w.open})`,
      text: `${from} – ${until}. ${cause === null ? '' : `${w.serviceCause}. `}${w.affected}: ${affected.map((way) => wayText(way, w)).join(', ')}.${updatesText(updates, locale)}`,
      at: createdAt,
      changedAt,
    };
  }
  const { title, body } = saidIn(event.announcement, locale);
  return {
    id: `announcement-${id}`,
    title: `${w.kinds[event.announcement.kind]}: ${title}${phase === 'over' ? ` (${w.over})` : ''}`,
    text: `${from}${endedAt === null ? '' : ` – ${momentText(endedAt, locale)}`}. ${body}${updatesText(event.announcement.updates, locale)}`,
    at: createdAt,
    changedAt,
  };
}

function newestChange(items: readonly Item[]): Date | undefined {
  return items[0]?.changedAt;
}
