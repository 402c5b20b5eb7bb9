import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequestRates, type RequestRates } from '../../server/gateway/limits/request-rate.ts';
import type { Principal } from '../../server/keys/keyring.ts';
import { createKeys } from '../../server/keys/keys.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, nativeCatalog, protocols, send } from './support.ts';

/** Requests per minute: exact for a key's own limit, cheap for the service's; over all processes in both. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog(), env: { MAX_REQUESTS_PER_MINUTE_TRIAL: '600' } });
});
afterAll(() => app.close());

const log = { warn: () => undefined };
const open = (limits = { perKey: 1e9, perAccount: 1e9, trial: 1e9 }): RequestRates =>
  createRequestRates({ pool: app.pool, limits, log });

function caller(change: Partial<Principal> = {}): Principal {
  const ids = { accountId: randomUUID(), keyId: randomUUID(), projectId: null };
  const noLimits = {
    requestsPerMinute: null,
    tokensPerMinute: null,
    maxConcurrent: null,
    mayCallFrom: null,
    attribution: 'digests' as const,
    account: null,
  };
  return { ...ids, models: null, suspended: false, probes: false, trial: false, ...noLimits, ...change };
}

/** How many of so many requests at once are admitted. */
async function burst(rates: RequestRates, principal: Principal, requests: number): Promise<number> {
  const taken = await Promise.all(Array.from({ length: requests }, async () => rates.take(principal)));
  return taken.filter((limited) => limited === null).length;
}

/** Lets so many turns of the database's ring pass for a subject: a turn leaves every second at its place. */
const passTurns = (subject: string, turns: number) =>
  app.pool.query('UPDATE request_rate SET second = second - $2 * 62 WHERE subject = $1', [subject, turns]);

describe("a key's own limit", () => {
  it.each([1, 60, 997])('of %i is reached exactly, by three processes at once', async (limit) => {
    const processes = [open(), open(), open()];
    const key = caller({ requestsPerMinute: limit });
    let admitted = 0;
    for (let round = 0; round < 6; round += 1) {
      const each = await Promise.all(processes.map((rates) => burst(rates, key, Math.ceil(limit / 7))));
      admitted += each.reduce((sum, count) => sum + count, 0);
    }
    expect(admitted).toBe(Math.min(limit, 6 * 3 * Math.ceil(limit / 7)));
    for (const rates of processes) expect(await rates.take(key)).toMatchObject({ of: 'key', limit });
    await Promise.all(processes.map((rates) => rates.close()));
  });

  it('says when the oldest request leaves the minute, and has room again then', async () => {
    const [first, second] = [open(), open()];
    const key = caller({ requestsPerMinute: 3 });
    expect(await burst(first, key, 5)).toBe(3);
    const limited = await second.take(key);
    expect(limited?.resetS).toBeGreaterThan(55);
    expect(limited?.resetS).toBeLessThanOrEqual(62);
    await passTurns(key.keyId, 1);
    const third = open();
    expect(await burst(third, key, 5)).toBe(3);
    await Promise.all([first, second, third].map((rates) => rates.close()));
  });

  it('is held where nothing can be counted: the request fails instead of passing', async () => {
    const pool = { query: () => Promise.reject(new Error('away')) } as never;
    const rates = createRequestRates({ pool, limits: { perKey: 1e9, perAccount: 1e9, trial: 1e9 }, log });
    await expect(rates.take(caller({ requestsPerMinute: 5 }))).rejects.toThrow('away');
  });

  it('costs far fewer statements than requests while it is far', async () => {
    let statements = 0;
    const pool = {
      query: (...args: [never]) => {
        statements += 1;
        return app.pool.query(...args);
      },
    } as never;
    const rates = createRequestRates({ pool, limits: { perKey: 1e9, perAccount: 1e9, trial: 1e9 }, log });
    const key = caller({ requestsPerMinute: 1_000_000 });
    for (let wave = 0; wave < 20; wave += 1) expect(await burst(rates, key, 100)).toBe(100);
    expect(statements).toBeLessThanOrEqual(40);
    await rates.close();
  });
});

describe("the service's limits", () => {
  const limits = { perKey: 640, perAccount: 1_000, trial: 64 };

  it('cost no statement at all while they are far, and hold for a key, an account and a trial', async () => {
    const pool = { query: () => Promise.reject(new Error('asked')) } as never;
    const rates = createRequestRates({ pool, limits, log });
    const key = caller();
    expect(await burst(rates, key, 700)).toBe(640);
    expect(rates.take(key)).toMatchObject({ of: 'key', limit: 640 });
    const sibling = { ...key, keyId: randomUUID() };
    expect(await burst(rates, sibling, 700)).toBe(360);
    expect(rates.take(sibling)).toMatchObject({ of: 'account', limit: 1_000 });
    expect(await burst(rates, caller({ trial: true }), 100)).toBe(64);
    expect(await burst(rates, caller(), 10)).toBe(10);
    await rates.close();
  });

  it('share what belongs to the minute, not what was counted long before', async () => {
    let nowMs = 0;
    const shared: number[][] = [];
    const pool = {
      query: async ({ values }: { values: [string[], number[]] }) => {
        shared.push(values[1]);
        return { rows: values[0].map((subject) => ({ subject, total: 0 })) };
      },
    } as never;
    const rates = createRequestRates({ pool, limits, log, now: () => nowMs });
    const key = caller();
    for (let minute = 0; minute < 10; minute += 1) {
      expect(await burst(rates, key, 15)).toBe(15);
      nowMs += 70_000;
    }
    expect(await burst(rates, key, 40)).toBe(40);
    await expect.poll(() => shared).toEqual([[40, 40]]);
    await rates.close();
  });

  it('are known to another process within the second in which their counts are shared', async () => {
    const [first, second] = [open(limits), open(limits)];
    const key = caller();
    expect(await burst(first, key, 700)).toBe(640);
    const shared = async () =>
      (await app.pool.query('SELECT FROM request_rate WHERE subject = $1', [key.keyId])).rowCount;
    await expect.poll(shared).toBe(1);
    // What may go unshared: a 32nd of the limit.
    expect(await burst(second, key, 20)).toBe(20);
    await expect.poll(() => second.take(key)).toMatchObject({ of: 'key', limit: 640 });
    await Promise.all([first.close(), second.close()]);
  });
});

describe.each(everyProtocol)('$protocol', (protocol) => {
  it("a trial's limit is a 429 that says when to come again, in the headers of the protocol's vendor", async () => {
    const narrow = await startApp({ beside: app, env: { MAX_REQUESTS_PER_MINUTE_TRIAL: '5' } });
    const [trial, paying] = [await app.customer({ trial: true }), await app.customer()];
    for (let sent = 0; sent < 5; sent += 1) {
      expect((await send(narrow, protocol, { secret: trial.secret })).status).toBe(200);
    }
    const response = await send(narrow, protocol, { secret: trial.secret });
    expect(response.status).toBe(429);
    const retryAfter = Number(response.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    // `openai` gives up at once when it is told to wait for a minute.
    expect(retryAfter).toBeLessThan(60);
    const error = await errorOf(response, protocol.protocol);
    const wholeWait = Number(error['retry_after_s']);
    expect(wholeWait).toBeGreaterThanOrEqual(retryAfter);
    expect(wholeWait).toBeLessThanOrEqual(62);
    expect(error.message).toContain(`try again in ${wholeWait} seconds`);
    const named = (start: string) =>
      Object.fromEntries([...response.headers].filter(([name]) => name.startsWith(start)));
    const aMoment: unknown = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/);
    expect({ ...named('anthropic-ratelimit-'), ...named('x-ratelimit-') }).toEqual(
      protocol.protocol === 'messages'
        ? {
            'anthropic-ratelimit-requests-limit': '5',
            'anthropic-ratelimit-requests-remaining': '0',
            'anthropic-ratelimit-requests-reset': aMoment,
          }
        : {
            'x-ratelimit-limit-requests': '5',
            'x-ratelimit-remaining-requests': '0',
            'x-ratelimit-reset-requests': `${wholeWait}s`,
          },
    );
    expect(error.message).toContain('5 requests per minute');
    expect((await send(narrow, protocol, { secret: paying.secret })).status).toBe(200);
    await narrow.close();
  });
});

describe('at the front door', () => {
  const statuses = (to: TestApp, { secret }: Customer, requests: number, text = 'ping') =>
    Promise.all(
      Array.from({ length: requests }, async () => {
        const response = await send(to, protocols.chat, { secret, text });
        await response.arrayBuffer();
        return response.status;
      }),
    );

  it('two processes never admit request 61 of a key of 60 a minute', async () => {
    const other = await startApp({ beside: app });
    const customer = await app.customer();
    const { accountId, keyId: id } = customer;
    await createKeys({ pool: app.pool }).change({ accountId, id, requestsPerMinute: 60, actor: 'test' });
    const answers = (await Promise.all([app, other].map((to) => statuses(to, customer, 50)))).flat();
    expect(answers.filter((status) => status === 200)).toHaveLength(60);
    expect(answers.filter((status) => status === 429)).toHaveLength(40);
    await other.close();
  });

  it('calls that the vendor refuses count more: a trial gets 60 a minute, not 600', async () => {
    const trial = await app.customer({ trial: true });
    const answers: number[] = [];
    for (let wave = 0; wave < 7; wave += 1) answers.push(...(await statuses(app, trial, 10, '[[status 400]]')));
    expect(answers.filter((status) => status === 400)).toHaveLength(60);
    expect(answers.filter((status) => status === 429)).toHaveLength(10);
  });
});
