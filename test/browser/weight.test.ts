import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { orThrow } from '@steyg/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { createPerson, haveAsked, idle, type Person, settled, signInOperator } from './people.ts';
import { placesOf, type Subjects } from './places.ts';
import { app, browser, useService } from './service.ts';

// The size of a first visit's scripts, which phones wait for.

const maxBytes = 120_000;

useService();

/** What a script weighs as it goes over the wire, compressed as every browser takes it. */
async function weigh(url: string): Promise<number> {
  const asked = request(url, { headers: { 'accept-encoding': 'gzip' } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  expect(response.headers['content-encoding']).toBe('gzip');
  // What is hardly longer than the header of the format does not shrink.
  expect(gunzipSync(bytes).length).toBeGreaterThan(Math.min(bytes.length, 100));
  return bytes.length;
}

let person: Person;
let subjects: Subjects;

beforeAll(async () => {
  person = await createPerson(app);
  const { console: control } = person.steyg;
  const { secret } = orThrow(await control.keys.createKey({ input: { name: 'laptop' } }));
  // With something to draw: the chart's part is loaded too.
  await haveAsked(app, secret ?? '', 'ping');
  await app.quiet(person.accountId);
  const entries = await control.ledger.listEntries({ first: 1 });
  subjects = {
    orderId: orThrow(await control.orders.createOrder({ input: { planId: 'starter' } })).id,
    accountId: (await control.people.me())?.accounts[0]?.id ?? '',
    requestId: entries?.edges[0]?.node.requestId ?? '',
    modelId: 'sim-small',
  };
});

describe('the script of a first visit', () => {
  it.each(['nobody', 'person', 'operator'] as const)('is at most 120 kB on every page for %s', async (who) => {
    const sizes = new Map<string, number>();
    const tooHeavy: string[] = [];
    /** The members of every operation's body. */
    const operations: string[][] = [];
    for (const { path } of placesOf(who, subjects)) {
      const { page } = await openPage(browser, app.url);
      if (who === 'person') await person.signIn(page.context());
      if (who === 'operator') await (await signInOperator(app)).signIn(page.context());
      const scripts = new Set<string>();
      page.on('request', (request) => {
        if (request.url().endsWith('/graphql')) operations.push(Object.keys(request.postDataJSON() as object));
      });
      page.on('response', (response) => {
        if (response.request().resourceType() === 'script') scripts.add(response.url());
      });
      await page.goto(path);
      await settled(page);
      if (who === 'person' && path === '/') await page.locator('.bars svg').waitFor();
      await idle(page);
      expect(scripts.size).toBeGreaterThan(0);
      for (const url of scripts) if (!sizes.has(url)) sizes.set(url, await weigh(url));
      const total = [...scripts].reduce((sum, url) => sum + (sizes.get(url) ?? 0), 0);
      expect(total).toBeGreaterThan(20_000);
      if (total > maxBytes) tooHeavy.push(`${path}: ${total}`);
      await page.context().close();
    }
    expect(tooHeavy).toEqual([]);
    // Documents are sent by name.
    expect(operations.length).toBeGreaterThan(0);
    expect(operations.filter((members) => !members.includes('documentId'))).toEqual([]);
  });
});
