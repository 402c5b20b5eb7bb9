import { readdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { settled, until } from '../gateway/support.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { catalogFile, counter, oneRouteEach, post, protocols } from './support.ts';

/** A disk that takes no settlements: new requests are refused, running ones finish and are charged. */

let app: TestApp;
let customer: Customer;
const direction = { client: protocols.chat, model: 'on-chat-completions', stream: true };
beforeEach(async () => {
  app = await startApp({ catalog: (url) => catalogFile(oneRouteEach(url)) });
  customer = await app.customer();
});
afterEach(() => app.close());

const spool = () => join(app.dataDir, 'spool');
const readiness = async (): Promise<number> => (await fetch(`${app.url}/readyz`)).status;

/** No directory can be made where a file is: root, too, is stopped by that. A request that ends meanwhile makes the directory again. */
async function breakDisk(): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    await rename(spool(), `${spool()}-aside-${tries}`).catch(() => undefined);
    const isMade = await writeFile(spool(), 'in the way', { flag: 'wx' }).then(
      () => true,
      () => false,
    );
    if (isMade) return;
  }
}

async function mendDisk(): Promise<void> {
  await rm(spool());
}

it('breaks under running requests: they finish and are charged, new ones get 503 until it works again', async () => {
  const running = await Promise.all(
    Array.from({ length: 5 }, () => post(app, customer.secret, direction, '[[len 40]][[speed 100]]')),
  );
  await breakDisk();
  const texts = await Promise.all(running.map((response) => response.text()));
  expect(texts.filter((text) => !text.includes('data: [DONE]'))).toEqual([]);
  await until(async () => (await readiness()) === 503);
  const refused = await post(app, customer.secret, direction, 'ping');
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await settled(app, customer)).toHaveLength(5);
  expect(await counter(app, 'gateway_faults_total', { where: 'spool_unwritable' })).toBeGreaterThan(0);

  await mendDisk();
  await until(async () => (await readiness()) === 200);
  expect((await post(app, customer.secret, direction, 'ping')).status).toBe(200);
  expect(await settled(app, customer)).toHaveLength(6);
  expect(await checkInvariants(app.pool, { accounts: null })).toEqual([]);
});

it('was broken from the start: the first request finds out, and is charged', async () => {
  await breakDisk();
  const first = await post(app, customer.secret, direction, '[[say once]]');
  expect(await first.text()).toContain('data: [DONE]');
  await until(async () => (await readiness()) === 503);
  expect((await post(app, customer.secret, direction, 'ping')).status).toBe(503);
  expect(await settled(app, customer)).toHaveLength(1);
  await mendDisk();
  await until(async () => (await readiness()) === 200);
});

it('contains no prompt and no completion', async () => {
  await app.pool.query('ALTER TABLE ledger_entry RENAME TO ledger_away');
  const canary = 'canary-of-a-prompt';
  const response = await post(app, customer.secret, direction, `[[say canary-of-an-answer]] ${canary}`);
  await response.text();
  const lines = readdirSync(spool()).filter((name) => name.endsWith('.ndjson'));
  expect(lines).toHaveLength(1);
  const text = await readFile(join(spool(), lines[0] ?? ''), 'utf8');
  expect(text).toContain(response.headers.get('request-id'));
  for (const secret of ['canary', customer.secret, customer.secret.slice(9, 30)]) expect(text).not.toContain(secret);
  await app.pool.query('ALTER TABLE ledger_away RENAME TO ledger_entry');
  expect(await settled(app, customer)).toHaveLength(1);
});
