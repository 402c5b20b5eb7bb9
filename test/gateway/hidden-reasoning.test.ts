import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, send, settled, until } from './support.ts';

/** Streams that show nothing while the model reasons: they cost by time until the upstream reports. */

let app: TestApp;
beforeAll(async () => {
  // A thousand tokens a second cost 0.1 USD a second.
  const catalog = nativeCatalog({
    prices: '{ input: "1", cacheHit: "0.1", output: "100" }',
    more: '    reasoningTokensPerSecond: 1000',
  });
  app = await startApp({
    catalog: (url) =>
      catalog(url).replace('  - id: only-responses', '  - id: only-responses\n    efforts: [low, high]'),
    env: { FIRST_EVENT_HOLD_MS: '500' },
  });
});
afterAll(() => app.close());

const silent = (secret: string, more: Record<string, unknown>, silentMs = 2_500, signal?: AbortSignal) =>
  send(app, protocols.chat, {
    secret,
    text: `[[delay ${silentMs}]][[say done]]`,
    more: { model: 'only-chat', stream: true, max_completion_tokens: 20_000, ...more },
    ...(signal === undefined ? {} : { signal }),
  });

describe('a stream that shows nothing', () => {
  it('is stopped when its silence has used the budget up, and the client is told', async () => {
    const customer = await app.customer({ usd: '0.1' });
    // It would end only after the test.
    const response = await silent(customer.secret, { reasoning_effort: 'high' }, 600_000);
    const text = await response.text();
    expect(text).toContain('used up while the model was still reasoning');
    expect(text).not.toContain('done');
    await until(() => app.simulator.stats().openRequests === 0);
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'budget_stopped', usage_source: 'estimated' });
    expect(row?.['charged']).toBeLessThanOrEqual(100_000_000_000n);
    // A thousand tokens are what the budget buys.
    expect(Number(row?.['output'])).toBeGreaterThan(900);
  });

  it('comes to its end where the request asks for no reasoning, and costs what the upstream reports', async () => {
    const customer = await app.customer({ usd: '0.1' });
    const response = await silent(customer.secret, { reasoning_effort: 'none' });
    expect(await response.text()).toContain('done');
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'completed', usage_source: 'reported' });
  });

  it('that comes to its end costs what the upstream reports, however long it was silent', async () => {
    const customer = await app.customer({ usd: '5' });
    const response = await silent(customer.secret, { reasoning_effort: 'high' });
    expect(await response.text()).toContain('done');
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'completed', usage_source: 'reported' });
    expect(Number(row?.['output'])).toBeLessThan(100);
  });

  it('that is left costs its silence at the speed that the entry states, marked as an estimate', async () => {
    const customer = await app.customer({ usd: '5' });
    const leaving = new AbortController();
    const asked = silent(customer.secret, { reasoning_effort: 'high' }, 600_000, leaving.signal);
    const left = asked.then((answer) => answer.text());
    await until(() => app.simulator.stats().openRequests > 0);
    setTimeout(() => leaving.abort(), 3_000);
    await expect(left).rejects.toThrow('aborted');
    const [row] = await settled(app, customer);
    expect(row).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated' });
    const output = Number(row?.['output']);
    expect(output).toBeGreaterThan(500);
    // It is read on to learn the vendor's figure, but never beyond its hold: one step of 4,096 tokens and a pulse.
    expect(output).toBeLessThan(4_096 + 1_000);
  });
});
