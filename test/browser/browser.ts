import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core';

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

/** What watched pages have asked for and not yet received: data and scripts. */
const requested = new WeakMap<Page, Set<Request>>();

const isPart = (request: Request): boolean =>
  request.resourceType() === 'script' || new URL(request.url()).pathname === '/graphql';

/** Resolves when a page has received what it asked for and drawn it: two queries may end in either order. */
export async function answered(page: Page): Promise<void> {
  const open = requested.get(page) ?? new Set();
  // A request whose end the browser does not report must not hold the test.
  const end = Date.now() + 30_000;
  for (let drawn = false; (!drawn || open.size > 0) && Date.now() < end; drawn = true) {
    while (open.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    await page.evaluate(
      `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))`,
    );
  }
}

/** Passes each answer of GraphQL through `change`. A page that was left or closed meanwhile wants no answer. */
export async function changeAnswers(page: Page, change: (text: string) => string): Promise<void> {
  await page.route('**/graphql', async (route) => {
    try {
      const response = await route.fetch();
      await route.fulfill({ response, body: change(await response.text()) });
    } catch {
      // What waits for the answer on a page that is still there says so itself.
    }
  });
}

/** Presses until something is shown: a page that asks by itself may come to it first, and there is nothing to press. */
export async function pressUntil(button: Locator, shown: Locator): Promise<void> {
  while (!(await shown.isVisible())) {
    await button.click({ timeout: 1_000 }).catch(() => undefined);
    await shown.waitFor({ timeout: 5_000 }).catch(() => undefined);
  }
}

/** Opens a folded part of a page by its name. */
export async function unfold(page: Page, name: string): Promise<void> {
  await page
    .locator('summary', { has: page.getByRole('heading', { name, exact: true }) })
    .first()
    .click();
}

/** Listens to a page from now on. */
export async function watch(page: Page, origin: string): Promise<Watched> {
  const open = new Set<Request>();
  requested.set(page, open);
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) open.clear();
    if (isPart(request)) open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
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
