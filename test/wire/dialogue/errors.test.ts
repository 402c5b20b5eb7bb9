import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../../server/core/protocol.ts';
import { wireFor } from '../../../server/wire/wires.ts';
import { opened } from '../fixtures.ts';
import { bytes, contextWith, factsOf, MINIMAL, text } from './support.ts';

/** Errors of an upstream in the client’s protocol. */

const CLIENT_UPSTREAM: Record<Protocol, Protocol> = {
  messages: 'chat-completions',
  'chat-completions': 'messages',
  responses: 'messages',
};

function errorFor(client: Protocol, status: number, body: unknown) {
  const raw = bytes(typeof body === 'string' ? body : JSON.stringify(body));
  const request = bytes(JSON.stringify(MINIMAL[client]));
  const context = { ...contextWith(), requestId: 'req_mine' };
  const wire = wireFor(client, CLIENT_UPSTREAM[client]);
  const error = opened(wire.request(request, factsOf(client, request), context)).error(status, raw);
  return error === null ? null : { status: error.status, body: JSON.parse(text(error.body)) };
}

const openai = (message: string, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param: 'messages', code },
});
const anthropic = (message: string, type = 'invalid_request_error') => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CTheirs00',
});

describe("an upstream's refusal in the client's envelope", () => {
  test('the sentence stays, the envelope changes', () => {
    expect(errorFor('messages', 400, openai('Bad image.'))).toEqual({
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'Bad image.' }, request_id: 'req_mine' },
    });
    expect(errorFor('chat-completions', 400, anthropic('messages.0: bad image'))).toEqual({
      status: 400,
      body: {
        error: { message: 'messages.0: bad image', type: 'invalid_request_error', param: 'messages', code: null },
      },
    });
    expect(errorFor('responses', 400, anthropic('messages.0: bad image'))?.body.error.param).toBe('input');
    expect(errorFor('responses', 400, anthropic('Bad image.'))?.body.error.param).toBeNull();
    expect(errorFor('chat-completions', 400, anthropic('temperature: too high'))?.body.error.param).toBeNull();
    expect(errorFor('messages', 422, openai('Bad.'))?.status).toBe(422);
    expect(errorFor('messages', 413, openai('Too big.'))?.body.error.type).toBe('request_too_large');
  });

  test.each([
    ['prompt is too long: 200001 tokens > 200000 maximum', 'prompt is too long: 200001 tokens > 200000 maximum'],
    ['Input is too long.', 'Input is too long.'],
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      "prompt is too long: This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    ],
    [
      'Your input exceeds the context window of this model.',
      'prompt is too long: Your input exceeds the context window of this model.',
    ],
  ])('73 an overflow is worded so that coding agents compact: %s', (said, expected) => {
    expect(errorFor('messages', 400, openai(said))?.body.error.message).toBe(expected);
  });

  test('73 an overflow is known by its code too, and is a 400 whatever its status was', () => {
    const error = errorFor('messages', 413, openai('Nope.', 'context_length_exceeded'));
    expect(error).toMatchObject({ status: 400, body: { error: { message: 'prompt is too long: Nope.' } } });
  });

  test.each(['chat-completions', 'responses'] as const)('73 %s clients get the code that they look for', (client) => {
    for (const said of [
      'prompt is too long: 200001 tokens > 200000 maximum',
      'input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000',
      'Input is too long.',
    ]) {
      expect(errorFor(client, 400, anthropic(said))?.body.error).toMatchObject({
        // Agents whose library hides the code from them look for words in the sentence.
        message: said.startsWith('input length') ? `prompt is too long: ${said}` : said,
        code: 'context_length_exceeded',
        // As OpenAI names it.
        param: client === 'responses' ? 'input' : 'messages',
      });
    }
  });

  test.each([
    [{ error: 'Just text.' }, 'Just text.'],
    [{ object: 'error', message: 'Flat.', type: 'BadRequestError', code: 400 }, 'Flat.'],
    [{ detail: 'Detailed.' }, 'Detailed.'],
    [
      { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing' }] },
      'body.messages.0: Field required',
    ],
    [[{ error: { code: 400, message: 'In a list.', status: 'INVALID_ARGUMENT' } }], 'In a list.'],
  ])("every vendor's form of error is read: %j", (body, message) => {
    expect(errorFor('messages', 400, body)?.body.error.message).toBe(message);
  });

  test("identifiers of the operator's account do not reach the client", () => {
    const { body } =
      errorFor('messages', 400, openai('Bad request req_0123456789abcdef for org-AbCdEf0123456789XyZ.')) ?? {};
    expect(JSON.stringify(body)).not.toMatch(/0123456789/);
    expect(body.error.message).toContain('req_mine');
  });

  test.each(['<html>502</html>', '', '[]', '{}', '"x"', '{"error":{}}', '{"error":{"message":""}}'])(
    'what is no error in any known form is none: %j',
    (body) => {
      expect(errorFor('messages', 400, body)).toBeNull();
    },
  );
});
