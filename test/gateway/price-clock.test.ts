import { type Receipt, verifyReceipt } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { get, protocols, send, settled } from './support.ts';

/** Prices by the clock from the catalog file to the receipt: the prices of the hour in which a request is accepted. */

const week = '[mon, tue, wed, thu, fri, sat, sun]';
/** Every date that it can be now, in every time zone. */
const today = [-1, 0, 1].map((n) => `"${new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10)}"`).join(', ');

/** A model whose dear hours are always, and one that has none today; what it costs the operator is dear at both. */
const catalog = (simulatorUrl: string): string => {
  const dear = (prices: string) =>
    `{ days: ${week}, hours: ["00:00-24:00"], ${prices}, tiers: [{ abovePromptTokens: 1000, ${prices.replaceAll('"3', '"6')} }] }`;
  const prices = (except: string) => `    prices:
      input: "1"
      cacheHit: "0.1"
      output: "5"
      tiers: [{ abovePromptTokens: 1000, input: "2", cacheHit: "0.2", output: "10" }]
      clock:
        timeZone: Asia/Shanghai
        exceptDates: [${except}]
        windows:
          - ${dear('input: "3", cacheHit: "0.3", output: "3"')}
`;
  const entry = (id: string, except: string) => `  - id: ${id}
    displayName: ${id}
    family: tests
    contextWindow: 200000
    maxOutputTokens: 32000
${prices(except)}    routes:
${['by-messages', 'by-chat', 'by-responses']
  .map(
    (upstream) =>
      `      - { upstream: ${upstream}, model: sim-small, costs: { input: "0.5", cacheHit: "0.5", output: "0.5", clock: { timeZone: UTC, windows: [{ days: ${week}, hours: ["00:00-12:00", "12:00-24:00"], input: "2", cacheHit: "2", output: "2" }] } } }`,
  )
  .join('\n')}
`;
  return `upstreams:
  - { id: by-messages, protocol: messages, baseUrl: "${simulatorUrl}" }
  - { id: by-chat, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-responses, protocol: responses, baseUrl: "${simulatorUrl}/v1" }
models:
${entry('dear-now', '')}${entry('holiday', today)}`;
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog });
});
afterAll(() => app.close());

/** Sends a request and reads its entry over REST. */
async function charged(protocol: keyof typeof protocols, model: string, stream: boolean, text = 'Xin chào!') {
  const customer = await app.customer();
  const response = await send(app, protocols[protocol], { secret: customer.secret, text, more: { model, stream } });
  await response.text();
  expect(response.status).toBe(200);
  const [row] = await settled(app, customer);
  const id = String(row?.['request_id']);
  const entry = (await (await get(app, `/v1/usage?request_id=${id}`, customer.secret)).json()) as Receipt;
  return { row: row ?? {}, entry };
}

const cases = (Object.keys(protocols) as (keyof typeof protocols)[]).flatMap((protocol) =>
  [false, true].map((stream) => ({ protocol, stream, name: `${protocol}, ${stream ? 'streamed' : 'whole'}` })),
);

describe.each(cases)('a request over $name', ({ protocol, stream }) => {
  it('is charged wholly at the prices of the hour, and its receipt says which', async () => {
    const { entry, row } = await charged(protocol, 'dear-now', stream);
    expect(entry).toMatchObject({
      prices: { input: '3', cache_hit: '0.3', cache_write_5m: '3', output: '3' },
      tier: { above_prompt_tokens: null, up_to_prompt_tokens: 1_000 },
      clock: {
        window: {
          days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
          period: '00:00-24:00',
          time_zone: 'Asia/Shanghai',
        },
      },
    });
    expect(verifyReceipt(entry)).toMatchObject({ matches: true, problems: [] });
    // All tokens cost the operator 2 USD per million at every hour.
    const { input_tokens, cache_hit_tokens, output_tokens } = entry.usage;
    const [input, hit, output] = [input_tokens, cache_hit_tokens, output_tokens].map(Number) as [
      number,
      number,
      number,
    ];
    expect(row['upstream_cost']).toBe(2_000_000n * BigInt(input + hit + output));
  });

  it('is charged at the ordinary prices on a date that is left out', async () => {
    const { entry } = await charged(protocol, 'holiday', stream);
    expect(entry).toMatchObject({ prices: { input: '1', output: '5' }, clock: { window: null } });
    expect(verifyReceipt(entry)).toMatchObject({ matches: true, problems: [] });
  });

  it('with a long prompt is charged at the tier of the hour', async () => {
    const { entry } = await charged(protocol, 'dear-now', stream, 'Chào bạn. '.repeat(1_000));
    expect(entry).toMatchObject({ prices: { input: '6' }, tier: { above_prompt_tokens: 1_000 } });
  });
});

describe('a receipt', () => {
  it('with the prices of other hours does not match, although its sum is right', async () => {
    const { entry } = await charged('messages', 'dear-now', false);
    const moved = (priced_at: string, window: object) => ({ ...entry, clock: { priced_at, window } }) as Receipt;
    const hours = { days: ['mon'], period: '09:00-12:00', time_zone: 'Asia/Shanghai' };
    expect(verifyReceipt(moved('2026-11-23T01:00:00.000Z', hours)).problems).toEqual([]);
    expect(verifyReceipt(moved('2026-11-23T00:59:59.999Z', hours)).problems).toEqual([
      'The prices are for mon 09:00-12:00 Asia/Shanghai, and the request was accepted at 2026-11-23T00:59:59.999Z.',
    ]);
    const night = { days: ['sun'], period: '22:00-06:00', time_zone: 'Asia/Ho_Chi_Minh' };
    expect(verifyReceipt(moved('2026-11-22T22:59:59.000Z', night)).problems).toEqual([]);
    expect(verifyReceipt(moved('2026-11-22T23:00:00.000Z', night)).problems).toHaveLength(1);
  });
});

describe('GET /v1/models', () => {
  it('tells the prices of every hour', async () => {
    const customer = await app.customer();
    const { data } = (await (await get(app, '/v1/models', customer.secret)).json()) as {
      data: { id: string; price_usd_per_million: Record<string, unknown> }[];
    };
    const priced = data.find(({ id }) => id === 'dear-now')?.price_usd_per_million;
    expect(priced).toMatchObject({
      input: '1',
      clock: {
        time_zone: 'Asia/Shanghai',
        except_dates: [],
        windows: [
          {
            days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
            hours: ['00:00-24:00'],
            input: '3',
            cache_hit: '0.3',
            cache_write_5m: '3',
            cache_write_1h: '3',
            output: '3',
            tiers: [{ above_prompt_tokens: 1_000, input: '6' }],
          },
        ],
      },
    });
  });
});
