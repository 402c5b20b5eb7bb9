import { describe, expect, test } from 'vitest';
import {
  awkwardForms,
  bytes,
  C_TO_M,
  C_TO_R,
  type Direction,
  eventsOf,
  exchange,
  M_TO_C,
  M_TO_R,
  R_TO_C,
  R_TO_M,
  relay,
  sse,
  text,
} from './support.ts';

/** One upstream stream with everything in it, and exactly what the client gets. */
interface Golden {
  name: string;
  direction: Direction;
  body: Record<string, unknown>;
  upstream: string;
  client: unknown[];
}

// What upstreams send

const chatChunk = (delta: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up-1',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const chatUsage = { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 60 } };
const chatUpstream = sse('chat-completions', [
  chatChunk({ role: 'assistant', content: '' }),
  chatChunk({ reasoning_content: 'Hm…' }),
  chatChunk({ content: 'Grüß ' }),
  chatChunk({ content: 'Gott 🙂' }),
  chatChunk({
    tool_calls: [{ index: 0, id: 'f.look:0', type: 'function', function: { name: 'look', arguments: '' } }],
  }),
  chatChunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
  chatChunk({ tool_calls: [{ index: 0, function: { arguments: '1.0}' } }] }),
  chatChunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } }] }),
  chatChunk({}, { finish_reason: 'tool_calls' }),
  { ...chatChunk({}), choices: [], usage: chatUsage },
  '[DONE]',
]);

const block = (index: number, content_block: Record<string, unknown>) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, member: Record<string, unknown>) => ({
  type: 'content_block_delta',
  index,
  delta: member,
});
const stop = (index: number) => ({ type: 'content_block_stop', index });
const messageStart = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'up-1',
    content: [],
    usage: { input_tokens: 40, cache_read_input_tokens: 60, cache_creation_input_tokens: 20, output_tokens: 1 },
  },
};
const messagesUpstream = sse('messages', [
  messageStart,
  { type: 'ping' },
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'Hm…' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  stop(0),
  block(1, { type: 'text', text: '' }),
  delta(1, { type: 'text_delta', text: 'Grüß Gott 🙂' }),
  stop(1),
  block(2, { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '{"q":1}' }),
  stop(2),
  block(3, { type: 'tool_use', id: 'toolu_a', name: 'look', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '' }),
  delta(3, { type: 'input_json_delta', partial_json: '{"a":' }),
  delta(3, { type: 'input_json_delta', partial_json: '1.0}' }),
  stop(3),
  block(4, { type: 'tool_use', id: 'toolu_b', name: 'look', input: {} }),
  stop(4),
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 10 } },
  { type: 'message_stop' },
]);

const responsesUpstream = sse('responses', [
  {
    type: 'response.created',
    sequence_number: 0,
    response: { id: 'r', model: 'up-1', status: 'in_progress', output: [] },
  },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs', summary: [] } },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm…' },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 1, delta: 'Ah.' },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'Hm…' }] },
  },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { type: 'message', id: 'm', role: 'assistant', content: [] },
  },
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Grüß Gott 🙂' },
  { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'Grüß Gott 🙂' },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Grüß Gott 🙂' }] },
  },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { type: 'function_call', id: 'fc', call_id: 'call_a', name: 'look', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"a":' },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '1.0}' },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: { type: 'function_call', id: 'fc', call_id: 'call_a', name: 'look', arguments: '{"a":1.0}' },
  },
  {
    type: 'response.output_item.done',
    output_index: 3,
    item: { type: 'function_call', id: 'fd', call_id: 'call_b', name: 'look', arguments: '{}' },
  },
  {
    type: 'response.completed',
    response: {
      id: 'r',
      model: 'up-1',
      status: 'completed',
      output: [],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 4 },
      },
    },
  },
]);

// What clients get

const signature = expect.stringMatching(/^gw1\.[0-9a-f]{64}$/);
const zeros = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  inference_geo: null,
  speed: null,
};
const named = (event: { type: string; [member: string]: unknown }) => [event.type, event];
const messagesClient = (thinking: string, calls: [string, string[]][], usage: Record<string, unknown>) => [
  named({
    type: 'message_start',
    message: {
      id: 'msg_01',
      type: 'message',
      role: 'assistant',
      model: 'cat-1',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: zeros,
    },
  }),
  named({ type: 'ping' }),
  named(block(0, { type: 'thinking', thinking: '', signature: '' })),
  ...thinking.split('|').map((piece) => named(delta(0, { type: 'thinking_delta', thinking: piece }))),
  named(delta(0, { type: 'signature_delta', signature })),
  named(stop(0)),
  named(block(1, { type: 'text', text: '', citations: null })),
  expect.anything(),
  ...calls.flatMap(([id, pieces], ordinal) => [
    named(block(2 + ordinal, { type: 'tool_use', id, name: 'look', input: {} })),
    ...pieces.map((partial_json) => named(delta(2 + ordinal, { type: 'input_json_delta', partial_json }))),
    named(stop(2 + ordinal)),
  ]),
  named({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
    usage: { ...zeros, ...usage },
  }),
  named({ type: 'message_stop' }),
];

/** Text pieces stand where the upstream split them; this puts them in place of the placeholder. */
const withText = (events: unknown[], pieces: string[]) => {
  const at = events.findIndex((event) => !Array.isArray(event));
  const said = pieces.map((piece) => named(delta(1, { type: 'text_delta', text: piece })));
  return [...events.slice(0, at), ...said, named(stop(1)), ...events.slice(at + 1)];
};

const chatHead = {
  id: 'chatcmpl-01',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'cat-1',
};
const chunk = (member: Record<string, unknown>, finish_reason: string | null = null) => ({
  ...chatHead,
  choices: [{ index: 0, delta: member, logprobs: null, finish_reason }],
  usage: null,
});
const chatCall = (index: number, id: string) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'look', arguments: '' } }] });
const chatArguments = (index: number, piece: string) =>
  chunk({ tool_calls: [{ index, function: { arguments: piece } }] });

const responseHead = {
  id: 'resp_01',
  object: 'response',
  created_at: 1_700_000_000,
  background: false,
  error: null,
  incomplete_details: null,
  model: 'cat-1',
  previous_response_id: null,
  store: false,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  frequency_penalty: null,
  presence_penalty: null,
  parallel_tool_calls: true,
  reasoning: { effort: null, summary: null },
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
};
const part = (said: string) => ({ type: 'output_text', text: said, annotations: [], logprobs: [] });
const summary = (said: string) => ({ type: 'summary_text', text: said });
const responsesClient = (textPieces: string[], calls: [string, string[]][], usage: Record<string, unknown>) => {
  let sequence_number = 0;
  const event = (type: string, members: Record<string, unknown>) => [
    type,
    { type, sequence_number: sequence_number++, ...members },
  ];
  const begun = { ...responseHead, completed_at: null, status: 'in_progress', output: [], usage: null };
  const whole = textPieces.join('');
  const rs = { item_id: 'rs_01_0', output_index: 0 };
  const msg = { item_id: 'msg_01_1', output_index: 1 };
  const reasoningItem = { id: 'rs_01_0', type: 'reasoning', summary: [summary('Hm…')] };
  const messageItem = {
    id: 'msg_01_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [part(whole)],
  };
  const callItems = calls.map(([call_id, pieces], ordinal) => ({
    id: `fc_01_${2 + ordinal}`,
    type: 'function_call',
    status: 'completed',
    call_id,
    name: 'look',
    arguments: pieces.join(''),
  }));
  return [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    event('response.output_item.added', { output_index: 0, item: { ...reasoningItem, summary: [] } }),
    event('response.reasoning_summary_part.added', { ...rs, summary_index: 0, part: summary('') }),
    event('response.reasoning_summary_text.delta', { ...rs, summary_index: 0, delta: 'Hm…' }),
    event('response.reasoning_summary_text.done', { ...rs, summary_index: 0, text: 'Hm…' }),
    event('response.reasoning_summary_part.done', { ...rs, summary_index: 0, part: summary('Hm…') }),
    event('response.output_item.done', { output_index: 0, item: reasoningItem }),
    event('response.output_item.added', {
      output_index: 1,
      item: { ...messageItem, status: 'in_progress', content: [] },
    }),
    event('response.content_part.added', { ...msg, content_index: 0, part: part('') }),
    ...textPieces.map((piece) =>
      event('response.output_text.delta', { ...msg, content_index: 0, delta: piece, logprobs: [] }),
    ),
    event('response.output_text.done', { ...msg, content_index: 0, text: whole, logprobs: [] }),
    event('response.content_part.done', { ...msg, content_index: 0, part: part(whole) }),
    event('response.output_item.done', { output_index: 1, item: messageItem }),
    ...calls.flatMap(([, pieces], ordinal) => {
      const item = callItems[ordinal] as Record<string, unknown>;
      const at = { item_id: item.id, output_index: 2 + ordinal };
      return [
        event('response.output_item.added', {
          output_index: 2 + ordinal,
          item: { ...item, status: 'in_progress', arguments: '' },
        }),
        ...pieces.map((piece) => event('response.function_call_arguments.delta', { ...at, delta: piece })),
        event('response.function_call_arguments.done', { ...at, arguments: pieces.join('') }),
        event('response.output_item.done', { output_index: 2 + ordinal, item }),
      ];
    }),
    event('response.completed', {
      response: {
        ...responseHead,
        completed_at: responseHead.created_at,
        status: 'completed',
        output: [reasoningItem, messageItem, ...callItems],
        usage,
      },
    }),
  ];
};

const stream = { stream: true };
const chatStream = { stream: true, stream_options: { include_usage: true } };
const goldens: Golden[] = [
  {
    name: 'chat completions upstream, messages client (51, 52)',
    direction: M_TO_C,
    body: stream,
    upstream: chatUpstream,
    client: withText(
      messagesClient(
        'Hm…',
        [
          ['toolu_gw_Zi5sb29rOjA', ['{"a":', '1.0}']],
          ['b', ['{}']],
        ],
        { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 10 },
      ),
      ['Grüß ', 'Gott 🙂'],
    ),
  },
  {
    name: 'messages upstream, chat completions client (60)',
    direction: C_TO_M,
    body: chatStream,
    upstream: messagesUpstream,
    client: [
      chunk({ role: 'assistant', content: '' }),
      ': ping',
      chunk({ reasoning_content: 'Hm…' }),
      chunk({ content: 'Grüß Gott 🙂' }),
      chatCall(0, 'toolu_a'),
      chatArguments(0, '{"a":'),
      chatArguments(0, '1.0}'),
      chatCall(1, 'toolu_b'),
      chatArguments(1, '{}'),
      chunk({}, 'tool_calls'),
      {
        ...chatHead,
        choices: [],
        usage: {
          prompt_tokens: 120,
          completion_tokens: 10,
          total_tokens: 130,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
        },
      },
      '[DONE]',
    ],
  },
  {
    name: 'chat completions upstream, responses client',
    direction: R_TO_C,
    body: stream,
    upstream: chatUpstream,
    client: responsesClient(
      ['Grüß ', 'Gott 🙂'],
      [
        ['f.look:0', ['{"a":', '1.0}']],
        ['b', ['{}']],
      ],
      {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 110,
      },
    ),
  },
  {
    name: 'messages upstream, responses client',
    direction: R_TO_M,
    body: stream,
    upstream: messagesUpstream.replace('event: ping\ndata: {"type":"ping"}\n\n', ''),
    client: responsesClient(
      ['Grüß Gott 🙂'],
      [
        ['toolu_a', ['{"a":', '1.0}']],
        ['toolu_b', ['{}']],
      ],
      {
        input_tokens: 120,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 130,
      },
    ),
  },
  {
    name: 'responses upstream, messages client',
    direction: M_TO_R,
    body: stream,
    upstream: responsesUpstream,
    client: withText(
      messagesClient(
        'Hm…|\n\n|Ah.',
        [
          ['call_a', ['{"a":', '1.0}']],
          ['call_b', ['{}']],
        ],
        {
          input_tokens: 40,
          cache_read_input_tokens: 60,
          output_tokens: 10,
          output_tokens_details: { thinking_tokens: 4 },
        },
      ),
      ['Grüß Gott 🙂'],
    ),
  },
  {
    name: 'responses upstream, chat completions client',
    direction: C_TO_R,
    body: chatStream,
    upstream: responsesUpstream,
    client: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Hm…' }),
      chunk({ reasoning_content: '\n\n' }),
      chunk({ reasoning_content: 'Ah.' }),
      chunk({ content: 'Grüß Gott 🙂' }),
      chatCall(0, 'call_a'),
      chatArguments(0, '{"a":'),
      chatArguments(0, '1.0}'),
      chatCall(1, 'call_b'),
      chatArguments(1, '{}'),
      chunk({}, 'tool_calls'),
      {
        ...chatHead,
        choices: [],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 10,
          total_tokens: 110,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 4 },
        },
      },
      '[DONE]',
    ],
  },
];

describe.each(goldens)('$name', ({ direction, body, upstream, client }) => {
  test('exactly these events', () => {
    const relayed = exchange(direction, body).stream();
    expect(eventsOf(relay(relayed, [bytes(upstream)]))).toEqual(client);
    expect(relayed.state).toBe('terminated');
    expect(relayed.account()).toMatchObject({ clamped: false, partial: false, model: 'up-1' });
  });

  test('the same bytes however the stream is cut and spelled', () => {
    const exchanged = exchange(direction, body);
    const expected = relay(exchanged.stream(), [bytes(upstream)]);
    for (const [form, pieces] of awkwardForms(upstream)) {
      expect({ form, out: relay(exchanged.stream(), pieces) }).toEqual({ form, out: expected });
    }
  });

  test('every piece handed out is whole events', () => {
    const relayed = exchange(direction, body).stream();
    for (const byte of bytes(upstream)) {
      const out = text(relayed.write(Uint8Array.of(byte)));
      expect(out === '' || out.endsWith('\n\n')).toBe(true);
    }
  });

  test("comments are signs of life in the client's protocol, and none before the answer begins", () => {
    const relayed = exchange(direction, body).stream();
    const comment = bytes(': PROCESSING\n\n');
    expect(text(relayed.write(comment))).toBe('');
    expect(relayed.state).toBe('waiting');
    const first = upstream.indexOf('\n\n') + 2;
    relayed.write(bytes(upstream.slice(0, first)));
    expect(relayed.state).toBe('open');
    expect(text(relayed.write(comment))).toBe(text(relayed.keepAlive));
    expect(text(relayed.write(bytes('data:\n\n')))).toBe(text(relayed.keepAlive));
    expect(text(relayed.keepAlive)).toBe(
      direction.client === 'messages' ? 'event: ping\ndata: {"type":"ping"}\n\n' : ': ping\n\n',
    );
  });

  test('after the terminator nothing follows', () => {
    const relayed = exchange(direction, body).stream();
    relay(relayed, [bytes(upstream)]);
    expect(text(relayed.write(bytes(upstream)))).toBe('');
    expect(text(relayed.stop({ reason: 'budget' }))).toBe('');
  });
});
