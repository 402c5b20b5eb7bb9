import Fastify from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerDashboard } from '../../server/runtime/static-files.ts';

// A checkout without a build: the API works, and the root says what is missing.
const app = Fastify();

beforeAll(() => registerDashboard(app, { root: '/nowhere' }));
afterAll(() => app.close());

it('tells people how to build the pages', async () => {
  const response = await app.inject({ method: 'GET', url: '/' });
  expect(response.statusCode).toBe(503);
  expect(response.body).toContain('npm start');
});

it('answers HEAD requests of monitors with 200', async () => {
  const response = await app.inject({ method: 'HEAD', url: '/' });
  expect([response.statusCode, response.body]).toEqual([200, '']);
});
