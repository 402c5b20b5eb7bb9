import { setImmediate as iteration } from 'node:timers/promises';
import { buildSchema, execute, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { maxFields, sliceLists } from '../../server/graphql/guard/slices.ts';
import { createWork } from '../../server/graphql/guard/work.ts';
import { createLoopTurns, type LoopTurns } from '../../server/shared/loop-turns.ts';

/** Large operations are executed in slices, between which everything else of the process runs. */

describe('turns', () => {
  it('run one slice in an iteration of the event loop, and principals alternate', async () => {
    const turns = createLoopTurns();
    const ran: string[] = [];
    const slice = async (principal: string) => {
      await turns.next(principal);
      ran.push(principal);
    };
    const all = Promise.all(['a', 'a', 'a', 'b', 'c', 'b'].map(slice));
    const lengths: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      await iteration();
      lengths.push(ran.length);
    }
    await all;
    expect(ran).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
    // Never two of them between two looks.
    expect(lengths.every((length, index) => length - (lengths[index - 1] ?? 0) <= 1)).toBe(true);
    await slice('a');
    expect(ran).toHaveLength(7);
  });
});

describe('a long list', () => {
  const schema = buildSchema(
    'type Query { rows: [Row!]! } type Row { id: Int! parts: [Part!]! } type Part { id: Int! }',
  );
  sliceLists(schema);

  /** LoopTurns that count how many slices were asked for. */
  function counted(): { turns: LoopTurns; slices: () => number } {
    const inner = createLoopTurns();
    let slices = 0;
    return {
      turns: {
        next(principal) {
          slices += 1;
          return inner.next(principal);
        },
      },
      slices: () => slices,
    };
  }

  async function run(rows: number, parts: number) {
    const { turns, slices } = counted();
    const row = (id: number) => ({ id, parts: Array.from({ length: parts }, (_part, at) => ({ id: at })) });
    const result = await execute({
      schema,
      document: parse('{ rows { id parts { id } } }'),
      rootValue: { rows: Array.from({ length: rows }, (_row, id) => row(id)) },
      contextValue: { work: createWork('a', turns) },
    });
    return { result, slices: slices() };
  }

  it('is answered whole and in order, in as many slices as its length asks for', async () => {
    const small = await run(10, 2);
    expect(small.slices).toBe(0);
    const large = await run(1_000, 10);
    expect(large.slices).toBeGreaterThan((1_000 * 10) / 400);
    const { rows } = large.result.data as unknown as { rows: { id: number; parts: { id: number }[] }[] };
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_row, id) => id));
    expect(rows.every(({ parts }) => parts.length === 10 && parts.every(({ id }, at) => id === at))).toBe(true);
  });

  it('beyond what one operation may resolve is refused', async () => {
    const { result } = await run(maxFields / 100, 200);
    expect(result.errors?.[0]?.extensions['code']).toBe('DOCUMENT_TOO_LARGE');
  });
});
