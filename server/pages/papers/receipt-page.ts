import { createHash } from 'node:crypto';
import type { Seller } from '../../plans/papers/parties.ts';
import { demonstrationLabel, escapeText, type Locale, momentText } from '../../shared/page.ts';
import {
  buyerLines,
  itemLines,
  type PrintedReceipt,
  receiptWords,
  sellerLines,
  sellerLinks,
  vndText,
} from './receipt-words.ts';

/** The receipt of a paid order as a self-contained HTML document, made for screens and paper. */

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
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${w.title} ${order.memo}</title>
<style>${style}</style>
</head>
<body>
<nav class="screen"><button type="button" hidden>${w.print}</button> <a hreflang="${other}" lang="${other}">${receiptWords[other].language}</a></nav>
<main>
${demonstrationLabel(locale, demonstration)}
<header><p class="brand">Steyg</p><h1>${w.title}</h1><p class="state">${w.paid}</p></header>
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
${linksText(seller, locale)}</main>
<script>${script}</script>
</body>
</html>
`;
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
body{margin:2rem auto;max-width:44rem;padding:0 1.25rem;font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;color:#17201f;background:#fff;overflow-wrap:anywhere}
nav{display:flex;justify-content:flex-end;align-items:center;gap:1rem;margin-bottom:1.5rem}
button{font:inherit;padding:.4rem .9rem;border:1px solid #0f766e;border-radius:.4rem;background:#0f766e;color:#fff;cursor:pointer}
a{color:#0f766e}
:focus-visible{outline:3px solid #0f766e;outline-offset:2px}
header{display:flex;align-items:baseline;gap:.5rem 1.25rem;flex-wrap:wrap;border-bottom:2px solid #17201f;margin-bottom:1.25rem}
header p,h1{margin:0 0 .5rem}.brand{font-weight:700;font-size:1.15rem}.state{margin-left:auto;font-weight:650;color:#146c3c}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr));gap:.9rem 1.5rem;margin:0 0 1.75rem}
dt{color:#55625f;font-size:.875rem}dd{margin:0}
table{width:100%;border-collapse:collapse}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-bottom:1px solid #d7dddb}
thead th{color:#55625f;font-weight:400;font-size:.875rem}
.sum{text-align:right;padding-right:0;white-space:nowrap;font-variant-numeric:tabular-nums}
.note{color:#55625f;font-size:.875rem;margin-top:1.75rem}
@page{margin:18mm}
@media print{.screen{display:none}body{margin:0;max-width:none;padding:0;font-size:11pt}tr{break-inside:avoid}}
`;

// The address holds the grant, so the link to the other language is made from it by script, and the grant is written
// nowhere else.
const script = `
const button = document.querySelector('button');
button.hidden = false;
button.addEventListener('click', () => print());
const address = new URL(location.href);
const other = document.querySelector('nav a');
address.searchParams.set('lang', other.lang);
other.href = address.href;
`;

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only the page's own style and script, and nothing that leads out of it. */
export const receiptPolicy: string = `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
