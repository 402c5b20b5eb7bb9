import { describe, expect, test } from 'vitest';
import { UnreadableReply } from '../../../server/wire/protocol.ts';
import {
  C_TO_M,
  C_TO_R,
  DIRECTIONS,
  type Direction,
  exchange,
  M_TO_C,
  M_TO_R,
  R_TO_C,
  R_TO_M,
  replied,
} from './support.ts';

/** Unstreamed answers in another protocol than the upstream’s. */

const call = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});
const chatAnswer = {
  id: 'x',
  object: 'chat.completion',
  model: 'up-1',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Grüß Gott',
        reasoning_content: 'Hm.',
        tool_calls: [call('functions.f:0', 'f', '{"big":12345678901234567890,"one":1.0}'), call('b', 'g', '')],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 60 } },
};
const messagesAnswer =
  '{"id":"m","type":"message","role":"assistant","model":"up-1","content":[' +
  '{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"xx"},' +
  '{"type":"text","text":"Grüß "},{"type":"text","text":"Gott","citations":[]},' +
  '{"type":"server_tool_use","id":"s","name":"web_search","input":{}},' +
  '{"type":"tool_use","id":"toolu_a","name":"f","input":{"big":12345678901234567890,"one":1.0}},' +
  '{"type":"tool_use","id":"toolu_b","name":"g","input":{}}],' +
  '"stop_reason":"tool_use","stop_sequence":null,' +
  '"usage":{"input_tokens":40,"cache_read_input_tokens":60,"cache_creation_input_tokens":20,"output_tokens":10}}';
const responsesAnswer = {
  id: 'r',
  object: 'response',
  model: 'up-1',
  status: 'completed',
  output: [
    { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'Hm.' }] },
    { type: 'web_search_call', id: 'ws', status: 'completed' },
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Grüß Gott', annotations: [] }],
    },
    { type: 'function_call', id: 'fc', call_id: 'call_a', name: 'f', arguments: '{"one":1.0}' },
  ],
  usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 10 },
};

describe('whole answers', () => {
  test('calls to which the vendor gave the same id are told apart', () => {
    const tool_calls = [call('a', 'f', '{"x":1}'), call('a', 'f', '{"x":2}')];
    const message = { role: 'assistant', content: null, tool_calls };
    const answer = { ...chatAnswer, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    expect(replied(M_TO_C, answer).content).toMatchObject([
      { id: 'a', input: { x: 1 } },
      { id: 'a_2', input: { x: 2 } },
    ]);
  });

  test('51 52 56 chat completions upstream, messages client', () => {
    const { body } = exchange(M_TO_C).reply(chatAnswer);
    const whole = new TextDecoder().decode(body);
    expect(whole).toContain('"input":{"big":12345678901234567890,"one":1.0}');
    expect(JSON.parse(whole)).toEqual({
      id: 'msg_01',
      type: 'message',
      role: 'assistant',
      model: 'cat-1',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: expect.stringMatching(/^gw1\.[0-9a-f]{64}$/) },
        { type: 'text', text: 'Grüß Gott', citations: null },
        { type: 'tool_use', id: 'toolu_gw_ZnVuY3Rpb25zLmY6MA', name: 'f', input: expect.anything() },
        { type: 'tool_use', id: 'b', name: 'g', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: 40,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 60,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 10,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: null,
        inference_geo: null,
        speed: null,
      },
    });
  });

  test('56 60 messages upstream, chat completions client', () => {
    expect(replied(C_TO_M, messagesAnswer)).toEqual({
      id: 'chatcmpl-01',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'cat-1',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Grüß Gott',
            refusal: null,
            reasoning_content: 'Hm.',
            tool_calls: [call('toolu_a', 'f', '{"big":12345678901234567890,"one":1.0}'), call('toolu_b', 'g', '{}')],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 120,
        completion_tokens: 10,
        total_tokens: 130,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
      },
    });
  });

  test.each([
    ['chat completions', R_TO_C, chatAnswer, ['functions.f:0', 'b']],
    ['messages', R_TO_M, messagesAnswer, ['toolu_a', 'toolu_b']],
  ])('%s upstream, responses client', (_name, direction, answer, ids) => {
    const response = replied(direction, answer, { instructions: 'Be brief.', temperature: 0.5, max_output_tokens: 9 });
    expect(response).toMatchObject({
      id: 'resp_01',
      object: 'response',
      status: 'completed',
      incomplete_details: null,
      error: null,
      instructions: 'Be brief.',
      temperature: 0.5,
      max_output_tokens: 9,
      model: 'cat-1',
      store: false,
      usage: { output_tokens: 10, input_tokens_details: { cached_tokens: 60 } },
    });
    expect(response.output[0]).toEqual({
      id: 'rs_01_0',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
    });
    const calls = response.output.filter(({ type }: { type: string }) => type === 'function_call');
    expect(calls.map(({ call_id }: { call_id: string }) => call_id)).toEqual(ids);
    expect(calls[0].arguments).toBe('{"big":12345678901234567890,"one":1.0}');
    const said = response.output.filter(({ type }: { type: string }) => type === 'message');
    expect(said.map(({ content }: { content: { text: string }[] }) => content[0]?.text).join('')).toBe('Grüß Gott');
  });

  test('responses upstream', () => {
    expect(replied(M_TO_R, responsesAnswer)).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Grüß Gott' },
        { type: 'tool_use', id: 'call_a', name: 'f', input: { one: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 40, cache_read_input_tokens: 60 },
    });
    expect(replied(C_TO_R, responsesAnswer).choices[0]).toMatchObject({
      message: { content: 'Grüß Gott', reasoning_content: 'Hm.', tool_calls: [call('call_a', 'f', '{"one":1.0}')] },
      finish_reason: 'tool_calls',
    });
  });

  test('the account says what was generated, whatever the client protocol shows', () => {
    for (const direction of DIRECTIONS) {
      const answer = { 'chat-completions': chatAnswer, messages: messagesAnswer, responses: responsesAnswer }[
        direction.upstream
      ];
      const { account } = exchange(direction).reply(answer);
      expect(account).toMatchObject({
        usage: { cacheHit: 60, output: 10 },
        clamped: false,
        partial: false,
        model: 'up-1',
      });
      expect(account.outputBytes).toBeGreaterThan(20);
    }
  });
});

const chat = (message: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
});

describe('unusual answers', () => {
  const cases: [string, unknown, Record<string, unknown>][] = [
    ['an empty answer', chat({ content: '' }), { content: [], stop_reason: 'end_turn' }],
    ['no finish reason', chat({ content: 'x' }, { finish_reason: null }), { stop_reason: 'end_turn' }],
    [
      'a call although it says stop',
      chat({ content: null, tool_calls: [call('a', 'f', '{}')] }),
      { stop_reason: 'tool_use' },
    ],
    [
      'a refusal',
      chat({ content: null, refusal: 'No.' }),
      {
        content: [{ type: 'text', text: 'No.', citations: null }],
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: null, explanation: null },
      },
    ],
    [
      'arguments cut at the token limit',
      chat({ tool_calls: [call('a', 'f', '{"x": "unf')] }, { finish_reason: 'length' }),
      {
        content: [{ type: 'tool_use', id: 'a', name: 'f', input: { _invalid_arguments: '{"x": "unf' } }],
        stop_reason: 'max_tokens',
      },
    ],
    [
      'a call without id',
      chat({ tool_calls: [call('', 'f', '{}')] }),
      { content: [{ type: 'tool_use', id: 'call_01_0', name: 'f', input: {} }] },
    ],
    [
      'content as parts',
      chat({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
      { content: [{ text: 'a' }, { text: 'b' }] },
    ],
    [
      'a stop sequence',
      chat({ content: 'x' }, { stop_reason: 'END' }),
      { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    ],
    [
      'usage in the choice',
      chat({ content: 'x' }, { usage: { prompt_tokens: 3, completion_tokens: 2 } }),
      { usage: { input_tokens: 3, output_tokens: 2 } },
    ],
    ['no usage', chat({ content: 'x' }), { usage: { input_tokens: 0, output_tokens: 0 } }],
  ];
  test.each(cases)('chat: %s', (_name, answer, expected) => {
    expect(replied(M_TO_C, answer)).toMatchObject(expected);
  });

  test('usage that is missing is missing for the client, and null in the account', () => {
    const reply = exchange(C_TO_M).reply({ type: 'message', content: [], stop_reason: 'end_turn' });
    expect(JSON.parse(new TextDecoder().decode(reply.body))).not.toHaveProperty('usage');
    expect(reply.account.usage).toBeNull();
  });

  test('messages: a refusal with its explanation', () => {
    const answer = { content: [], stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'Not this.' } };
    expect(replied(C_TO_M, answer).choices[0]).toMatchObject({
      message: { content: '', refusal: 'Not this.' },
      finish_reason: 'content_filter',
    });
    expect(replied(R_TO_M, answer)).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'Not this.' }] }],
    });
  });

  test.each([
    [{ stop_reason: 'max_tokens' }, 'incomplete', { reason: 'max_output_tokens' }],
    [{ stop_reason: 'refusal' }, 'incomplete', { reason: 'content_filter' }],
    [{ stop_reason: 'end_turn' }, 'completed', null],
  ])('messages %j for a responses client', (ending, status, incomplete_details) => {
    expect(replied(R_TO_M, { content: [], ...ending })).toMatchObject({ status, incomplete_details });
  });

  test.each([
    ['max_output_tokens', 'length', 'max_tokens'],
    ['content_filter', 'content_filter', 'refusal'],
  ])('responses: incomplete for %s', (reason, finish_reason, stop_reason) => {
    const answer = { status: 'incomplete', incomplete_details: { reason }, output: [] };
    expect(replied(C_TO_R, answer).choices[0].finish_reason).toBe(finish_reason);
    expect(replied(M_TO_R, answer).stop_reason).toBe(stop_reason);
  });

  test('reasoning is not shown to a client that asked for it to be omitted, and is still signed', () => {
    const thinking = { type: 'adaptive', display: 'omitted' };
    const { content } = replied(M_TO_C, chatAnswer, { thinking });
    expect(content[0]).toEqual({ type: 'thinking', thinking: '', signature: expect.stringMatching(/^gw1\./) });
  });

  const unreadable: [Direction, unknown][] = [
    [M_TO_C, '<html>'],
    [M_TO_C, '[]'],
    [M_TO_C, '{}'],
    [M_TO_C, { choices: [] }],
    [M_TO_C, { choices: [{ message: null }] }],
    [M_TO_C, chat({ content: 'x' }, { finish_reason: 'error' })],
    [M_TO_C, chat({ tool_calls: [{ id: 'a', function: { arguments: '{}' } }] })],
    [C_TO_M, '{}'],
    [C_TO_M, { type: 'error', error: { type: 'api_error', message: 'x' } }],
    [C_TO_R, { status: 'failed', output: [], error: { code: 'server_error', message: 'x' } }],
    [C_TO_R, '7'],
    [M_TO_C, '['.repeat(200_000) + ']'.repeat(200_000)],
  ];
  test.each(unreadable)('$upstream upstream: what is no answer is told apart (%#)', (direction, answer) => {
    expect(() => exchange(direction).reply(answer)).toThrow(UnreadableReply);
  });
});
