import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spellMember } from '../../server/wire/member-path.ts';
import type { BodyKind } from '../../server/wire/members.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { isTold, isWithin, pathsIn, replaced, samples, valueAt } from '../wire/request-samples.ts';
import { errorOf, nativeCatalog } from './support.ts';

/** What a program reads of a refusal: the field at fault, in each protocol's envelope and at each address that takes a body. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer();
});
afterAll(() => app.close());

type Text = Exclude<BodyKind, 'embeddings' | 'images'>;

const addresses: Record<Text, { paths: string[]; model: string }> = {
  // Each model is answered by an upstream of another protocol.
  messages: { paths: ['/v1/messages', '/v1/messages/estimate'], model: 'only-chat' },
  'chat-completions': { paths: ['/v1/chat/completions', '/v1/chat/completions/estimate'], model: 'only-messages' },
  responses: { paths: ['/v1/responses', '/v1/responses/estimate'], model: 'only-chat' },
};

async function refusalOf(path: string, body: unknown) {
  const response = await fetch(app.baseUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${customer.secret}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
  if (response.status !== 400) {
    await response.text();
    return { status: response.status, param: '', message: '' };
  }
  const protocol = path.includes('messages') ? 'messages' : 'chat-completions';
  const { param, message } = await errorOf(response, protocol);
  // Anthropic's error object has no `param`: its sentence begins with the path.
  if (protocol === 'messages' && param !== undefined) throw new Error('not the envelope of messages');
  return { status: 400, param: protocol === 'messages' ? message.split(': ', 1)[0] : param, message };
}

describe.each(Object.keys(addresses) as Text[])('%s', (protocol) => {
  const { paths, model } = addresses[protocol];
  test.each(paths)('%s names every member that is refused', async (address) => {
    let named = 0;
    const astray: unknown[] = [];
    const [first = {}] = samples[protocol];
    // Answers of streams and the cap's own limits are not the subject.
    const sample = { ...first, model, ...('stream' in first ? { stream: false } : {}) };
    expect((await refusalOf(address, sample)).status).toBe(200);
    for (const path of pathsIn(sample)) {
      const at = spellMember(protocol, path);
      const value = valueAt(sample, path);
      const bad = typeof value === 'object' ? 'no-such-word' : { type: 'no-such-word' };
      const { status, param, message } = await refusalOf(address, replaced(sample, path, bad));
      if (status === 200) continue;
      if (status !== 400 || !isTold(param ?? '', at)) astray.push({ at, status, param, message });
      if (isWithin(param ?? '', at)) named += 1;
    }
    expect(astray).toEqual([]);
    expect(named).toBeGreaterThan(25);
  });
});

test('a mistyped member is told what may have been meant', async () => {
  const body = { model: 'only-messages', messages: [{ role: 'user', content: 'Hi' }], temperatur: 1 };
  const { param, message } = await refusalOf('/v1/chat/completions', body);
  expect(param).toBe('temperatur');
  expect(message).toMatch(/Did you mean temperature\?$/);
  const unlike = await refusalOf('/v1/chat/completions', { ...body, temperatur: undefined, rainbow: 1 });
  expect(unlike.message).toMatch(/no equivalent$/);
});

test('the count of tokens names what is wrong', async () => {
  const body = { model: 'only-chat', messages: [{ role: 'user', content: 'Hi' }, { role: 7 }] };
  expect((await refusalOf('/v1/messages/count_tokens', body)).param).toBe('messages.1.role');
});

test.each(['/v1/embeddings', '/v1/embeddings/estimate'])('%s names what is wrong', async (address) => {
  expect((await refusalOf(address, { model: 'only-chat', input: ['a', {}] })).param).toBe('input[1]');
  expect((await refusalOf(address, { model: 7, input: 'a' })).param).toBe('model');
  expect((await refusalOf(address, { model: 'only-chat', input: 'a', stream: true })).param).toBe('stream');
});

test.each([
  ['messages', '/v1/chat/completions', { model: 'only-messages', messages: [] }],
  ['input', '/v1/responses', { model: 'only-messages', input: [] }],
  ['input', '/v1/responses', { model: 'only-messages' }],
  ['max_tokens', '/v1/messages', { model: 'only-messages', messages: [{ role: 'user', content: 'Hi' }] }],
])('%s that says nothing is named at %s', async (param, address, body) => {
  expect((await refusalOf(address, body)).param).toBe(param);
});
