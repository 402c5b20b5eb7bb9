import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../server/runtime/log.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, get, nativeCatalog, type ProtocolCase, rawExchange, send, settled } from './support.ts';

/**
 * Privacy: what people write, what models answer, and every key, sent through every success and every
 * fault; afterwards nothing of it is in the database, the logs at their most talkative, the files, the metrics or an
 * error that somebody else could see.
 */

const mark = (name: string): string => `${name}${randomBytes(9).toString('hex')}`;
const prompt = mark('canary-prompt-');
const completion = mark('canary-answer-');
const upstreamKey = mark('sk-vendor-');
const garbageKey = mark('sk-steyg-garbage');
const userId = mark('canary-user-');
const header = mark('canary-header-');
const query = mark('canary-query-');
const unknownModel = mark('canary-model-');

let app: TestApp;
let customer: Customer;
let poor: Customer;
/** Everything that clients were told besides the answers they asked for. */
const errorBodies: string[] = [];

beforeAll(async () => {
  app = await startApp({
    catalog: nativeCatalog({ apiKey: upstreamKey }),
    simulator: { apiKey: upstreamKey },
    env: { CLIENT_STALL_MS: '200', UPSTREAM_HEADERS_TIMEOUT_MS: '400', UPSTREAM_IDLE_TIMEOUT_MS: '400' },
  });
  customer = await app.customer();
  poor = await app.customer({ usd: '0' });
});
afterAll(() => app.close());

const directives = [
  `[[say ${completion}]]`,
  `[[think ${completion}]] [[say ${completion}]]`,
  `[[tool ${completion} {"text":"${completion}"}]]`,
  `[[say ${completion}]] [[nousage]]`,
  `[[say ${completion}]] [[usage {"input_tokens":"${completion}","prompt_tokens":-1}]]`,
  ...[400, 401, 402, 403, 404, 413, 422, 429, 500, 503, 529].map((status) => `[[status ${status}]]`),
  `[[status 400 ${completion} your key {key} is fine]]`,
  `[[status 401 ${completion} your key {key} is wrong]]`,
  `[[status 500 ${completion} {key}]]`,
  `[[say ${completion} and more words to break]] [[cut 4]]`,
  `[[say ${completion} and more words to break]] [[cut 4 reset]]`,
  `[[say ${completion} and more words to break]] [[midfail 4]]`,
  `[[say ${completion} and more words to break]] [[hang 4]]`,
  `[[headers {"x-canary":"${completion}"}]] [[say ${completion}]]`,
  `[[raw ${Buffer.from(`<html>${completion}</html>`).toString('base64')}]]`,
  `[[raw ${Buffer.from(`data: {"${completion}`).toString('base64')}]]`,
  `[[socket ${Buffer.from(`HTTP/1.1 200 OK\r\n${completion}`).toString('base64')}]]`,
  `[[model ${completion}]] [[say x]]`,
  '[[drop]]',
];

async function exchange(protocol: ProtocolCase, model: string, text: string, stream: boolean): Promise<void> {
  const response = await send(app, protocol, {
    secret: customer.secret,
    headers: { 'x-canary': header, 'user-agent': header, 'x-session-id': header, 'x-steyg-tags': 'team=search' },
    text: `${prompt} ${text}`,
    more: {
      model,
      stream,
      [protocol.cap]: 50,
      ...(protocol.protocol === 'messages'
        ? { metadata: { user_id: userId } }
        : { user: userId, metadata: { team: userId, note: prompt } }),
    },
  });
  const body = await response.text().catch(() => '');
  if (response.status >= 400) errorBodies.push(body);
}

/** What goes wrong before an upstream is asked. */
async function refusals(protocol: ProtocolCase): Promise<void> {
  const sendings: Parameters<typeof send>[2][] = [
    { secret: garbageKey, text: prompt },
    { secret: poor.secret, text: prompt },
    { secret: customer.secret, raw: `{"${prompt}":` },
    { secret: customer.secret, raw: `{"model":"x","${prompt}":1,"${prompt}":2}` },
    { secret: customer.secret, text: prompt, more: { [protocol.cap]: prompt } },
    { secret: customer.secret, text: prompt, more: { stream: prompt } },
    {
      secret: customer.secret,
      text: prompt,
      more: { container: prompt, conversation: prompt, tools: [{ type: prompt }] },
    },
    { secret: customer.secret, text: prompt, headers: { 'content-type': `text/plain; x=${header}` } },
    { secret: customer.secret, text: prompt, headers: { 'content-encoding': header } },
    { secret: customer.secret, text: prompt, headers: { 'x-steyg-tags': header } },
  ];
  for (const sending of sendings) {
    const response = await send(app, { ...protocol, path: `${protocol.path}?token=${query}` }, sending);
    expect(response.status).toBeGreaterThanOrEqual(400);
    errorBodies.push(await response.text());
  }
}

it('nothing of what was said, and no key, is anywhere but where it was meant for', async () => {
  for (const protocol of everyProtocol) {
    await refusals(protocol);
    for (const model of ['only-messages', 'only-chat', 'only-responses']) {
      await Promise.all(directives.map((text) => exchange(protocol, model, text, true)));
    }
    await Promise.all(directives.map((text) => exchange(protocol, protocol.only, text, false)));
    // An unknown model is told back to its client, exactly; it must not be written down.
    await (await send(app, protocol, { secret: customer.secret, more: { model: unknownModel } })).text();
    const leave = new AbortController();
    const left = send(app, protocol, {
      secret: customer.secret,
      text: `${prompt} [[delay 60000]]`,
      more: { model: protocol.only },
      signal: leave.signal,
    }).catch(() => undefined);
    setTimeout(() => leave.abort(), 50);
    await left;
  }
  const counting = { ...everyProtocol[0], path: '/v1/messages/count_tokens' } as ProtocolCase;
  for (const id of ['only-messages', 'only-chat']) {
    await send(app, counting, { secret: customer.secret, text: prompt, more: { model: id } });
  }
  for (const path of [
    `/v1/models/${query}`,
    `/v1/${query}`,
    `/${query}`,
    `/v1/usage?cursor=${query}`,
    `/chat/completions?${query}`,
  ]) {
    errorBodies.push(await (await get(app, path, customer.secret)).text());
  }
  await rawExchange(app, `GET /${query} HTTP/1.1\r\nhost: x\r\nx: ${header}\rbroken\r\n\r\n`);
  await rawExchange(
    app,
    `POST /api/v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${garbageKey}\r\nconnection: close\r\n\r\n`,
  );
  await settled(app, customer);

  const places = {
    database: await dump(),
    logs: app.logged.join(''),
    files: await files(app.dataDir),
    metrics: await (await fetch(`${app.url}/metrics`)).text(),
  };
  // Otherwise there was nothing to be found.
  expect(places.database).toContain(customer.accountId);
  expect(places.logs.split('\n').length).toBeGreaterThan(200);
  expect(places.metrics).toContain('gateway_settlements_total');

  const secrets = [customer.secret, poor.secret, garbageKey, upstreamKey];
  const content = [prompt, completion, userId, header, query, unknownModel];
  for (const [place, text] of Object.entries(places)) {
    for (const needle of [...secrets, ...content])
      expect({ place, found: text.includes(needle) }).toEqual({ place, found: false });
    // Not in disguise either.
    for (const needle of [...secrets, prompt, completion]) {
      for (const form of [Buffer.from(needle).toString('base64').slice(2, -3), Buffer.from(needle).toString('hex')]) {
        expect({ place, found: text.includes(form) }).toEqual({ place, found: false });
      }
    }
  }
  const told = errorBodies.join('\n');
  for (const needle of [...secrets, prompt, header, userId]) expect(told).not.toContain(needle);
});

/** Every row of every table, as text; bytes as hexadecimal. */
async function dump(): Promise<string> {
  const { rows } = await app.pool.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  expect(rows.length).toBeGreaterThan(15);
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const all = await app.pool.query(`SELECT to_jsonb(t)::text AS row FROM ${name} t`);
      return all.rows.map(({ row }) => row).join('\n');
    }),
  );
  return texts.join('\n');
}

/** Every file below a directory: spool, quarantine, mail. The catalog file is the operator's own. */
async function files(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && entry.name !== 'catalog.yaml')
      .map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')),
  );
  return texts.join('\n');
}

it('no call of the log can write out an error, a request or a field outside of the allow-list', () => {
  const lines: string[] = [];
  // As frameworks see it: the types of `Log` refuse these calls.
  const log = createLog('trace', { write: (line: string) => void lines.push(line) }).framework;
  const error = Object.assign(new Error(`bad: ${prompt}`), {
    body: prompt,
    headers: { authorization: customer.secret },
  });
  log.error(error);
  log.error({ err: error });
  log.error({ err: error }, 'a sentence of ours');
  log.error(error, 'a sentence of ours');
  log.warn(
    { req: { url: query }, res: { body: completion }, body: prompt, headers: { x: header } },
    'a sentence of ours',
  );
  log.child({ body: prompt, requestId: 'id' }).info({ reason: { nested: prompt } }, 'a sentence of ours');
  expect(lines).toHaveLength(6);
  expect(lines.join('')).not.toMatch(/canary|sk-steyg/);
  expect(lines.join('')).toContain('a sentence of ours');
});
