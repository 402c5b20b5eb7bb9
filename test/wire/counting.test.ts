import { describe, expect, test } from 'vitest';
import { featuresOf } from '../../server/catalog/features.ts';
import type { UpstreamFeatures } from '../../server/core/features.ts';
import { contextWith, dataEvents, exchangeWith, relayed } from './fixtures.ts';

/** Cached tokens are counted as the upstream's vendor counts them, natively and translated, whole and streamed. */

type Counting = UpstreamFeatures['cachedTokens'];

interface Counted {
  prompt: number;
  hit: number;
  write: number;
  total: number;
}

const completion = 10;

function usageOf({ prompt, hit, write, total }: Counted): Record<string, unknown> {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: hit, cache_write_tokens: write },
  };
}

/** What the same usage comes to, each way. */
function accounts(counts: Counted, cachedTokens: Counting): string[] {
  const context = contextWith();
  const features = { ...context.features, cachedTokens };
  const usage = usageOf(counts);
  const message = { role: 'assistant', content: 'ok' };
  const whole = { id: 'c', object: 'chat.completion', created: 1, model: 'big-1' };
  const answer = { ...whole, choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  const chunks = dataEvents(
    { ...whole, choices: [{ index: 0, delta: message, finish_reason: 'stop' }] },
    { ...whole, choices: [], usage },
    '[DONE]',
  );
  return (['chat-completions', 'messages', 'responses'] as const).flatMap((client) => {
    const plain = exchangeFor(client, {}, features).reply(Buffer.from(JSON.stringify(answer))).account;
    const stream = exchangeFor(client, { stream: true }, features).stream();
    relayed(stream, [chunks]);
    return [plain, stream.account()].map(
      ({ usage: pools, clamped }) =>
        `${pools?.input}/${pools?.cacheHit}/${pools?.cacheWrite5m}/${pools?.output}${clamped ? ' clamped' : ''}`,
    );
  });
}

function exchangeFor(
  client: 'chat-completions' | 'messages' | 'responses',
  members: Record<string, unknown>,
  features: UpstreamFeatures,
) {
  return exchangeWith(client, members, { features }, 'chat-completions');
}

const grok = { prompt: 100, hit: 60, write: 0, total: 110 };
const grokMostlyCached = { prompt: 100, hit: 600, write: 0, total: 110 };
const gemini = { prompt: 2168, hit: 2161, write: 2161, total: 2178 };
const geminiWithMore = { prompt: 5000, hit: 2161, write: 2161, total: 5010 };
const claude = { prompt: 10_000, hit: 8000, write: 1000, total: 10_010 };

describe('cached tokens', () => {
  test.each<[string, Counted, Counting, string]>([
    ['Grok at Azure: beside the prompt count', grok, 'beside', '100/60/0/10'],
    ['Grok at Azure, not known: within it', grok, null, '40/60/0/10'],
    ['more cached than sent, known to be beside: no contradiction', grokMostlyCached, 'beside', '100/600/0/10'],
    ['more cached than sent, not known', grokMostlyCached, null, '100/600/0/10 clamped'],
    // The vendor bills 7 new tokens, 2161 read and 2161 written.
    ['Gemini at OpenRouter: read and written again', gemini, 'overlapping', '7/2161/2161/10'],
    ['Gemini at OpenRouter, with room for both', geminiWithMore, 'overlapping', '2839/2161/2161/10'],
    ['Claude at OpenRouter: side by side', claude, 'overlapping', '1000/8000/1000/10'],
    ['known to be within', claude, 'within', '1000/8000/1000/10'],
  ])('%s', (_name, counts, counting, expected) => {
    expect(accounts(counts, counting)).toEqual(Array.from({ length: 6 }, () => expected));
  });

  test('the vendors that are known to count otherwise say so in their profiles', () => {
    expect(featuresOf('chat-completions', 'openrouter', {}).cachedTokens).toBe('overlapping');
    expect(featuresOf('chat-completions', 'azure', { cachedTokens: 'beside' }).cachedTokens).toBe('beside');
    expect(featuresOf('chat-completions', 'openai-gpt5', {}).cachedTokens).toBeNull();
  });
});
