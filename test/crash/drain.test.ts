import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Service, startService, stream } from '../resilience/processes.ts';
import { pause, type ServerProcess } from '../start/server-process.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** A process that is told to stop, and several processes behind one port. */

vi.setConfig({ testTimeout: 300_000 });

let database: TestDatabase;
let service: Service;
beforeAll(async () => {
  database = await createDatabase();
  service = await startService(database.url);
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

const ask = (server: ServerProcess, secret: string, content: string): Promise<Response> =>
  fetch(`${server.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${secret}`,
    },
    body: JSON.stringify({ model: 'on-messages', max_tokens: 500, messages: [{ role: 'user', content }] }),
  });

it('SIGTERM: no new connections, what was accepted is answered, the rest is told and settled, exit 0', async () => {
  // Long enough for a slow machine to ask and be answered meanwhile, short of what the long ones need.
  const server = await service.start('drained', { DRAIN_MS: '6000' });
  await server.ready();
  const customer = await service.customer();
  const { requests } = service.simulator.stats();
  const short = stream(server.baseUrl, customer, '[[len 60]][[speed 100]]');
  const long = stream(server.baseUrl, customer, '[[len 2000]][[speed 50]]', { model: 'on-messages' });
  const wholeShort = ask(server, customer.secret, '[[delay 900]][[say in time]]');
  const wholeLong = ask(server, customer.secret, '[[delay 60000]][[say too late]]');
  await reached(() => [short, long].every(({ text }) => text.includes('w1"')));
  await reached(() => service.simulator.stats().requests >= requests + 4);

  const kept = await Promise.all([keptConnection(server), keptConnection(server), keptConnection(server)]);
  server.signal('SIGTERM');
  await reached(() => isRefused(server));
  const [first, second, third] = kept;
  expect(await first.ask('/readyz')).toEqual({ status: 503, connection: 'close' });
  expect(await second.ask('/healthz')).toEqual({ status: 200, connection: 'close' });
  // A client whose connection was accepted before is answered as ever, and told to connect elsewhere next.
  expect(await third.ask('/api/v1/chat/completions', customer.secret)).toEqual({ status: 200, connection: 'close' });
  expect(await isRefused(server)).toBe(true);

  const inTime = await wholeShort;
  expect([inTime.status, await inTime.text()]).toEqual([200, expect.stringContaining('in time')]);
  const late = await wholeLong;
  expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
  await Promise.all([short.ended, long.ended]);
  expect(short).toMatchObject({ finished: true, text: expect.stringContaining('w59"') });
  expect(long).toMatchObject({
    finished: false,
    text: expect.stringMatching(/"error":\{"message":"This server is restarting/),
  });
  expect(await server.exited).toBe(0);

  const { rows } = await service.pool.query(
    'SELECT request_id, outcome, cost, output FROM ledger_entry WHERE account_id = $1',
    [customer.accountId],
  );
  const outcomes = rows.map(({ outcome }) => outcome).sort((a, b) => a.localeCompare(b));
  expect(outcomes).toEqual(['completed', 'completed', 'completed', 'shutdown', 'shutdown']);
  expect(rows.find(({ request_id: id }) => id === late.headers.get('request-id'))).toMatchObject({ cost: 0n });
  const cut = rows.find(({ request_id: id }) => id === long.requestId);
  expect(cut.output).toBeGreaterThan(1n);
  expect(cut.cost).toBeGreaterThan(0n);
  await service.released();
  expect(await service.broken()).toEqual([]);
});

it('an uncaught error ends the process in order, and the log does not contain its message', async () => {
  const fault = `process.on('SIGUSR2', () => { throw new Error('canary-of-an-error'); });`;
  const server = await service.start('faulty', {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
  });
  await server.ready();
  const customer = await service.customer();
  const running = stream(server.baseUrl, customer, '[[len 60]][[speed 100]]');
  await reached(() => running.text.includes('w1"'));
  server.signal('SIGUSR2');
  await running.ended;
  expect(running).toMatchObject({ finished: true });
  expect(await server.exited).toBe(1);
  expect(server.log).toContainEqual(expect.objectContaining({ level: 'fatal', kind: 'Error' }));
  expect(server.output + server.errors).not.toContain('canary');
  await service.released();
  expect(await service.broken()).toEqual([]);
});

it('two workers: a dead one is replaced, a deleted key counts on both, Ctrl-C reaches all processes and still drains', async () => {
  const server = await service.start('both', { WORKERS: '2' });
  await server.ready();
  await reached(() => server.output.includes('is ready at'));
  const customer = await service.customer();
  /** Requests over connections of their own, until both processes have answered some; their ids. */
  const bothAnswer = async (status: number): Promise<number[]> => {
    const seen = new Set<number>();
    while (seen.size < 2) {
      const response = await fetch(`${server.baseUrl}/v1/models`, {
        headers: { authorization: `Bearer ${customer.secret}`, connection: 'close' },
      });
      await response.text();
      const id = response.headers.get('request-id');
      const line = () => server.log.find(({ requestId, route }) => requestId === id && route !== undefined);
      await reached(() => line() !== undefined);
      // While one is being replaced the other answers; what is asked for is that both get there.
      if (response.status === status) seen.add(Number(line()?.['pid']));
    }
    return [...seen];
  };

  const before = await bothAnswer(200);
  const [victim = 0] = before;
  process.kill(victim, 'SIGKILL');
  await reached(() => server.log.some(({ msg }) => String(msg).includes('a worker ended')));
  const after = await bothAnswer(200);
  expect(after).not.toContain(victim);
  const slow = answerToHalfAHead(server);
  expect(server.output.match(/is ready at/g)).toHaveLength(1);
  // A scrape meets one of them: its figures must not be taken for those of the other.
  const figures = await (await fetch(`${server.url}/metrics`)).text();
  expect(figures).toMatch(/^gateway_holds\{worker="\d"\} \d+$/m);

  const deleted = await service.customer();
  expect((await ask(server, deleted.secret, 'ping')).status).toBe(200);
  await service.pool.query('UPDATE api_key SET deleted_at = now() WHERE id = $1', [deleted.keyId]);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(server, deleted.secret, 'ping')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));

  // The limits on slow clients hold for connections that a supervisor accepted, too.
  expect(await slow).toMatch(/^HTTP\/1\.1 408 /);
  const running = stream(server.baseUrl, customer, '[[len 60]][[speed 60]]');
  await reached(() => running.text.includes('w1"'));
  for (const pid of [server.pid, ...after]) process.kill(pid, 'SIGINT');
  await running.ended;
  expect(running).toMatchObject({ finished: true, text: expect.stringContaining('w59"') });
  expect(await server.exited).toBe(0);
  await service.released();
  expect(await service.broken()).toEqual([]);
});

/** Whether a new connection is refused. */
function isRefused({ url }: ServerProcess): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('connect', () => resolve(false));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    socket.on('close', () => socket.destroy());
  });
}

/** What a client gets that never sends the rest of its request's head. */
function answerToHalfAHead({ url }: ServerProcess): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let got = '';
    socket.on('connect', () => socket.write('GET /healthz HTTP/1.1\r\nhost: '));
    socket.setEncoding('latin1').on('data', (text: string) => {
      got += text;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(got));
  });
}

interface KeptConnection {
  ask(path: string, secret?: string): Promise<{ status: number | undefined; connection: string | undefined }>;
}

/** A connection that has brought one request and is kept for the next. */
async function keptConnection({ url }: ServerProcess): Promise<KeptConnection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const kept: KeptConnection = {
    ask: (path, secret) =>
      new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
        const sent = request(url + path, { agent, method: secret === undefined ? 'GET' : 'POST', headers });
        sent.on('error', reject);
        sent.on('response', (response) => {
          response.resume();
          const { connection } = response.headers;
          response.on('end', () => resolve({ status: response.statusCode, connection }));
        });
        const body = { model: 'on-chat-completions', messages: [{ role: 'user', content: 'ping' }] };
        sent.end(secret === undefined ? undefined : JSON.stringify(body));
      }),
  };
  expect((await kept.ask('/healthz')).status).toBe(200);
  return kept;
}

async function reached(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}
