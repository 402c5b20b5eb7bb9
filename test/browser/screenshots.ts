import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { buildDashboard } from '../../dashboard/build.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { freePort } from '../support/free-port.ts';
import { createPostgres } from '../support/postgres.ts';
import { launch, openPage } from './browser.ts';
import { openings } from './openings.ts';
import { type Site, settled, signInOperator, siteSettings } from './people.ts';
import { placesOf } from './places.ts';
import { createSample, type Sample } from './sample.ts';

/**
 * A picture of every page, wide and narrow, light and dark, of a service that has been in use for some days.
 *
 *   npm run screenshots                        every page in English
 *   npm run screenshots -- --locale vi         in Vietnamese; give both for both
 *   npm run screenshots -- --only operator     only the pictures whose name matches this; several: of any
 *   npm run screenshots -- --device phone      only narrow or wide (desktop) ones; --theme dark: only these
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = join(root, 'screenshots');

const { values: wanted } = parseArgs({
  options: {
    locale: { type: 'string', multiple: true, default: ['en'] },
    only: { type: 'string', multiple: true, default: [''] },
    device: { type: 'string', multiple: true, default: ['desktop', 'phone'] },
    theme: { type: 'string', multiple: true, default: ['light', 'dark'] },
  },
});

const widths = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const;
const themes = (['light', 'dark'] as const).filter((theme) => wanted.theme.includes(theme));
const locales: Record<string, string> = { en: 'en-US', vi: 'vi-VN' };

/** Who looks: the newcomer sees every page empty. */
type Viewer = 'nobody' | 'newcomer' | 'person' | 'operator';
const viewers: readonly Viewer[] = ['nobody', 'newcomer', 'person', 'operator'];

const isWanted = (file: string): boolean => wanted.only.some((pattern) => new RegExp(pattern).test(file));

const madeByServer = ['status', 'pricing', 'docs'];

async function main(): Promise<void> {
  await buildDashboard();
  const postgres = await createPostgres();
  const dataDir = await mkdtemp(join(tmpdir(), 'steyg-pictures-'));
  try {
    await ensureDatabase(postgres.url('postgres'), 'pictures');
    const databaseUrl = postgres.url('pictures');
    const { site, stop } = await startServer(dataDir, databaseUrl);
    try {
      const pool = new Pool({ connectionString: databaseUrl, max: 2 });
      const sample = await createSample(site, pool);
      await pool.end();
      const browser = await launch();
      try {
        await takeAll(browser, site, sample);
      } finally {
        await browser.close();
      }
    } finally {
      await stop();
    }
  } finally {
    await postgres.remove();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function startServer(dataDir: string, databaseUrl: string): Promise<{ site: Site; stop(): Promise<void> }> {
  const port = await freePort();
  // Browsers make passkeys for domains.
  const url = `http://localhost:${port}`;
  const server = spawn(process.execPath, [join(root, 'server/main.ts')], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      ...siteSettings(port),
      PUBLIC_URL: url,
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      LOG_LEVEL: 'error',
      // A busy machine is no reason to refuse the picture.
      OVERLOAD_LAG_MS: '60000',
      SIMULATOR_FIRST_TOKEN_MS: '180',
      SIMULATOR_TOKENS_PER_SECOND: '4000',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(server, 'exit');
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await ended;
  };
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (server.exitCode !== null) throw new Error('the server did not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { site: { url, baseUrl: `${url}/api`, dataDir }, stop };
}

async function takeAll(browser: Browser, site: Site, sample: Sample): Promise<void> {
  let count = 0;
  for (const locale of wanted.locale) {
    for (const [device, viewport] of Object.entries(widths)) {
      if (!wanted.device.includes(device)) continue;
      const folder = join(directory, `${locale}-${device}`);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      for (const viewer of viewers) {
        const { page } = await openPage(browser, site.url, {
          locale: locales[locale] ?? locale,
          viewport,
          deviceScaleFactor: device === 'phone' ? 2 : 1,
          reducedMotion: 'reduce',
        });
        if (viewer === 'operator') await (await signInOperator(site)).signIn(page.context());
        else if (viewer !== 'nobody') await sample[viewer].signIn(page.context());
        count += await takePages(page, viewer, sample, folder);
        count += await takeOpenings(page, viewer, sample, folder, locale);
        await page.context().close();
      }
    }
  }
  process.stdout.write(`${count} pictures in ${directory}\n`);
}

/** What opens above pages, each on a fresh page: none of them is saved. */
async function takeOpenings(
  page: Page,
  viewer: Viewer,
  sample: Sample,
  folder: string,
  locale: string,
): Promise<number> {
  let count = 0;
  for (const { who, name, path, open } of openings(sample.subjects, locale)) {
    const file = `${viewer}-${name}`;
    if (who !== viewer || !isWanted(file)) continue;
    await page.goto(path);
    await settled(page);
    await open(page);
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme });
      await page.screenshot({ path: join(folder, `${file}-${theme}.png`), animations: 'disabled' });
      count += 1;
    }
  }
  return count;
}

/** One visit a page: the theme follows the system's, so it changes under the page that is there. */
async function takePages(page: Page, viewer: Viewer, { subjects }: Sample, folder: string): Promise<number> {
  let count = 0;
  const who = viewer === 'newcomer' ? 'person' : viewer;
  const places = placesOf(who, subjects)
    // A newcomer gets a 404 for objects of other accounts.
    .filter(({ name }) => viewer !== 'newcomer' || !['entry', 'order', 'invitation'].includes(name))
    .concat(viewer === 'nobody' ? madeByServer.map((name) => ({ name, path: `/${name}` })) : []);
  for (const { name, path } of places) {
    const file = `${viewer}-${name}`;
    if (!isWanted(file)) continue;
    await page.goto(path);
    await settled(page);
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme });
      await page.screenshot({ path: join(folder, `${file}-${theme}.png`), fullPage: true, animations: 'disabled' });
      count += 1;
    }
  }
  return count;
}

await main();
