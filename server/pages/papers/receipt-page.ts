import { createHash } from 'node:crypto';
import type { Seller } from '../../plans/papers/parties.ts';
import { escapeText, figureFamily, type Locale, momentText } from '../../shared/page.ts';
import { createPublicPages } from '../../shared/public-page.ts';
import {
  buyerLines,
  itemLines,
  type PrintedReceipt,
  receiptWords,
  sellerLines,
  sellerLinks,
  vndText,
} from './receipt-words.ts';

/** The receipt of a paid order as an HTML document in the frame of all public pages, made for screens and paper. */

export function receiptPage(receipt: PrintedReceipt, locale: Locale): string {
  const { order, paidAt, payments, seller, payee, demonstration } = receipt;
  const w = receiptWords[locale];
  const other: Locale = locale === 'en' ? 'vi' : 'en';
  const surplusVnd = order.receivedVnd - order.priceVnd;
  const [plan, ...details] = itemLines(order, locale).map(escapeText);
  const rows = payments.map(
    (payment) =>
      `<tr><td>${timeText(payment.bookedAt, locale)}</td><td>${escapeText(payment.bankReference ?? '–')}</td><td class="sum">${vndText(payment.amountVnd, locale)}</td></tr>`,
  );
  return pages.render({
    locale,
    // The address holds the grant, so this page has its own way to the other language.
    path: '/',
    oneLanguage: true,
    title: `${w.title} ${order.memo}`,
    seller: null,
    demonstration,
    foot: `<script>${script}</script>`,
    body: `<article class="card paper">
<p class="screen"><button type="button" class="button" hidden>${w.print}</button> <a class="language" hreflang="${other}" lang="${other}">${receiptWords[other].language}</a></p>
<div class="head"><p class="brand">Steyg</p><h1>${w.title}</h1><p class="state">${w.paid}</p></div>
<dl>
<div><dt>${w.number}</dt><dd><code>${order.memo}</code></dd></div>
<div><dt>${w.issued}</dt><dd>${timeText(paidAt, locale)}</dd></div>
<div><dt>${w.seller}</dt><dd>${partyText(sellerLines(seller, payee, locale))}</dd></div>
<div><dt>${w.buyer}</dt><dd>${partyText(buyerLines(receipt, locale))}</dd></div>
</dl>
<table>
<thead><tr><th scope="col">${w.item}</th><th scope="col" class="sum">${w.price}</th></tr></thead>
<tbody><tr><td><strong>${plan}</strong><br>${details.join('<br>')}</td><td class="sum">${vndText(order.priceVnd, locale)}</td></tr></tbody>
</table>
<h2>${w.payments}</h2>
<table>
<thead><tr><th scope="col">${w.bookedAt}</th><th scope="col">${w.reference}</th><th scope="col" class="sum">${w.amount}</th></tr></thead>
<tbody>${rows.join('')}</tbody>
<tfoot><tr><th scope="row" colspan="2">${w.received}</th><td class="sum">${vndText(order.receivedVnd, locale)}</td></tr>${
      surplusVnd > 0n
        ? `<tr><th scope="row" colspan="2">${w.surplus}</th><td class="sum">${vndText(surplusVnd, locale)}</td></tr>`
        : ''
    }</tfoot>
</table>
<p class="note">${w.notInvoice}</p>
${linksText(seller, locale)}</article>`,
  });
}

/** The lines of a party, without those that are not given. */
function partyText(lines: readonly string[]): string {
  return lines
    .filter((line) => line !== '')
    .map(escapeText)
    .join('<br>');
}

/** Links to the seller's terms and policies. */
function linksText(seller: Seller, locale: Locale): string {
  const links = sellerLinks(seller, locale).map(
    ({ name, url }) => `<a href="${escapeText(url)}" rel="noreferrer">${name}</a>`,
  );
  return links.length === 0 ? '' : `<p class="note">${links.join(' · ')}</p>\n`;
}

function timeText(moment: Date, locale: Locale): string {
  return `<time datetime="${moment.toISOString()}">${momentText(moment, locale, 'Vietnam')}</time>`;
}

const style = `
.paper{max-width:46rem;width:100%;margin:1rem auto 0;padding:clamp(1.25rem,4vw,2.5rem)}
.screen{display:flex;justify-content:flex-end;align-items:center;gap:1rem;margin:0 0 1.5rem}
.paper .head{display:flex;align-items:baseline;gap:.5rem 1.25rem;flex-wrap:wrap;border-bottom:2px solid var(--text);margin-bottom:1.25rem}
.head p,h1{margin:0 0 .5rem}.brand{display:none;font-weight:var(--weight-strong);font-size:var(--type-section)}.head .state{margin-left:auto;font-weight:var(--weight-strong);color:var(--up-text)}
h2{font-size:var(--type-section);margin:2rem 0 .5rem}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr));gap:.9rem 1.5rem;margin:0 0 1.75rem}
dt{color:var(--quiet);font-size:var(--type-small)}dd{margin:0}
.paper th,.paper td{vertical-align:top;padding:.5rem .75rem .5rem 0;white-space:normal}
.paper .sum{text-align:right;padding-right:0;white-space:nowrap}.paper td.sum{font-family:${figureFamily};font-variant-numeric:tabular-nums}
.note{color:var(--quiet);font-size:var(--type-small);margin-top:1.75rem}
@page{margin:18mm}
@media print{:root,:root[data-theme]{color-scheme:light;--page:#fff}
.top,.bottom,.screen{display:none}.brand{display:block}body{max-width:none;padding:0}.paper{border:0;padding:0;margin:0;max-width:none}tr{break-inside:avoid}}
`;

// The address holds the grant, so the link to the other language is made from it by script, and the grant is written
// nowhere else.
const script = `
const button = document.querySelector('button');
button.hidden = false;
button.addEventListener('click', () => print());
const address = new URL(location.href);
const other = document.querySelector('.language');
address.searchParams.set('lang', other.lang);
other.href = address.href;
`;

const pages = createPublicPages(style);
const scriptHash = createHash('sha256').update(script).digest('base64');

/** Only the page's own style and script. */
export const receiptPolicy: string = `${pages.policy}; script-src 'sha256-${scriptHash}'`;
