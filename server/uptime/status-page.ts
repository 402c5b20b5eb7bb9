import { createHash } from 'node:crypto';
import { type Locale, type StatusWords, words } from './status-words.ts';
import {
  type Announcement,
  addTallies,
  type Day,
  type Incident,
  type ModelStatus,
  meanLatencyMs,
  type StatusReport,
  type Tally,
  uptimeRatio,
  type WayStatus,
} from './uptime.ts';

/**
 * The public status page: one HTML document without script, font, picture or any other request, readable by eye, by
 * keyboard and by screen reader, in light and dark. What a colour says is also said in words.
 */
export function statusPage(report: StatusReport, locale: Locale): string {
  const w = words[locale];
  return document(
    locale,
    w,
    `<p class="overall ${report.state}"><span class="dot" aria-hidden="true"></span>${w.overall[report.state]}</p>
<p class="quiet">${w.generated} ${time(report.generatedAt, locale)} · <a href="/status.json">status.json</a></p>
${announcements(report.announcements, report.generatedAt, locale, w)}
<h2>${w.models}</h2>
${report.models.length === 0 ? `<p>${w.noModels}</p>` : report.models.map((model) => modelSection(model, locale, w)).join('\n')}
<p class="legend quiet">${w.legend}</p>
<h2>${w.incidents}</h2>
${incidents(report.incidents, locale, w)}`,
  );
}

/** What is shown while there is no report to show. */
export function statusUnavailablePage(locale: Locale): string {
  const w = words[locale];
  return document(locale, w, `<p class="overall no_data">${w.unavailable}</p>`);
}

function document(locale: Locale, w: StatusWords, main: string): string {
  const other: Locale = locale === 'en' ? 'vi' : 'en';
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${w.title}</title>
<style>${style}</style>
</head>
<body>
<header><h1>${w.title}</h1><nav aria-label="${w.language}"><a href="/status?lang=${other}" hreflang="${other}" lang="${other}">${words[other].name}</a></nav></header>
<main>
${main}
</main>
</body>
</html>
`;
}

function announcements(list: readonly Announcement[], now: Date, locale: Locale, w: StatusWords): string {
  if (list.length === 0) return '';
  const items = list.map((item) => {
    const title = (locale === 'vi' ? item.titleVi : null) ?? item.title;
    const body = (locale === 'vi' ? item.bodyVi : null) ?? item.body;
    const until = item.endsAt === null ? '' : ` – ${time(item.endsAt, locale)}`;
    const about = item.models.length === 0 ? '' : `<p class="quiet">${item.models.map(escape).join(', ')}</p>`;
    const paragraphs = body
      .split(/\n+/)
      .filter((line) => line.trim() !== '')
      .map((line) => `<p>${escape(line)}</p>`)
      .join('');
    return `<article class="announcement ${item.kind}"><h3>${escape(title)}</h3>
<p class="quiet">${w.kinds[item.kind]} · ${item.startsAt > now ? `${w.planned} ` : ''}${time(item.startsAt, locale)}${until}</p>${about}${paragraphs}</article>`;
  });
  return `<section aria-label="${w.announcements}">${items.join('\n')}</section>`;
}

function modelSection(model: ModelStatus, locale: Locale, w: StatusWords): string {
  const id = `model-${escape(model.id)}`;
  const spans: [string, Tally][] = [
    [w.hours24, model.last24Hours],
    [w.days7, addTallies(model.days.slice(-7))],
    [w.days30, addTallies(model.days.slice(-30))],
    [w.days90, addTallies(model.days.slice(-90))],
  ];
  const figures = spans.map(([label, tally]) => `<div><dt>${label}</dt><dd>${percent(tally, locale, w)}</dd></div>`);
  const latency = meanLatencyMs(model.last24Hours);
  figures.push(
    `<div><dt>${w.latency}</dt><dd>${latency === null ? w.noData : milliseconds(latency, locale)}</dd></div>`,
  );
  return `<section class="model" aria-labelledby="${id}">
<h3 id="${id}"><span class="name">${escape(model.displayName)}</span> <code>${escape(model.id)}</code>${model.simulated ? ` <span class="badge">${w.simulated}</span>` : ''} <span class="state ${model.state}"><span class="dot" aria-hidden="true"></span>${w.states[model.state]}</span></h3>
${bars(model.days, locale, w)}
<dl class="figures">${figures.join('')}</dl>
<details><summary>${w.details}</summary>
${ways(model, locale, w)}${troubledDays(model, locale, w)}</details>
</section>`;
}

/** One picture for those who see it; its sum in words for those who do not. */
function bars(days: readonly Day[], locale: Locale, w: StatusWords): string {
  const troubled = days.filter(({ down }) => down > 0).length;
  const label = `${w.days90}: ${percent(addTallies(days), locale, w)}. ${w.troubled}: ${troubled}.`;
  const cells = days.map((day) => `<i class="${grade(day)}" title="${day.date}: ${percent(day, locale, w)}"></i>`);
  return `<div class="bars" role="img" aria-label="${label}">${cells.join('')}</div>`;
}

function grade(day: Day): string {
  const ratio = uptimeRatio(day);
  if (ratio === null) return 'none';
  if (ratio === 1) return 'full';
  return ratio >= 0.95 ? 'most' : 'poor';
}

function ways(model: ModelStatus, locale: Locale, w: StatusWords): string {
  if (model.ways.length === 0) return `<p>${w.noData}</p>`;
  const rows = model.ways.map(
    (way) =>
      `<tr><th scope="row">${escape(way.protocol)}, ${w.modes[way.mode]}</th><td>${wayState(way, w)}</td><td>${
        way.latencyMs === null ? '–' : milliseconds(way.latencyMs, locale)
      }</td><td>${way.timeToFirstByteMs === null ? '–' : milliseconds(way.timeToFirstByteMs, locale)}</td><td>${time(way.checkedAt, locale)}</td></tr>`,
  );
  return `<div class="scroll" tabindex="0" role="group" aria-label="${w.details}: ${escape(model.displayName)}"><table><thead><tr><th scope="col">${w.way}</th><th scope="col">${w.state}</th><th scope="col">${w.latency}</th><th scope="col">${w.firstByte}</th><th scope="col">${w.checked}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function wayState(way: WayStatus, w: StatusWords): string {
  const reason = way.reason === null ? '' : ` <span class="quiet">(${escape(way.reason)})</span>`;
  return `<span class="state ${way.outcome}"><span class="dot" aria-hidden="true"></span>${w.states[way.outcome]}</span>${reason}`;
}

function troubledDays(model: ModelStatus, locale: Locale, w: StatusWords): string {
  const days = model.days.filter(({ down }) => down > 0).toReversed();
  if (days.length === 0) return '';
  const items = days.map(
    (day) => `<li><time datetime="${day.date}">${day.date}</time>: ${percent(day, locale, w)}</li>`,
  );
  return `<p>${w.troubled}:</p><ul>${items.join('')}</ul>`;
}

function incidents(list: readonly Incident[], locale: Locale, w: StatusWords): string {
  if (list.length === 0) return `<p>${w.noIncidents}</p>`;
  const items = list.map((incident) => {
    const until = incident.endedAt === null ? w.goesOn : time(incident.endedAt, locale);
    return `<li><strong>${escape(incident.model)}</strong>: ${w.impacts[incident.impact]}<br><span class="quiet">${time(incident.startedAt, locale)} – ${until} · ${incident.affected.map(escape).join(', ')}</span></li>`;
  });
  return `<ul class="incidents">${items.join('')}</ul>`;
}

function percent(tally: Pick<Tally, 'up' | 'down'>, locale: Locale, w: StatusWords): string {
  const ratio = uptimeRatio(tally);
  if (ratio === null) return w.noData;
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 3 }).format(ratio);
}

function milliseconds(value: number, locale: Locale): string {
  return `${new Intl.NumberFormat(locale).format(value)} ms`;
}

function time(moment: Date, locale: Locale): string {
  const text = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(
    moment,
  );
  return `<time datetime="${moment.toISOString()}">${escape(text)} UTC</time>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
:root{color-scheme:light dark;--text:#1b1f24;--quiet:#57606a;--page:#fff;--line:#d0d7de;--up:#1a7f37;--most:#9a6700;--down:#cf222e;--none:#8c959f}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--quiet:#9198a1;--page:#0d1117;--line:#30363d;--up:#3fb950;--most:#d29922;--down:#f85149;--none:#6e7681}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--page)}
header{display:flex;justify-content:space-between;align-items:baseline;gap:1rem;flex-wrap:wrap}
a{color:inherit}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--text);outline-offset:2px}
.quiet{color:var(--quiet);font-size:.875rem}
.overall{font-size:1.25rem;font-weight:600;border:1px solid var(--line);border-left:.5rem solid var(--none);padding:.75rem 1rem}
.overall.up{border-left-color:var(--up)}.overall.degraded{border-left-color:var(--most)}.overall.down{border-left-color:var(--down)}
.dot{display:inline-block;width:.75em;height:.75em;border-radius:50%;background:var(--none);margin-right:.4em}
.up>.dot{background:var(--up)}.degraded>.dot{background:var(--most)}.down>.dot{background:var(--down)}
.model,.announcement{border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:1rem 0}
.announcement{border-left:.5rem solid var(--most)}
h3{margin:0 0 .5rem;display:flex;gap:.5rem;align-items:baseline;flex-wrap:wrap}
h3 .state{margin-left:auto;font-weight:400}
.badge{border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;font-size:.75rem;font-weight:400}
.bars{display:flex;gap:1px;height:2rem}
.bars i{flex:1;background:var(--up)}
.bars i.most{background:var(--most)}.bars i.poor{background:var(--down)}
.bars i.none{background:repeating-linear-gradient(45deg,var(--line),var(--line) 2px,transparent 2px,transparent 4px)}
.figures{display:flex;gap:1.5rem;flex-wrap:wrap;margin:.75rem 0}
.figures div{min-width:5rem}dt{color:var(--quiet);font-size:.875rem}dd{margin:0;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);font-weight:400;white-space:nowrap}
thead th{color:var(--quiet);font-size:.875rem}
.incidents{padding-left:1.25rem}.incidents li{margin:.5rem 0}
@media print{details{display:block}}
`;

/** For the page's Content-Security-Policy: this very style and nothing else. */
export const styleHash: string = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
