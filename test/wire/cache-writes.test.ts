import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { bytes, type Direction, exchange, relay, sse } from './dialogue/support.ts';

/** Writes that a vendor reports without saying how long they live cost what the request asked for at most. */

const NATIVE: Direction[] = (['messages', 'chat-completions', 'responses'] as const).map((protocol) => ({
  client: protocol,
  upstream: protocol,
}));
const C_TO_M: Direction = { client: 'chat-completions', upstream: 'messages' };

function asking(client: Protocol, ttl: string | null): Record<string, unknown> {
  const cache_control = ttl === null ? { type: 'ephemeral' } : { type: 'ephemeral', ttl };
  if (client === 'responses') return { prompt_cache_options: ttl === '1h' ? { ttl: '12h' } : {} };
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control }] }] };
}

const unsplit: Record<Protocol, Record<string, unknown>> = {
  messages: { input_tokens: 10, cache_creation_input_tokens: 9_000, output_tokens: 5 },
  'chat-completions': {
    prompt_tokens: 9_010,
    completion_tokens: 5,
    prompt_tokens_details: { cache_write_tokens: 9_000 },
  },
  responses: { input_tokens: 9_010, output_tokens: 5, input_tokens_details: { cache_write_tokens: 9_000 } },
};
const answers: Record<Protocol, Record<string, unknown>> = {
  messages: { content: [{ type: 'text', text: 'So' }], stop_reason: 'end_turn' },
  'chat-completions': { choices: [{ index: 0, message: { content: 'So' }, finish_reason: 'stop' }] },
  responses: { status: 'completed', output: [] },
};
const streams: Record<Protocol, (usage: unknown) => (string | Record<string, unknown>)[]> = {
  messages: (usage) => [
    { type: 'message_start', message: { content: [], usage } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ],
  'chat-completions': (usage) => [
    { choices: [{ index: 0, delta: { content: 'So' }, finish_reason: 'stop' }], usage },
    '[DONE]',
  ],
  responses: (usage) => [{ type: 'response.completed', response: { status: 'completed', output: [], usage } }],
};

describe.each([...NATIVE, C_TO_M])('unsplit writes: $client client, $upstream upstream', ({ client, upstream }) => {
  test.each([
    ['an hour', '1h', { cacheWrite5m: 0, cacheWrite1h: 9_000 }],
    ['five minutes', '5m', { cacheWrite5m: 9_000, cacheWrite1h: 0 }],
    ['nothing longer', null, { cacheWrite5m: 9_000, cacheWrite1h: 0 }],
  ])('where the request asks for %s', (_what, ttl, writes) => {
    const body = asking(client, ttl);
    const whole = exchange({ client, upstream }, body).reply({ ...answers[upstream], usage: unsplit[upstream] });
    expect(whole.account.usage).toMatchObject({ input: 10, ...writes });
    const stream = exchange({ client, upstream }, { ...body, stream: true }).stream();
    relay(stream, [bytes(sse(upstream, streams[upstream](unsplit[upstream])))]);
    expect(stream.account().usage).toMatchObject({ input: 10, ...writes });
  });
});

test("a vendor's own split stands, whatever was asked for", () => {
  const body = asking('messages', '1h');
  const native: Direction = { client: 'messages', upstream: 'messages' };
  const split = { ephemeral_5m_input_tokens: 8_000, ephemeral_1h_input_tokens: 1_000 };
  const usage = { ...unsplit['messages'], cache_creation: split };
  const { account } = exchange(native, body).reply({ ...answers['messages'], usage });
  expect(account.usage).toMatchObject({ cacheWrite5m: 8_000, cacheWrite1h: 1_000 });
});

test('what a translated client is told is what is charged', () => {
  const direction: Direction = { client: 'messages', upstream: 'chat-completions' };
  const reply = exchange(direction, asking('messages', '1h')).reply({
    ...answers['chat-completions'],
    usage: unsplit['chat-completions'],
  });
  const { usage } = JSON.parse(Buffer.from(reply.body).toString()) as { usage: Record<string, unknown> };
  expect(usage['cache_creation']).toEqual({ ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 9_000 });
  expect(reply.account.usage).toMatchObject({ cacheWrite5m: 0, cacheWrite1h: 9_000 });
});
