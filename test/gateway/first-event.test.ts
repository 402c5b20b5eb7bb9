import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, nativeCatalog, type ProtocolCase, parseEvents, reader, send, settled } from './support.ts';

/** The status of a stream waits for its first event, for a while; then it is 200 and silence is filled. */

let app: TestApp;
let patient: TestApp;
beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog(),
    env: { FIRST_EVENT_HOLD_MS: '60', KEEPALIVE_MS: '60' },
  });
  patient = await startApp({
    catalog: nativeCatalog(),
    env: { FIRST_EVENT_HOLD_MS: '60000', KEEPALIVE_MS: '60', UPSTREAM_HEADERS_TIMEOUT_MS: '3000' },
  });
});
afterAll(() => Promise.all([app.close(), patient.close()]));

const streamed = (protocol: ProtocolCase) => ({ model: protocol.only, stream: true });
const keepAlive = (protocol: ProtocolCase) => (protocol.protocol === 'messages' ? /event: ping\n/ : /^:/m);

describe.concurrent.each(everyProtocol)('$protocol', (protocol) => {
  it('a slow first event: the status comes first, then signs of life, then the answer', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[delay 1500]] [[say at last]]',
      more: streamed(protocol),
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    const events = text.split('\n\n');
    expect(events[0]).toMatch(keepAlive(protocol));
    expect(text.search(keepAlive(protocol))).toBeLessThan(text.indexOf('at'));
    expect(text).toContain(protocol.terminator);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', usage_source: 'reported' }]);
  });

  it('an upstream that fails after the status went out: an error event, and no end that looks like one', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[delay 1500]] [[status 500]]',
      more: streamed(protocol),
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toMatch(keepAlive(protocol));
    expect(JSON.stringify(parseEvents(text).at(-1))).toMatch(/error/);
    expect(text).not.toContain(protocol.terminator);
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'upstream_error', cost: 0n }]);
  });

  it("an upstream's refusal after the status went out keeps the vendor's sentence", async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[delay 1500]] [[status 400 prompt is too long: 9 tokens > 8 maximum]]',
      more: streamed(protocol),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('prompt is too long: 9 tokens > 8 maximum');
    expect(await settled(app, customer)).toMatchObject([{ cost: 0n }]);
  });

  it.each([
    ['[[status 500]]', 502],
    ['[[status 503]]', protocol.protocol === 'messages' ? 529 : 503],
    ['[[drop]]', 502],
    ['[[delay 100]] [[status 500]]', 502],
  ])('an upstream that fails while the status waits fails with one: %s', async (text, status) => {
    const customer = await patient.customer();
    const response = await send(patient, protocol, { secret: customer.secret, text, more: streamed(protocol) });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    await response.json();
    expect(await settled(patient, customer)).toMatchObject([{ outcome: 'upstream_error', cost: 0n }]);
  });

  it.each([true, false])('an upstream that says nothing at all is a 504 (stream: %s)', async (stream) => {
    const customer = await patient.customer();
    const response = await send(patient, protocol, {
      secret: customer.secret,
      text: '[[delay 600000]]',
      more: { model: protocol.only, stream },
    });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({
      error: { type: protocol.protocol === 'messages' ? 'timeout_error' : 'server_error' },
    });
    expect(await settled(patient, customer)).toMatchObject([{ outcome: 'timeout', cost: 0n }]);
  });

  it('signs of life do not stop while the answer pauses, and none comes into the middle of an event', async () => {
    const customer = await app.customer();
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: '[[say one two three four five six]] [[hang 6]]',
      more: streamed(protocol),
    });
    const events = reader(response);
    const sign = protocol.protocol === 'messages' ? 'event: ping\\n[^\\n]*\\n\\n' : ':[^\\n]*\\n\\n';
    const text = await events.until(new RegExp(`(?:${sign}){3}`));
    await events.cancel();
    for (const block of text.split('\n\n').filter((part) => part !== '')) expect(block).toMatch(/^(event|data|:|id)/);
    await app.quiet(customer.accountId);
  });
});
