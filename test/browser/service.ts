import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { startApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { launch, openPage, type Watched } from './browser.ts';
import { type Person, settled, siteSettings } from './people.ts';

/** The real service with its dashboard, and a browser: one of each for the tests of a file. */

const root = fileURLToPath(new URL('../..', import.meta.url));

export let app: TestApp;
export let browser: Browser;

/** Starts both before the tests of the file that calls this, and ends them after the last one. */
export function useService(options: TestAppOptions = {}): void {
  beforeAll(async () => {
    [app, browser] = await Promise.all([startService(options), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });
}

/** Builds the page if its sources changed, and starts the service at an address that it knows itself. */
async function startService(options: TestAppOptions): Promise<TestApp> {
  execFileSync(process.execPath, [join(root, 'dashboard/build.ts')], { stdio: ['ignore', 'inherit', 'inherit'] });
  const port = await freePort();
  return startApp({ ...options, env: { ...siteSettings(port), ...options.env } });
}

/** A page with the session of a signed-in person. */
export async function openAs(
  person: Pick<Person, 'signIn'>,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const watched = await openPage(browser, app.url, options);
  await person.signIn(watched.page.context());
  await watched.page.goto(path);
  await settled(watched.page);
  return watched;
}
