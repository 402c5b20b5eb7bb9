/** `estimate` of GraphQL: the answer of `POST …/estimate` for a key of one's own, and nothing for those of others. */

import { isFailure, orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPerson } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';

const entry = (id: string, kind: string): string =>
  `  - { id: ${id}, displayName: ${id}, family: tests, kind: ${kind}, contextWindow: 8192, maxOutputTokens: 1000, prices: { input: "1", cacheHit: "0", output: "2" }, routes: [{ upstream: played, model: ${id}, priority: 0 }] }`;
const catalog = (simulatorUrl: string): string => `upstreams:
  - { id: played, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }
models:
${[entry('talker', 'text'), entry('embedder', 'embedding')].join('\n')}`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog });
});
afterAll(() => app.close());

const text = 'How much is this? '.repeat(50);
const requests = {
  MESSAGES: ['/v1/messages', { max_tokens: 500, messages: [{ role: 'user', content: text }] }],
  CHAT_COMPLETIONS: [
    '/v1/chat/completions',
    { max_completion_tokens: 700, messages: [{ role: 'user', content: text }] },
  ],
  RESPONSES: ['/v1/responses', { max_output_tokens: 900, input: text }],
  EMBEDDINGS: ['/v1/embeddings', { input: text }],
} as const;

const askAddress = (path: string, secret: string, body: string): Promise<Response> =>
  fetch(`${app.baseUrl}${path}/estimate`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body,
  });

it.each(Object.keys(requests) as (keyof typeof requests)[])(
  'is equal to what the address of %s answers, and of nobody else’s key',
  async (format) => {
    const person = await createPerson(app);
    const stranger = await createPerson(app);
    const { key, secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'estimates' } }));
    const [path, content] = requests[format];
    const body = JSON.stringify({ model: format === 'EMBEDDINGS' ? 'embedder' : 'talker', ...content });
    const answer = await askAddress(path, secret, body);
    expect(answer.status).toBe(200);
    const beside = (await answer.json()) as Record<string, unknown>;
    const estimate = orThrow(await person.steyg.console.keys.estimate({ keyId: key.id, format, body }));
    expect(estimate).toMatchObject({
      model: beside['model'],
      inputTokens: beside['input_tokens'],
      hold: beside['hold_usd'],
      least: beside['least_usd'],
      most: beside['most_usd'],
    });
    expect(await stranger.steyg.console.keys.estimate({ keyId: key.id, format, body })).toMatchObject({
      code: 'NOT_FOUND',
    });
  },
);

it.each(Object.keys(requests) as (keyof typeof requests)[])(
  'is refused with the reason, the member and the sentence that the address of %s answers',
  async (format) => {
    const person = await createPerson(app);
    const { key, secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'estimates' } }));
    const [path, content] = requests[format];
    for (const wrong of [{ ...content, model: 'no-such-model' }, content, { ...content, model: 7 }]) {
      const body = JSON.stringify(wrong);
      const answer = await askAddress(path, secret, body);
      const { error } = (await answer.json()) as { error: { message: string; param?: string | null; code?: string } };
      const refused = await person.steyg.console.keys.estimate({ keyId: key.id, format, body });
      expect(isFailure(refused) && refused).toMatchObject({
        __typename: 'RequestRefusedError',
        code: 'REQUEST_REFUSED',
        status: answer.status,
        message: error.message,
        ...(error.code == null ? {} : { reason: error.code }),
        ...(error.param == null ? {} : { param: error.param }),
      });
    }
  },
);

/** A limit of requests per minute, which an estimate counts in. */
const keyOf = async (requestsPerMinute: number) => {
  const person = await createPerson(app);
  const input = { name: 'estimates', requestsPerMinute };
  const { key } = orThrow(await person.steyg.console.keys.createKey({ input }));
  const body = JSON.stringify({ model: 'talker', ...requests.MESSAGES[1] });
  return { person, ask: { keyId: key.id, format: 'MESSAGES' as const, body } };
};

it('counts as a request of the key’s minute', async () => {
  const { person, ask } = await keyOf(2);
  // Two of a minute are admitted, and no more than that in any minute.
  const answers: unknown[] = [];
  while (answers.length < 3) answers.push(await person.steyg.console.keys.estimate(ask));
  const refused = answers.filter((answer) => isFailure(answer));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ code: 'REQUEST_REFUSED', message: expect.stringMatching(/requests per minute/) });
});

it('is for those who manage keys: a token that only reads gets none, and spends nothing of the minute', async () => {
  const { person, ask } = await keyOf(1);
  const read = orThrow(
    await person.steyg.console.accounts.createAccessToken({ input: { name: 'reads', scopes: ['READ'] } }),
  );
  for (let i = 0; i < 3; i += 1) {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${read.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        query: `query ($keyId: ID!, $format: EstimateFormat!, $body: String!) {
          estimate(keyId: $keyId, format: $format, body: $body) { __typename ... on Error { code } } }`,
        variables: ask,
      }),
    });
    expect(await response.json()).toMatchObject({ data: { estimate: { code: 'NOT_ALLOWED' } } });
  }
  expect(isFailure(await person.steyg.console.keys.estimate(ask))).toBe(false);
});
