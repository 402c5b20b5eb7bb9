/** `steyg login` and `logout`: the packed program against the running service, with a person who decides. */

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure, orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, type Person } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { installPacked, run } from './programs.ts';

let app: TestApp;
let person: Person;
let project: string;
let program: string;
beforeAll(async () => {
  app = await startApp();
  person = await createPerson(app);
  project = await mkdtemp(join(tmpdir(), 'steyg-login-'));
  await installPacked(project);
  program = join(project, 'node_modules/@steyg/sdk/bin/steyg.js');
});
afterAll(async () => {
  await app.close();
  await rm(project, { recursive: true, force: true });
});

async function withHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'steyg-home-'));
  try {
    return await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const steyg = (home: string, args: readonly string[], env: Record<string, string> = {}) =>
  run(process.execPath, [program, ...args], { cwd: home, env });

/** Runs a login; `decide` gets the code as soon as the program shows it. */
async function login(home: string, args: readonly string[], decide: (code: string) => Promise<unknown>) {
  const child = spawn(process.execPath, [program, 'login', '--base-url', app.baseUrl, ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const shown = { stdout: '', stderr: '' };
  const decisions: Promise<unknown>[] = [];
  child.stdout.on('data', (bytes: Buffer) => {
    shown.stdout += bytes.toString();
    const code = /compare the code: {2}(\S+)/.exec(shown.stdout)?.[1];
    if (code !== undefined && decisions.length === 0) decisions.push(decide(code));
  });
  child.stderr.on('data', (bytes: Buffer) => void (shown.stderr += bytes.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  await Promise.all(decisions);
  return { code, ...shown };
}

const approve = (name: string) => async (code: string) =>
  orThrow(
    await person.steyg.console.machines.approveMachineLogin({
      input: { code, name, limits: { day: '1', lifetime: '3' } },
    }),
  );

const kept = async (home: string) => (await readFile(join(home, '.steyg/key'), 'utf8')).trim();
const modelsWith = (key: string) =>
  fetch(`${app.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status);

describe('steyg login', () => {
  it('gets a key of the approved limits, keeps it for its owner alone, sets the tool up without a copy, and logout ends it', async () => {
    await withHome(async (home) => {
      const ended = await login(home, ['claude-code', '--yes'], approve('laptop'));
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      const key = await kept(home);
      expect(key).toMatch(/^sk-steyg-/);
      expect(ended.stdout).not.toContain(key);
      for (const name of ['key', 'env']) expect((await stat(join(home, '.steyg', name))).mode & 0o777).toBe(0o600);
      expect((await stat(join(home, '.steyg'))).mode & 0o777).toBe(0o700);
      const settings = await readFile(join(home, '.claude/settings.json'), 'utf8');
      expect(settings).not.toContain(key);
      const { apiKeyHelper, statusLine, env } = JSON.parse(settings) as {
        apiKeyHelper: string;
        statusLine: { command: string };
        env: Record<string, string>;
      };
      expect(env).not.toHaveProperty('ANTHROPIC_AUTH_TOKEN');
      // What the tool runs prints the key, and what is left of its limit.
      const helped = await run('/bin/sh', ['-c', apiKeyHelper], { cwd: home });
      expect(helped.stdout.trim()).toBe(key);
      const line = await run('/bin/sh', ['-c', statusLine.command], { cwd: home });
      expect(line.stdout).toBe('1.00 USD left, 0.00 USD today\n');
      const shell = await run('/bin/sh', ['-c', '. "$HOME/.steyg/env"; echo "$STEYG_API_KEY $STEYG_BASE_URL"'], {
        cwd: home,
      });
      expect(shell.stdout).toBe(`${key} ${app.baseUrl}\n`);
      expect(app.logged.join('\n')).not.toContain(key);

      expect(await steyg(home, ['logout'])).toMatchObject({ code: 0, stderr: '' });
      expect(await modelsWith(key)).toBe(401);
      expect(await readdir(join(home, '.steyg'))).not.toContain('key');
      expect((await steyg(home, ['status'])).code).toBe(1);
      expect(await steyg(home, ['logout'])).toMatchObject({ code: 0, stdout: 'Nobody is signed in here.\n' });
    });
  });

  it('ends the key of the login before, and keeps that one when the next is denied', async () => {
    await withHome(async (home) => {
      await login(home, [], approve('first'));
      const first = await kept(home);
      const denied = await login(home, [], (code) => person.steyg.console.machines.denyMachineLogin({ code }));
      expect(denied).toMatchObject({ code: 1, stderr: 'No key: The request was refused.\n' });
      expect(await kept(home)).toBe(first);
      expect(await modelsWith(first)).toBe(200);
      await login(home, [], approve('second'));
      expect(await kept(home)).not.toBe(first);
      expect(await modelsWith(first)).toBe(401);
      expect(await modelsWith(await kept(home))).toBe(200);
    });
  });

  it('gives its key to no other service', async () => {
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      await withHome(async (home) => {
        await mkdir(join(home, '.steyg'));
        const env = `export STEYG_BASE_URL=${app.baseUrl}\nexport STEYG_API_KEY=sk-steyg-secret\n`;
        await writeFile(join(home, '.steyg/env'), env);
        const baseUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}/api`;
        const { code, stderr } = await steyg(home, ['status', '--base-url', baseUrl]);
        expect([code, stderr]).toEqual([1, 'Say whose: STEYG_API_KEY, or --key-file PATH.\n']);
        const away = await steyg(home, ['login', '--base-url', baseUrl]);
        expect(away.stderr).toContain('gave no code');
        expect(seen.join('')).not.toContain('secret');
      });
    } finally {
      other.close();
    }
  });

  it('says what is wrong in one line, and keeps a key that the service did not end', async () => {
    await withHome(async (home) => {
      expect((await steyg(home, ['login'])).stderr).toContain('Say where the service is');
      const nowhere = await steyg(home, ['login', '--base-url', 'http://127.0.0.1:9/api']);
      expect(nowhere).toMatchObject({ code: 1, stderr: 'http://127.0.0.1:9 does not answer.\n' });
      const made = await person.steyg.console.keys.createKey({ input: { name: 'shared' } });
      if (isFailure(made)) throw new Error(made.code);
      await mkdir(join(home, '.steyg'));
      await writeFile(
        join(home, '.steyg/env'),
        `export STEYG_BASE_URL=${app.baseUrl}\nexport STEYG_API_KEY=${made.secret}\n`,
      );
      const refused = await steyg(home, ['logout']);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('delete it on the page API keys');
      expect(await readFile(join(home, '.steyg/env'), 'utf8')).toContain(made.secret);
    });
  });
});
