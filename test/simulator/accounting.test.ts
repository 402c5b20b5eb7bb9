/** The simulator's token counts and prompt caches. */

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Segment } from '../../server/simulator/prompt.ts';
import { createPromptCache } from '../../server/simulator/prompt-cache.ts';
import type { Simulator } from '../../server/simulator/simulator.ts';
import { cutIntoTokens } from '../../server/simulator/tokens.ts';
import { fastSimulator } from './clients.ts';

let simulator: Simulator;
let anthropic: Anthropic;
let openai: OpenAI;
beforeAll(async () => {
  simulator = await fastSimulator();
  anthropic = new Anthropic({ apiKey: 'sk-test', baseURL: simulator.url, maxRetries: 0 });
  openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
});
afterAll(() => simulator.close());

/** Different for every test, because a simulator remembers prefixes. */
let serial = 0;
const longText = (): string => `${(serial += 1)} ${'Context that is long enough to be worth caching. '.repeat(60)}`;
const marked = (text: string, ttl?: '1h'): Anthropic.TextBlockParam => ({
  type: 'text',
  text,
  cache_control: ttl === undefined ? { type: 'ephemeral' } : { type: 'ephemeral', ttl },
});

describe('tokens', () => {
  it('of generated text join up to the text again', () => {
    for (const text of ['w0 w1 w2', 'Xin chào thế giới', '日本語のテキスト 👋🏽', '  {"a": [1,2]}\n\n\tend ', '']) {
      expect(cutIntoTokens(text).join('')).toBe(text);
    }
    expect(cutIntoTokens('w0 w10 w999')).toHaveLength(3);
    expect(cutIntoTokens('người Việt')).toHaveLength(2);
  });
});

describe('count_tokens', () => {
  it('tells what the usage will say', async () => {
    const request = {
      model: 'sim-large',
      system: [{ type: 'text' as const, text: longText() }],
      tools: [{ name: 'f', input_schema: { type: 'object' as const } }],
      messages: [
        {
          role: 'user' as const,
          content: [
            { type: 'text' as const, text: 'look' },
            {
              type: 'image' as const,
              source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'AAAA' },
            },
          ],
        },
      ],
    };
    const { input_tokens } = await anthropic.messages.countTokens(request);
    const message = await anthropic.messages.create({ ...request, max_tokens: 20 });
    expect(message.usage.input_tokens).toBe(input_tokens);
    const withoutImage = await anthropic.messages.countTokens({
      ...request,
      messages: [{ role: 'user', content: 'look' }],
    });
    expect(input_tokens - withoutImage.input_tokens).toBe(1_200);
  });

  it('never exceeds one token for three bytes of body text', async () => {
    const messages = [{ role: 'user' as const, content: longText() }];
    const { input_tokens } = await anthropic.messages.countTokens({ model: 'm', messages });
    expect(input_tokens).toBeLessThan(JSON.stringify({ model: 'm', messages }).length / 3);
  });
});

const ask = async (
  system: Anthropic.TextBlockParam[],
  text = 'ping',
  model = 'sim-large',
): Promise<Anthropic.Usage> => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: text }];
  return (await anthropic.messages.create({ model, max_tokens: 20, system, messages })).usage;
};

describe('caching on messages', () => {
  it('writes what is marked and reads it from then on', async () => {
    const system = [marked(longText())];
    const first = await ask(system);
    expect(first.cache_creation_input_tokens).toBeGreaterThan(500);
    expect(first.cache_read_input_tokens).toBe(0);
    const second = await ask(system, 'a different question');
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.cache_creation_input_tokens).toBe(0);
    expect(second.input_tokens).toBeLessThan(30);
  });

  it('neither writes nor reads without a marker', async () => {
    const text = longText();
    await ask([marked(text)]);
    const plain = await ask([{ type: 'text', text }]);
    expect(plain).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 });
  });

  it('splits writes by lifetime, and the split adds up', async () => {
    const usage = await ask([marked(longText(), '1h'), marked(longText())]);
    const { ephemeral_1h_input_tokens: hour = 0, ephemeral_5m_input_tokens: minutes = 0 } = usage.cache_creation ?? {};
    expect(hour).toBeGreaterThan(500);
    expect(minutes).toBeGreaterThan(500);
    expect(hour + minutes).toBe(usage.cache_creation_input_tokens);
  });

  it('reads the shared part and writes only what is new', async () => {
    const shared = marked(longText());
    const first = await ask([shared]);
    const second = await ask([shared, marked(longText())]);
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.cache_creation_input_tokens).toBeGreaterThan(500);
  });

  it('keeps models apart', async () => {
    const system = [marked(longText())];
    await ask(system);
    expect((await ask(system, 'ping', 'sim-small')).cache_read_input_tokens).toBe(0);
  });

  it('takes a marker on the whole request for one on its last block', async () => {
    const body = {
      model: 'sim-large',
      max_tokens: 20,
      cache_control: { type: 'ephemeral' as const },
      messages: [{ role: 'user' as const, content: longText() }],
    };
    const first = await anthropic.messages.create(body);
    const second = await anthropic.messages.create(body);
    expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(500);
    expect(second.usage).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: first.usage.cache_creation_input_tokens,
    });
  });

  it('reports the same input at the start and at the end of a stream', async () => {
    const system = [marked(longText())];
    const body = { model: 'm', max_tokens: 20, system, messages: [{ role: 'user' as const, content: '[[len 9]]' }] };
    const usages: { output_tokens: number; cache_creation_input_tokens: number | null }[] = [];
    for await (const event of await anthropic.messages.create({ ...body, stream: true })) {
      if (event.type === 'message_start') usages.push(event.message.usage);
      if (event.type === 'message_delta') usages.push(event.usage);
    }
    expect(usages[0]?.cache_creation_input_tokens).toBe(usages[1]?.cache_creation_input_tokens);
    expect(usages.map((usage) => usage.output_tokens)).toEqual([1, 9]);
  });
});

describe('caching on chat completions and responses', () => {
  it('needs no marker: a repeated prefix is cached, in steps, inside the prompt tokens', async () => {
    const text = longText();
    const ask = async (question: string): Promise<OpenAI.CompletionUsage | undefined> => {
      const messages = [
        { role: 'system' as const, content: text },
        { role: 'user' as const, content: question },
      ];
      return (await openai.chat.completions.create({ model: 'sim-large', messages })).usage;
    };
    const first = await ask('ping');
    expect(first?.prompt_tokens_details?.cached_tokens).toBe(0);
    const second = await ask('something else entirely');
    const cached = second?.prompt_tokens_details?.cached_tokens ?? 0;
    expect(cached).toBeGreaterThan(500);
    expect(cached % 64).toBe(0);
    expect(cached).toBeLessThan(second?.prompt_tokens ?? 0);
    expect(second?.total_tokens).toBe((second?.prompt_tokens ?? 0) + (second?.completion_tokens ?? 0));
  });

  it('names reasoning as part of the output', async () => {
    const usage = (await openai.responses.create({ model: 'm', input: '[[think a b c]] [[len 4]]' })).usage;
    expect(usage).toMatchObject({ output_tokens: 7, output_tokens_details: { reasoning_tokens: 3 } });
  });

  it('reads on responses what an earlier response had in front', async () => {
    const instructions = longText();
    const ask = (input: string): Promise<OpenAI.Responses.Response> =>
      openai.responses.create({ model: 'sim-large', instructions, input });
    await ask('ping');
    expect((await ask('and now')).usage?.input_tokens_details.cached_tokens).toBeGreaterThan(500);
  });
});

const segment = (text: string, mark: Segment['mark'] = null): Segment => ({ text, tokens: 10, mark });

const run = (length: number): Segment[] => Array.from({ length }, (_none, index) => segment(`s${index}`));

const upTo = (length: number): Segment[] => [...run(length - 1), segment(`s${length - 1}`, '5m')];

describe('the prompt cache', () => {
  it('forgets after five minutes, or after an hour, and a read starts the time anew', () => {
    let at = 0;
    const cache = createPromptCache({ now: () => at });
    const short = [segment('a', '5m')];
    const long = [segment('b', '1h')];
    cache.marked('m', short);
    cache.marked('m', long);
    at = 4 * 60_000;
    expect(cache.marked('m', short).cacheHit).toBe(10);
    at = 8 * 60_000;
    expect(cache.marked('m', short).cacheHit).toBe(10);
    at = 14 * 60_000;
    expect(cache.marked('m', short)).toMatchObject({ cacheHit: 0, cacheWrite5m: 10 });
    expect(cache.marked('m', long).cacheHit).toBe(10);
  });

  it('looks back twenty segments from a marker and no further', () => {
    const cache = createPromptCache({ now: () => 0 });
    cache.marked('m', upTo(5));
    expect(cache.marked('n', upTo(5)).cacheHit).toBe(0);
    expect(cache.marked('m', upTo(25)).cacheHit).toBe(50);
    cache.marked('o', upTo(5));
    expect(cache.marked('o', upTo(26)).cacheHit).toBe(0);
  });

  it('drops the oldest digests beyond its bound', () => {
    const cache = createPromptCache({ now: () => 0, limit: 2 });
    for (const text of ['a', 'b', 'c']) cache.marked('m', [segment(text, '5m')]);
    // Reading b makes c the oldest.
    expect(cache.marked('m', [segment('b', '5m')]).cacheHit).toBe(10);
    cache.marked('m', [segment('d', '5m')]);
    expect(cache.marked('m', [segment('b', '5m')]).cacheHit).toBe(10);
    expect(cache.marked('m', [segment('c', '5m')]).cacheHit).toBe(0);
  });

  it('charges no write again for marks that a hit covers, regardless of their lifetimes', () => {
    const cache = createPromptCache({ now: () => 0 });
    const segments = [segment('x', '1h'), segment('y', '5m'), segment('z')];
    cache.marked('m', segments);
    expect(cache.marked('m', segments)).toEqual({ input: 10, cacheHit: 20, cacheWrite5m: 0, cacheWrite1h: 0 });
  });

  it('always splits the input without remainder', () => {
    const cache = createPromptCache({ now: () => 0 });
    const segments = [segment('x', '1h'), segment('y', '5m'), segment('z')];
    for (const split of [cache.marked('m', segments), cache.marked('m', segments), cache.automatic('m', segments)]) {
      expect(split.input + split.cacheHit + split.cacheWrite5m + split.cacheWrite1h).toBe(30);
    }
  });
});
