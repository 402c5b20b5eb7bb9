import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalog } from '../../server/catalog/catalog.ts';
import { comparisonPage, modelPage, pricingPage } from '../../server/pages/prices/pricing-page.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Prices by the clock in the control plane: operators set them, everybody sees them. */

let plane: ControlPlane;
let operator: Browser;
beforeAll(async () => {
  plane = await createControlPlane();
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  await plane.database.pool.query('UPDATE app_user SET operator = true, two_factor_enabled = true');
  await plane.database.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ('peak', 'Peak', 'p', 1000000, 1000)`,
  );
  await plane.database.pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'messages', 'https://api.vendor.example')`,
  );
});
afterAll(() => plane.close());

const clockFields = `clock { timeZone exceptDates windows { weekdays hours input cacheHit cacheWrite5m output tiers { abovePromptTokens input } } }`;
const savePrices = `mutation ($prices: PricesInput!) {
  savePrices(input: { modelId: "peak", prices: $prices }) {
    __typename
    ... on CatalogEntry { priceVersions { prices { input ${clockFields} } } }
    ... on InputError { problems { path message } }
  }
}`;
const tier = (input: string) => ({ abovePromptTokens: 200_000, input, cacheHit: '0.01', output: '6' });
const window = {
  weekdays: ['FRI', 'MON'],
  hours: ['14:00-18:00', '09:00-12:00'],
  input: '2',
  cacheHit: '0.2',
  output: '4',
  tiers: [tier('4')],
};
const prices = {
  input: '1',
  cacheHit: '0.1',
  output: '2',
  tiers: [tier('3')],
  perUnit: { search: '0.01' },
  clock: { timeZone: 'Asia/Shanghai', exceptDates: ['2027-01-01'], windows: [window] },
};
const shown = {
  timeZone: 'Asia/Shanghai',
  exceptDates: ['2027-01-01'],
  windows: [
    {
      weekdays: ['MON', 'FRI'],
      hours: ['09:00-12:00', '14:00-18:00'],
      input: '2',
      cacheHit: '0.2',
      cacheWrite5m: '2',
      output: '4',
      tiers: [{ abovePromptTokens: 200_000, input: '4' }],
    },
  ],
};

describe('prices by the clock', () => {
  it('are set together with the others and shown to everybody', async () => {
    expect((await operator.send(savePrices, { variables: { prices } })).data).toMatchObject({
      savePrices: { priceVersions: [{ prices: { input: '1', clock: shown } }] },
    });
    const { data } = await plane.send(
      `{ models { agentStepsFor5Usd prices { clock { timeZone exceptDates
           windows { weekdays hours input tiers { abovePromptTokens input } } } } } }`,
    );
    expect(data).toEqual({
      models: [
        {
          // At the dearest hours: 150,000 x 0.2 + 30,000 x 2 + 4,000 x 4 = 0.106 USD a step.
          agentStepsFor5Usd: 47,
          prices: {
            clock: {
              timeZone: 'Asia/Shanghai',
              exceptDates: ['2027-01-01'],
              windows: [
                {
                  weekdays: ['MON', 'FRI'],
                  hours: ['09:00-12:00', '14:00-18:00'],
                  input: '2',
                  tiers: [{ abovePromptTokens: 200_000, input: '4' }],
                },
              ],
            },
          },
        },
      ],
    });
  });

  it('stand on the public pages in both languages, with what is charged by the piece', async () => {
    const [model] = await createCatalog({ pool: plane.database.pool }).list();
    if (model === undefined) throw new Error('no model');
    const priced = { model, days: [], latency: null };
    const address = { origin: 'https://example.com', seller: null, demonstration: false };
    const words = {
      en: [
        'Peak has other prices Mon, Fri 09:00–12:00, 14:00–18:00 (Asia/Shanghai). Not on 2027-01-01.',
        'Peak, beside its tokens: a search $0.01.',
        'at other hours: $2.00',
      ],
      vi: [
        'Peak có giá khác vào Thứ 2, Thứ 6 09:00–12:00, 14:00–18:00 (Asia/Shanghai). Trừ các ngày 2027-01-01.',
        'Peak, ngoài token: mỗi lần tìm kiếm 0,01\u00a0USD.',
        'vào khung giờ khác: 2,00\u00a0USD',
      ],
    };
    for (const locale of ['en', 'vi'] as const) {
      const at = { ...address, locale };
      const list = pricingPage({ models: [priced], plans: [] }, at);
      for (const word of words[locale]) {
        expect(list).toContain(word);
        expect(comparisonPage([priced, priced], [], at)).toContain(word);
      }
      // Ordinary prices, longer prompts, the hours, and longer prompts in these hours.
      const rows = modelPage(priced, [], at).match(/scope="rowgroup"/g);
      expect(rows).toHaveLength(3);
      for (const word of words[locale].slice(0, 2)) expect(modelPage(priced, [], at)).toContain(word);
    }
  });

  it('are refused with the place of the problem', async () => {
    const clock = { ...prices.clock, windows: [{ ...window, hours: ['noon'] }] };
    const { data } = await operator.send(savePrices, { variables: { prices: { ...prices, clock } } });
    expect(data).toMatchObject({
      savePrices: {
        __typename: 'InputError',
        problems: [{ path: ['input', 'prices', 'clock', 'windows', '0', 'hours', '0'] }],
      },
    });
  });

  it('are costs of a route, too', async () => {
    const { data } = await operator.send(
      `mutation ($routes: [RouteInput!]!) {
        setRoutes(input: { modelId: "peak", routes: $routes }) {
          __typename
          ... on CatalogEntry { routes { costs { input ${clockFields} } } }
          ... on InputError { problems { path message } }
        }
      }`,
      { variables: { routes: [{ upstreamId: 'vendor', upstreamModel: 'peak', costs: prices }] } },
    );
    expect(data).toMatchObject({ setRoutes: { routes: [{ costs: { input: '1', clock: shown } }] } });
  });
});
