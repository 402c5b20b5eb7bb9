import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** A real browser, and the errors that it reports. */

const executablePath = '/usr/bin/chromium';

/** Debian's chromium: a missing one is no reason to pass. */
export async function launch(): Promise<Browser> {
  if (!existsSync(executablePath)) throw new Error('These tests need chromium: apt-get install -y chromium');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface Watched {
  page: Page;
  /** What went wrong so far: errors of scripts, of the console, of the security policy, and requests to elsewhere. */
  complaints: string[];
  /** The same without what the test itself brings about, e.g. a status that the console reports as an error. */
  unexpected(expected?: RegExp): string[];
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Opens a page in a context of its own: no cookies, no storage of another one. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    timezoneId: 'Asia/Ho_Chi_Minh',
    baseURL: origin,
    ...options,
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  return watch(page, origin);
}

/** Listens to a page from now on. */
export async function watch(page: Page, origin: string): Promise<Watched> {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`script: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      complaints.push(`console: ${message.text()} ${message.location().url}`);
    }
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob|about):/.test(url)) complaints.push(`request to elsewhere: ${url}`);
  });
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  );
  return {
    page,
    complaints,
    unexpected: (expected) => complaints.filter((text) => expected?.test(text) !== true),
  };
}

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
}

const everyRule = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };

/** What an accessibility checker finds on the page as it is now, one line a finding. */
export async function findBarriers(page: Page): Promise<string[]> {
  // Evaluated from outside, as a tester's extension would: the page's own policy stays in force.
  if (!(await page.evaluate('typeof globalThis.axe === "object"'))) await page.evaluate(axe);
  const { violations } = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(everyRule)}, resultTypes: ['violations'] })`,
  )) as AxeResult;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`),
  );
}

/** What makes the page wider than its window; what scrolls within the page does not count. */
export function overflow(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll('main *')].filter((each) => each.getBoundingClientRect().right > clientWidth + 1);
    return [scrollWidth - clientWidth + ' px wider than a phone: ' + wide.map((each) => each.outerHTML.slice(0, 80)).slice(-2).join(' … ')];
  })()`) as Promise<string[]>;
}

/** Tables whose last columns, often those with the buttons, are hidden until the reader scrolls to the side. */
export function cutTables(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.table-scroll')]
    .filter((table) => table.checkVisibility() && table.scrollWidth > table.clientWidth + 1)
    .map((table) => table.getAttribute('aria-label') + ': ' + (table.scrollWidth - table.clientWidth) + ' px are cut off')`) as Promise<
    string[]
  >;
}
