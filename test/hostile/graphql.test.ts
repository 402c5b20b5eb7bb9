import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessTokens } from '../../server/people/access-tokens.ts';
import { protocols, send } from '../gateway/support.ts';
import type { Customer } from '../support/app.ts';
import { attack, maxDelayMs, startTarget, type Target } from './support.ts';

/** No operation, download, receipt, sign-in or change of settings delays the others; model requests go first. */

let target: Target;
let bystander: Customer;
/** What the attacker has: an account without money, ten open orders and a token. */
let token: string;
let attacker: Customer;

beforeAll(async () => {
  target = await startTarget({ env: { BANK_BIN: '970436', BANK_ACCOUNT: '0011001234567', BANK_NAME: 'TEST' } });
  bystander = await target.customer({ usd: '100' });
  attacker = await target.customer({ usd: '0' });
  const made = await createAccessTokens({ pool: target.pool }).create(
    {
      accountId: attacker.accountId,
      name: 'attack',
      scopes: ['read', 'keys', 'billing'],
      expiresAt: null,
      createdBy: null,
    },
    'test',
  );
  if (made.kind !== 'created') throw new Error(made.kind);
  token = made.secret;
  await target.pool.query(
    `INSERT INTO plan (id, name, price_vnd, budget) VALUES ('hostile', 'Hostile', 100000, 5000000000000)`,
  );
  for (let count = 0; count < 10; count += 1)
    await ask('mutation { createOrder(input: { planId: "hostile" }) { __typename } }', token);
  // A service with fifty models, and a ledger that takes a while to read.
  await target.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens)
     SELECT 'hostile-' || i, 'Hostile ' || i, 'f', 1000, 100 FROM generate_series(1, 50) i`,
  );
  await target.pool.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m,
       cache_write_1h, output, price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost,
       charged, free_after, latency_ms, outcome, usage_source, stream)
     SELECT $1, gen_random_uuid(), $2, 'hostile-1', 'u', 'messages', 10, 10, 0, 0, 10, 5, 5, 5, 5, 5, 150, 150, 1000, 10,
            'completed', 'reported', true FROM generate_series(1, 20000)`,
    [attacker.accountId, attacker.keyId],
  );
});
afterAll(() => target.close());

async function ask(query: string, bearer?: string, variables: object = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(`${target.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, text: await response.text() };
}

/** Keeps `width` requests in flight for a while; each time another text, so that nothing is remembered of it. */
async function flood(width: number, milliseconds: number, one: (count: number) => Promise<unknown>): Promise<number> {
  const until = performance.now() + milliseconds;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      count += 1;
      await one(count);
    }
  };
  await Promise.all(Array.from({ length: width }, loop));
  return count;
}

/** Model requests of somebody else meanwhile, one after the other; how many of them failed. */
async function bystanding(milliseconds: number): Promise<{ sent: number; failed: number }> {
  const until = performance.now() + milliseconds;
  let [sent, failed] = [0, 0];
  while (performance.now() < until) {
    const response = await send(target, protocols.chat, { secret: bystander.secret });
    await response.arrayBuffer();
    sent += 1;
    if (response.status !== 200) failed += 1;
  }
  return { sent, failed };
}

const blanks = (count: number): string => ' '.repeat(count % 1_000);
const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_x, i) => make(i)).join(' ');

const entry =
  'requestId createdAt model protocol stream usage { input cacheHit cacheWrite5m cacheWrite1h output } receipt { pool tokens pricePerMillion amount } cost charged freeAfter outcome';

const documents: Record<string, { document: string; signedIn: boolean }> = {
  '29 QR codes of each of 10 orders': {
    signedIn: true,
    document: `{ account { orders(first: 10) { edges { node { payment { ${many(29, (i) => `q${i}: qrPng`)} } } } } } }`,
  },
  'QR codes as far as the cost allows': {
    signedIn: true,
    document: `{ account { orders(first: 10) { edges { node { payment { ${many(12, (i) => `q${i}: qrPng`)} } } } } } }`,
  },
  'the ledger as far as the cost allows': {
    signedIn: true,
    document: `{ account { ${many(4, (i) => `l${i}: ledger(first: 100) { edges { node { ${entry} } } }`)} } }`,
  },
  'the status of 50 models, six times': {
    signedIn: false,
    document: `{ status { models { ${many(6, (i) => `d${i}: days { at uptime { up down noData ratio latencyMs } }`)} } } }`,
  },
  'the catalog ten times': {
    signedIn: false,
    document: `{ ${many(10, (i) => `m${i}: models { modelId prices { input vndAtBest { input } } simulated protocols }`)} }`,
  },
  'fragments that overlap': {
    signedIn: false,
    document: `{ ${many(100, (i) => `...F${i}`)} } ${many(100, (i) => `fragment F${i} on Query { status { models { modelId } } plans { name } }`)}`,
  },
  'fragments that overlap as far as the limits allow': {
    signedIn: false,
    document: `{ ${many(25, (i) => `...F${i}`)} } ${many(25, (i) => `fragment F${i} on Query { status { models { modelId } } plans { name } }`)}`,
  },
  'a field that is selected 1,190 times': { signedIn: false, document: `{ ${'__typename '.repeat(1_190)} }` },
  'names that do not exist': { signedIn: false, document: `{ ${many(600, (i) => `unknown${i}`)} }` },
};

describe('an operation in a loop', () => {
  it.each(Object.entries(documents))('%s', async (name, { document, signedIn }) => {
    const report = await attack(
      target,
      `GraphQL: ${name}`,
      async () => {
        const [answers, model] = await Promise.all([
          flood(4, 3_000, (count) => ask(document + blanks(count), signedIn ? token : undefined)),
          bystanding(3_000),
        ]);
        return { answers, ...model };
      },
      { figures: ({ answers, sent, failed }) => ({ attacks: answers, bystander: sent, 'bystander failed': failed }) },
    );
    expect(report.result.failed).toBe(0);
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});

describe('what is no operation of reading', () => {
  const requests: Record<string, () => Promise<(count: number) => Promise<unknown>>> = {
    'the ledger as CSV, 20 at once': async () => {
      const { text } = await ask('mutation { createLedgerDownload(input: {}) { ... on Download { url } } }', token);
      const { url } = (JSON.parse(text) as { data: { createLedgerDownload: { url: string } } }).data
        .createLedgerDownload;
      return async () => (await fetch(url.replace(/^https?:\/\/[^/]+/, target.url))).arrayBuffer();
    },
    'receipts, 20 at once': async () => {
      await target.pool.query(`UPDATE purchase_order SET status = 'paid', paid_at = now() WHERE account_id = $1`, [
        attacker.accountId,
      ]);
      const { text } = await ask('{ account { orders(first: 1) { edges { node { receiptUrl } } } } }', token);
      const url = /"receiptUrl":"([^"]+)"/.exec(text)?.[1] ?? '';
      return async () => (await fetch(url.replace(/^https?:\/\/[^/]+/, target.url))).arrayBuffer();
    },
    'sign-ins, 20 at once': async () => (count) =>
      ask(
        'mutation ($e: String!, $p: String!) { signIn(input: { email: $e, password: $p }) { __typename } }',
        undefined,
        {
          e: `${count}-${randomUUID()}@example.com`,
          p: 'a long enough password',
        },
      ),
    'sign-ups, 20 at once': async () => (count) =>
      ask('mutation ($i: SignUpInput!) { signUp(input: $i) { __typename } }', undefined, {
        i: { email: `${count}-${randomUUID()}@example.com`, password: `enough ${randomUUID()}`, name: 'x'.repeat(90) },
      }),
    'webhook settings, 20 at once': async () => (count) =>
      ask('mutation ($u: String!) { createWebhookEndpoint(input: { url: $u }) { __typename } }', token, {
        u: `https://hook-${count}.example.com/${'x'.repeat(1_500)}`,
      }),
    'keys with 500 models, 20 at once': async () => (count) =>
      ask('mutation ($m: [String!]) { createKey(input: { models: $m }) { __typename } }', token, {
        m: Array.from({ length: 5_000 }, (_x, i) => `model-${count}-${i}`),
      }),
  };

  it.each(Object.keys(requests))('%s', async (name) => {
    const one = await requests[name]?.();
    if (one === undefined) throw new Error(name);
    const report = await attack(
      target,
      `REST and GraphQL: ${name}`,
      async () => {
        const [answers, model] = await Promise.all([flood(20, 3_000, one), bystanding(3_000)]);
        return { answers, ...model };
      },
      { figures: ({ answers, sent, failed }) => ({ attacks: answers, bystander: sent, 'bystander failed': failed }) },
    );
    expect(report.result.failed).toBe(0);
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});
