import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, nativeCatalog, send } from './support.ts';

/** Members that the gateway does not know: they pass, unless the model's catalog entry refuses them. */

let passing: TestApp;
let refusing: TestApp;
let customers: [Customer, Customer];
beforeAll(async () => {
  passing = await startApp({ catalog: nativeCatalog() });
  refusing = await startApp({ catalog: nativeCatalog({ more: '    unknownMembers: refuse' }) });
  customers = [await passing.customer(), await refusing.customer()];
});
afterAll(() => Promise.all([passing.close(), refusing.close()]));

it.each(everyProtocol)('$protocol: an unknown member travels natively and is counted by its name', async (to) => {
  const response = await send(passing, to, { secret: customers[0].secret, more: { tomorrows_member: { a: 1.0 } } });
  expect(response.status).toBe(200);
  const body = JSON.parse(passing.simulator.requests().at(-1)?.body.toString() ?? '{}') as Record<string, unknown>;
  expect(body['tomorrows_member']).toEqual({ a: 1 });
  const metrics = await (await fetch(`${passing.url}/metrics`)).text();
  expect(metrics).toContain(`gateway_unknown_members_total{protocol="${to.protocol}",member="tomorrows_member"`);
});

it.each(everyProtocol)(
  '$protocol: a model that refuses unknown members names the first and calls no upstream',
  async (to) => {
    const before = refusing.simulator.requests().length;
    const response = await send(refusing, to, { secret: customers[1].secret, more: { tomorrows_member: 1 } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('tomorrows_member');
    expect(refusing.simulator.requests().length).toBe(before);
  },
);

it.each(everyProtocol)('$protocol: a content part of an unknown type is counted and refused like it', async (to) => {
  const content = [
    { type: 'text', text: 'hi' },
    { type: 'hologram', a: 1 },
  ];
  const message = [{ role: 'user', content }];
  const more = to.protocol === 'responses' ? { input: message } : { messages: message };
  await send(passing, to, { secret: customers[0].secret, more });
  const metrics = await (await fetch(`${passing.url}/metrics`)).text();
  expect(metrics).toContain(`gateway_unknown_members_total{protocol="${to.protocol}",member="hologram"`);
  const response = await send(refusing, to, { secret: customers[1].secret, more });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('hologram');
});

it.each(everyProtocol)('$protocol: another spelling of a member is refused by its name', async (to) => {
  const response = await send(passing, to, { secret: customers[0].secret, more: { Service_Tier: 'priority' } });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('service_tier');
});
