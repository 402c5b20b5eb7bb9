import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maskError } from '../../server/graphql/guard/masking.ts';
import { type Answer, type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Shares: what one account asks for, however much it is, waits for itself, and is answered or refused in words. */

let plane: ControlPlane;
let greedy: Browser;
let modest: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  greedy = await createPerson(plane, 'greedy@example.com', '203.0.113.1');
  modest = await createPerson(plane, 'modest@example.com', '203.0.113.2');
  await plane.database.pool.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h, output,
       price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after, latency_ms, outcome, usage_source, stream)
     SELECT id, uuid_at(now() - n * interval '1 second'), id, 'm', 'u', 'messages', 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 'completed', 'reported', true
     FROM account, generate_series(1, 150) n WHERE email = 'greedy@example.com'`,
  );
});
afterAll(() => plane.close());

const aliases = Array.from({ length: 30 }, (_, at) => `a${at}: ledger(first: 100) { edges { node { requestId } } }`);
const many = `{ account { ${aliases.join(' ')} } }`;
const small = '{ account { ledger(first: 5) { edges { node { requestId } } } usage { nodes { requests } } } }';
const codesOf = ({ errors }: Answer) => errors.map(({ extensions }) => extensions['code']);

describe('one account that asks for thirty lists, twenty times at once', () => {
  it('gets them all, and another account is answered long before', async () => {
    const order: string[] = [];
    const all = Array.from({ length: 20 }, async (_, at) => {
      const answer = await greedy.send(many);
      order.push(`greedy ${at}`);
      return answer;
    });
    const other = (async () => {
      const answer = await modest.send(small);
      order.push('modest');
      return answer;
    })();
    expect((await other).errors).toEqual([]);
    for (const answer of await Promise.all(all)) {
      expect(codesOf(answer)).toEqual([]);
      const lists = Object.values((answer.data as { account: Record<string, { edges: unknown[] }> }).account);
      expect(lists.map(({ edges }) => edges.length)).toEqual(aliases.map(() => 100));
    }
    // At most those that were begun before it came.
    expect(order.indexOf('modest')).toBeLessThan(7);
  });

  it('and is refused in words beyond that, which says when to come again', async () => {
    const answers = await Promise.all(Array.from({ length: 90 }, () => greedy.send(many)));
    const refused = answers.filter(({ errors }) => errors.length > 0);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(90);
    for (const answer of refused) {
      expect([answer.status, ...new Set(codesOf(answer))]).toEqual([503, 'BUSY']);
      expect(answer.errors[0]?.extensions['retryAfterSeconds']).toBe(2);
    }
  });
});

describe('the cost of an operation', () => {
  it('counts the rows that are read, not only the fields that are selected', async () => {
    const wide = `{ account { ${Array.from({ length: 29 }, (_, at) => `a${at}: ledger(first: 100) { edges { node { requestId } } }`).join(' ')}
      b: ledger(first: 100) { edges { node { requestId model createdAt cost charged outcome latencyMs usage { input output } } } } } }`;
    const { errors } = await greedy.send(wide);
    expect(errors).toEqual([]);
    const costs = await Promise.all(
      [1, 100].map(async (first) => {
        const list = Array.from(
          { length: 30 },
          (_, at) =>
            `a${at}: ledger(first: ${first}) { edges { node { requestId model createdAt cost charged outcome latencyMs } } }`,
        );
        return (await greedy.send(`{ account { ${list.join(' ')} } }`)).errors[0]?.extensions['cost'] ?? null;
      }),
    );
    expect(costs).toEqual([null, expect.any(Number)]);
  });
});

describe('a database that does not answer in time', () => {
  it.each([
    ['statement timeout', Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })],
    ['no connection in time', new Error('timeout exceeded when trying to connect')],
    ['no answer in time', new Error('Query read timeout')],
    ['a connection that broke', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['Prisma’s pool', Object.assign(new Error('Timed out fetching a new connection'), { code: 'P2024' })],
  ])('is no fault of the service’s code: %s', (_name, original) => {
    const error = new GraphQLError(original.message, { originalError: original });
    const masked = maskError(error, { error: () => {} }) as GraphQLError;
    expect(masked.extensions).toEqual({ code: 'OVERLOADED', retryAfterSeconds: 2 });
    expect(masked.message).not.toContain(original.message);
  });

  it('is told from a mistake, which is internal', () => {
    const error = new GraphQLError('x', { originalError: new TypeError('undefined is not a function') });
    expect((maskError(error, { error: () => {} }) as GraphQLError).extensions).toEqual({ code: 'INTERNAL' });
  });
});
