import { escapeText, type Locale } from '../../shared/page.ts';
import { type StatusReport, type Tally, uptimeRatio } from '../uptime.ts';
import { dayText, millisecondsText, percentText } from './status-text.ts';
import { covers, figuresOf, type StatusSpan } from './status-view.ts';
import { words } from './status-words.ts';

/** Badges for other sites: a model's state, its uptime or its latency, as SVG or for shields.io. */

export const badgeKinds = ['status', 'uptime', 'latency'] as const;
export type BadgeKind = (typeof badgeKinds)[number];

export interface StatusBadge {
  label: string;
  message: string;
  tone: Tone;
}

type Tone = keyof typeof colors;

/** White text has a contrast of at least 4.5 on each of them. */
const colors = { good: '#17693a', fair: '#85540a', poor: '#b3261e', unknown: '#55625f' } as const;

/** How many days back `uptime` goes; 1 stands for the last 24 hours. */
export const badgeDays = [1, 7, 30, 90] as const;
export type BadgeDays = (typeof badgeDays)[number];
const spanOfDays: Readonly<Record<BadgeDays, StatusSpan>> = { 1: 'hours24', 7: 'days7', 30: 'days30', 90: 'days90' };

/** The badge of a model, or of the whole service where `model` is null; null when there is no such model. */
export function badgeOf(
  report: StatusReport,
  { model, kind, days, locale }: { model: string | null; kind: BadgeKind; days: BadgeDays; locale: Locale },
): StatusBadge | null {
  const w = words[locale];
  const chosen = model === null ? report.models : report.models.filter(({ id }) => id === model);
  if (model !== null && chosen.length === 0) return null;
  const name = model ?? 'Steyg';
  const { uptime, latencyMs } = figuresOf(chosen);
  switch (kind) {
    case 'status': {
      const state = model === null ? report.state : (chosen[0]?.state ?? 'no_data');
      const tone = ({ up: 'good', degraded: 'fair', down: 'poor', no_data: 'unknown' } as const)[state];
      return { label: name, message: w.states[state], tone };
    }
    case 'uptime': {
      const span = spanOfDays[days];
      const tally = uptime[span];
      const begins = chosen.map(({ measuredSince }) => measuredSince).filter((moment) => moment !== null);
      const since = begins.length === 0 ? null : new Date(Math.min(...begins.map((moment) => moment.getTime())));
      const isWhole = since === null || covers(since, span, report.generatedAt);
      const period = isWhole ? w[span] : `${w.since} ${dayText(since.toISOString().slice(0, 10), locale)}`;
      return { label: `${name} · ${period}`, message: percentText(tally, locale), tone: toneOf(tally) };
    }
    case 'latency': {
      return {
        label: `${name} · ${w.latency}`,
        message: latencyMs === null ? w.noData : millisecondsText(latencyMs, locale),
        tone: latencyMs === null ? 'unknown' : 'good',
      };
    }
  }
}

function toneOf(tally: Tally): Tone {
  const ratio = uptimeRatio(tally);
  if (ratio === null) return 'unknown';
  if (ratio >= 0.995) return 'good';
  return ratio >= 0.95 ? 'fair' : 'poor';
}

/** The form that shields.io reads from an address ("endpoint badge"). */
export function shieldsJson({ label, message, tone }: StatusBadge): object {
  return { schemaVersion: 1, label, message, color: colors[tone] };
}

/** Estimated width of letters; `textLength` enforces it in any font. */
const letterPx = 6.6;
const sidePx = 8;

interface Part {
  text: string;
  length: number;
}

const partOf = (text: string): Part => ({ text: escapeText(text), length: Math.round(text.length * letterPx) });

/** No element has an id: several badges may be inlined in one document. */
export function badgeSvg({ label, message, tone }: StatusBadge): string {
  const left = partOf(label);
  const right = partOf(message);
  const leftWidth = left.length + 2 * sidePx;
  const width = leftWidth + right.length + 2 * sidePx;
  const draw = ({ text, length }: Part, x: number) =>
    `<text x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${text}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${left.text}: ${right.text}"><title>${left.text}: ${right.text}</title><rect width="${width}" height="20" rx="4" fill="${colors[tone]}"/><path d="M4 0H${leftWidth}V20H4A4 4 0 0 1 0 16V4A4 4 0 0 1 4 0Z" fill="#3b4644"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${draw(left, sidePx)}${draw(right, leftWidth + sidePx)}</g></svg>
`;
}
