import { type Locale, momentText } from '../../shared/page.ts';
import type { Way } from '../incidents.ts';
import { type Observer, type Tally, uptimeRatio } from '../uptime.ts';
import type { ShownFigure } from './status-view.ts';
import { type StatusWords, words } from './status-words.ts';

/** Formats of figures and moments for the status page and its feeds. */

const tags: Record<Locale, string> = { en: 'en-US', vi: 'vi-VN' };

/** Cached: making a format takes a hundred times as long as using it, and a page has a figure for every day. */
const formats: Record<Locale, ReturnType<typeof formatsOf>> = { en: formatsOf('en'), vi: formatsOf('vi') };

function formatsOf(locale: Locale) {
  const tag = tags[locale];
  const day: Intl.DateTimeFormatOptions = {
    day: locale === 'vi' ? '2-digit' : 'numeric',
    month: locale === 'vi' ? '2-digit' : 'short',
    year: 'numeric',
  };
  return {
    percent: new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 3 }),
    whole: new Intl.NumberFormat(tag),
    day: new Intl.DateTimeFormat(tag, { ...day, timeZone: 'UTC' }),
  };
}

export function percentText(tally: Pick<Tally, 'up' | 'down'>, locale: Locale): string {
  const ratio = uptimeRatio(tally);
  return ratio === null ? words[locale].noData : formats[locale].percent.format(ratio);
}

export function millisecondsText(value: number, locale: Locale): string {
  return `${formats[locale].whole.format(value)} ms`;
}

/** A day as the report has it (`2026-11-21`, UTC). */
export function dayText(date: string, locale: Locale): string {
  return formats[locale].day.format(new Date(`${date}T00:00:00Z`));
}

/** The label of a figure: its span, or since when it is measured. */
export function spanText({ span, since }: Pick<ShownFigure, 'span' | 'since'>, locale: Locale): string {
  const w = words[locale];
  return since === null ? w[span] : `${w.since} ${momentText(since, locale)}`;
}

/** Who measures, in a list: agents with their region, or the service itself. */
export function observersText(observers: readonly Observer[], locale: Locale): string {
  const names = observers.map(({ kind, name, region }) =>
    kind === 'service' ? words[locale].itself : `${name} (${region})`,
  );
  return new Intl.ListFormat(tags[locale], { style: 'short' }).format(names);
}

export function shareText(ratio: number, locale: Locale): string {
  return formats[locale].percent.format(ratio);
}

/** `messages/stream` as people say it. */
export function wayText(way: Way, w: StatusWords): string {
  const [protocol = '', mode = ''] = way.split('/');
  const name = Object.hasOwn(w.protocols, protocol) ? w.protocols[protocol as keyof typeof w.protocols] : protocol;
  const how = Object.hasOwn(w.modes, mode) ? w.modes[mode as keyof typeof w.modes] : mode;
  return how === '' ? name : `${name} (${how})`;
}

/** A duration in at most two units: the seconds of a day do not matter. */
export function durationText(ms: number, locale: Locale): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const parts: [number, 'day' | 'hour' | 'minute'][] = [
    [Math.floor(minutes / 1_440), 'day'],
    [Math.floor(minutes / 60) % 24, 'hour'],
    [minutes % 60, 'minute'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) =>
      new Intl.NumberFormat(tags[locale], { style: 'unit', unit, unitDisplay: 'long' }).format(count),
    )
    .join(' ');
}
