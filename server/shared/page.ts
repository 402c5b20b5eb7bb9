import { createHash } from 'node:crypto';

/** The parts that server-rendered pages share: language, moments, style, escaping. */

export type Locale = 'en' | 'vi';

/** The language of a page: the address's choice, else the browser's preference of the two, else English. */
export function chooseLocale(asked: unknown, acceptLanguage: string | undefined): Locale {
  if (asked === 'en' || asked === 'vi') return asked;
  const wishes = (acceptLanguage ?? '')
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
      const quality = parameters
        .map((parameter) => /^\s*q=([01](?:\.\d{1,3})?)\s*$/.exec(parameter)?.[1])
        .find(Boolean);
      return { language: tag.split('-')[0], quality: Number(quality ?? 1) };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  const first = wishes.find(({ language }) => language === 'en' || language === 'vi');
  return first?.language === 'vi' ? 'vi' : 'en';
}

interface Clock {
  format: Intl.DateTimeFormat;
  zone: string;
}

const vietnamese: Clock = { format: clockOf('vi-VN', '2-digit', 'Asia/Ho_Chi_Minh'), zone: 'giờ Việt Nam' };

/**
 * Where the reader's time zone is unknown, Vietnamese readers get the time of Vietnam, all others UTC. What is paid is paid at a
 * Vietnamese bank, so that its moments are of Vietnam for everybody.
 */
const clocks: Record<Locale, Record<'reader' | 'Vietnam', Clock>> = {
  en: {
    reader: { format: clockOf('en-US', 'short', 'UTC'), zone: 'UTC' },
    Vietnam: { format: clockOf('en-US', 'short', 'Asia/Ho_Chi_Minh'), zone: 'Vietnam time' },
  },
  vi: { reader: vietnamese, Vietnam: vietnamese },
};

function clockOf(tag: string, month: 'short' | '2-digit', timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(tag, {
    day: month === '2-digit' ? '2-digit' : 'numeric',
    month,
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  });
}

/** A moment to the minute, with its zone: `19:03 21/11/2026 (giờ Việt Nam)`. */
export function momentText(moment: Date, locale: Locale, place: 'reader' | 'Vietnam' = 'reader'): string {
  const { format, zone } = clocks[locale][place];
  return `${format.format(moment)} (${zone})`;
}

const demonstrations: Record<Locale, string> = {
  en: 'Demonstration: bank account and plans are made up. No money is paid.',
  vi: 'Bản trình diễn: tài khoản ngân hàng và các gói chỉ là ví dụ. Không có tiền thật.',
};

/** The label of papers and pages while nothing is really sold; empty otherwise. */
export function demonstrationText(locale: Locale, demonstration: boolean): string {
  return demonstration ? demonstrations[locale] : '';
}

/** The label as a part of a page. */
export function demonstrationLabel(locale: Locale, demonstration: boolean): string {
  return demonstration ? `<p class="warning" role="note">${demonstrations[locale]}</p>` : '';
}

/** Escapes text for HTML and XML, in elements and in attributes. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The name of the service with its sign, for a link of the class `logo`. */
export const logo =
  '<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="7"/><path d="M7 24v-5h6v-6h6V7h6"/></svg>Steyg';

/** The version of the package `@fontsource/be-vietnam-pro`, in the addresses of its files: they are kept for ever. */
const fontVersion = '5.3.0';

const subsets = {
  latin:
    'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD',
  vietnamese:
    'U+0102-0103,U+0110-0111,U+0128-0129,U+0168-0169,U+01A0-01A1,U+01AF-01B0,U+0300-0301,U+0303-0304,U+0308-0309,U+0323,U+0329,U+1EA0-1EF9,U+20AB',
};

/** Be Vietnam Pro (SIL Open Font License 1.1), the face of all pages: two weights of two subsets. */
export const fontFaces = Object.entries(subsets).flatMap(([subset, range]) =>
  [400, 600].map((weight) => ({ name: `${subset}-${weight}`, weight, range })),
);

/** The address of a face's file at this server (`../pages/fonts.ts`). */
export function fontAddress(name: string): string {
  return `/fonts/be-vietnam-pro-${fontVersion}/${name}.woff2`;
}

const faceStyle: string = fontFaces
  .map(
    ({ name, weight, range }) =>
      `@font-face{font-family:"Be Vietnam Pro";font-weight:${weight};font-display:swap;src:url(${fontAddress(name)}) format("woff2");unicode-range:${range}}`,
  )
  .join('\n');

/** The face, and before it is there what machines have. */
const faceFamily = '"Be Vietnam Pro",system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif';

/** For columns of figures: the face has none of one width. */
export const figureFamily = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif';

/** The theme that a visitor chose in the dashboard, which keeps it in this cookie (`dashboard/src/theme.tsx`); null: the system's. */
export function themeOf(cookie: string | undefined): 'light' | 'dark' | null {
  const [, theme] = /(?:^|;)\s*steyg\.theme=(light|dark)\s*(?:;|$)/.exec(cookie ?? '') ?? [];
  return theme === 'light' || theme === 'dark' ? theme : null;
}

/** A page as its visitor chose to see it, before its first paint and without a script. */
export function inChosenTheme(html: string, cookie: string | undefined): string {
  const theme = themeOf(cookie);
  return theme === null ? html : html.replace('<html ', () => `<html data-theme="${theme}" `);
}

/** What the answer of a page in the visitor's language and theme depends on. */
export const pageVary = 'Accept-Language, Cookie';

/**
 * The scale of sizes and weights, and each colour in light and in dark: those of the dashboard (`dashboard/src/style.css`). A test
 * compares the two.
 */
const tokens = `
:root{color-scheme:light dark;--weight-plain:400;--weight-strong:600;--type-note:.8125rem;--type-small:.875rem;--type-body:1rem;--type-section:1.125rem;--type-heading:1.375rem;--type-title:1.625rem;--type-code:.9em;--line-tight:1.25;--line-text:1.5;--mono:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
--page:light-dark(#f7f8f8,#0e1413);--card:light-dark(#fff,#161d1c);--sunken:light-dark(#eef1f1,#1e2726);--text:light-dark(#17201f,#e7eeec);--quiet:light-dark(#55625f,#a1b0ac);--line:light-dark(#d7dddb,#2c3735);--line-strong:light-dark(#8a9794,#71807c);
--accent:light-dark(#0f766e,#2dd4bf);--accent-strong:light-dark(#0b5c56,#5eead4);--on-accent:light-dark(#fff,#04211d);--link:light-dark(#4338ca,#a5b4fc);--link-strong:light-dark(#312e81,#c7d2fe);
--up:light-dark(#178a4c,#3fbf74);--up-text:light-dark(#146c3c,#6ee7a0);--up-soft:light-dark(#e2f4e8,#12301f);--most:light-dark(#c27c0e,#e0a63a);--most-soft:light-dark(#fdf1da,#35270d);--most-text:light-dark(#85540a,#fbbf5c);--down:light-dark(#c9302c,#f0645c);--down-soft:light-dark(#fbe6e4,#3b1816);--none:light-dark(#8a9794,#71807c)}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}`;

/** The style: face, scale, colours, headings, links, tables and cards. */
export const pageStyle = `
${faceStyle}${tokens}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:0 clamp(1rem,3vw,2rem) 2rem;font:var(--type-body)/var(--line-text) ${faceFamily};color:var(--text);background:var(--page);overflow-wrap:anywhere}
header{display:flex;justify-content:space-between;align-items:center;gap:1rem;flex-wrap:wrap;padding:1rem 0}
.logo{display:inline-flex;align-items:center;gap:.5rem;font-weight:var(--weight-strong);font-size:var(--type-section);color:var(--text);text-decoration:none}
.logo svg{width:1.75rem;height:1.75rem}.logo rect{fill:#0f766e}.logo path{fill:none;stroke:#fff;stroke-width:3.2;stroke-linecap:round;stroke-linejoin:round}
h1,h2,h3,strong{font-weight:var(--weight-strong)}h1,h2,h3{line-height:var(--line-tight);text-wrap:balance}
h1{font-size:var(--type-title);letter-spacing:-.01em;margin:1rem 0}
h2{font-size:var(--type-heading);margin:2rem 0 .75rem}
a,summary{color:var(--link);text-underline-offset:.15em}
a:hover{color:var(--link-strong)}
summary{cursor:pointer;width:fit-content;font-size:var(--type-small)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:.25rem}
p{margin:.25rem 0}
code{font-family:var(--mono);font-size:var(--type-code);font-weight:var(--weight-plain);color:var(--quiet)}
.quiet{color:var(--quiet);font-size:var(--type-small)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1.1rem 1.25rem;margin:0 0 1rem}
main .warning{max-width:none;background:var(--most-soft);border-radius:.6rem;padding:.7rem 1rem;margin:0 0 1rem}
.badge{background:var(--sunken);border-radius:1rem;padding:0 .5rem;font-size:var(--type-note);font-weight:var(--weight-plain);white-space:nowrap}
.scroll{overflow-x:auto}
details[open]>summary{margin-bottom:.5rem}
table{border-collapse:collapse;width:100%;font-size:var(--type-small)}th,td{text-align:left;padding:.35rem .9rem .35rem 0;border-bottom:1px solid var(--line);font-weight:var(--weight-plain);white-space:nowrap}
thead th{color:var(--quiet);font-size:var(--type-note)}
`;

/** The Content-Security-Policy of a page with exactly this style and this server's fonts: no script, no picture, no form. */
export function policyFor(style: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}
