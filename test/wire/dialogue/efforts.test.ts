import { describe, expect, test } from 'vitest';
import type { ReasoningEffort } from '../../../server/core/effort.ts';
import type { UpstreamFeatures } from '../../../server/core/features.ts';
import { wireFor } from '../../../server/wire/wires.ts';
import { opened } from '../fixtures.ts';
import { bytes, contextWith, DIRECTIONS, type Direction, factsOf, MINIMAL, text } from './support.ts';

/** A model is asked for no effort but those that its catalog entry lists: vendors refuse the others. */

type Asked = ReasoningEffort | 'left out';

const words: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** How each client protocol asks for an effort. Messages has no word for the weakest, and its own for none. */
const asking: Record<Direction['client'], (effort: ReasoningEffort) => Record<string, unknown>> = {
  messages: (effort) =>
    effort === 'none'
      ? { thinking: { type: 'disabled' } }
      : { thinking: { type: 'adaptive' }, output_config: { effort } },
  'chat-completions': (reasoning_effort) => ({ reasoning_effort }),
  responses: (effort) => ({ reasoning: { effort } }),
};

/** What an upstream of the protocol is told. */
const told: Record<Direction['upstream'], (body: Record<string, Record<string, unknown>>) => unknown> = {
  messages: ({ thinking, output_config }) =>
    thinking?.['type'] === 'disabled'
      ? 'none'
      : (output_config?.['effort'] ?? thinking?.['budget_tokens'] ?? 'left out'),
  'chat-completions': ({ reasoning_effort }) => reasoning_effort ?? 'left out',
  responses: ({ reasoning }) => reasoning?.['effort'] ?? 'left out',
};

function ask(
  { client, upstream }: Direction,
  effort: ReasoningEffort,
  efforts: readonly ReasoningEffort[],
  features: Partial<UpstreamFeatures> = {},
): unknown {
  const raw = bytes(JSON.stringify({ ...MINIMAL[client], ...asking[client](effort) }));
  const context = { ...contextWith(features), efforts };
  const { body } = opened(wireFor(client, upstream).request(raw, factsOf(client, raw), context));
  return told[upstream](JSON.parse(text(body)));
}

/** Known efforts, and what becomes of none, minimal, low, medium, high, xhigh and max. */
const tables: [string, ReasoningEffort[], Asked[]][] = [
  ['all of them', [...words], ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']],
  ['no upper ones', ['none', 'low', 'medium', 'high'], ['none', 'low', 'low', 'medium', 'high', 'high', 'high']],
  [
    'reasoning that cannot be switched off',
    ['minimal', 'low', 'medium', 'high'],
    ['minimal', 'minimal', 'low', 'medium', 'high', 'high', 'high'],
  ],
  ['a single one', ['high'], ['high', 'high', 'high', 'high', 'high', 'high', 'high']],
  ['a gap', ['none', 'low', 'max'], ['none', 'low', 'low', 'low', 'low', 'low', 'max']],
];

describe.each(DIRECTIONS)('$client to $upstream', (direction) => {
  // The Messages protocol has no word for the weakest.
  const inItsWords = (effort: Asked) => (direction.upstream === 'messages' && effort === 'minimal' ? 'low' : effort);

  test.each(tables)('a model that knows %s', (_what, efforts, expected) => {
    expect(words.map((effort) => ask(direction, effort, efforts))).toEqual(expected.map(inItsWords));
  });

  test('a model of which nothing is said is asked in the words of the client', () => {
    expect(words.map((effort) => ask(direction, effort, []))).toEqual(words.map(inItsWords));
  });

  test('a model that takes no effort is told none, whatever its upstream understands', () => {
    // Messages models without efforts reason by a budget of tokens, of which half of the longest answer is the most.
    const expected =
      direction.upstream === 'messages' ? ['none', 1024, 1024, 2048, 4096, 8192, 16_000] : words.map(() => 'left out');
    expect(words.map((effort) => ask(direction, effort, ['none']))).toEqual(expected);
  });

  test('an upstream that does not understand the field is not sent it, whatever the model knows', () => {
    const said = words.map((effort) => ask(direction, effort, [...words], { effort: false }));
    expect(said).toEqual(words.map((effort) => ask(direction, effort, ['none'])));
  });
});
