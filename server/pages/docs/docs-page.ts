import { escapeText, type Locale } from '../../shared/page.ts';
import { createPublicPages, type PageSeller } from '../../shared/public-page.ts';

/** The look of the pages of documentation, and the small parts that they share. */

interface Frame {
  locale: Locale;
  path: string;
  seller: PageSeller | null;
  demonstration: boolean;
}

const style = `
main p,main li{max-width:48rem}
.lead{font-size:var(--type-section);margin-bottom:1rem}
main code{color:inherit;background:var(--sunken);border-radius:.25rem;padding:.05rem .3rem}
.places{list-style:none;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.25rem 2rem;margin:1.5rem 0}
.places li{padding:.75rem 0;border-top:1px solid var(--line)}.places a{font-weight:var(--weight-strong)}
.members{list-style:none;padding:0;columns:17rem;gap:2rem}.members li{padding:.15rem 0;break-inside:avoid}
main pre{margin:.5rem 0;padding:.75rem .9rem;overflow-x:auto;border:1px solid var(--line);border-radius:.6rem;background:var(--sunken);font-size:var(--type-note);line-height:var(--line-text);overflow-wrap:normal}
main pre code{padding:0;background:none;font-size:inherit}
main th,main td{white-space:normal;vertical-align:top;overflow-wrap:anywhere;min-width:7rem}
main th code,main td code{white-space:normal}
.trail{font-size:var(--type-small);margin:0}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.35rem 1.25rem;margin:1rem 0}.facts dt{color:var(--quiet)}.facts dd{margin:0}
`;

const pages = createPublicPages(style);
export const docsPolicy: string = pages.policy;

export function docsPage(frame: Frame, { title, body }: { title: string; body: string }): string {
  return pages.render({ ...frame, title, body, here: 'docs' });
}

const missing: Record<Locale, { title: string; text: string; back: string }> = {
  en: { title: 'There is no such page', text: 'The documentation has nothing of this name.', back: 'Documentation' },
  vi: { title: 'Không có trang này', text: 'Tài liệu không có mục tên này.', back: 'Tài liệu' },
};

export function missingPage(frame: Frame): string {
  const w = missing[frame.locale];
  const body = `<h1>${w.title}</h1>\n<p>${w.text}</p>\n<p><a href="/docs?lang=${frame.locale}">${w.back}</a></p>`;
  return docsPage(frame, { title: w.title, body });
}

/** Text with code between backticks. */
export function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? `<code>${escapeText(part)}</code>` : escapeText(part)))
    .join('');
}

export function table(name: string, heads: readonly string[], rows: readonly string[]): string {
  return `<div class="scroll" tabindex="0" role="group" aria-label="${escapeText(name)}"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

export function block(name: string, text: string): string {
  return `<pre tabindex="0" role="group" aria-label="${escapeText(name)}"><code>${escapeText(text.trimEnd())}</code></pre>`;
}
