/** The pages' face: of this server, kept for ever under its version, and the same on its own pages and the dashboard's. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fontAddress, fontFaces, pageStyle } from '../../server/shared/page.ts';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const css = readFileSync(new URL('../../dashboard/src/style.css', import.meta.url), 'utf8');

it('is served as it was packed, immutable, and by every address that a style names', async () => {
  const named = [...`${pageStyle}${css}`.matchAll(/url\("?(\/fonts\/[^")]+)"?\)/g)].map(([, address]) => address);
  expect(new Set(named)).toEqual(new Set(fontFaces.map(({ name }) => fontAddress(name))));
  expect(named).toHaveLength(2 * fontFaces.length);
  for (const { name } of fontFaces) {
    const answer = await fetch(`${app.url}${fontAddress(name)}`);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'font/woff2',
      'public, max-age=31536000, immutable',
    ]);
    const packed = import.meta.resolve(`@fontsource/be-vietnam-pro/files/be-vietnam-pro-${name}-normal.woff2`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(readFileSync(fileURLToPath(packed)))).toBe(true);
  }
});

it('has the version of its package in its addresses, because they are kept for ever', () => {
  const { version } = JSON.parse(
    readFileSync(fileURLToPath(import.meta.resolve('@fontsource/be-vietnam-pro/package.json')), 'utf8'),
  ) as { version: string };
  for (const { name } of fontFaces) expect(fontAddress(name)).toContain(`-${version}/`);
});

it('covers the letters of both languages with the same ranges on all pages', () => {
  const plain = (text: string) => text.replaceAll(/\s/g, '');
  for (const { range } of fontFaces) expect(plain(css)).toContain(plain(range));
});

it.each(['/pricing', '/status', '/docs'])(
  'is allowed by the policy of %s, and nothing from other hosts',
  async (path) => {
    const answer = await fetch(`${app.url}${path}`);
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'.*font-src 'self'/);
    expect(await answer.text()).toContain(fontAddress('latin-400'));
  },
);
