import { agentSteps } from '../../catalog/agent-steps.ts';
import type { CatalogModel } from '../../catalog/catalog.ts';
import { formatPrice, formatUsd } from '../../core/money.ts';
import { chargedUnits, type PriceWindow, type UnitPrices, type Weekday, weekdays } from '../../core/price.ts';
import type { Protocol } from '../../core/protocol.ts';
import { type Plan, planPair, vndPerMillion } from '../../plans/plans.ts';
import { escapeText, figureFamily, type Locale, momentText } from '../../shared/page.ts';
import { createPublicPages, type PageSeller } from '../../shared/public-page.ts';
import { latencyDays, type ModelLatency, type Percentiles } from '../../uptime/latency.ts';
import { percentText } from '../../uptime/status/status-text.ts';
import { addTallies, type Tally, uptimeRatio } from '../../uptime/uptime.ts';
import { type PricingWords, pricingWords } from './pricing-words.ts';

/**
 * The public price pages: all models, one model, several side by side. HTML documents without script, so that search
 * engines, link previews and readers without JavaScript see the same prices.
 */

/** A model as the pages show it. */
export interface SoldModel {
  model: CatalogModel;
  /** Of the last `measuredDays`, the oldest first; days without probes included. */
  days: readonly Tally[];
  latency: ModelLatency | null;
}

export interface PriceList {
  /** By id. */
  models: readonly SoldModel[];
  /** On sale, the cheapest first. */
  plans: readonly Plan[];
}

/** Where a page stands. */
export interface PageAddress {
  /** The public address, without a trailing slash. */
  origin: string;
  locale: Locale;
  /** Whether bank account and plans are made up. */
  demonstration: boolean;
  /** Null: it could not be read. */
  seller: PageSeller | null;
}

/** Days that the uptime of a model page is taken from. */
export const measuredDays = 30;

const poolNames = ['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;
const everyProtocol: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

/** The address of a model's page, relative to the origin. Catalog ids may contain slashes. */
export function modelPath(id: string): string {
  return `/pricing/${id.split('/').map(encodeURIComponent).join('/')}`;
}

/** All models; with a search, those that match. */
export function pricingPage(list: PriceList, address: PageAddress, search = ''): string {
  const w = pricingWords[address.locale];
  const shown = list.models.filter(({ model }) => matches(model, search));
  const { starter } = planPair(list.plans);
  const body = `<h1>${w.title}</h1>
<p>${w.lead}</p>
${simulatedHint(list.models, w)}
${list.models.length === 0 ? `<p>${w.noModels}</p>` : priceTable(shown, { plan: starter, locale: address.locale, search })}
${beyondTokens(shown, address.locale)}
<p class="quiet">${starter === null ? '' : `${w.vndAtPlan(escapeText(starter.name))} `}${w.stepsHint}</p>
${planTable(list.plans, address.locale)}
<p><a class="button" href="/sign-up">${w.begin}</a></p>`;
  return document(address, {
    path: '/pricing',
    title: w.title,
    description: w.description,
    body,
    indexed: search === '',
  });
}

/** One model: prices in USD and VND, limits, measurements, examples. */
export function modelPage(priced: SoldModel, plans: readonly Plan[], address: PageAddress): string {
  const { model } = priced;
  const { locale, origin } = address;
  const w = pricingWords[locale];
  const name = escapeText(model.displayName);
  const body = `<p class="quiet"><a href="/pricing?lang=${locale}">← ${w.allModels}</a></p>
<h1>${name}</h1>
<p><code>${escapeText(model.id)}</code>${badge(model, w)}</p>
${simulatedHint([priced], w)}
<h2>${w.prices}</h2>
${poolTable(model, plans, locale)}
${beyondTokens([priced], locale)}
<p class="quiet">${w.since} ${time(model.price.validFrom, locale)}. ${plans.length === 0 ? '' : w.vndHint}</p>
<dl class="figures">${figures(priced, locale)}</dl>
<h2 id="examples">${w.examples}</h2>
<p>${w.examplesHint}</p>
${everyProtocol.map((protocol) => `<h3>${w.protocolNames[protocol]}</h3><pre tabindex="0"><code>${escapeText(curlOf(protocol, model, origin))}</code></pre>`).join('\n')}
<p><a class="button" href="/sign-up">${w.begin}</a></p>`;
  const description = `${model.displayName} (${model.id}): ${w.pools.input} ${usd(model.price.input, locale)}, ${w.pools.output} ${usd(model.price.output, locale)} ${w.usdPerMillion}, ${w.context} ${number(model.contextWindow, locale)}.`;
  return document(address, { path: modelPath(model.id), title: model.displayName, description, body, indexed: true });
}

/** Several models side by side, one column each. */
export function comparisonPage(models: readonly SoldModel[], plans: readonly Plan[], address: PageAddress): string {
  const { locale } = address;
  const w = pricingWords[locale];
  const { starter } = planPair(plans);
  const row = (head: string, cell: (priced: SoldModel) => string) =>
    tableRow(
      head,
      models.map((priced) => ({ head: escapeText(priced.model.displayName), content: cell(priced) })),
    );
  const rows = [
    ...poolNames.map((pool) => row(w.pools[pool], ({ model }) => tieredPrice(model, pool, { plan: starter, locale }))),
    row(w.steps, ({ model }) => stepsText(model, locale)),
    row(w.context, ({ model }) => number(model.contextWindow, locale)),
    row(w.maxOutput, ({ model }) => number(model.maxOutputTokens, locale)),
    row(w.capabilities, ({ model }) => capabilityText(model, w)),
    row(w.uptimeDays(measuredDays), ({ days }) => uptimeText(days, locale)),
    row(w.answerTime(latencyDays), ({ latency }) => percentilesText(latency?.answer, locale)),
    row(w.firstByteTime(latencyDays), ({ latency }) => percentilesText(latency?.firstByte, locale)),
  ];
  const heads = models.map(({ model }) => `<th scope="col">${modelLink(model, locale)}</th>`).join('');
  const body = `<p class="quiet"><a href="/pricing?lang=${locale}">← ${w.allModels}</a></p>
<h1>${w.compareTitle}</h1>
<p>${w.lead}</p>
${simulatedHint(models, w)}
${scrolled(w.compareTitle, `<thead><tr><td></td>${heads}</tr></thead><tbody>${rows.join('')}</tbody>`)}
${beyondTokens(models, locale)}
<p class="quiet">${starter === null ? '' : `${w.vndAtPlan(escapeText(starter.name))} `}${w.stepsHint}</p>`;
  return document(address, {
    path: '/pricing',
    title: w.compareTitle,
    description: w.description,
    body,
    indexed: false,
  });
}

/** A page that says why there is no other. */
export function pricingProblemPage(problem: 'unavailable' | 'notFound', address: PageAddress): string {
  const w = pricingWords[address.locale];
  const body = `<h1>${w.title}</h1>
<p>${w[problem]}</p>
<p><a href="/pricing?lang=${address.locale}">${w.allModels}</a></p>`;
  return document(address, { path: '/pricing', title: w.title, description: w.description, body, indexed: false });
}

function matches({ id, displayName, family, capabilities }: CatalogModel, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  return [id, displayName, family, ...capabilities].some((text) => text.toLowerCase().includes(wanted));
}

function priceTable(
  models: readonly SoldModel[],
  { plan, locale, search }: { plan: Plan | null; locale: Locale; search: string },
): string {
  const w = pricingWords[locale];
  const heads = [...poolNames.map((pool) => w.pools[pool]), w.steps, w.context];
  const rows = models.map(({ model }) => {
    const contents = [
      ...poolNames.map((pool) => tieredPrice(model, pool, { plan, locale })),
      stepsText(model, locale),
      number(model.contextWindow, locale),
    ];
    const name = `<label class="pick"><input type="checkbox" name="compare" value="${escapeText(model.id)}"><span class="sr-only">${w.comparePick}: </span></label> ${modelLink(model, locale)}${badge(model, w)}<br><code>${escapeText(model.id)}</code>`;
    return tableRow(
      name,
      contents.map((content, at) => ({ head: heads[at] ?? '', content, isFigure: true })),
    );
  });
  const found =
    models.length === 0
      ? `<p>${w.noMatch}</p>`
      : `${scrolled(w.prices, `<thead><tr><th scope="col">${w.model}</th>${heads.map((head) => `<th scope="col" class="figure">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody>`)}
<p><button type="submit">${w.compare}</button></p>`;
  const all = search === '' ? '' : ` <a href="/pricing?lang=${locale}">${w.showAll}</a>`;
  return `<form action="/pricing" method="get"><input type="hidden" name="lang" value="${locale}">
<p class="find"><label>${w.search} <input type="search" name="q" maxlength="100" value="${escapeText(search)}"></label> <button type="submit">${w.find}</button>${all}</p>
${found}</form>`;
}

function poolTable(model: CatalogModel, plans: readonly Plan[], locale: Locale): string {
  const w = pricingWords[locale];
  const { starter, best } = planPair(plans);
  const inVnd = (price: bigint) =>
    [starter, best].filter((plan) => plan !== null).map((plan) => vnd(vndPerMillion(price, plan), locale));
  const heads = [
    w.usdPerMillion,
    ...(starter === null ? [] : [w.vndAtStarter]),
    ...(best === null ? [] : [w.vndAtBest]),
  ];
  const rowsOf = (prices: UnitPrices) =>
    poolNames.map((pool) =>
      tableRow(
        w.pools[pool],
        [usd(prices[pool], locale), ...inVnd(prices[pool])].map((content, at) => ({
          head: heads[at] ?? '',
          content,
          isFigure: true,
        })),
      ),
    );
  const group = (text: string) => `<tr><th scope="rowgroup" colspan="${heads.length + 1}">${text}</th></tr>`;
  const longer = (model.price.tiers ?? []).flatMap((tier) => [
    group(w.longPrompts(number(tier.abovePromptTokens, locale))),
    ...rowsOf(tier),
  ]);
  const hours = (model.price.clock?.windows ?? []).flatMap((window) => [
    group(escapeText(w.atTheseHours(hoursText(window, model.price.clock?.timeZone ?? '', locale)))),
    ...rowsOf(window),
    ...window.tiers.flatMap((tier) => [
      group(
        `${escapeText(hoursText(window, model.price.clock?.timeZone ?? '', locale))}: ${w.longPrompts(number(tier.abovePromptTokens, locale))}`,
      ),
      ...rowsOf(tier),
    ]),
  ]);
  const rows = [...rowsOf(model.price), ...longer, ...hours];
  return scrolled(
    w.prices,
    `<thead><tr><th scope="col">${w.pool}</th>${heads.map((head) => `<th scope="col" class="figure">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody>`,
  );
}

function planTable(plans: readonly Plan[], locale: Locale): string {
  const w = pricingWords[locale];
  if (plans.length === 0) return `<h2 id="plans">${w.plans}</h2><p>${w.noPlans}</p>`;
  const rows = plans.map(({ name, priceVnd, budget, validDays }) => {
    // Rounded half up, for display: the plan itself is what is sold.
    const perUsd = (priceVnd * picoPerUsd * 2n + budget) / (budget * 2n);
    const validity = validDays === null ? w.validForever : w.validDays(number(validDays, locale));
    return tableRow(escapeText(name), [
      { head: w.price, content: vnd(priceVnd, locale), isFigure: true },
      { head: w.budget, content: usdText(formatUsd(budget), locale), isFigure: true },
      { head: w.perUsd, content: vnd(perUsd, locale), isFigure: true },
      { head: w.validity, content: validity },
    ]);
  });
  return `<h2 id="plans">${w.plans}</h2>
<p>${w.plansLead}</p>
${scrolled(w.plans, `<thead><tr><th scope="col">${w.plan}</th><th scope="col" class="figure">${w.price}</th><th scope="col" class="figure">${w.budget}</th><th scope="col" class="figure">${w.perUsd}</th><th scope="col">${w.validity}</th></tr></thead><tbody>${rows.join('')}</tbody>`)}`;
}

const picoPerUsd = 1_000_000_000_000n;

function figures({ model, days, latency }: SoldModel, locale: Locale): string {
  const w = pricingWords[locale];
  const list: [string, string][] = [
    [w.context, w.tokens(number(model.contextWindow, locale))],
    [w.maxOutput, w.tokens(number(model.maxOutputTokens, locale))],
    [w.capabilities, capabilityText(model, w)],
    [w.protocols, everyProtocol.map((protocol) => w.protocolNames[protocol]).join(', ')],
    [w.steps, stepsText(model, locale)],
    [w.uptimeDays(measuredDays), uptimeText(days, locale)],
    [w.answerTime(latencyDays), percentilesText(latency?.answer, locale)],
    [w.firstByteTime(latencyDays), percentilesText(latency?.firstByte, locale)],
  ];
  return list.map(([term, value]) => `<div><dt>${term}</dt><dd>${value}</dd></div>`).join('');
}

function curlOf(protocol: Protocol, { id }: CatalogModel, origin: string): string {
  const question = [{ role: 'user', content: 'Xin chào!' }];
  const [path, body, auth] = {
    messages: [
      'messages',
      { model: id, max_tokens: 64, messages: question },
      ['x-api-key: $STEYG_API_KEY', 'anthropic-version: 2023-06-01'],
    ],
    'chat-completions': [
      'chat/completions',
      { model: id, messages: question },
      ['authorization: Bearer $STEYG_API_KEY'],
    ],
    responses: ['responses', { model: id, input: 'Xin chào!' }, ['authorization: Bearer $STEYG_API_KEY']],
  }[protocol] as [string, object, string[]];
  const headers = [...auth, 'content-type: application/json'].map((header) => `  -H "${header}" \\\n`).join('');
  return `curl ${origin}/api/v1/${path} \\\n${headers}  -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`;
}

function modelLink({ id, displayName }: CatalogModel, locale: Locale): string {
  return `<a href="${modelPath(id)}?lang=${locale}">${escapeText(displayName)}</a>`;
}

function isSimulated({ routes }: CatalogModel): boolean {
  return routes.length > 0 && routes.every(({ upstream }) => upstream.simulated);
}

function badge(model: CatalogModel, w: PricingWords): string {
  return isSimulated(model) ? ` <span class="badge">${w.simulated}</span>` : '';
}

function simulatedHint(models: readonly SoldModel[], w: PricingWords): string {
  return models.some(({ model }) => isSimulated(model)) ? `<p class="quiet">${w.simulatedHint}</p>` : '';
}

/** Names of capabilities are chosen by operators; known ones are translated. */
function capabilityText({ capabilities }: CatalogModel, w: PricingWords): string {
  const names = capabilities.map((name) =>
    escapeText((Object.hasOwn(w.capabilityNames, name) ? w.capabilityNames[name] : undefined) ?? name),
  );
  return names.length === 0 ? '–' : names.join(', ');
}

function stepsText({ kind, price }: CatalogModel, locale: Locale): string {
  const w = pricingWords[locale];
  if (kind !== 'text') return '–';
  const [steps, marked] = [agentSteps(price), agentSteps(price, true)];
  if (steps === null) return w.free;
  const plain = number(steps, locale);
  return marked === null || marked === steps
    ? plain
    : `${plain}<br><span class="quiet">${w.stepsMarked(number(marked, locale))}</span>`;
}

/** A price in USD, and below it in VND at a plan's price of a USD, and those of longer prompts and of other hours. */
function tieredPrice(
  { price }: CatalogModel,
  pool: (typeof poolNames)[number],
  { plan, locale }: { plan: Plan | null; locale: Locale },
): string {
  const w = pricingWords[locale];
  const inVnd = (amount: bigint) => (plan === null ? '' : vnd(vndPerMillion(amount, plan), locale));
  const below = (text: string) => (text === '' ? '' : `<br><span class="quiet">${text}</span>`);
  const longer = (price.tiers ?? []).map((tier) =>
    below(
      `${w.abovePrompt(number(tier.abovePromptTokens, locale))} ${usd(tier[pool], locale)} ${inVnd(tier[pool])}`.trim(),
    ),
  );
  const hours = (price.clock?.windows ?? []).map((window) =>
    below(`${w.atHours} ${usd(window[pool], locale)} ${inVnd(window[pool])}`.trim()),
  );
  return [usd(price[pool], locale), below(inVnd(price[pool])), ...longer, ...hours].join('');
}

/** Which hours have their own prices, and what is charged by the piece, of each model that has any. */
function beyondTokens(models: readonly SoldModel[], locale: Locale): string {
  const w = pricingWords[locale];
  const lines = models.flatMap(({ model }) => {
    const { clock, perUnit = {} } = model.price;
    const hours = (clock?.windows ?? []).map((window) => hoursText(window, clock?.timeZone ?? '', locale));
    const except = clock?.exceptDates ?? [];
    const pieces = chargedUnits.flatMap((unit) => {
      const price = perUnit[unit];
      return price === undefined ? [] : [`${w.units[unit]} ${usdText(formatUsd(price), locale)}`];
    });
    return [
      ...(hours.length === 0
        ? []
        : [
            w.hoursOf(model.displayName, hours.join('; ')) +
              (except.length === 0 ? '' : ` ${w.exceptOn(except.join(', '))}`),
          ]),
      ...(pieces.length === 0 ? [] : [w.piecesOf(model.displayName, pieces.join(', '))]),
    ];
  });
  if (lines.length === 0) return '';
  const isClocked = models.some(({ model }) => model.price.clock !== undefined);
  return `<ul class="quiet">${lines.map((line) => `<li>${escapeText(line)}</li>`).join('')}</ul>${isClocked ? `<p class="quiet">${w.hoursHint}</p>` : ''}`;
}

/** `Mon–Fri 09:00–12:00, 14:00–18:00 (Asia/Shanghai)`. */
function hoursText({ days, hours }: Pick<PriceWindow, 'days' | 'hours'>, timeZone: string, locale: Locale): string {
  const periods = hours.map((period) => period.replace('-', '–')).join(', ');
  return `${daysText(days, locale)} ${periods} (${timeZone})`;
}

/** Three and more days in a row are a range. */
function daysText(days: readonly Weekday[], locale: Locale): string {
  const names = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
  // 5 January 2026 is a Monday.
  const nameOf = (place: number) => names.format(Date.UTC(2026, 0, 5 + place));
  const runs: [number, number][] = [];
  for (const place of weekdays.flatMap((day, at) => (days.includes(day) ? [at] : []))) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === place - 1) last[1] = place;
    else runs.push([place, place]);
  }
  const texts = runs.flatMap(([first, last]) => {
    if (last - first > 1) return [`${nameOf(first)}–${nameOf(last)}`];
    return first === last ? [nameOf(first)] : [nameOf(first), nameOf(last)];
  });
  return texts.join(', ');
}

/** A figure of one day is no figure of a month: the days with data are counted beside it. */
function uptimeText(days: readonly Tally[], locale: Locale): string {
  const w = pricingWords[locale];
  const all = addTallies(days);
  if (uptimeRatio(all) === null) return w.noData;
  const measured = days.filter((day) => uptimeRatio(day) !== null).length;
  return `${percentText(all, locale)} ${w.measured(measured, days.length)}`;
}

function percentilesText(value: Percentiles | null | undefined, locale: Locale): string {
  const w = pricingWords[locale];
  return value == null ? w.noData : w.percentiles(`${number(value.p50, locale)} ms`, `${number(value.p95, locale)} ms`);
}

const formats: Record<Locale, Intl.NumberFormat> = {
  en: new Intl.NumberFormat('en-US'),
  vi: new Intl.NumberFormat('vi-VN'),
};

function number(value: number | bigint, locale: Locale): string {
  return formats[locale].format(value);
}

/** A price in USD per 1,000,000 tokens, exact. */
function usd(price: bigint, locale: Locale): string {
  return usdText(formatPrice(price), locale);
}

const usdFormats: Record<Locale, Intl.NumberFormat> = { en: usdFormat('en-US'), vi: usdFormat('vi-VN') };

/** As the dashboard writes amounts: `$3.00`, and in Vietnamese `3,00 USD`. */
function usdFormat(tag: string): Intl.NumberFormat {
  return new Intl.NumberFormat(tag, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: tag === 'vi-VN' ? 'code' : 'symbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: 12,
  });
}

/** An amount to its last digit. Strings are formatted without a float; the types accept only literal ones. */
function usdText(amount: string, locale: Locale): string {
  return usdFormats[locale].format(amount as `${number}`);
}

const vndFormats: Record<Locale, Intl.NumberFormat> = {
  en: new Intl.NumberFormat('en-US', { style: 'currency', currency: 'VND' }),
  vi: new Intl.NumberFormat('vi-VN', { style: 'currency', currency: 'VND' }),
};

function vnd(amount: bigint, locale: Locale): string {
  return vndFormats[locale].format(amount);
}

function time(moment: Date, locale: Locale): string {
  return `<time datetime="${moment.toISOString()}">${escapeText(momentText(moment, locale))}</time>`;
}

interface Cell {
  /** The column's head, which stands beside the content where the screen is too narrow for columns. */
  head: string;
  content: string;
  isFigure?: boolean;
}

/** A row: on a phone a card of its head and a line per cell. All texts are HTML. */
function tableRow(head: string, cells: readonly Cell[]): string {
  const columns = cells.map(
    ({ head: label, content, isFigure = false }) =>
      `<td${isFigure ? ' class="figure"' : ''} data-label="${label}"><div>${content}</div></td>`,
  );
  return `<tr><th scope="row">${head}</th>${columns.join('')}</tr>`;
}

function scrolled(label: string, table: string): string {
  return `<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>${table}</table></div>`;
}

interface Content {
  path: string;
  title: string;
  description: string;
  body: string;
  /** Whether search engines may list it: searches and comparisons are not pages of their own. */
  indexed: boolean;
}

function document(
  { origin, locale, demonstration, seller }: PageAddress,
  { path, title, description, body, indexed }: Content,
): string {
  const address = (language: Locale) => escapeText(`${origin}${path}?lang=${language}`);
  const about = indexed
    ? `<link rel="canonical" href="${address(locale)}">
<link rel="alternate" hreflang="en" href="${address('en')}">
<link rel="alternate" hreflang="vi" href="${address('vi')}">
<link rel="alternate" hreflang="x-default" href="${escapeText(`${origin}${path}`)}">
<meta property="og:title" content="${escapeText(title)} · Steyg">
<meta property="og:description" content="${escapeText(description)}">
<meta property="og:type" content="website">
<meta property="og:url" content="${address(locale)}">`
    : '<meta name="robots" content="noindex">';
  return pages.render({
    locale,
    path,
    title,
    description,
    body,
    here: 'pricing',
    seller,
    demonstration,
    head: `${about}\n`,
  });
}

const style = `
h3{margin:1.25rem 0 .25rem;font-size:var(--type-body)}
.figure{text-align:right}td.figure{white-space:normal;font-family:${figureFamily};font-variant-numeric:tabular-nums}
table{overflow-wrap:normal}
thead th{white-space:normal;vertical-align:bottom;min-width:4.5rem}
tbody th,thead tr>:first-child{position:sticky;left:0;background:var(--page)}
@media (max-width:40rem){
table,tbody,tr,tbody th,td{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{padding:.5rem 0;border-bottom:1px solid var(--line)}
tbody th,td{padding:.15rem 0;border:0;white-space:normal}
tbody th{position:static;font-weight:var(--weight-strong)}
td{display:flex;justify-content:space-between;gap:1rem}
td::before{content:attr(data-label);color:var(--quiet);text-align:left;flex:none;max-width:50%}
td::before{content:attr(data-label) / ""}
td>div{text-align:right}
.badge{display:inline-block}
pre{white-space:pre-wrap}
}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.75rem 1.75rem;margin:1rem 0}
dt{color:var(--quiet);font-size:var(--type-small)}dd{margin:0;font-weight:var(--weight-strong);font-variant-numeric:tabular-nums}
pre{background:var(--sunken);border-radius:.5rem;padding:.75rem 1rem;overflow-x:auto;margin:.25rem 0}
pre code{color:var(--text)}
input,button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line-strong);border-radius:.5rem;padding:.35rem .8rem;min-height:2.5rem}
input[type=checkbox]{min-height:0;width:1.15rem;height:1.15rem;vertical-align:-.2rem}
button{cursor:pointer;font-weight:var(--weight-strong)}button:hover{background:var(--sunken)}form>button{margin-top:.75rem}.find button{margin-top:0}
.pick{display:inline-block;padding:.35rem}
main .button{margin-top:1rem;padding:.55rem 1.1rem}
.sr-only{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.find{margin:1rem 0}
`;

const pages = createPublicPages(style);

/** No script, no other host; the search is a form of the page itself. */
export const pricingPolicy: string = pages.policy.replace("form-action 'none'", "form-action 'self'");
