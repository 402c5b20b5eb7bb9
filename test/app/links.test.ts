/** Every link that the server writes into a mail, a notice or a paper leads to a page that is there. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../dashboard/src/pages.ts';
import { noticePages } from '../../server/notices/outbox.ts';
import { startApp, type TestApp } from '../support/app.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Addresses that people open and that the server answers itself. */
const served = [
  '/status',
  '/pricing',
  '/sitemap',
  '/api/',
  '/graphql',
  '/docs',
  '/llms-full',
  '/sdk',
  '/uptime/',
  '/webhooks/',
  '/sign-in/with/callback/',
];
/** Of vendors and banks, whose base address has another name. */
const foreign = ['/v1', '/v1/models', '/v1/messages/batches/', '/bankaccounts/list', '/transactions/list'];

const isPage = (path: string) =>
  Object.values(pages).some((page) => page === path || (page.includes(':') && page.replace(/:.*/, '') === path));
const isThere = (path: string) => isPage(path) || served.some((each) => `${path}/`.startsWith(each));

describe('links', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  it('in the source of the server lead to pages of the dashboard or of the server', () => {
    const sources = globSync('server/**/*.ts', { cwd: root, exclude: (path) => path.includes('generated') });
    const links = sources.flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [...text.matchAll(/\b(?:publicUrl|origin|base|baseUrl)\}(\/[a-z][a-z0-9/-]*)/g)].map(
        ([, link = '']) => link,
      );
    });
    expect(links.length).toBeGreaterThan(20);
    expect([...new Set(links)].filter((link) => !isThere(link) && !foreign.includes(link))).toEqual([]);
  });

  it.each(Object.entries(noticePages))('of a notice of kind %s lead to a page', async (_kind, page) => {
    const isFound = isPage(`/${page}`) || (await fetch(`${app.url}/${page}`)).status === 200;
    expect(isFound).toBe(true);
  });
});
