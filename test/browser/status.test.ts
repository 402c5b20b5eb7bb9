import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSimulator, type Simulator } from '../../server/simulator/simulator.ts';
import { createProbeAccount, createProbeRound } from '../../server/uptime/probes/round.ts';
import { dayText, percentText } from '../../server/uptime/status/status-text.ts';
import { words } from '../../server/uptime/status/status-words.ts';
import { createUptime, type Uptime } from '../../server/uptime/uptime.ts';
import { startApp } from '../support/app.ts';
import { findBarriers, openPage } from './browser.ts';
import { signInOperator } from './people.ts';
import { app, browser, useService } from './service.ts';

// The public status page, in a browser without scripts.

let uptime: Uptime;
let elsewhere: Simulator;

const fast = { tokensPerSecond: Number.POSITIVE_INFINITY, firstTokenMs: 0 };

useService();

/** One model that runs at an upstream of its own, which can fail by itself. */
beforeAll(async () => {
  elsewhere = await createSimulator(fast);
  uptime = createUptime({ pool: app.pool });
  const { operator } = (await signInOperator(app)).steyg.console;
  orThrow(
    await operator.saveUpstream({
      input: { upstreamId: 'lotus', protocol: 'CHAT_COMPLETIONS', baseUrl: `${elsewhere.url}/v1` },
    }),
  );
  const modelId = 'lotus-1';
  const input = {
    modelId,
    displayName: 'Lotus 1',
    family: 'lotus',
    contextWindow: 100_000,
    maxOutputTokens: 4_000,
  };
  orThrow(await operator.saveModel({ input }));
  orThrow(await operator.savePrices({ input: { modelId, prices: { input: '1', cacheHit: '0.1', output: '4' } } }));
  orThrow(await operator.setRoutes({ modelId, routes: [{ upstreamId: 'lotus', upstreamModel: 'sim-small' }] }));
});
afterAll(() => elsewhere?.close().catch(() => undefined));

/** `tools`: the page has no script of its own either way, but a checker is one. */
async function openStatus(url: string, { locale = 'en-US', tools = false } = {}) {
  const watched = await openPage(browser, url, { locale, javaScriptEnabled: tools });
  await watched.page.goto('/status');
  return watched;
}

describe('the status page', () => {
  it('tells an outage of one upstream from the others, and its end, without script', async () => {
    const accounts = createProbeAccount({ accounts: app.accounts, keys: app.keys });
    const probe = createProbeRound({ uptime, account: accounts, baseUrl: app.baseUrl });
    expect((await probe()).filter(({ outcome }) => outcome !== 'up')).toEqual([]);

    await elsewhere.close();
    for (let round = 0; round < 3; round += 1) {
      const down = (await probe()).filter(({ outcome }) => outcome === 'down');
      expect(new Set(down.map(({ model }) => model))).toEqual(new Set(['lotus-1']));
    }
    const during = await openStatus(app.url);
    const section = (name: string) => during.page.locator('section.model').filter({ hasText: name });
    expect(await section('Lotus 1').locator('.state').first().innerText()).toMatch(/down/i);
    expect(await section('Simulated Small').locator('.state').first().innerText()).not.toMatch(/down/i);
    expect(await during.page.locator('.overall').innerText()).not.toMatch(/all|every/i);
    const incident = during.page.locator('.incidents li').filter({ hasText: 'lotus-1' });
    expect(await incident.innerText()).toMatch(/chat completions.*streamed/i);
    expect(during.unexpected()).toEqual([]);
    await during.page.context().close();

    // The operator sees it, and whom to ask.
    const operator = await openPage(browser, app.url);
    await (await signInOperator(app)).signIn(operator.page.context());
    await operator.page.goto('/operator/uptime');
    await operator.page.getByText('lotus-1').first().waitFor();
    expect(operator.unexpected()).toEqual([]);
    await operator.page.context().close();

    elsewhere = await createSimulator({ ...fast, port: elsewhere.port });
    // A gateway keeps away from an upstream that failed for a while; another process has not met the failures.
    const beside = await startApp({ beside: app });
    try {
      const again = createProbeRound({ uptime, account: accounts, baseUrl: beside.baseUrl });
      for (let round = 0; round < 2; round += 1) {
        expect((await again()).filter(({ outcome }) => outcome !== 'up')).toEqual([]);
      }
      const after = await openStatus(beside.url);
      const lotus = after.page.locator('section.model').filter({ hasText: 'Lotus 1' });
      expect(await lotus.locator('.state').first().innerText()).not.toMatch(/down/i);
      // It is history now, with its end.
      const past = after.page.locator('.incidents li').filter({ hasText: 'lotus-1' });
      expect(await past.locator('time').count()).toBe(2);
      await after.page.context().close();
    } finally {
      await beside.close();
    }
  });

  it.each([
    ['en', 'en-US'],
    ['vi', 'vi-VN'],
  ] as const)(
    'has ninety days for each model, with their numbers to hover over and to hear (%s)',
    async (locale, tag) => {
      await app.pool.query(
        `INSERT INTO uptime_day (model, protocol, mode, day, up, down, no_data, latency_ms)
       SELECT id, 'messages', 'plain', (now() AT TIME ZONE 'UTC')::date - ago, 288 - ago, ago, 0, 288 * 400
       FROM model, generate_series(1, 80) AS ago ON CONFLICT DO NOTHING`,
      );
      const beside = await startApp({ beside: app });
      try {
        const { page, unexpected } = await openStatus(beside.url, { locale: tag, tools: true });
        expect(await page.locator('html').getAttribute('lang')).toBe(locale);
        const models = page.locator('section.model');
        expect(await models.count()).toBe(4);
        const numberOf = (ago: number) =>
          `${dayText(new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10), locale)}: ${percentText({ up: 288 - ago, down: ago }, locale)}`;
        for (const section of await models.all()) {
          const picture = section.getByRole('img', { name: /messages/i });
          const days = picture.locator('> *');
          expect(await days.count()).toBe(90);
          const heard = (await picture.getAttribute('aria-label')) ?? '';
          const unmeasured = await picture.locator('.none').count();
          expect(unmeasured).toBeGreaterThan(8);
          expect(heard).toContain(`${words[locale].unmeasured}: ${unmeasured}.`);
          for (const ago of [5, 40, 80]) {
            const day = days.nth(89 - ago);
            await day.hover();
            expect(await day.evaluate((element) => getComputedStyle(element, '::after').content)).toBe(
              `"${numberOf(ago)}"`,
            );
            expect(heard).toContain(numberOf(ago));
          }
        }
        expect(await findBarriers(page)).toEqual([]);
        expect(unexpected()).toEqual([]);
        await page.context().close();
      } finally {
        await beside.close();
      }
    },
  );
});
