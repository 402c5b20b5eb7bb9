/** Pages that the server makes, in the theme that their visitor chose in the dashboard. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const paths = [
  '/pricing',
  '/pricing/sim-small',
  '/pricing/no-such-model',
  '/pricing?q=sim',
  '/status',
  '/docs',
  '/docs/errors/nothing',
  '/api/docs',
];

it.each(paths)('%s comes in the chosen theme before any script, and else in the system’s', async (path) => {
  const get = async (cookie?: string) => {
    const answer = await fetch(`${app.url}${path}`, cookie === undefined ? {} : { headers: { cookie } });
    return { root: /<html[^>]*>/.exec(await answer.text())?.[0], headers: answer.headers };
  };
  for (const theme of ['light', 'dark']) {
    const { root, headers } = await get(`steyg.language=vi; steyg.theme=${theme}; other=x`);
    expect(root).toContain(` data-theme="${theme}"`);
    // One visitor's theme is not another's, whatever keeps answers in between.
    expect(headers.get('vary')).toMatch(/cookie/i);
  }
  for (const cookie of [undefined, 'steyg.theme=', 'steyg.theme="><script>', 'not-steyg.theme=dark']) {
    expect((await get(cookie)).root).not.toContain('data-theme');
  }
});
