import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccessTokens } from '../../server/people/access-tokens.ts';
import { startApp, type TestApp } from '../support/app.ts';

// Operators may put upstreams on private addresses; customers must not reach them with webhooks.

let apps: TestApp[];

beforeAll(async () => {
  const env = { ALLOW_PRIVATE_UPSTREAMS: '1' };
  apps = [await startApp({ env }), await startApp({ env: { ...env, ALLOW_PRIVATE_WEBHOOKS: '1' } })];
});
afterAll(() => Promise.all(apps.map((app) => app.close())));

async function createEndpoint(app: TestApp, url: string): Promise<string> {
  const { accountId } = await app.customer();
  const made = await createAccessTokens({ pool: app.pool }).create(
    { accountId, name: 't', scopes: ['billing'], expiresAt: null, createdBy: null },
    'system',
  );
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${made.kind === 'created' ? made.secret : ''}`,
    },
    body: JSON.stringify({
      query: 'mutation ($url: String!) { createWebhookEndpoint(input: { url: $url }) { __typename } }',
      variables: { url },
    }),
  });
  const { data } = (await response.json()) as { data: { createWebhookEndpoint: { __typename: string } } };
  return data.createWebhookEndpoint.__typename;
}

it.each([
  'http://127.0.0.1:8080/',
  'https://127.0.0.1/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::ffff:127.0.0.1]/',
])('%s is refused unless webhooks have a permission of their own', async (url) => {
  const [strict, open] = apps as [TestApp, TestApp];
  expect(await createEndpoint(strict, url)).toBe('InputError');
  expect(await createEndpoint(open, url)).toBe('WebhookEndpointWithSecret');
});
