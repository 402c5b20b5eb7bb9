/** `estimate` of GraphQL: the answer of `POST …/estimate` for a key of one's own, and nothing for those of others. */

import { isFailure, orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPerson } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
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
} as const;

it.each(Object.keys(requests) as (keyof typeof requests)[])(
  'is equal to what the address of %s answers, and of nobody else’s key',
  async (format) => {
    const person = await createPerson(app);
    const stranger = await createPerson(app);
    const { key, secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'estimates' } }));
    const [path, content] = requests[format];
    const body = JSON.stringify({ model: 'sim-small', ...content });
    const answer = await fetch(`${app.baseUrl}${path}/estimate`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body,
    });
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
    const refused = await person.steyg.console.keys.estimate({
      keyId: key.id,
      format,
      body: JSON.stringify({ ...content, model: 'no-such-model' }),
    });
    expect(isFailure(refused) && refused).toMatchObject({ code: 'REQUEST_REFUSED' });
  },
);
