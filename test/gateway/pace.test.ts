import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConcurrency } from '../../server/gateway/limits/concurrency.ts';
import { createRequestRates } from '../../server/gateway/limits/request-rate.ts';
import { createTokenRates } from '../../server/gateway/limits/token-rate.ts';
import type { Principal } from '../../server/keys/keyring.ts';
import { isNetwork, testNetworks } from '../../server/shared/networks.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, nativeCatalog, send } from './support.ts';

/** Limits of pace that keys and accounts set themselves, exact over all processes; and the networks that may call. */
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog(), env: { MAX_REQUESTS_PER_MINUTE_TRIAL: '600' } });
});
afterAll(() => app.close());

const log = { warn: () => undefined };

function caller(change: Partial<Principal> = {}): Principal {
  return {
    accountId: randomUUID(),
    keyId: randomUUID(),
    projectId: null,
    models: null,
    suspended: false,
    probes: false,
    trial: false,
    requestsPerMinute: null,
    tokensPerMinute: null,
    maxConcurrent: null,
    mayCallFrom: null,
    attribution: 'digests',
    account: null,
    ...change,
  };
}

/** A process that is alive by its lease. */
async function living(leaseMs = 600_000): Promise<string> {
  const id = randomUUID();
  await app.pool.query(`INSERT INTO process (id, lease_until) VALUES ($1, now() + $2 * interval '1 millisecond')`, [
    id,
    leaseMs,
  ]);
  return id;
}

interface Worker {
  child: ChildProcessByStdio<Writable, Readable, null>;
  lines: string[];
  closed: Promise<unknown>;
}

async function work(principal: Principal): Promise<Worker> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'pace-worker.ts'), app.databaseUrl, await living(), JSON.stringify(principal)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const lines: string[] = [];
  const reading = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { child, lines, closed: Promise.all([once(child, 'exit'), once(reading, 'close')]) };
}

it.each(['key', 'account'] as const)(
  'three processes grant no request, no token and no request at once beyond the limits of a %s',
  { timeout: 240_000 },
  async (of) => {
    const limits = { requestsPerMinute: 60, tokensPerMinute: 5_000, maxConcurrent: 7 };
    const principal = caller(of === 'key' ? limits : { account: limits });
    const workers = await Promise.all([1, 2, 3].map(() => work(principal)));
    await expect.poll(() => workers.every(({ lines }) => lines.includes('ready'))).toBe(true);
    for (const { child } of workers) child.stdin.write('go\n');
    await expect.poll(() => workers.flatMap(({ lines }) => lines).length).toBeGreaterThan(400);
    for (const { child } of workers) child.stdin.end();
    await Promise.all(workers.map(({ closed }) => closed));
    const figures = workers.map(({ lines }) => JSON.parse(lines.at(-1) ?? '') as { requests: number; tokens: number });
    const sum = (what: 'requests' | 'tokens') => figures.reduce((total, each) => total + each[what], 0);
    expect(sum('requests')).toBe(60);
    expect(sum('tokens')).toBe(37 * Math.floor(5_000 / 37));
    // Lines of several processes may be read in another order than they were written in.
    const changes = workers
      .flatMap(({ lines }) => lines.filter((line) => /^[+-]\d/.test(line)))
      .map((line) => ({ at: BigInt(line.slice(1)), by: line.startsWith('+') ? 1 : -1 }))
      .toSorted((one, other) => (one.at < other.at ? -1 : 1));
    let [running, most] = [0, 0];
    for (const { by } of changes) {
      running += by;
      most = Math.max(most, running);
    }
    expect(running).toBe(0);
    expect(most).toBe(7);
  },
);

describe('requests a minute of an account', () => {
  it('are shared by its keys, and a refusal takes nothing from the limit of the key', async () => {
    const rates = createRequestRates({ pool: app.pool, limits: { perKey: 1e9, perAccount: 1e9, trial: 1e9 }, log });
    const account = { requestsPerMinute: 5, tokensPerMinute: null, maxConcurrent: null };
    const accountId = randomUUID();
    const [first, second] = [10, 10].map((requestsPerMinute) => caller({ accountId, account, requestsPerMinute }));
    if (first === undefined || second === undefined) throw new Error('there are two');
    const taken: unknown[] = [];
    for (let i = 0; i < 8; i += 1) taken.push(await rates.take(i % 2 === 0 ? first : second));
    expect(taken.filter((limited) => limited === null)).toHaveLength(5);
    expect(taken.at(-1)).toMatchObject({ of: 'account', limit: 5 });
    const { rows } = await app.pool.query<{ total: number }>('SELECT total FROM draw_requests($1, 10, 0)', [
      first.keyId,
    ]);
    expect(rows[0]?.total).toBeLessThanOrEqual(4);
    await rates.close();
  });
});

describe('tokens a minute', () => {
  it('that were drawn and not used are free again, and those beyond the draw count', async () => {
    const tokens = createTokenRates({ pool: app.pool, log });
    const key = caller({ tokensPerMinute: 1_000 });
    const take = async (wanted: number) => tokens.take(key, wanted);
    const first = await take(900);
    expect(await take(200)).toMatchObject({ kind: 'limited', of: 'key', limit: 1_000, left: 100 });
    if (first?.kind !== 'drawn') throw new Error('it was not drawn');
    first.used(300);
    await expect.poll(async () => (await take(600))?.kind).toBe('drawn');
    const last = await take(100);
    if (last?.kind !== 'drawn') throw new Error('it was not drawn');
    last.used(450);
    await expect.poll(async () => await take(1)).toMatchObject({ kind: 'limited', left: 0 });
    expect(await take(1_001)).toMatchObject({ kind: 'limited', resetS: null });
    await tokens.close();
  });

  it('leave the minute with the second that they were drawn in', async () => {
    const tokens = createTokenRates({ pool: app.pool, log });
    const key = caller({ tokensPerMinute: 100 });
    expect(await tokens.take(key, 80)).toMatchObject({ kind: 'drawn' });
    const limited = await tokens.take(key, 30);
    if (limited?.kind !== 'limited') throw new Error('it was drawn');
    expect(limited.resetS).toBeGreaterThan(55);
    expect(limited.resetS).toBeLessThanOrEqual(62);
    await app.pool.query('UPDATE token_rate SET second = second - 62 WHERE subject = $1', [key.keyId]);
    expect(await tokens.take(key, 100)).toMatchObject({ kind: 'drawn' });
    await tokens.close();
  });
});

describe('requests at once', () => {
  it('of a process that has died count no more, and a lost answer is set right', async () => {
    const [dead, alive] = [await living(-1), await living()];
    const key = caller({ maxConcurrent: 2 });
    const ofDead = createConcurrency({ pool: app.pool, processId: dead });
    for (let i = 0; i < 2; i += 1) expect(await ofDead.take(key)).toMatchObject({ kind: 'running' });
    let isLost = true;
    const pool = {
      async query(text: { text: string; values: unknown[] }) {
        const answer = await app.pool.query(text);
        if (!isLost) return answer;
        isLost = false;
        throw new Error('the answer was lost');
      },
    } as never;
    const ofAlive = createConcurrency({ pool, processId: alive });
    await expect(ofAlive.take(key)).rejects.toThrow('lost');
    const two = await Promise.all([ofAlive.take(key), ofAlive.take(key)]);
    expect(two.map((each) => each?.kind)).toEqual(['running', 'running']);
    expect(await ofAlive.take(key)).toEqual({ kind: 'full', of: 'key', limit: 2 });
    for (const each of two) if (each?.kind === 'running') each.give();
    await expect.poll(async () => (await ofAlive.take(key))?.kind).toBe('running');
  });
});

describe('networks', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.7', true],
    ['203.0.113.0/24', '203.0.114.7', false],
    ['203.0.113.0/24', '::ffff:203.0.113.7', true],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['2001:db8::/32', '2001:db8:5::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['0.0.0.0/0', '198.51.100.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['0.0.0.0/0', 'unknown', false],
  ])('%s has %s: %s', (network, address, expected) => {
    expect(testNetworks([network])?.(address)).toBe(expected);
  });

  it.each([
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0/8',
    '::1/129',
    'fe80::1%eth0',
    '1.2.3.4/8/8',
  ])('%j is none', (text) => expect(isNetwork(text)).toBe(false));
});

describe.each(everyProtocol)('$protocol', (protocol) => {
  const { protocol: name } = protocol;

  it('tokens of a minute that are used up are a 429 in the headers of the vendor, with what is left', async () => {
    const { secret } = await app.customer({ terms: { tokensPerMinute: 9_000 } });
    const more = name === 'responses' ? { max_output_tokens: 4_096 } : { max_tokens: 4_096 };
    expect((await send(app, protocol, { secret, more })).status).toBe(200);
    // A prompt that is longer than the limit is not worth sending again.
    const response = await send(app, protocol, { secret, text: 'x'.repeat(30_000) });
    expect(response.status).toBe(429);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response, name)).toMatchObject({
      limit_unit: 'tokens_per_minute',
      limit: 9_000,
      limit_of: 'key',
    });
    const used = await send(app, protocol, { secret, text: '[[len 3000]]', more });
    expect(used.status).toBe(200);
    await used.text();
    await expect
      .poll(async () => {
        const refused = await send(app, protocol, { secret, text: 'y'.repeat(6_000), more });
        const reset = refused.headers.get(
          name === 'messages' ? 'anthropic-ratelimit-tokens-reset' : 'x-ratelimit-reset-tokens',
        );
        return refused.status === 429 && reset !== null && refused.headers.get('retry-after') !== null;
      })
      .toBe(true);
  });

  it('a request beyond the maximum at once is a 429, and the next is taken when one has ended', async () => {
    const customer = await app.customer({ terms: { maxConcurrent: 1 } });
    const { secret } = customer;
    const leave = new AbortController();
    const running = await send(app, protocol, {
      secret,
      text: '[[hang 1]]',
      more: { stream: true },
      signal: leave.signal,
    });
    expect(running.status).toBe(200);
    const response = await send(app, protocol, { secret });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await errorOf(response, name)).toMatchObject({ limit_unit: 'requests_at_once', limit: 1, limit_of: 'key' });
    leave.abort();
    await expect.poll(async () => (await send(app, protocol, { secret })).status).toBe(200);
  });

  it('an address outside of the networks of the key or its account is a 403, from the very next request', async () => {
    const customer = await app.customer();
    const { secret, accountId, keyId } = customer;
    expect((await send(app, protocol, { secret })).status).toBe(200);
    await app.keys.change({ accountId, id: keyId, actor: 'test', addresses: ['203.0.113.0/24'] });
    await expect.poll(async () => (await send(app, protocol, { secret })).status).toBe(403);
    const response = await send(app, protocol, { secret });
    expect(await errorOf(response, name)).toMatchObject({ message: expect.stringContaining('127.0.0.1') });
    await app.keys.change({ accountId, id: keyId, actor: 'test', addresses: ['127.0.0.0/8', '::1'] });
    await expect.poll(async () => (await send(app, protocol, { secret })).status).toBe(200);
    await app.accounts.setLimits({ accountId, actor: 'test', addresses: ['2001:db8::/32'] });
    await expect.poll(async () => (await send(app, protocol, { secret })).status).toBe(403);
  });
});
