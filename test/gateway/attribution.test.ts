import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { assert, asyncProperty, constantFrom, dictionary, jsonValue, oneof, record, string } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusLineScript } from '../../dashboard/src/guides.ts';
import { createProjects } from '../../server/accounts/projects.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { createDirectory } from '../support/directory.ts';
import { errorOf, everyProtocol, nativeCatalog, type ProtocolCase, protocols, send, settled } from './support.ts';

/**
 * Attribution of requests to sessions, users and tags: read from headers and bodies that pass byte for byte, stored without
 * content, and added up exactly as the ledger is.
 */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    catalog: (url) =>
      `${nativeCatalog()(url)}
  - { id: embed, displayName: e, family: tests, kind: embedding, contextWindow: 8192, maxOutputTokens: 1, prices: { input: "1", cacheHit: "0", output: "0" }, routes: [{ upstream: by-chat, model: embed }] }`,
  });
});
afterAll(() => app.close());

interface Row extends Record<string, unknown> {
  requests: number;
  cost_usd: string;
  charged_usd: string;
}
interface Answer extends Row {
  data: Row[];
  models: Row[];
  has_more: boolean;
  next_cursor: string | null;
}

async function usage({ secret }: Customer, query: string): Promise<Answer> {
  const response = await fetch(`${app.baseUrl}/v1/usage?${query}`, { headers: { authorization: `Bearer ${secret}` } });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

const store = (customer: Customer, mode: string) =>
  app.pool.query('UPDATE account SET attribution = $2 WHERE id = $1', [customer.accountId, mode]);

interface Asking {
  headers?: Record<string, string>;
  more?: Record<string, unknown>;
  text?: string;
}

async function ask(customer: Customer, protocol: ProtocolCase, { headers = {}, more = {}, text }: Asking) {
  const response = await send(app, protocol, {
    secret: customer.secret,
    headers,
    more,
    ...(text === undefined ? {} : { text }),
  });
  return { status: response.status, body: await response.text() };
}

describe('each place where a client names whom a request is for', () => {
  const session = '0198c0de-0000-7000-8000-000000000001';
  const cases: [string, ProtocolCase, Asking, { session?: string; user?: string; tags?: string[] }][] = [
    ...everyProtocol.map((protocol): [string, ProtocolCase, Asking, object] => [
      `${protocol.protocol}: our own header of tags`,
      protocol,
      { headers: { 'x-steyg-tags': 'team=search, env=prod%2Cvn' } },
      { tags: ['team=search', 'env=prod,vn'] },
    ]),
    ...[
      'x-claude-code-session-id',
      'session_id',
      'session-id',
      'conversation_id',
      'x-qwen-code-session-id',
      'x-opencode-session',
      'x-session-affinity',
      'x-session-id',
      'x-client-session-id',
      'x-kilocode-taskid',
    ].map((name): [string, ProtocolCase, Asking, object] => [
      `the header ${name}`,
      protocols.chat,
      { headers: { [name]: session } },
      { session },
    ]),
    [
      'Claude Code: user, account and session in one id',
      protocols.messages,
      { more: { metadata: { user_id: `user_0a1b_account_${session}_session_5e55` } } },
      { user: session, session: '5e55' },
    ],
    [
      'Claude Code without an account',
      protocols.messages,
      { more: { metadata: { user_id: 'user_0a1b_account__session_5e55' } } },
      { user: '0a1b', session: '5e55' },
    ],
    [
      'Claude Code: the same as JSON',
      protocols.messages,
      { more: { metadata: { user_id: JSON.stringify({ device_id: 'd1', account_uuid: '', session_id: session }) } } },
      { user: 'd1', session },
    ],
    ['messages: any user', protocols.messages, { more: { metadata: { user_id: 'u-7' } } }, { user: 'u-7' }],
    ['chat completions: user', protocols.chat, { more: { user: 'u-8' } }, { user: 'u-8' }],
    [
      'responses: safety_identifier',
      protocols.responses,
      { more: { safety_identifier: 's', user: 'u' } },
      { user: 's' },
    ],
    [
      'metadata of OpenAI',
      protocols.chat,
      { more: { metadata: { team: 'a', session_id: 'x', user_id: 'y', 'no name': 'z' } } },
      { session: 'x', user: 'y', tags: ['team=a'] },
    ],
    ['OpenRouter: session_id', protocols.chat, { more: { session_id: 'or-1' } }, { session: 'or-1' }],
    ['Codex: the key of its prompt cache', protocols.responses, { more: { prompt_cache_key: session } }, { session }],
    ['a key of a prompt cache that sessions share', protocols.responses, { more: { prompt_cache_key: 'app-v3' } }, {}],
    [
      'a header before the body, our own tags before metadata',
      protocols.chat,
      {
        headers: { 'x-session-id': 'h', 'x-steyg-tags': 'team=own' },
        more: { session_id: 'b', metadata: { team: 'b' } },
      },
      { session: 'h', tags: ['team=own'] },
    ],
  ];

  it.each(cases)('%s', async (_name, protocol, asking, expected) => {
    const customer = await app.customer();
    await store(customer, 'plain');
    expect(await ask(customer, protocol, asking)).toMatchObject({ status: 200 });
    await settled(app, customer);
    const { data } = await usage(customer, 'list=requests');
    expect(data).toMatchObject([{ session: null, user: null, tags: [], ...expected }]);
  });
});

it('stores the tags of a new account as they are sent, so that a team can be billed, and nothing else', async () => {
  const customer = await app.customer();
  await ask(customer, protocols.chat, {
    headers: { 'x-steyg-tags': 'team=search', 'x-session-id': 'session-8' },
    more: { user: 'person-8', metadata: { team: 'other', contact: 'ada@example.com' } },
  });
  await settled(app, customer);
  const { rows } = await app.pool.query('SELECT * FROM attribution WHERE account_id = $1', [customer.accountId]);
  const { rows: hours } = await app.pool.query('SELECT * FROM attribution_hour WHERE account_id = $1', [
    customer.accountId,
  ]);
  expect(rows[0].tags).toEqual(['team=search', expect.stringMatching(/^contact=~[\w-]{16}$/)]);
  expect(inspect([rows, hours], { depth: null })).not.toMatch(/session-8|person-8|ada@example/);
  expect(await usage(customer, 'tag=team%3Dsearch')).toMatchObject({ requests: 1 });
});

it('stores digests that no other account has, and finds them by what the client knows', async () => {
  const [one, other] = [await app.customer(), await app.customer()];
  const asking = {
    headers: { 'x-steyg-tags': 'team=search', 'x-session-id': 'session-7' },
    more: { user: 'person-7' },
  };
  for (const customer of [one, other]) await store(customer, 'digests');
  for (const customer of [one, one, other]) await ask(customer, protocols.chat, asking);
  await Promise.all([settled(app, one), settled(app, other)]);
  const [{ rows: stored }, { rows: hours }] = await Promise.all([
    app.pool.query('SELECT DISTINCT account_id, session, end_user, tags FROM attribution WHERE account_id = ANY ($1)', [
      [one.accountId, other.accountId],
    ]),
    app.pool.query('SELECT * FROM attribution_hour WHERE account_id = ANY ($1)', [[one.accountId, other.accountId]]),
  ]);
  expect(stored).toHaveLength(2);
  for (const key of ['session', 'end_user']) expect(new Set(stored.map((row) => row[key]))).toHaveProperty('size', 2);
  expect(inspect([stored, hours], { depth: null })).not.toMatch(/session-7|person-7|search/);
  expect(stored.map(({ tags }) => tags)).toEqual([
    [expect.stringMatching(/^team=~[\w-]{16}$/)],
    [expect.stringMatching(/^team=~[\w-]{16}$/)],
  ]);

  for (const query of ['session=session-7', 'user=person-7', 'tag=team%3Dsearch']) {
    expect(await usage(one, query)).toMatchObject({ requests: 2, models: [{ model: 'sim-medium', requests: 2 }] });
    expect(await usage(other, query)).toMatchObject({ requests: 1 });
  }
  // Digests of another account say nothing.
  const { data } = await usage(one, 'group_by=session');
  expect(await usage(other, `session=${encodeURIComponent(String(data[0]?.['session']))}`)).toMatchObject({
    requests: 0,
    cost_usd: '0',
    models: [],
    last_request_at: null,
  });
  expect((await usage(one, 'list=requests&session=session-7')).data).toHaveLength(2);
});

describe('a header of tags that is malformed refuses the request, which costs nothing', () => {
  it.each([
    'team',
    '=x',
    'team=',
    'te am=x',
    'team=a,team=b',
    'team=a,,env=b',
    `team=${'x'.repeat(65)}`,
    'team=%zz',
    'team=%00',
    'team=%ed%a0%80',
    'team=é',
    Array.from({ length: 9 }, (_, i) => `t${i}=x`).join(','),
    `team=${'%41'.repeat(400)}`,
  ])('%s', async (header) => {
    const customer = await app.customer();
    for (const protocol of everyProtocol) {
      const response = await send(app, protocol, { secret: customer.secret, headers: { 'x-steyg-tags': header } });
      expect(response.status).toBe(400);
      const error = await errorOf(response, protocol.protocol);
      expect(error.message).toMatch(/^x-steyg-tags: /);
      expect(error.message).not.toContain('xxxx');
    }
    expect(await settled(app, customer)).toEqual([]);
  });
});

/** Any JSON value, the odd ones among them. */
const oddText = oneof(
  string({ unit: 'binary', maxLength: 300 }),
  constantFrom(
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udc00x',
    '',
    ' ',
    '\u202e',
    'x'.repeat(70_000),
    '{"session_id":',
    '{}',
    '[]',
  ),
  constantFrom(
    'user__account__session_',
    '{"session_id":null}',
    '{"device_id":{"a":1},"account_uuid":7,"session_id":[]}',
  ),
);
const odd = oneof(oddText, jsonValue({ maxDepth: 3 }), constantFrom(null, true, 0, -1, 1e300, [], {}, [[]]));
const oddMetadata = oneof(
  odd,
  dictionary(oneof(oddText, constantFrom('session_id', 'user_id', 'sessionId', '__proto__', 'team')), odd, {
    maxKeys: 12,
  }),
  record({ user_id: odd }),
);

describe('metadata of clients, however odd, refuses no request and loses no settlement', () => {
  it.each(everyProtocol)('$protocol', async (protocol) => {
    const customer = await app.customer();
    let asked = 0;
    await assert(
      asyncProperty(
        record({ metadata: oddMetadata, user: odd, safety_identifier: odd, session_id: odd, prompt_cache_key: odd }),
        constantFrom('digests', 'tags', 'plain', 'off'),
        async (more, mode) => {
          await store(customer, mode);
          const before = await send(app, protocol, {
            secret: customer.secret,
            headers: { 'x-session-id': 'x'.repeat(asked % 3 === 0 ? 2_000 : 5) },
            // Members as they are written, escapes of lone halves of characters included.
            raw: JSON.stringify({ ...protocol.body('[[say x]]'), model: protocol.only, ...more }),
          });
          await before.text();
          asked += 1;
          expect(before.status).toBe(200);
        },
      ),
      { numRuns: 60 },
    );
    expect(await settled(app, customer)).toHaveLength(asked);
    const { rows } = await app.pool.query('SELECT * FROM attribution WHERE account_id = $1', [customer.accountId]);
    for (const row of rows) {
      for (const id of [row.session, row.end_user]) expect(id ?? 'x').toMatch(/^[^\p{Cc}]{1,256}$/u);
      expect(row.tags.length).toBeLessThanOrEqual(8);
    }
  });
});

it('takes the last of repeated members of metadata, and none that is deeper', async () => {
  const customer = await app.customer();
  await store(customer, 'plain');
  const raw = `{"model":"only-chat","messages":[{"role":"user","content":"hi"}],"metadata":{"team":"a","team":"b","x":{"y":"z"}}}`;
  const response = await send(app, protocols.chat, { secret: customer.secret, raw });
  expect(response.status).toBe(200);
  await response.text();
  await settled(app, customer);
  expect((await usage(customer, 'list=requests')).data).toMatchObject([{ tags: ['team=b'] }]);
});

/** Sums of the ledger by session, user and tag, as the requests were noted. */
const fromLedger = `
  SELECT kind, label, e.model, e.key_id, count(*)::numeric AS requests, sum(input) AS input, sum(cache_hit) AS cache_hit,
         sum(cache_write_5m) AS cache_write_5m, sum(cache_write_1h) AS cache_write_1h, sum(output) AS output,
         sum(cost) AS cost, sum(charged) AS charged
  FROM attribution a JOIN ledger_entry e USING (account_id, request_id),
  LATERAL (SELECT 'session', session UNION ALL SELECT 'user', end_user UNION ALL SELECT 'tag', unnest(tags)) AS l (kind, label)
  WHERE account_id = $1 AND label IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;
const keptSums = `
  SELECT kind, label, model, key_id, sum(requests) AS requests, sum(input) AS input, sum(cache_hit) AS cache_hit,
         sum(cache_write_5m) AS cache_write_5m, sum(cache_write_1h) AS cache_write_1h, sum(output) AS output,
         sum(cost) AS cost, sum(charged) AS charged
  FROM attribution_hour WHERE account_id = $1 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;

describe('what is added up is what the ledger has', () => {
  let second: TestApp;
  beforeAll(async () => {
    second = await startApp({ beside: app });
  });
  afterAll(() => second.close());

  it('over two processes, every protocol, native and translated, streams, failures and embeddings', async () => {
    const customer = await app.customer();
    const models = ['only-messages', 'only-chat', 'only-responses'];
    const ends = [
      '[[say x]]',
      '[[usage {"input_tokens":7,"prompt_tokens":7,"output_tokens":3}]]',
      '[[status 400]]',
      '[[len 30]] [[cut 4]]',
    ];
    const requests = Array.from({ length: 160 }, (_, i) => {
      const protocol = everyProtocol[i % 3] as ProtocolCase;
      const headers: Record<string, string> = {
        ...(i % 4 === 3 ? {} : { 'x-steyg-tags': `team=t${i % 3},env=prod` }),
        ...(i % 5 === 4 ? {} : { 'x-session-id': `s${i % 7}` }),
      };
      const model = models[Math.floor(i / 3) % 3];
      const more = { model, stream: i % 2 === 0, ...(i % 11 === 0 ? { user: 'u1' } : {}) };
      const at = i % 13 < 6 ? app : second;
      return () =>
        i % 16 === 15
          ? send(
              at,
              { ...protocols.chat, path: '/v1/embeddings' },
              { secret: customer.secret, headers, raw: JSON.stringify({ model: 'embed', input: 'hi', user: 'u2' }) },
            )
          : send(at, protocol, { secret: customer.secret, headers, text: ends[i % 4] ?? '', more });
    });
    for (let from = 0; from < requests.length; from += 20) {
      const some = requests.slice(from, from + 20);
      await Promise.all(some.map(async (request) => (await request()).text().catch(() => '')));
    }
    const entries = await settled(app, customer);
    expect(entries.length).toBeGreaterThan(100);
    const [{ rows: expected }, { rows: kept }] = await Promise.all([
      app.pool.query(fromLedger, [customer.accountId]),
      app.pool.query(keptSums, [customer.accountId]),
    ]);
    expect(kept).toEqual(expected);
    // Every kind of row is among them, and what is read is what is kept.
    expect(new Set(kept.map(({ kind }) => kind))).toEqual(new Set(['session', 'user', 'tag']));
    for (const kind of ['session', 'user', 'tag']) {
      const all = (await usage(customer, `group_by=${kind}`)).data;
      const rows = kept.filter((row) => row.kind === kind);
      expect(all.reduce((sum, { requests: n }) => sum + n, 0)).toBe(
        rows.reduce((sum, row) => sum + Number(row.requests), 0),
      );
      expect(all.reduce((sum, row) => sum + pico(row.cost_usd), 0n)).toBe(
        rows.reduce((sum, row) => sum + BigInt(row.cost), 0n),
      );
      const paged: Row[] = [];
      let next: string | null = '';
      while (next !== null) {
        const answer: Answer = await usage(
          customer,
          `group_by=${kind},model,day&limit=2&cursor=${next}`.replace(/&cursor=$/, ''),
        );
        paged.push(...answer.data);
        next = answer.next_cursor;
      }
      expect(paged).toEqual((await usage(customer, `group_by=${kind},model,day&limit=1000`)).data);
    }
  });
});

/** Pico-USD of a decimal amount. */
function pico(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
}

it('keeps nothing of a prompt, also where values are kept plainly', async () => {
  const customer = await app.customer();
  await store(customer, 'plain');
  const prompt = 'what-nobody-else-may-read ';
  for (const protocol of everyProtocol) {
    await ask(customer, protocol, {
      headers: { 'x-steyg-tags': 'team=search', 'x-session-id': 's' },
      text: prompt,
      more: {
        model: protocol.only,
        user: prompt.repeat(20),
        metadata: { user_id: prompt.repeat(50), note: prompt.repeat(9) },
      },
    });
  }
  await settled(app, customer);
  const { rows } = await app.pool.query(
    `SELECT a::text AS row FROM attribution a WHERE account_id = $1
     UNION ALL SELECT h::text FROM attribution_hour h WHERE account_id = $1`,
    [customer.accountId],
  );
  expect(rows).toHaveLength(3 + 6);
  expect(rows.map(({ row }) => row).join()).not.toContain('nobody');
});

it('sends upstream neither the tags nor the ids of headers, and the body byte for byte', async () => {
  const customer = await app.customer();
  const raw = `{"model":"${protocols.chat.only}", "user":"u", "metadata":{"team":"a"}, "messages":[{"role":"user","content":"hi"}]}`;
  await (
    await send(app, protocols.chat, {
      secret: customer.secret,
      headers: { 'x-steyg-tags': 'team=search', 'x-session-id': 's' },
      raw,
    })
  ).text();
  const sent = app.simulator.requests().at(-1);
  expect(sent?.headers.filter(([name]) => /steyg|session/i.test(name))).toEqual([]);
  expect(sent?.body.toString()).toBe(raw.replace('only-chat', 'sim-medium'));
});

it('adds up by the project in which a key lies, alone and with sessions', async () => {
  const customer = await app.customer();
  const projects = createProjects({ pool: app.pool });
  const { accountId } = customer;
  const made = await projects.create({ accountId, name: 'Search', actor: 'test' });
  if (made.kind !== 'created') throw new Error(made.kind);
  const placed = await app.keys.create({ accountId, actor: 'test', projectId: made.project.id });
  if (placed.kind !== 'created') throw new Error(placed.kind);
  const inProject = { ...customer, secret: placed.secret };
  for (const who of [inProject, inProject, customer])
    await ask(who, protocols.messages, { headers: { 'x-session-id': 's' } });
  await settled(app, customer);
  const rows = [
    { project_id: null, requests: 1 },
    { project_id: made.project.id, requests: 2 },
  ];
  expect((await usage(customer, 'group_by=project')).data).toMatchObject(rows);
  expect((await usage(customer, 'group_by=session,project')).data).toMatchObject(rows.toReversed());
  const first = await usage(customer, 'group_by=project&limit=1');
  expect((await usage(customer, `group_by=project&limit=1&cursor=${first.next_cursor}`)).data).toMatchObject([rows[1]]);
});

it('is read with a key of a project for that project alone, in every form, and with any other key for the account', async () => {
  const customer = await app.customer();
  await store(customer, 'plain');
  const projects = createProjects({ pool: app.pool });
  const { accountId } = customer;
  const keyOf = async (name: string) => {
    const made = await projects.create({ accountId, name, actor: 'test' });
    if (made.kind !== 'created') throw new Error(made.kind);
    const placed = await app.keys.create({ accountId, actor: 'test', projectId: made.project.id });
    if (placed.kind !== 'created') throw new Error(placed.kind);
    return { ...customer, keyId: placed.key.id, secret: placed.secret };
  };
  const [mine, other] = [await keyOf('Mine'), await keyOf('Other')];
  const idOf = new Map<Customer, string>();
  for (const who of [mine, other, customer]) {
    const headers = { 'x-session-id': 'shared', 'x-steyg-tags': 'team=a' };
    const answer = await send(app, protocols.messages, { secret: who.secret, headers });
    idOf.set(who, answer.headers.get('request-id') ?? '');
    await answer.text();
  }
  await settled(app, customer);
  for (const [who, requests] of [
    [mine, 1],
    [customer, 3],
  ] as const) {
    expect(await usage(who, 'session=shared')).toMatchObject({ requests });
    expect(await usage(who, 'tag=team%3Da')).toMatchObject({ requests });
    expect((await usage(who, 'group_by=session')).data).toMatchObject([{ session: 'shared', requests }]);
    expect((await usage(who, 'group_by=model')).data).toMatchObject([{ requests }]);
    expect((await usage(who, 'list=requests')).data).toHaveLength(requests);
    expect((await usage(who, 'list=requests&session=shared')).data).toHaveLength(requests);
  }
  const entry = (who: Customer, of: Customer) =>
    fetch(`${app.baseUrl}/v1/usage?request_id=${idOf.get(of)}`, { headers: { authorization: `Bearer ${who.secret}` } });
  expect((await entry(mine, mine)).status).toBe(200);
  expect((await entry(customer, other)).status).toBe(200);
  expect((await entry(mine, other)).status).toBe(404);
});

it('the status line of the guide says what the session has cost', async () => {
  const customer = await app.customer();
  const session = '0198c0de-0000-7000-8000-00000000abcd';
  const headers = { 'x-claude-code-session-id': session };
  for (let i = 0; i < 2; i += 1)
    await ask(customer, protocols.messages, {
      headers,
      text: '[[usage {"input_tokens":100,"output_tokens":10}]]',
    });
  await settled(app, customer);
  const directory = createDirectory('steyg-status-');
  // Stands in for curl, which a machine may not have.
  await writeFile(
    join(directory, 'curl'),
    `#!${process.execPath}
const argumentsOf = (name) => process.argv.flatMap((each, i) => (each === name ? [process.argv[i + 1]] : []));
const url = new URL(process.argv.find((each) => each.startsWith('http')));
for (const pair of argumentsOf('--data-urlencode')) url.searchParams.append(...pair.split(/=(.*)/s).slice(0, 2));
const headers = argumentsOf('-H').map((header) => header.split(/: (.*)/s).slice(0, 2));
fetch(url, { headers }).then((answer) => answer.text()).then((text) => process.stdout.write(text));
`,
    { mode: 0o755 },
  );
  const env = { ...process.env, ANTHROPIC_AUTH_TOKEN: customer.secret, PATH: `${directory}:${process.env['PATH']}` };
  const { ANTHROPIC_BASE_URL: _none, ...own } = env as Record<string, string>;
  const shown = await new Promise<string>((resolve, reject) => {
    const script = execFile('sh', ['-c', statusLineScript(app.url)], { env: own }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    script.stdin?.end(
      JSON.stringify({ model: { id: 'sim' }, session_id: session, cost: { total_cost_usd: 1 } }, null, 2),
    );
  });
  await rm(directory, { recursive: true });
  // Twice 100 tokens at 1 USD and 10 at 5 USD per million.
  expect(shown).toBe('0.0003 USD\n');
});
