import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { errorEnvelope, errorEvent, statusOfError } from '../../server/wire/envelope.ts';
import { UnreadableReply } from '../../server/wire/protocol.ts';
import { exchangeWith } from './fixtures.ts';

/** Unstreamed native answers: only the model’s name is written anew. */

function reply(protocol: Protocol, body: unknown, upstreamModel = 'big-1') {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const { body: out, account } = exchangeWith(protocol, {}, { upstreamModel }).reply(bytes);
  return { text: Buffer.from(out).toString(), same: out === bytes, account };
}

const whole: Record<Protocol, Record<string, unknown>> = {
  messages: {
    id: 'msg_1',
    type: 'message',
    model: 'up-1',
    content: [
      { type: 'text', text: 'hello' },
      { type: 'tool_use', id: 't', name: 'n', input: { model: 'up-1' } },
    ],
    usage: { input_tokens: 10, output_tokens: 5 },
  },
  'chat-completions': {
    id: 'chatcmpl-1',
    model: 'up-1',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'hello', reasoning_content: 'hm' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  },
  responses: {
    id: 'resp_1',
    model: 'up-1',
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'hello' }] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  },
};
const protocols = Object.keys(whole) as Protocol[];

describe('a whole answer', () => {
  test.each(protocols)('%s: passes as the very bytes, and is read', (protocol) => {
    const { same, account } = reply(protocol, whole[protocol]);
    expect(same).toBe(true);
    expect(account).toMatchObject({
      usage: { input: 10, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 5 },
      clamped: false,
      partial: false,
      model: 'up-1',
    });
    expect(account.outputBytes).toBeGreaterThanOrEqual(5);
    expect(account.outputPieces).toBeGreaterThanOrEqual(1);
  });

  test.each(protocols)('%s: only its model changes where the upstream has another id for it', (protocol) => {
    const odd = JSON.stringify({ n: 777, ...whole[protocol] }).replace('777', '[12345678901234567890, 1.0 ,-0]');
    expect(reply(protocol, odd, 'up-1').text).toBe(odd.replace('"up-1"', '"big-1"'));
  });

  test.each(protocols)('%s: without usage, or with usage nobody can read, there is none', (protocol) => {
    for (const usage of [undefined, null, {}, 'x', { tokens: 5 }]) {
      expect(reply(protocol, { ...whole[protocol], usage }).account.usage).toBeNull();
    }
  });

  test.each(protocols)('%s: what the protocol does not promise is no answer', (protocol) => {
    for (const body of [
      '',
      '<html>',
      'null',
      '[]',
      '{}',
      '{"error":{"message":"x"}}',
      JSON.stringify(whole[protocol]).slice(0, -1),
    ]) {
      expect(() => reply(protocol, body)).toThrow(UnreadableReply);
    }
  });
});

const passed = (text: string, requestId = 'ours') => {
  const found = exchangeWith('messages', {}, { requestId }).error(400, Buffer.from(text));
  return found === null ? null : Buffer.from(found.body).toString();
};

describe("an upstream's own refusal", () => {
  test.each([
    '{"type":"error", "error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
    '{"error":{"message":"user_location: unknown key org_chart, tool call toolu_01A09q90qw90lq917835lq9 not found","code":null}}',
    '{"detail":[{"loc":["body"],"msg":"x","n":1.0}]}',
  ])('passes byte for byte: %s', (text) => {
    expect(passed(text, 'ours')).toBe(text);
  });

  test.each([
    [
      '{"error":{"message":"limit for org-AbCdEfGhIjKlMnOpQrStUvWx in project proj_a1b2c3"}}',
      '{"error":{"message":"limit for org-redacted in project proj-redacted"}}',
    ],
    [
      '{"type":"error","error":{"message":"x"},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}',
      '{"type":"error","error":{"message":"x"},"request_id":"ours"}',
    ],
    [
      '{"error":{"message":"x (request ID req_011CSHoEeqs5C35K2UUqR7Fy)"}}',
      '{"error":{"message":"x (request ID ours)"}}',
    ],
    [
      '{"error":{"message":"organization 3f8a9b2c-1d4e-4f6a-8b7c-9d0e1f2a3b4c is not allowed"}}',
      '{"error":{"message":"organization redacted is not allowed"}}',
    ],
    ['{"error":{"message":"key sk-proj-abc***xyz12345 is wrong"}}', '{"error":{"message":"key sk-redacted is wrong"}}'],
  ])("loses what identifies the operator's account: %s", (text, expected) => {
    expect(passed(text, 'ours')).toBe(expected);
  });

  test('is JSON or nothing', () => {
    for (const text of ['', '<html>bad</html>', 'null', '[]', '{}', '{"error"']) expect(passed(text)).toBeNull();
    expect(exchangeWith('chat-completions').error(422, Buffer.from('{"error":"x"}'))).toMatchObject({
      status: 422,
      contentType: 'application/json',
    });
  });
});

describe('our own errors', () => {
  test.each([
    [400, 'invalid_request_error', 'invalid_request_error', null],
    [401, 'authentication_error', 'invalid_request_error', 'invalid_api_key'],
    [402, 'billing_error', 'insufficient_quota', 'insufficient_quota'],
    [403, 'permission_error', 'permission_error', null],
    [404, 'not_found_error', 'invalid_request_error', null],
    [413, 'request_too_large', 'invalid_request_error', 'request_too_large'],
    [415, 'invalid_request_error', 'invalid_request_error', null],
    [429, 'rate_limit_error', 'rate_limit_error', 'rate_limit_exceeded'],
    [500, 'api_error', 'server_error', null],
    [501, 'not_supported', 'server_error', null],
    [502, 'api_error', 'server_error', null],
    [504, 'timeout_error', 'server_error', null],
    [529, 'overloaded_error', 'server_error', null],
  ])('%i', (status, messagesType, type, code) => {
    const facts = { status, message: 'Why.', requestId: 'r' };
    expect(errorEnvelope('messages', facts)).toEqual({
      type: 'error',
      error: { type: messagesType, message: 'Why.' },
      request_id: 'r',
    });
    for (const protocol of ['chat-completions', 'responses'] as const) {
      expect(errorEnvelope(protocol, facts)).toEqual({ error: { message: 'Why.', type, param: null, code } });
    }
  });

  test('take their own words, fields and details', () => {
    const facts = {
      status: 402,
      message: 'Why.',
      type: 't',
      code: 'c',
      param: 'p',
      details: { error_code: 'x' },
      extra: { balance_usd: '0' },
    };
    expect(errorEnvelope('messages', facts)).toEqual({
      type: 'error',
      error: { type: 't', message: 'Why.', code: 'c', details: { error_code: 'x' }, balance_usd: '0' },
    });
    expect(errorEnvelope('chat-completions', facts)).toEqual({
      error: { message: 'Why.', type: 't', param: 'p', code: 'c', details: { error_code: 'x' }, balance_usd: '0' },
    });
  });

  test('as events of a stream', () => {
    const facts = { status: 502, message: 'Why.' };
    expect(errorEvent('messages', facts)).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Why."}}\n\n',
    );
    expect(errorEvent('chat-completions', facts)).toBe(
      'data: {"error":{"message":"Why.","type":"server_error","param":null,"code":null}}\n\n',
    );
    expect(errorEvent('responses', facts)).toBe(
      'event: error\ndata: {"type":"error","code":"server_error","message":"Why.","param":null,"sequence_number":0}\n\n',
    );
  });

  test.each([
    ['overloaded_error', null, 529],
    [null, 429, 429],
    [null, '503', 503],
    ['x', 'rate_limit_exceeded', 429],
    ['invalid_request_error', 'context_length_exceeded', 400],
    ['server_error', null, 500],
    [null, null, 500],
    [null, 200, 500],
  ])('type %j and code %j stand for %i', (type, code, status) => {
    expect(statusOfError(type, code)).toBe(status);
  });
});

test("each protocol has its path after an upstream's base address", () => {
  expect(protocols.map((protocol) => exchangeWith(protocol).path)).toEqual([
    '/v1/messages',
    '/chat/completions',
    '/responses',
  ]);
});
