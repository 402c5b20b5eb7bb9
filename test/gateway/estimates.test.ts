import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseUsd } from '../../server/core/money.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, type ProtocolCase, protocols, send, settled } from './support.ts';

/** `POST …/estimate`: what the same body holds and costs when it is sent, without sending it. */

const week = '[mon, tue, wed, thu, fri, sat, sun]';
const dear = 'input: "3", cacheHit: "0.3", output: "15"';
const base = 'input: "1", cacheHit: "0.1", output: "5"';

/** Models with one set of prices, with tiers, with hours of the week that are always, and with priced searches; and embeddings. */
const catalog = (simulatorUrl: string): string => {
  const entry = (id: string, prices: string, more = '') =>
    `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 200000, maxOutputTokens: 32000, ${more} prices: { ${prices} }, routes: [${['by-messages', 'by-chat', 'by-responses'].map((upstream) => `{ upstream: ${upstream}, model: sim-small }`).join(', ')}] }`;
  return `upstreams:
  - { id: by-messages, protocol: messages, baseUrl: "${simulatorUrl}" }
  - { id: by-chat, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }
  - { id: by-responses, protocol: responses, baseUrl: "${simulatorUrl}/v1" }
models:
${entry('flat', base)}
${entry('tiered', `${base}, tiers: [{ abovePromptTokens: 400, ${dear} }]`)}
${entry('by-hour', `${base}, clock: { timeZone: UTC, windows: [{ days: ${week}, hours: ["00:00-24:00"], ${dear} }] }`)}
${entry('searching', `${base}, perUnit: { search: "0.01" }`, 'allow: [web_search],')}
  - { id: embedding, displayName: embedding, family: tests, kind: embedding, contextWindow: 8192, maxOutputTokens: 1, prices: { ${base} }, routes: [{ upstream: by-chat, model: sim-small }] }
`;
};

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog });
  customer = await app.customer({ usd: '5' });
});
afterAll(() => app.close());
beforeEach(() => app.simulator.clearRequests());

interface Estimate {
  object: string;
  model: string;
  input_tokens: number;
  tier: object | null;
  hold_usd: string;
  least_usd: string;
  most_usd: string;
}

const embeddings = { ...protocols.chat, path: '/v1/embeddings' };
const beside = (to: ProtocolCase): ProtocolCase => ({ ...to, path: `${to.path}/estimate` });

async function estimate(to: ProtocolCase, secret: string, raw: string): Promise<Estimate> {
  const response = await send(app, beside(to), { secret, raw });
  expect(response.status).toBe(200);
  expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
  return (await response.json()) as Estimate;
}

/** What the request that runs for a customer holds, once its upstream has it. */
async function heldWhileRunning(to: ProtocolCase, { secret, accountId }: Customer, raw: string): Promise<bigint> {
  const leave = new AbortController();
  const { requests } = app.simulator.stats();
  const running = send(app, to, { secret, raw, signal: leave.signal }).then(
    async (response) => `answered ${response.status} ${await response.text()}`,
    () => 'left',
  );
  while (app.simulator.stats().requests === requests) {
    const ended = await Promise.race([running, new Promise<null>((resolve) => setTimeout(() => resolve(null), 5))]);
    if (ended !== null) throw new Error(ended);
  }
  const { rows } = await app.pool.query('SELECT amount FROM hold WHERE account_id = $1', [accountId]);
  leave.abort();
  await running;
  // What was generated is waited for after the client has left; nobody needs the end of it here.
  return BigInt(rows[0].amount);
}

/** The tool of a search on each protocol that has one which vendors run. */
const searches: Record<ProtocolCase['protocol'], object> = {
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  'chat-completions': {},
  responses: { tools: [{ type: 'web_search' }] },
};

describe('the hold of an estimate', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.integer({ min: 0, max: 3_000 }).map((n) => 'chào '.repeat(n)),
  );
  const request = fc.record({
    to: fc.constantFrom(...everyProtocol),
    model: fc.constantFrom('flat', 'tiered', 'by-hour', 'searching'),
    stream: fc.boolean(),
    cap: fc.option(fc.integer({ min: 16, max: 40_000 })),
    text,
    budget: fc.constantFrom('0.05', '5', '100'),
  });

  it('is that of the same request, over every protocol, streamed and whole, by tier, hour and searches', async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ to, model, stream, cap, text, budget }) => {
        const own = await app.customer({ usd: budget });
        const more = {
          model,
          stream,
          ...(cap === null ? {} : { [to.cap]: cap }),
          ...(model === 'searching' ? searches[to.protocol] : {}),
        };
        const raw = JSON.stringify(to.body(`[[delay 10000]] ${text.replaceAll('[[', '')}`, more));
        const answer = await estimate(to, own.secret, raw);
        expect(answer).toMatchObject({ object: 'estimate', model });
        expect(answer.tier === null).toBe(model !== 'tiered');
        expect(await heldWhileRunning(to, own, raw)).toBe(parseUsd(answer.hold_usd));
      }),
      { numRuns: 40 },
    );
  });

  it('is that of the same embeddings', async () => {
    const own = await app.customer({ usd: '5' });
    // Its answer is waited for, although its client left: the vendor bills it.
    const raw = JSON.stringify({ model: 'embedding', input: ['Xin chào', '[[delay 5000]]'] });
    const answer = await estimate(embeddings, own.secret, raw);
    expect(await heldWhileRunning(embeddings, own, raw)).toBe(parseUsd(answer.hold_usd));
  });
});

describe('the cost of the answer', () => {
  it.each(everyProtocol)('is between the least and the most: $protocol', async (to) => {
    for (const model of ['flat', 'tiered', 'by-hour']) {
      for (const text of ['ping', '[[len 300]]', 'words of a text '.repeat(500)]) {
        const own = await app.customer({ usd: '5' });
        const raw = JSON.stringify(to.body(text, { model }));
        const answer = await estimate(to, own.secret, raw);
        await (await send(app, to, { secret: own.secret, raw })).text();
        const [row] = await settled(app, own);
        const cost = BigInt(String(row?.['cost']));
        expect(cost).toBeGreaterThanOrEqual(parseUsd(answer.least_usd) ?? cost + 1n);
        expect(cost).toBeLessThanOrEqual(parseUsd(answer.most_usd) ?? -1n);
      }
    }
  });
});

describe('an estimate', () => {
  it('sends nothing, holds nothing and leaves no row', async () => {
    const own = await app.customer({ usd: '5' });
    for (const to of everyProtocol) await estimate(to, own.secret, JSON.stringify(to.body('ping', { model: 'flat' })));
    expect(app.simulator.requests()).toEqual([]);
    const { rows } = await app.pool.query('SELECT spent, held FROM "grant" WHERE account_id = $1', [own.accountId]);
    expect(rows).toEqual([{ spent: 0n, held: 0n }]);
    expect(await app.ledger(own.accountId)).toEqual([]);
  });

  it('is refused like the request: no money, another key, an unknown model, a body that is none', async () => {
    const poor = await app.customer({ usd: '0' });
    const narrow = await app.customer({ terms: { models: ['tiered'] } });
    for (const to of everyProtocol) {
      const body = JSON.stringify(to.body('ping', { model: 'flat' }));
      const cases: [string | null, string][] = [
        [poor.secret, body],
        [narrow.secret, body],
        [null, body],
        [customer.secret, JSON.stringify(to.body('ping', { model: 'nope' }))],
        [customer.secret, JSON.stringify(to.body('ping', { model: 'embedding' }))],
        [customer.secret, '{"model":'],
      ];
      for (const [secret, raw] of cases) {
        const [estimated, sent] = [await send(app, beside(to), { secret, raw }), await send(app, to, { secret, raw })];
        expect(estimated.status).toBeGreaterThanOrEqual(400);
        expect(estimated.status).toBe(sent.status);
        expect(await errorOf(estimated, to.protocol)).toEqual(await errorOf(sent, to.protocol));
      }
    }
  });

  it('counts as a request of the minute', async () => {
    const limited = await app.customer({ usd: '5', terms: { requestsPerMinute: 2 } });
    const raw = JSON.stringify(protocols.chat.body('ping', { model: 'flat' }));
    const statuses = [];
    for (let n = 0; n < 3; n += 1)
      statuses.push((await send(app, beside(protocols.chat), { secret: limited.secret, raw })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
