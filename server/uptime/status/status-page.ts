import { escapeText, type Locale, momentText } from '../../shared/page.ts';
import { createPublicPages, type PageSeller } from '../../shared/public-page.ts';
import type { Announcement } from '../announcements.ts';
import { requestRatio } from '../passive.ts';
import type { Absence } from '../presence.ts';
import type { StatusUpdate } from '../updates.ts';
import {
  addTallies,
  type Day,
  type Incident,
  type ModelStatus,
  type ProtocolDays,
  type StatusReport,
  uptimeRatio,
  type WayStatus,
} from '../uptime.ts';
import {
  dayText,
  durationText,
  millisecondsText,
  observersText,
  percentText,
  shareText,
  spanText,
  wayText,
} from './status-text.ts';
import { figuresOf, saidIn, shownFigures, together, updateIn } from './status-view.ts';
import { type StatusWords, words } from './status-words.ts';

/**
 * The public status page: one HTML document without script, picture or any request but for the face’s files, accessible by eye,
 * keyboard and screen reader, in light and dark. Every colour is also expressed in words.
 */
export function statusPage(report: StatusReport, frame: StatusFrame): string {
  const { locale } = frame;
  const w = words[locale];
  return document(
    frame,
    w,
    `<p class="overall ${report.state}"><span class="dot" aria-hidden="true"></span>${w.overall[report.state]}</p>
<p class="quiet">${w.generated} ${time(report.generatedAt, locale)} · <a href="/status?lang=${locale}">${w.reload}</a></p>
${measuring(report, locale, w)}
${announcements(report.announcements, report.generatedAt, locale, w)}
<h2>${w.models}</h2>
${report.models.length === 0 ? `<p>${w.noModels}</p>` : report.models.map((model) => modelSection(model, report.generatedAt, locale, w)).join('\n')}
<p class="legend quiet">${w.legend}</p>
<h2>${w.incidents}</h2>
${incidents(report.incidents, locale, w)}
${absences(report.absences, locale, w)}`,
  );
}

/** The page while there is no report. */
export function statusUnavailablePage(locale: Locale): string {
  const w = words[locale];
  return document(
    { locale, seller: null },
    w,
    `<p class="overall no_data"><span class="dot" aria-hidden="true"></span>${w.unavailable}</p>`,
  );
}

interface StatusFrame {
  locale: Locale;
  seller: PageSeller | null;
  demonstration?: boolean;
}

function document({ locale, seller, demonstration = false }: StatusFrame, w: StatusWords, main: string): string {
  return pages.render({
    locale,
    path: '/status',
    title: w.title,
    body: `<h1>${w.title}</h1>\n${main}`,
    here: 'status',
    seller,
    demonstration,
    head: `<link rel="alternate" type="application/atom+xml" title="${w.title}" href="/status/history.atom?lang=${locale}">\n`,
    foot: `<p>${w.feed}: <a href="/status/history.atom?lang=${locale}">Atom</a> · <a href="/status/history.rss?lang=${locale}">RSS</a> · ${w.programs}: <a href="/status.json">status.json</a></p>\n`,
  });
}

/** Since when, and from where. */
function measuring({ measuredSince, observers }: StatusReport, locale: Locale, w: StatusWords): string {
  if (measuredSince === null) return '';
  const from = observers.length === 0 ? '' : ` · ${w.measuredFrom}: ${escapeText(observersText(observers, locale))}`;
  return `<p class="quiet measuring">${w.measuredSince} ${time(measuredSince, locale)}${from}</p>`;
}

function paragraphs(body: string): string {
  const lines = body.split(/\n+/).filter((line) => line.trim() !== '');
  return lines.map((line) => `<p>${escapeText(line)}</p>`).join('');
}

/** What a person said, the newest first. */
function updatesList(updates: readonly StatusUpdate[], locale: Locale, w: StatusWords): string {
  if (updates.length === 0) return '';
  const items = updates
    .toReversed()
    .map(
      (update) =>
        `<li><p class="quiet"><strong>${w.updateStates[update.state]}</strong> · ${time(update.createdAt, locale)}</p>${paragraphs(updateIn(update, locale))}</li>`,
    );
  return `<ul class="updates">${items.join('')}</ul>`;
}

function absences(list: readonly Absence[], locale: Locale, w: StatusWords): string {
  if (list.length === 0) return '';
  const items = list
    .slice(0, maxAbsences)
    .map(
      ({ from, to }) =>
        `<li>${time(from, locale)} – ${time(to, locale)} · ${w.took} ${durationText(to.getTime() - from.getTime(), locale)}</li>`,
    );
  return `<h2>${w.absences}</h2><ul class="absences">${items.join('')}</ul>`;
}

const maxAbsences = 20;

function announcements(list: readonly Announcement[], now: Date, locale: Locale, w: StatusWords): string {
  if (list.length === 0) return '';
  const items = list.map((item) => {
    const { title, body } = saidIn(item, locale);
    const until = item.endsAt === null ? '' : ` – ${time(item.endsAt, locale)}`;
    const about = item.models.length === 0 ? '' : `<p class="quiet">${item.models.map(escapeText).join(', ')}</p>`;
    return `<article class="card announcement ${item.kind}"><h3>${escapeText(title)}</h3>
<p class="quiet">${w.kinds[item.kind]} · ${item.startsAt > now ? `${w.planned} ` : ''}${time(item.startsAt, locale)}${until}</p>${about}${paragraphs(body)}${updatesList(item.updates, locale, w)}</article>`;
  });
  return `<section aria-label="${w.announcements}">${items.join('\n')}</section>`;
}

function modelSection(model: ModelStatus, now: Date, locale: Locale, w: StatusWords): string {
  const id = `model-${escapeText(model.id)}`;
  const all = figuresOf([model]);
  const { latencyMs: latency } = all;
  const shown = shownFigures(all, model.measuredSince, now);
  const figures = shown.map(
    (figure) => `<div><dt>${spanText(figure, locale)}</dt><dd>${percentText(figure.tally, locale)}</dd></div>`,
  );
  figures.push(
    `<div><dt>${w.latency}</dt><dd>${latency === null ? w.noData : millisecondsText(latency, locale)}</dd></div>`,
  );
  const ratio = requestRatio(model.requests);
  if (ratio !== null) figures.push(`<div><dt>${w.requests}</dt><dd>${shareText(ratio, locale)}</dd></div>`);
  const longest = shown.at(-1);
  const span = longest === undefined ? w.days90 : spanText(longest, locale);
  const rows =
    model.protocols.length === 0
      ? bars(span, model.days, locale, w)
      : model.protocols.map((each) => protocolRow(each, span, locale, w)).join('\n');
  return `<section class="card model" aria-labelledby="${id}">
<h3 id="${id}"><span class="name">${escapeText(model.displayName)}</span> <code>${escapeText(model.id)}</code>${model.simulated ? ` <span class="badge">${w.simulated}</span>` : ''} <span class="state ${model.state}"><span class="dot" aria-hidden="true"></span>${w.states[model.state]}</span></h3>
${rows}
<p class="scale quiet" aria-hidden="true"><span>${w.daysAgo}</span><span>${w.today}</span></p>
<dl class="figures">${figures.join('')}</dl>
<details><summary>${w.details}</summary>
${pace(model, locale, w)}${ways(model, locale, w)}${requests(model, locale, w)}${troubledDays(model, locale, w)}</details>
</section>`;
}

function pace({ everyMinutes }: ModelStatus, locale: Locale, w: StatusWords): string {
  if (everyMinutes === null) return '';
  return everyMinutes === 0
    ? `<p class="quiet">${w.notProbed}</p>`
    : `<p class="quiet">${w.probedEvery} ${durationText(everyMinutes * 60_000, locale)}.</p>`;
}

/** Customers' own requests by protocol. */
function requests({ requests: tallies }: ModelStatus, locale: Locale, w: StatusWords): string {
  const parts = tallies.flatMap((tally) => {
    const ratio = requestRatio([tally]);
    return ratio === null ? [] : [`${w.protocols[tally.protocol]} ${shareText(ratio, locale)}`];
  });
  return parts.length === 0 ? '' : `<p>${w.requests}: ${parts.join(', ')}.</p>`;
}

function protocolRow({ protocol, days }: ProtocolDays, span: string, locale: Locale, w: StatusWords): string {
  const name = w.protocols[protocol];
  return `<div class="protocol"><p><span>${name}</span><span class="share">${percentText(addTallies(days), locale)}</span></p>
${bars(`${name}, ${span}`, days, locale, w)}</div>`;
}

/** A day chart, with figures on hover; described in words for screen readers. */
function bars(name: string, days: readonly Day[], locale: Locale, w: StatusWords): string {
  const said = (day: Day) =>
    `${dayText(day.date, locale)}: ${percentText(day, locale)}${day.maintenance > 0 ? `, ${w.maintenance}` : ''}`;
  const troubled = days.filter(({ down }) => down > 0).toReversed();
  const trouble = troubled.length === 0 ? w.noTrouble : `${w.troubled}: ${troubled.map(said).join('; ')}`;
  const unknown = days.filter((day) => uptimeRatio(day) === null).length;
  // A day without data is no day without failures.
  const gaps = unknown === 0 ? '' : ` ${w.unmeasured}: ${unknown}.`;
  const label = `${name}: ${percentText(addTallies(days), locale)}. ${trouble}.${gaps}`;
  const cells = days.map((day) => `<i class="${grade(day)}" data-day="${said(day)}"></i>`);
  return `<div class="bars" role="img" aria-label="${label}">${cells.join('')}</div>`;
}

function grade(day: Day): string {
  const ratio = uptimeRatio(day);
  if (ratio === null) return day.maintenance > 0 ? 'work' : 'none';
  if (ratio === 1) return 'full';
  return ratio >= 0.95 ? 'most' : 'poor';
}

function ways(model: ModelStatus, locale: Locale, w: StatusWords): string {
  if (model.ways.length === 0) return `<p>${w.noData}</p>`;
  const rows = model.ways.map(
    (way) =>
      `<tr><th scope="row">${wayText(`${escapeText(way.protocol)}/${way.mode}`, w)}</th><td>${wayState(way, w)}</td><td>${
        way.latencyMs === null ? '–' : millisecondsText(way.latencyMs, locale)
      }</td><td>${way.timeToFirstByteMs === null ? '–' : millisecondsText(way.timeToFirstByteMs, locale)}</td><td>${time(way.checkedAt, locale)}</td></tr>`,
  );
  return `<div class="scroll" tabindex="0" role="group" aria-label="${w.details}: ${escapeText(model.displayName)}"><table><thead><tr><th scope="col">${w.way}</th><th scope="col">${w.state}</th><th scope="col">${w.latency}</th><th scope="col">${w.firstByte}</th><th scope="col">${w.checked}</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function wayState(way: WayStatus, w: StatusWords): string {
  const reason = way.reason === null ? '' : ` <span class="quiet">(${escapeText(way.reason)})</span>`;
  return `<span class="state ${way.outcome}"><span class="dot" aria-hidden="true"></span>${w.states[way.outcome]}</span>${reason}`;
}

function troubledDays(model: ModelStatus, locale: Locale, w: StatusWords): string {
  const days = model.days.filter(({ down }) => down > 0).toReversed();
  if (days.length === 0) return `<p>${w.noTrouble}.</p>`;
  const items = days.map(
    (day) =>
      `<li><time datetime="${day.date}">${dayText(day.date, locale)}</time>: ${percentText(day, locale)}${brokenDown(model, day.date, locale, w)}</li>`,
  );
  return `<p>${w.troubled}:</p><ul>${items.join('')}</ul>`;
}

/** The protocols of a day's failures. */
function brokenDown(model: ModelStatus, date: string, locale: Locale, w: StatusWords): string {
  const parts = model.protocols.flatMap(({ protocol, days }) => {
    const day = days.find((each) => each.date === date);
    return day === undefined || day.down === 0 ? [] : [`${w.protocols[protocol]} ${percentText(day, locale)}`];
  });
  return parts.length === 0 ? '' : ` <span class="quiet">(${parts.join(', ')})</span>`;
}

function incidents(list: readonly Incident[], locale: Locale, w: StatusWords): string {
  if (list.length === 0) return `<p>${w.noIncidents}</p>`;
  const items = together(list).map(({ incident, models }) => {
    const { endedAt, startedAt } = incident;
    const until =
      endedAt === null
        ? w.goesOn
        : `${time(endedAt, locale)} · ${w.took} ${durationText(endedAt.getTime() - startedAt.getTime(), locale)}`;
    const cause = incident.cause === null ? '' : `<p>${w.serviceCause}.</p>`;
    return `<li class="card"><p><strong>${models.map(escapeText).join(', ')}</strong>: ${w.impacts[incident.impact]} <span class="${endedAt === null ? 'badge open' : 'badge'}">${endedAt === null ? w.open : w.over}</span></p>
<p class="quiet">${time(startedAt, locale)} – ${until}</p>
${cause}<p class="quiet">${w.affected}: ${incident.affected.map((way) => wayText(escapeText(way), w)).join(', ')}</p>${updatesList(incident.updates, locale, w)}</li>`;
  });
  return `<ul class="incidents">${items.join('')}</ul>`;
}

function time(moment: Date, locale: Locale): string {
  return `<time datetime="${moment.toISOString()}">${escapeText(momentText(moment, locale))}</time>`;
}

const style = `
.overall{display:flex;align-items:center;gap:.6rem;font-size:var(--type-section);font-weight:var(--weight-strong);border-radius:.6rem;padding:.9rem 1.15rem;background:var(--sunken)}
.overall.up{background:var(--up-soft)}.overall.degraded{background:var(--most-soft)}.overall.down{background:var(--down-soft)}
.dot{flex:none;display:inline-block;width:.7em;height:.7em;border-radius:50%;background:var(--none)}
.up>.dot{background:var(--up)}.degraded>.dot{background:var(--most)}.down>.dot{background:var(--down)}
.overall+.quiet{margin-bottom:1rem}
.state{display:inline-flex;align-items:center;gap:.4rem}
.announcement{border-left:.35rem solid var(--most)}.announcement.incident{border-left-color:var(--down)}.announcement.info{border-left-color:var(--link)}
h3{margin:0 0 .75rem;font-size:var(--type-body);display:flex;gap:.25rem .6rem;align-items:baseline;flex-wrap:wrap}
h3 .state{margin-left:auto;font-weight:var(--weight-plain);font-size:var(--type-small)}
.badge.open{background:var(--down-soft)}
.protocol{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:.25rem 1rem;align-items:center;margin:.5rem 0}
.protocol p{margin:0;font-size:var(--type-small);display:grid}
.share{color:var(--quiet);font-size:var(--type-small);font-variant-numeric:tabular-nums}
.bars{display:flex;height:2.1rem;position:relative}
.bars i{flex:1;background:var(--up);background-clip:content-box;padding:0 .5px;position:relative;border-radius:1px}
.bars i.most{background-color:var(--most)}.bars i.poor{background-color:var(--down)}
.bars i.none{background-color:var(--sunken);background-image:repeating-linear-gradient(45deg,var(--line) 0 2px,transparent 2px 4px)}
.bars i.work{background-color:var(--link)}
.bars i:hover{outline:2px solid var(--text);outline-offset:-1px}
.bars i:hover::after{content:attr(data-day);position:absolute;z-index:1;bottom:calc(100% + .35rem);left:0;padding:.2rem .55rem;border-radius:.35rem;background:var(--text);color:var(--page);font-size:var(--type-note);font-weight:var(--weight-plain);white-space:nowrap;pointer-events:none}
.bars i:nth-child(n+46):hover::after{left:auto;right:0}
.scale{display:flex;justify-content:space-between;margin:0 0 .5rem 10rem;font-size:var(--type-note)}
.figures{display:flex;gap:.75rem 1.75rem;flex-wrap:wrap;margin:.9rem 0}
.figures div{min-width:4.5rem}dt{color:var(--quiet);font-size:var(--type-small)}dd{margin:0;font-weight:var(--weight-strong);font-variant-numeric:tabular-nums}
details ul{margin:.25rem 0;padding-left:1.25rem}
.incidents{padding:0;list-style:none}.incidents strong{overflow-wrap:anywhere}
.updates{list-style:none;padding:0 0 0 .9rem;border-left:2px solid var(--line);margin:.75rem 0 0}.updates p{margin:.15rem 0}.updates li+li{margin-top:.6rem}
.measuring{margin:-.75rem 0 1rem}
.absences{padding-left:1.25rem}
@media (max-width:40rem){.protocol{grid-template-columns:minmax(0,1fr)}.protocol p{display:flex;justify-content:space-between}.scale{margin-left:0}}
@media print{details{display:block}}
@media (forced-colors:active){.bars i,.dot{forced-color-adjust:none}}
`;

const pages = createPublicPages(style);

export const statusPagePolicy: string = pages.policy;
