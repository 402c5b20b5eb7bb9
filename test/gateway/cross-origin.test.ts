import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, get, send } from './support.ts';

/** Pages of other origins call the data plane with a key; the rest of the service is closed to them. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
});
afterAll(() => app.close());

const origin = 'https://page.example';
const preflight = (path: string, headers = 'authorization,content-type,x-stainless-os') =>
  fetch(app.url + path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
  });

it.each(['/api/v1/messages', '/api/v1/chat/completions', '/api/v1/responses', '/api/v1/models', '/api/v1/usage'])(
  'a preflight of %s needs no key and allows what the libraries send',
  async (path) => {
    const response = await preflight(path);
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization,content-type,x-stainless-os');
    // A browser would then send its cookies.
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  },
);

it('answers, streams and refusals can be read, with their request ids and times to wait', async () => {
  for (const protocol of everyProtocol)
    for (const more of [{}, { stream: true }, { model: 'no-such-model' }]) {
      const response = await send(app, protocol, { secret: customer.secret, more, headers: { origin } });
      await response.text();
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      const exposed = response.headers.get('access-control-expose-headers')?.split(', ') ?? [];
      for (const name of ['x-request-id', 'request-id', 'retry-after', 'x-should-retry', 'x-steyg-dropped-tools'])
        expect(exposed).toContain(name);
    }
  const refused = await fetch(`${app.baseUrl}/v1/models`, { headers: { origin } });
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
});

it('a client that is no browser sees nothing of it', async () => {
  const response = await get(app, '/v1/models', customer.secret);
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});

it.each(['/graphql', '/api/auth/sign-in/email', '/api/uptime/key', '/api/uptime/rounds'])(
  'the control plane allows no other origin: %s',
  async (path) => {
    const response = await preflight(path);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  },
);
