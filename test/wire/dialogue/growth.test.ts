import { describe, expect, it } from 'vitest';
import { C_TO_M, type Direction, M_TO_C, R_TO_C, R_TO_M, translate } from './support.ts';

/**
 * A conversation of many small messages is translated in the time that its length takes, not in that of its square: a
 * request that is cheap to send must not keep the process from everybody else.
 */

const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const user = (content: unknown) => ({ role: 'user', content });

/** Requests of so many parts. */
const shapes: Record<string, { directions: Direction[]; make: (count: number) => unknown }> = {
  'remarks without an answer': {
    directions: [M_TO_C],
    make: (count) => ({ model: 'cat-1', max_tokens: 9, messages: many(count, () => user('a')) }),
  },
  'calls of one answer, and their results one by one': {
    directions: [M_TO_C],
    make: (count) => ({
      model: 'cat-1',
      max_tokens: 9,
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      messages: [
        user('go'),
        { role: 'assistant', content: many(count, (i) => ({ type: 'tool_use', id: `c${i}`, name: 'f', input: {} })) },
        ...many(count, (i) => user([{ type: 'tool_result', tool_use_id: `c${count - 1 - i}`, content: 'x' }])),
      ],
    }),
  },
  'results that stand in another order than their calls': {
    directions: [C_TO_M],
    make: (count) => ({
      model: 'cat-1',
      tools: [{ type: 'function', function: { name: 'f' } }],
      messages: [
        user('go'),
        {
          role: 'assistant',
          tool_calls: many(count, (i) => ({ id: `c${i}`, type: 'function', function: { name: 'f', arguments: '{}' } })),
        },
        ...many(count, (i) => ({ role: 'tool', tool_call_id: `c${(i * 7_919) % count}`, content: 'x' })),
      ],
    }),
  },
  'reasoning and nothing else': {
    directions: [R_TO_C, R_TO_M],
    make: (count) => ({
      model: 'cat-1',
      input: [...many(count, () => ({ type: 'reasoning', summary: [] })), user('go')],
    }),
  },
  'texts of one answer before a call': {
    directions: [R_TO_C, R_TO_M],
    make: (count) => ({
      model: 'cat-1',
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      input: [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        ...many(count, () => ({ role: 'assistant', content: 'a' })),
        { type: 'function_call_output', call_id: 'c', output: 'x' },
      ],
    }),
  },
};

/** The least processor time of a few translations, in microseconds. */
function costOf(direction: Direction, body: unknown): number {
  const raw = JSON.stringify(body);
  return Math.min(
    ...many(3, () => {
      const before = process.cpuUsage();
      translate(direction, raw);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    }),
  );
}

describe.each(Object.entries(shapes))('%s', (_name, { directions, make }) => {
  it.each(directions)('$client on $upstream', (direction) => {
    const [few, lots] = [800, 12_800];
    translate(direction, make(few));
    // Sixteen times as many; with their square it would be 256 times as much.
    expect(costOf(direction, make(lots)) / costOf(direction, make(few))).toBeLessThan(64);
  });
});
