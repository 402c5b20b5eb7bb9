import { afterAll, describe, expect, it } from 'vitest';
import { defaultRates } from '../../server/graphql/guard/rates.ts';
import { createRates } from '../../server/shared/rates.ts';
import { type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** How much one principal may ask of the control plane, and what is refused first when the process is late. */

const opened: ControlPlane[] = [];
async function open(options: Parameters<typeof createControlPlane>[0]): Promise<ControlPlane> {
  const plane = await createControlPlane(options);
  opened.push(plane);
  return plane;
}
afterAll(() => Promise.all(opened.map((plane) => plane.close())));

/** So slow that nothing comes back while a test runs. */
const few = (burst: number) => ({ burst, perSecond: 0.01 });
const many = { burst: 1e9, perSecond: 1e9 };

const asking = { method: 'POST', url: '/graphql', payload: JSON.stringify({ query: '{ __typename }' }) } as const;
const type = { 'content-type': 'application/json' };

describe('requests beyond the rate', () => {
  it('of one person are refused with the time to wait, and those of another person are answered', async () => {
    const plane = await open({ rates: { operations: few(30), network: many, cost: many } });
    const [alice, bob] = [
      await createPerson(plane, 'alice@example.com', '203.0.113.1'),
      await createPerson(plane, 'bob@example.com', '203.0.113.2'),
    ];
    const answers = [];
    for (let count = 0; count < 40; count += 1) answers.push(await alice.send('{ me { scopes } }'));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(refused[0]?.data).toBeNull();
    expect(refused[0]?.errors[0]).toMatchObject({
      message: expect.stringMatching(/^Too many requests; try again in \d+ s\.$/),
      extensions: { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: expect.any(Number), requestId: expect.any(String) },
    });
    expect((await bob.send('{ me { scopes } }')).status).toBe(200);
    // Requests without a principal are counted for their network.
    expect((await plane.send('{ __typename }', { ip: '203.0.113.1' })).status).toBe(200);
  });

  it('without a principal count for the network, also with access tokens that are wrong', async () => {
    const plane = await open({ rates: { operations: few(5), network: many, cost: many } });
    const statuses = [];
    for (let count = 0; count < 8; count += 1) {
      const headers = { ...type, authorization: `Bearer tk-steyg-${count}` };
      statuses.push((await plane.app.inject({ ...asking, headers, remoteAddress: '2001:db8::1' })).statusCode);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    const other = (remoteAddress: string) => plane.app.inject({ ...asking, headers: type, remoteAddress });
    // Another machine of the same /64, then another network.
    const [same, foreign] = [await other('2001:db8::2'), await other('2001:db8:0:1::1')];
    expect([same.statusCode, foreign.statusCode]).toEqual([429, 200]);
    expect(Number(same.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('of one network are refused before the principal is identified', async () => {
    const plane = await open({ rates: { operations: many, network: few(3), cost: many } });
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await plane.send('{ __typename }')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });

  it('are counted by what operations cost, too', async () => {
    const plane = await open({ rates: { operations: many, network: many, cost: few(1_000) } });
    const cheap = '{ __typename }';
    const dear = `{ models { modelId displayName family contextWindow maxOutputTokens } }`;
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await plane.send(dear)).status);
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    expect(statuses.at(-1)).toBe(429);
    expect((await plane.send(cheap, { ip: '198.51.100.1' })).status).toBe(200);
  });
});

describe('a rate', () => {
  it('comes back with time, up to its burst', () => {
    let now = 0;
    const rates = createRates({ burst: 2, perSecond: 1 }, () => now);
    expect([rates.take('a'), rates.take('a'), rates.take('a'), rates.take('b')]).toEqual([null, null, 1, null]);
    now = 1_000;
    expect([rates.take('a'), rates.take('a')]).toEqual([null, 1]);
    now = 1_000_000;
    expect([rates.take('a'), rates.take('a'), rates.take('a')]).toEqual([null, null, 1]);
  });

  it('that was overdrawn is paid back first', () => {
    let now = 0;
    const rates = createRates({ burst: 10, perSecond: 1 }, () => now);
    rates.charge('a', 15);
    expect(rates.take('a', 1)).toBe(6);
    now = 6_000;
    expect(rates.take('a', 1)).toBeNull();
  });

  it('lets a page be opened and used without a pause', () => {
    // A page sends fewer than ten operations of some hundred fields each.
    expect(defaultRates.operations.burst).toBeGreaterThanOrEqual(100);
    expect(defaultRates.cost.burst).toBeGreaterThanOrEqual(20 * 20_000);
  });
});

describe('while the event loop is late', () => {
  it('operations are refused with 503 and the time to come again, with a session or without', async () => {
    const state = { late: false };
    const plane = await open({ isLate: () => state.late });
    const person = await createPerson(plane, 'carol@example.com');
    state.late = true;
    for (const answer of [await person.send('{ me { scopes } }'), await plane.send('{ __typename }')]) {
      expect(answer.status).toBe(503);
      expect(answer.errors[0]?.extensions['code']).toBe('OVERLOADED');
    }
    const reply = await plane.app.inject({ ...asking, headers: type });
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    state.late = false;
    expect((await person.send('{ me { scopes } }')).status).toBe(200);
  });
});
