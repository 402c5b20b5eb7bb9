import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_POOL_TOKENS } from '../../server/core/tokens.ts';
import {
  createMessagesUsage,
  readChatUsage,
  readMessagesUsage,
  readResponsesUsage,
  toChatUsage,
  toMessagesUsage,
  toResponsesUsage,
  type UsageReading,
} from '../../server/wire/usage.ts';

/** Pools as one line: input / hit / write 5m / write 1h / output, then the flags that are set. */
function line(reading: UsageReading | null): string | null {
  if (reading === null) return null;
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } = reading.usage;
  const flags = [reading.clamped ? 'clamped' : '', reading.outputMissing ? 'no output' : ''].filter(Boolean);
  const runs = (reading.runs ?? []).map(
    ({ model, usage }) =>
      `+ ${model} ${usage.input}/${usage.cacheHit}/${usage.cacheWrite5m}/${usage.cacheWrite1h}/${usage.output}`,
  );
  return [`${input}/${cacheHit}/${cacheWrite5m}/${cacheWrite1h}/${output}`, ...runs, ...flags].join(' ');
}

describe('a whole messages answer', () => {
  const cases: [string, Record<string, unknown>, string | null][] = [
    ['plain', { input_tokens: 10, output_tokens: 5 }, '10/0/0/0/5'],
    [
      'hits and writes',
      { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 7, output_tokens: 5 },
      '10/90/7/0/5',
    ],
    [
      'split writes',
      {
        input_tokens: 1,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
        output_tokens: 2,
      },
      '1/0/4/5/2',
    ],
    [
      'half a split',
      {
        input_tokens: 1,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_1h_input_tokens: 5 },
        output_tokens: 2,
      },
      '1/0/4/5/2',
    ],
    [
      'a split without a total',
      {
        input_tokens: 1,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
        output_tokens: 2,
      },
      '1/0/4/5/2',
    ],
    [
      'nulls',
      { input_tokens: 3, cache_read_input_tokens: null, cache_creation: null, output_tokens: 2, iterations: null },
      '3/0/0/0/2',
    ],
    ['zeros are data', { input_tokens: 0, output_tokens: 0 }, '0/0/0/0/0'],
    [
      'thinking is output already',
      { input_tokens: 3, output_tokens: 20, output_tokens_details: { thinking_tokens: 15 } },
      '3/0/0/0/20',
    ],
    ['negative', { input_tokens: -3, output_tokens: 2 }, '0/0/0/0/2 clamped'],
    ['fraction', { input_tokens: 3.2, output_tokens: 2 }, '4/0/0/0/2 clamped'],
    ['text', { input_tokens: '12', output_tokens: 2 }, '12/0/0/0/2 clamped'],
    ['absurd', { input_tokens: 1e18, output_tokens: 2 }, `${MAX_POOL_TOKENS}/0/0/0/2 clamped`],
    ['no number at all', { input_tokens: 'many', output_tokens: 2 }, null],
    ['no input', { output_tokens: 2 }, null],
    [
      'no input beside a cache count',
      { input_tokens: null, cache_read_input_tokens: 9, output_tokens: 2 },
      '0/9/0/0/2 clamped',
    ],
    ['no output', { input_tokens: 2 }, '2/0/0/0/0 no output'],
    ['another protocol', { prompt_tokens: 10, completion_tokens: 5 }, null],
    [
      'compaction',
      {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 3,
        iterations: [
          { type: 'compaction', input_tokens: 100, output_tokens: 20 },
          { type: 'message', input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3 },
        ],
      },
      '110/3/0/0/25',
    ],
    [
      'compaction that read from the cache',
      {
        input_tokens: 1,
        output_tokens: 1,
        cache_read_input_tokens: 3,
        iterations: [
          { type: 'compaction', input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 50 },
          { type: 'message', input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 3 },
        ],
      },
      '2/53/0/0/2',
    ],
    [
      'an advisor is a run of its own',
      {
        input_tokens: 10,
        output_tokens: 5,
        iterations: [
          { type: 'message', input_tokens: 10, output_tokens: 5 },
          { type: 'advisor_message', model: 'x', input_tokens: 7, output_tokens: 3 },
        ],
      },
      '10/0/0/0/5 + x 7/0/0/0/3',
    ],
    [
      'an attempt that was declined before it said anything is not billed',
      {
        input_tokens: 10,
        output_tokens: 5,
        iterations: [
          { type: 'message', model: 'x', input_tokens: 10, output_tokens: 0 },
          { type: 'fallback_message', model: 'y', input_tokens: 11, output_tokens: 5 },
        ],
      },
      '0/0/0/0/0 + y 11/0/0/0/5',
    ],
    [
      'an attempt that was declined in the middle is billed beside the one that served',
      {
        input_tokens: 2,
        cache_read_input_tokens: 79_214,
        output_tokens: 13_658,
        iterations: [
          {
            type: 'message',
            model: 'claude-fable-5',
            input_tokens: 2,
            output_tokens: 578,
            cache_creation_input_tokens: 10_421,
            cache_read_input_tokens: 72_769,
          },
          {
            type: 'fallback_message',
            model: 'claude-opus-4-8',
            input_tokens: 2,
            output_tokens: 13_658,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 79_214,
          },
        ],
      },
      '2/72769/10421/0/578 + claude-opus-4-8 2/79214/0/0/13658',
    ],
    [
      'a run of a kind that is not known is no run of the model that was asked for',
      {
        input_tokens: 10,
        output_tokens: 5,
        iterations: [
          { type: 'message', input_tokens: 10, output_tokens: 5 },
          { type: 'critic_message', input_tokens: 7, output_tokens: 3 },
        ],
      },
      '10/0/0/0/5 + null 7/0/0/0/3',
    ],
    [
      'a compaction by another model is a run of that model',
      {
        input_tokens: 10,
        output_tokens: 5,
        iterations: [
          { type: 'compaction', model: 'small', input_tokens: 100, output_tokens: 20 },
          { type: 'message', model: 'large', input_tokens: 10, output_tokens: 5 },
        ],
      },
      '10/0/0/0/5 + small 100/0/0/0/20',
    ],
    ['an empty list of iterations', { input_tokens: 10, output_tokens: 5, iterations: [] }, '10/0/0/0/5'],
  ];
  test.each(cases)('%s', (_what, usage, expected) => {
    expect(line(readMessagesUsage(usage))).toBe(expected);
  });

  test.each([null, undefined, 5, 'x', [], true])('%j is no usage', (reported) => {
    expect(readMessagesUsage(reported)).toBeNull();
  });
});

describe('a messages stream', () => {
  const cases: [string, Record<string, unknown>[], string | null][] = [
    ['the start alone', [{ input_tokens: 10, output_tokens: 1 }], '10/0/0/0/1'],
    [
      'output is the last value, not a sum',
      [{ input_tokens: 10, output_tokens: 1 }, { output_tokens: 5 }, { output_tokens: 9 }],
      '10/0/0/0/9',
    ],
    [
      'a delta without input',
      [{ input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 }, { output_tokens: 9 }],
      '10/4/0/0/9',
    ],
    [
      'a delta with zeros for the input',
      [
        { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 },
        { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 9 },
      ],
      '10/4/0/0/9',
    ],
    [
      'zeros at the start, the truth in the delta',
      [
        { input_tokens: 0, output_tokens: 0 },
        { input_tokens: 50, cache_read_input_tokens: 70, output_tokens: 9 },
      ],
      '50/70/0/0/9',
    ],
    ['an empty start', [{}, { input_tokens: 50, output_tokens: 9 }], '50/0/0/0/9'],
    [
      'a delta that replaces',
      [
        { input_tokens: 100, output_tokens: 1 },
        { input_tokens: 30, cache_read_input_tokens: 70, output_tokens: 9 },
      ],
      '30/70/0/0/9',
    ],
    [
      'what moved to the cache is not charged twice',
      [
        { input_tokens: 100, output_tokens: 1 },
        { input_tokens: 0, cache_read_input_tokens: 100, output_tokens: 9 },
      ],
      '0/100/0/0/9',
    ],
    [
      'writes known in the start',
      [
        {
          input_tokens: 1,
          cache_creation_input_tokens: 8,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 8 },
          output_tokens: 1,
        },
        { input_tokens: 1, cache_creation_input_tokens: 8, output_tokens: 4 },
      ],
      '1/0/0/8/4',
    ],
    ['never any input', [{}, { output_tokens: 9 }], null],
    [
      'one odd number taints all',
      [
        { input_tokens: -1, output_tokens: 1 },
        { input_tokens: 5, output_tokens: 2 },
      ],
      '5/0/0/0/2 clamped',
    ],
  ];
  test.each(cases)('%s', (_what, usages, expected) => {
    const usage = createMessagesUsage();
    for (const reported of usages) usage.add(reported);
    expect(line(usage.read())).toBe(expected);
  });
});

describe('a chat completion', () => {
  const cases: [string, Record<string, unknown>, string | null][] = [
    ['plain', { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }, '100/0/0/0/10'],
    [
      'OpenAI',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        total_tokens: 110,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
      '20/60/20/0/10',
    ],
    [
      'OpenAI, long writes',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        prompt_tokens_details: {
          cached_tokens: 60,
          cache_write_tokens: 20,
          cache_write_tokens_details: { ttl_12h_tokens: 15, ttl_30m_tokens: 5 },
        },
      },
      '20/60/5/15/10',
    ],
    [
      'DeepSeek',
      { prompt_tokens: 100, completion_tokens: 10, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 },
      '40/60/0/0/10',
    ],
    ['Moonshot', { prompt_tokens: 100, completion_tokens: 10, cached_tokens: 60 }, '40/60/0/0/10'],
    ['Mistral', { prompt_tokens: 100, completion_tokens: 10, num_cached_tokens: 60 }, '40/60/0/0/10'],
    [
      'Mistral, the other way',
      { prompt_tokens: 100, completion_tokens: 10, prompt_token_details: { cached_tokens: 60 } },
      '40/60/0/0/10',
    ],
    [
      'a messages model behind a chat front',
      { prompt_tokens: 100, completion_tokens: 10, cache_read_input_tokens: 60, cache_creation_input_tokens: 20 },
      '20/60/20/0/10',
    ],
    [
      'Qwen',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 30 },
      },
      '70/0/30/0/10',
    ],
    [
      'the first place that has a count wins',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        prompt_tokens_details: { cached_tokens: 0 },
        prompt_cache_hit_tokens: 60,
      },
      '100/0/0/0/10',
    ],
    [
      'xAI: reasoning only in the total',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        total_tokens: 140,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      '100/0/0/0/40',
    ],
    [
      'Gemini: thoughts only in the total',
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 140 },
      '100/0/0/0/40',
    ],
    [
      'xAI: more cached than sent',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 105, prompt_tokens_details: { cached_tokens: 90 } },
      '10/90/0/0/5',
    ],
    [
      'xAI: cache and reasoning both left out',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 45,
        prompt_tokens_details: { cached_tokens: 90 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      '10/90/0/0/35 clamped',
    ],
    [
      'a total that is larger by the cached part',
      { prompt_tokens: 100, completion_tokens: 5, total_tokens: 165, prompt_tokens_details: { cached_tokens: 60 } },
      '100/60/0/0/5',
    ],
    [
      'Gemini at OpenRouter: what was read and written again overlaps, and is billed as both',
      {
        prompt_tokens: 2168,
        completion_tokens: 5,
        total_tokens: 2173,
        prompt_tokens_details: { cached_tokens: 2161, cache_write_tokens: 2161 },
      },
      '7/2161/2161/0/5',
    ],
    ['a total that is too small', { prompt_tokens: 100, completion_tokens: 10, total_tokens: 5 }, '100/0/0/0/10'],
    ['an absurd total', { prompt_tokens: 100, completion_tokens: 10, total_tokens: 1e18 }, '100/0/0/0/10 clamped'],
    ['no prompt, but a total', { completion_tokens: 10, total_tokens: 110 }, '100/0/0/0/10'],
    ['no completion, but a total', { prompt_tokens: 100, total_tokens: 110 }, '100/0/0/0/10'],
    ['no completion', { prompt_tokens: 100 }, '100/0/0/0/0 no output'],
    [
      'words of the third protocol',
      { input_tokens: 100, output_tokens: 10, input_tokens_details: { cached_tokens: 60 } },
      '40/60/0/0/10',
    ],
    ['zeros are data', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, '0/0/0/0/0'],
    ['negative', { prompt_tokens: -100, completion_tokens: -10 }, '0/0/0/0/0 clamped'],
    ['text', { prompt_tokens: '100', completion_tokens: '10' }, '100/0/0/0/10 clamped'],
    ['fractions round up', { prompt_tokens: 99.5, completion_tokens: 9.1 }, '100/0/0/0/10 clamped'],
    ['absurd', { prompt_tokens: 1e18, completion_tokens: 1e18 }, `${MAX_POOL_TOKENS}/0/0/0/${MAX_POOL_TOKENS} clamped`],
    ['only a total', { total_tokens: 110 }, null],
    ['nothing known', { tokens: 110 }, null],
    ['empty', {}, null],
  ];
  test.each(cases)('%s', (_what, usage, expected) => {
    expect(line(readChatUsage(usage))).toBe(expected);
  });
});

describe('a response', () => {
  const cases: [string, Record<string, unknown>, string | null][] = [
    ['plain', { input_tokens: 100, output_tokens: 10, total_tokens: 110 }, '100/0/0/0/10'],
    [
      'cached, written, reasoned',
      {
        input_tokens: 100,
        input_tokens_details: {
          cached_tokens: 60,
          cache_write_tokens: 20,
          cache_write_tokens_details: { ttl_12h_tokens: 5, ttl_30m_tokens: 15 },
        },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 8 },
        total_tokens: 110,
      },
      '20/60/15/5/10',
    ],
    [
      'more cached than sent',
      { input_tokens: 10, input_tokens_details: { cached_tokens: 60 }, output_tokens: 10 },
      '10/60/0/0/10 clamped',
    ],
    [
      'more cached than sent, as the total says',
      { input_tokens: 10, input_tokens_details: { cached_tokens: 60 }, output_tokens: 10, total_tokens: 80 },
      '10/60/0/0/10',
    ],
    ['chat words', { prompt_tokens: 100, completion_tokens: 10 }, null],
  ];
  test.each(cases)('%s', (_what, usage, expected) => {
    expect(line(readResponsesUsage(usage))).toBe(expected);
  });
});

describe('whatever an upstream reports', () => {
  const odd = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.string(),
    fc.constant(null),
    fc.constant(1e18),
    fc.boolean(),
    fc.object({ maxDepth: 1 }),
  );
  const names = [
    'input_tokens',
    'output_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'cached_tokens',
    'reasoning_tokens',
  ];
  const details = fc.dictionary(
    fc.constantFrom(
      'cached_tokens',
      'cache_write_tokens',
      'reasoning_tokens',
      'ephemeral_5m_input_tokens',
      'ephemeral_1h_input_tokens',
    ),
    odd,
  );
  const report = fc
    .tuple(
      fc.dictionary(fc.constantFrom(...names), odd),
      fc.dictionary(
        fc.constantFrom('prompt_tokens_details', 'completion_tokens_details', 'input_tokens_details', 'cache_creation'),
        details,
      ),
    )
    .map(([flat, nested]) => ({ ...flat, ...nested }));

  test('pools are whole numbers within bounds, and a correction is told', () => {
    fc.assert(
      fc.property(report, (reported) => {
        for (const read of [readMessagesUsage, readChatUsage, readResponsesUsage]) {
          const reading = read(reported);
          for (const tokens of Object.values(reading?.usage ?? {})) {
            expect(Number.isInteger(tokens) && tokens >= 0 && tokens <= MAX_POOL_TOKENS).toBe(true);
          }
        }
      }),
    );
  });

  const pool = fc.nat(1_000_000);
  const pools = fc.record({ input: pool, cacheHit: pool, cacheWrite5m: pool, cacheWrite1h: pool, output: pool });

  test('pools survive the way through each protocol; the two that only sum writes keep the sum', () => {
    fc.assert(
      fc.property(pools, (usage) => {
        expect(readMessagesUsage(toMessagesUsage(usage))).toEqual({
          usage,
          unsplitWrites: 0,
          clamped: false,
          outputMissing: false,
        });
        const summed = { ...usage, cacheWrite5m: usage.cacheWrite5m + usage.cacheWrite1h, cacheWrite1h: 0 };
        const told = { usage: summed, unsplitWrites: summed.cacheWrite5m, clamped: false, outputMissing: false };
        expect(readChatUsage(toChatUsage(usage))).toMatchObject(told);
        expect(readResponsesUsage(toResponsesUsage(usage))).toMatchObject(told);
      }),
    );
  });

  test('reasoning is told where it is known', () => {
    const usage = { input: 40, cacheHit: 60, cacheWrite5m: 20, cacheWrite1h: 0, output: 10 };
    expect(toChatUsage(usage, 4)).toEqual({
      prompt_tokens: 120,
      completion_tokens: 10,
      total_tokens: 130,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 4 },
    });
    expect(toChatUsage(usage)).not.toHaveProperty('completion_tokens_details');
    expect(toResponsesUsage(usage, 4)).toMatchObject({ output_tokens_details: { reasoning_tokens: 4 } });
  });
});
