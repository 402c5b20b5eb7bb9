import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orThrow } from '@steyg/sdk';
import { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Mail } from '../../server/runtime/mail.ts';
import { createPerson, type Person, signInOperator, siteSettings } from '../browser/people.ts';
import { until } from '../gateway/support.ts';
import {
  ask,
  catalogFile,
  directions,
  oneRouteEach,
  startApp,
  type TestApp,
  vendorModel,
} from '../resilience/support.ts';
import { freePort } from '../support/free-port.ts';

/** Operators see, close and reopen model mismatches: the SDK over the real control plane. */

let app: TestApp;
let operator: Pick<Person, 'steyg'>;
let boss: PgBoss;

beforeAll(async () => {
  app = await startApp({
    scheduled: true,
    env: siteSettings(await freePort()),
    catalog: (url) => catalogFile(oneRouteEach(url)),
  });
  operator = await signInOperator(app);
  boss = new PgBoss({ connectionString: app.databaseUrl, schema: 'pgboss', supervise: false, schedule: false });
  boss.on('error', () => undefined);
  await boss.start();
  await until(async () => (await boss.getQueue('steyg')) !== null);
});
afterAll(async () => {
  await boss.stop({ graceful: false });
  await app.close();
});

const [direction] = directions;
if (direction === undefined) throw new Error('no direction');
const sell = (reported: string) => ask(app, direction, `[[say hello]][[model ${reported}]]`);
const listed = async () => (await operator.steyg.console.operator.listModelMismatches()).nodes;

function alarms(): Mail[] {
  const directory = join(app.dataDir, 'mail');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith('-operator@example.com.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Mail)
    .filter(({ subject }) => subject.includes('another model'));
}

/** How often a name was told. */
const told = (name: string) => alarms().filter(({ text }) => text.includes(`answered as ${name};`)).length;

/** What the clock does every minute. */
const alarmRun = () => boss.send('steyg', { name: 'alarms' }, { singletonKey: 'alarms' });

it('rings once, is seen, is closed by a person, and rings again when it comes back', async () => {
  const { steyg } = operator;
  expect(await listed()).toEqual([]);
  const { headers } = await sell('cheaper-model');
  await until(async () => (await listed()).length === 1);
  const [first] = await listed();
  expect(first).toMatchObject({
    model: direction.model,
    upstream: `vendor-${direction.upstream}`,
    asked: vendorModel,
    reported: 'cheaper-model',
    count: '1',
    lastRequestId: headers.get('x-request-id'),
    closedAt: null,
    closedBy: null,
  });
  await alarmRun();
  await until(() => alarms().length === 1);
  expect(alarms()[0]).toMatchObject({ links: [`${app.url}/operator/books`] });

  const id = first?.id ?? '';
  const closed = orThrow(await steyg.console.operator.closeModelMismatch({ id }));
  expect(closed).toMatchObject({ id, closedBy: expect.stringMatching(/^user:/), closedAt: expect.any(String) });
  expect(await steyg.console.operator.closeModelMismatch({ id })).toMatchObject({
    __typename: 'ConflictError',
    code: 'ALREADY_CLOSED',
  });
  const audit = [];
  for await (const entry of steyg.console.operator.auditLog({})) audit.push(entry);
  expect(audit.filter(({ action }) => action === 'model_mismatch.close')).toMatchObject([
    { actor: closed.closedBy, before: { reported: 'cheaper-model' } },
  ]);

  // Another one, so that the order shows: open ones stand first.
  await sell('second-model');
  await until(async () => (await listed()).length === 2);
  expect((await listed()).map(({ reported }) => reported)).toEqual(['second-model', 'cheaper-model']);
  const only = async (open: boolean) => (await steyg.console.operator.listModelMismatches({ open })).nodes;
  expect((await only(true)).map(({ reported }) => reported)).toEqual(['second-model']);
  expect((await only(false)).map(({ reported }) => reported)).toEqual(['cheaper-model']);

  await sell('cheaper-model');
  await until(async () => (await only(true)).length === 2);
  expect((await only(true)).find((one) => one.id === id)).toMatchObject({ count: '2', closedAt: null, closedBy: null });
  await alarmRun();
  // The clock may have been quicker than this test, and told of one of them by itself.
  await until(() => told('cheaper-model') + told('second-model') >= 3);
  await alarmRun();
  expect([told('cheaper-model'), told('second-model')]).toEqual([2, 1]);
});

it('is for operators only, and an unknown id is a member of the union', async () => {
  const { steyg } = operator;
  for (const id of ['nonsense', Buffer.from(`ModelMismatch:${crypto.randomUUID()}`).toString('base64')]) {
    expect(await steyg.console.operator.closeModelMismatch({ id })).toMatchObject({
      __typename: 'NotFoundError',
      code: 'NOT_FOUND',
    });
  }
  await expect(steyg.console.operator.listModelMismatches({ first: 101 })).rejects.toThrow(/between 1 and 100/);
  const customer = await createPerson(app);
  const { operator: denied } = customer.steyg.console;
  await expect(denied.listModelMismatches()).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(denied.closeModelMismatch({ id: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
