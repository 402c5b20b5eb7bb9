import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalog } from '../../server/catalog/catalog.ts';
import { pricingPage } from '../../server/pages/prices/pricing-page.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Prices by prompt length in the control plane: operators set them, everybody sees them. */

let plane: ControlPlane;
let operator: Browser;
beforeAll(async () => {
  plane = await createControlPlane();
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  await plane.database.pool.query('UPDATE app_user SET operator = true, two_factor_enabled = true');
  await plane.database.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ('long', 'Long', 'l', 1000000, 1000)`,
  );
  await plane.database.pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'messages', 'https://api.vendor.example')`,
  );
});
afterAll(() => plane.close());

const savePrices = `mutation ($prices: PricesInput!, $maxPromptTokens: Int) {
  savePrices(input: { modelId: "long", prices: $prices, maxPromptTokens: $maxPromptTokens }) {
    __typename
    ... on CatalogEntry { priceVersions { maxPromptTokens prices { input tiers { abovePromptTokens input cacheHit cacheWrite5m cacheWrite1h output } } } }
    ... on InputError { problems { path message } }
  }
}`;
const first = { input: '3', cacheHit: '0.3', cacheWrite5m: '3.75', output: '15' };
const tier = { abovePromptTokens: 200_000, input: '6', cacheHit: '0.6', cacheWrite5m: '7.5', output: '22.5' };

describe('prices by prompt length', () => {
  it('are set together with the others and shown to everybody', async () => {
    const variables = { prices: { ...first, tiers: [tier] }, maxPromptTokens: 900_000 };
    expect((await operator.send(savePrices, { variables })).data).toMatchObject({
      savePrices: {
        priceVersions: [{ maxPromptTokens: 900_000, prices: { input: '3', tiers: [{ ...tier, cacheWrite1h: '6' }] } }],
      },
    });
    const shown = await plane.send(
      `{ models { maxPromptTokens agentStepsFor5Usd markedAgentStepsFor5Usd
         prices { tiers { abovePromptTokens input output } } } }`,
    );
    expect(shown.data).toEqual({
      models: [
        {
          maxPromptTokens: 900_000,
          // 150,000 x 0.30 + 30,000 x 3 + 4,000 x 15 = 0.195 USD a step; with 30,000 x 3.75 written, 0.2175.
          agentStepsFor5Usd: 25,
          markedAgentStepsFor5Usd: 22,
          prices: { tiers: [{ abovePromptTokens: 200_000, input: '6', output: '22.5' }] },
        },
      ],
    });
    const [model] = await createCatalog({ pool: plane.database.pool }).list();
    if (model === undefined) throw new Error('no model');
    const page = pricingPage(
      { models: [{ model, days: [], latency: null }], plans: [] },
      { origin: 'https://example.com', locale: 'en', seller: null, demonstration: false },
    );
    for (const text of ['$3.75', '$7.5', 'prompt above 200,000:', '22 with cache marks']) expect(page).toContain(text);
  });

  it('count an agent step at the prices for its length', async () => {
    const prices = { ...first, tiers: [{ ...tier, abovePromptTokens: 179_999 }] };
    await operator.send(savePrices, { variables: { prices } });
    // 150,000 x 0.60 + 30,000 x 6 + 4,000 x 22.5 = 0.36 USD a step.
    const shown = await plane.send('{ models { agentStepsFor5Usd } }');
    expect(shown.data).toEqual({ models: [{ agentStepsFor5Usd: 13 }] });
  });

  it.each([
    // The same sentence at two places, each time at its own.
    [
      { ...first, variants: [{ name: 'fast', input: '6', cacheHit: '6', output: '30' }] },
      ['input', 'prices', 'variants', '0', 'cacheHit'],
    ],
    [{ ...first, tiers: [{ ...tier, cacheHit: '6' }] }, ['input', 'prices', 'tiers', '0', 'cacheHit']],
    [{ ...first, tiers: [{ ...tier, abovePromptTokens: 0 }] }, ['input', 'prices', 'tiers', '0', 'abovePromptTokens']],
    [{ ...first, tiers: [tier, tier] }, ['input', 'prices', 'tiers']],
  ])('are refused where they make no sense: %o', async (prices, path) => {
    const { data } = await operator.send(savePrices, { variables: { prices } });
    expect(data).toMatchObject({ savePrices: { __typename: 'InputError', problems: [{ path }] } });
  });

  it('are for prompts of a token at least', async () => {
    const { data } = await operator.send(savePrices, { variables: { prices: first, maxPromptTokens: 0 } });
    expect(data).toMatchObject({ savePrices: { problems: [{ path: ['input', 'maxPromptTokens'] }] } });
  });

  it('are also what a route costs', async () => {
    const costs = { ...first, cacheHit: '3', tiers: [{ ...tier, cacheHit: '6' }] };
    const { data } = await operator.send(
      `mutation ($costs: PricesInput!) {
        setRoutes(input: { modelId: "long", routes: [{ upstreamId: "vendor", upstreamModel: "v", costs: $costs }] }) {
          ... on CatalogEntry { routes { costs { input tiers { abovePromptTokens output } } } }
        }
      }`,
      { variables: { costs } },
    );
    expect(data).toEqual({
      setRoutes: { routes: [{ costs: { input: '3', tiers: [{ abovePromptTokens: 200_000, output: '22.5' }] } }] },
    });
  });
});
