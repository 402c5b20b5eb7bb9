import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { createPerson, haveAsked, settled } from './people.ts';
import { app, browser, useService } from './service.ts';

// The size of a first visit's scripts, which phones wait for.

const maxBytes = 150_000;

useService();

/** What a script weighs as it goes over the wire, compressed as every browser takes it. */
async function weigh(url: string): Promise<number> {
  const asked = request(url, { headers: { 'accept-encoding': 'gzip' } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  expect(response.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(bytes).length).toBeGreaterThan(bytes.length);
  return bytes.length;
}

describe('the script of a first visit', () => {
  it.each(['nobody', 'person'] as const)('is below 150 kB for %s', async (who) => {
    const watched = await openPage(browser, app.url);
    const { page, unexpected } = watched;
    if (who === 'person') {
      const person = await createPerson(app);
      const { secret } = await app.keys
        .create({ accountId: person.accountId, actor: 'test' })
        .then((made) => (made.kind === 'created' ? made : { secret: '' }));
      // With something to draw: the chart's part is loaded too.
      await haveAsked(app, secret, 'ping');
      await app.quiet(person.accountId);
      await person.signIn(page.context());
    }
    const scripts: string[] = [];
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.push(response.url());
    });
    await page.goto('/');
    await settled(page);
    if (who === 'person') await page.locator('.bars canvas').waitFor();
    await page.waitForLoadState('networkidle');
    expect(scripts.length).toBeGreaterThan(0);
    const weights = await Promise.all([...new Set(scripts)].map(weigh));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    expect(total).toBeLessThan(maxBytes);
    expect(total).toBeGreaterThan(20_000);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
