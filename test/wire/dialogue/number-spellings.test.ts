import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../../server/core/protocol.ts';
import { bytes, DIRECTIONS, exchange, relay, text } from './support.ts';

/**
 * JSON has many spellings of one number, and vendors in many languages write them: whatever stands for a count, an index,
 * a time or a status means the same in each. Only the arguments of tools keep theirs.
 */
const SPELLINGS: Record<string, (value: number) => string> = {
  'one decimal': (value) => `${value}.0`,
  'many decimals': (value) => `${value}.${'0'.repeat(20)}`,
  exponent: (value) => `${value}e0`,
  'large exponent sign': (value) => `${value}E+00`,
  'negative exponent': (value) => (value === 0 ? '0e-1' : `${value}0e-1`),
  scientific: (value) => (value === 0 ? '0e5' : value.toExponential()),
  'negative zero': (value) => (value === 0 ? '-0' : String(value)),
};

/** The value as JSON with every number spelled so, but those that a tool is called with. */
function spelled(value: unknown, spell: (value: number) => string): string {
  if (typeof value === 'number') return spell(value);
  if (Array.isArray(value)) return `[${value.map((item) => spelled(item, spell)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => {
    const own = name === 'input' || name === 'arguments';
    return `${JSON.stringify(name)}:${own ? JSON.stringify(member) : spelled(member, spell)}`;
  });
  return `{${members.join(',')}}`;
}

const chatUsages = [
  {
    prompt_tokens: 9_000,
    completion_tokens: 40,
    total_tokens: 9_070,
    prompt_tokens_details: {
      cached_tokens: 5_000,
      cache_write_tokens: 200,
      cache_write_tokens_details: { ttl_30m_tokens: 80, ttl_12h_tokens: 120 },
    },
    completion_tokens_details: { reasoning_tokens: 30 },
  },
  { prompt_tokens: 9_000, completion_tokens: 40, prompt_cache_hit_tokens: 5_000, prompt_cache_miss_tokens: 4_000 },
  { prompt_tokens: 9_000, completion_tokens: 40, cached_tokens: 5_000, reasoning_tokens: 10, total_tokens: 9_050 },
  { prompt_tokens: 9_000, completion_tokens: 40, num_cached_tokens: 5_000 },
  { prompt_tokens: 9_000, completion_tokens: 40, prompt_token_details: { cached_tokens: 5_000 } },
  { prompt_tokens: 9_000, completion_tokens: 40, cache_read_input_tokens: 100, cache_creation_input_tokens: 200 },
  { prompt_tokens: 9_000, completion_tokens: 40, prompt_tokens_details: { cache_creation_input_tokens: 200 } },
  { prompt_tokens: 9_000, completion_tokens: 40, prompt_tokens_details: { cache_creation_tokens: 200 } },
  { prompt_tokens: 9_000, completion_tokens: 40, cache_creation_tokens: 200 },
  { prompt_tokens: 100, total_tokens: 140 },
];
const responsesUsage = {
  input_tokens: 9_000,
  input_tokens_details: {
    cached_tokens: 5_000,
    cache_write_tokens: 200,
    cache_write_tokens_details: { ttl_12h_tokens: 50 },
  },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 30 },
  total_tokens: 9_040,
};
const messagesUsage = {
  input_tokens: 10,
  cache_read_input_tokens: 5_000,
  cache_creation_input_tokens: 200,
  cache_creation: { ephemeral_5m_input_tokens: 80, ephemeral_1h_input_tokens: 120 },
  output_tokens: 40,
  output_tokens_details: { thinking_tokens: 30 },
  server_tool_use: { web_search_requests: 0 },
  iterations: [
    { type: 'compaction', input_tokens: 7, output_tokens: 3 },
    { type: 'message', input_tokens: 3, output_tokens: 37, cache_read_input_tokens: 5_000 },
  ],
};
const input = { big: 3, nested: [0, 100] };

const call = { type: 'function', function: { name: 'f', arguments: '{"x":1}' } };
const chatChoice = (index: number) => ({
  index,
  message: { role: 'assistant', content: 'So', reasoning_content: 'Hm', tool_calls: [{ index: 0, id: 'a', ...call }] },
  logprobs: { content: [{ token: 'So', logprob: 0 }] },
  finish_reason: 'tool_calls',
  stop_reason: 151_643,
});
const chat = (usage: unknown) => ({
  id: 'x',
  created: 1_700_000_000,
  model: 'm',
  choices: [chatChoice(1), chatChoice(0)],
  usage,
});

const WHOLE: Record<Protocol, unknown[]> = {
  'chat-completions': [
    ...chatUsages.map(chat),
    { model: 'm', choices: [chatChoice(0)], x_groq: { usage: chatUsages[0] } },
    { model: 'm', choices: [{ ...chatChoice(0), usage: chatUsages[0] }] },
  ],
  messages: [
    {
      type: 'message',
      model: 'm',
      content: [
        { type: 'text', text: 'So', citations: [{ start_char_index: 0, end_char_index: 2 }] },
        { type: 'tool_use', id: 'a', name: 'f', input },
      ],
      stop_reason: 'tool_use',
      usage: messagesUsage,
    },
  ],
  responses: [
    {
      created_at: 1_700_000_000,
      model: 'm',
      status: 'completed',
      output: [
        { type: 'message', content: [{ type: 'output_text', text: 'So', annotations: [{ start_index: 0 }] }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
      ],
      usage: responsesUsage,
    },
  ],
};

const chunk = (delta: unknown, more: object = {}) => ({
  id: 'x',
  created: 1_700_000_000,
  model: 'm',
  choices: [{ index: 0, delta, ...more }],
});
const STREAMS: Record<Protocol, Record<string, unknown>[]> = {
  'chat-completions': [
    { ...chunk({ role: 'assistant', content: 'So' }), usage: chatUsages[1] },
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
    chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: input } }] }),
    { model: 'm', choices: [{ index: 1, delta: { content: 'another answer' } }] },
    chunk({}, { finish_reason: 'tool_calls' }),
    { model: 'm', choices: [], usage: chatUsages[0] },
  ],
  messages: [
    { type: 'message_start', message: { model: 'm', content: [], usage: messagesUsage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"x":1}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'b', name: 'g', input } },
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: messagesUsage },
    { type: 'message_stop' },
  ],
  responses: [
    { type: 'response.created', sequence_number: 0, response: { model: 'm', created_at: 1_700_000_000 } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message' } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'So' },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message' } },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"x":1}' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
    },
    { type: 'response.completed', response: { model: 'm', status: 'completed', usage: responsesUsage } },
  ],
};

const PROTOCOLS = ['messages', 'chat-completions', 'responses'] as const;
const PAIRS = [...DIRECTIONS, ...PROTOCOLS.map((protocol) => ({ client: protocol, upstream: protocol }))];

function streamed(pair: (typeof PAIRS)[number], spell: (value: number) => string) {
  const events = STREAMS[pair.upstream].map((event) => {
    const name = pair.upstream === 'chat-completions' ? '' : `event: ${String(event['type'])}\n`;
    return `${name}data: ${spelled(event, spell)}\n\n`;
  });
  const done = pair.upstream === 'chat-completions' ? 'data: [DONE]\n\n' : '';
  const stream = exchange(pair, { stream: true }).stream();
  const shown = relay(stream, [bytes(events.join('') + done)]);
  return { shown, state: stream.state, account: stream.account() };
}

describe.each(PAIRS)('every number of an answer in every spelling: $upstream upstream, $client client', (pair) => {
  const isNative = pair.client === pair.upstream;

  test.each(Object.keys(SPELLINGS))('whole, %s', (spelling) => {
    for (const answer of WHOLE[pair.upstream]) {
      const [plain, odd] = [String, SPELLINGS[spelling] ?? String].map((spell) =>
        exchange(pair).reply(spelled(answer, spell)),
      );
      expect(odd?.account).toEqual(plain?.account);
      expect(odd?.account.usage).not.toBeNull();
      expect(odd?.account.clamped).toBe(false);
      // Natively the vendor's own spelling goes to the client.
      const [shown, expected] = [odd, plain].map((reply) => (isNative ? '' : text(reply?.body ?? bytes(''))));
      expect(shown).toBe(expected);
    }
  });

  test.each(Object.keys(SPELLINGS))('streamed, %s', (spelling) => {
    const plain = streamed(pair, String);
    const odd = streamed(pair, SPELLINGS[spelling] ?? String);
    expect(odd.state).toBe('terminated');
    expect(odd.account).toEqual(plain.account);
    expect(isNative ? '' : odd.shown).toBe(isNative ? '' : plain.shown);
  });
});
