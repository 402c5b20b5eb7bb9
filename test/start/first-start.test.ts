import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createDirectory } from '../support/directory.ts';
import { admin, lives, runProgram, type ServerProcess, startServer } from './server-process.ts';

/** A first start on a bare machine without configuration, and what follows, in this order. */

vi.setConfig({ testTimeout: 300_000 });

const directory = createDirectory('steyg-start-');
const dataDir = join(directory, 'data');
const env = { SIMULATOR_TOKENS_PER_SECOND: '0', SIMULATOR_FIRST_TOKEN_MS: '0', HOLD_LEASE_MS: '2000' };
let server: ServerProcess;
let port: number;
let key: string;
let password: string;
let postmaster: number;

afterAll(async () => {
  await server.kill();
  if (lives(postmasterPid())) process.kill(postmasterPid(), 'SIGQUIT');
  await rm(directory, { recursive: true, force: true });
});

function postmasterPid(): number {
  try {
    return Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  } catch {
    return 2 ** 22 + 1;
  }
}

async function spent(): Promise<string> {
  const response = await fetch(`${server.baseUrl}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { balance: { charged_usd: string } }).balance.charged_usd;
}

describe('a first start', () => {
  it('becomes ready, and says where to go and what to go in with', async () => {
    server = await startServer({ dataDir, env });
    await server.ready();
    // It is all there when the empty line behind it is.
    await server.until(() => /Try it:\n(.+\n)+\n/.test(server.output));
    port = Number(new URL(server.url).port);
    expect(await server.status('/healthz')).toBe(200);
    for (const address of ['/api', '/api/v1', '/graphql', '/status'])
      expect(server.output).toContain(server.url + address);
    password = /Operator \(shown this once\): +\S+@\S+ +(\S+)/.exec(server.output)?.[1] ?? '';
    expect(password.length).toBeGreaterThanOrEqual(10);
    key = /^ +(sk-steyg-\w+)$/m.exec(server.output)?.[1] ?? '';
    expect(key).not.toBe('');
    expect(server.errors).toBe('');
    postmaster = postmasterPid();
    expect(lives(postmaster)).toBe(true);
  });

  it('prints curl lines that work as they are, streamed too', async () => {
    const lines = server.output
      .slice(server.output.indexOf('Try it'))
      .split('\n')
      .filter((line) => /^ {4}(?:curl| )/.test(line))
      .join('\n');
    const commands = lines.split(/(?=^ {4}curl )/m);
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      const whole = await runProgram('sh', ['-c', command]);
      expect(whole).toMatchObject({ code: 0, out: expect.stringMatching(/^\{.*pong.*\}$/s) });
      const streamed = await runProgram('sh', ['-c', command.replace("-d '{", '-d \'{"stream":true,')]);
      expect(streamed.out).toMatch(/message_stop|\[DONE\]/);
    }
    expect(Number(await spent())).toBeGreaterThan(0);
  });

  it('is open to the command line beside it', async () => {
    const made = await admin(dataDir, ['account', 'create', '--email', 'beside@example.com', '--grant-usd', '3']);
    expect(made).toMatchObject({ code: 0, json: { account: { id: expect.any(String), email: 'beside@example.com' } } });
    const { json } = await admin(dataDir, ['key', 'create', '--account', 'beside@example.com', '--name', 'one']);
    const secret = String(json['key']?.['secret']);
    const answer = await fetch(`${server.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'ping' }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const list = await admin(dataDir, ['ledger', 'list', '--account', 'beside@example.com']);
    expect(list.json['entries']).toMatchObject([
      { model: 'sim-small', outcome: 'completed', keyId: json['key']?.['id'] },
    ]);
    expect(await admin(dataDir, ['invariants'])).toMatchObject({ code: 0 });
    expect(await admin(dataDir, ['key', 'delete', '--id', 'nonsense'])).toMatchObject({
      code: 1,
      json: { error: { message: expect.any(String) } },
    });
    // The command line used the database and left it running for the server.
    expect(lives(postmaster)).toBe(true);
  });

  it('logs no secret: the first start prints them beside the log, never in it', () => {
    const log = JSON.stringify(server.log);
    expect(server.log.length).toBeGreaterThan(3);
    for (const secret of [key, password, 'ping', 'pong', 'beside@example.com']) expect(log).not.toContain(secret);
  });

  it('stops at Ctrl-C, which comes twice under npm, and takes the database along', async () => {
    server.signal('SIGINT');
    server.signal('SIGINT');
    expect(await server.exited).toBe(0);
    expect(lives(postmaster)).toBe(false);
  });
});

describe('a second start', () => {
  it('is warm, keeps everything, and shows no secret again', async () => {
    server = await startServer({ dataDir, env, port });
    await server.ready();
    expect(Number(await spent())).toBeGreaterThan(0);
    await server.until(() => server.output.includes('ready at'));
    for (const secret of [key, password, 'Operator', 'Try it', 'sk-steyg']) expect(server.output).not.toContain(secret);
  });

  it('recovers from a kill of its own: the database that stayed is adopted', async () => {
    const before = await spent();
    postmaster = postmasterPid();
    await server.kill();
    expect(lives(postmaster)).toBe(true);
    server = await startServer({ dataDir, env, port });
    await server.ready();
    expect(await spent()).toBe(before);
    expect(postmasterPid()).toBe(postmaster);
  });

  it('recovers from a kill of everything', async () => {
    const before = await spent();
    await server.kill();
    process.kill(postmaster, 'SIGKILL');
    server = await startServer({ dataDir, env, port });
    await server.ready();
    expect(await spent()).toBe(before);
    server.signal('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(lives(postmasterPid())).toBe(false);
  });
});
