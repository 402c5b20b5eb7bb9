/** Workers that are late or die while connections are handed to them, behind a real supervisor. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';

vi.setConfig({ testTimeout: 300_000 });

let supervisor: ChildProcess;
let port: number;
let stopped: number[] = [];

afterEach(async () => {
  for (const pid of stopped) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has died in the test.
    }
  }
  stopped = [];
  if (supervisor.exitCode !== null) return;
  supervisor.kill('SIGTERM');
  await once(supervisor, 'exit');
});

async function start(env: Record<string, string>): Promise<void> {
  port = await freePort();
  supervisor = spawn(process.execPath, [join(import.meta.dirname, 'supervised.ts')], {
    env: { PATH: process.env['PATH'], PORT: String(port), ...env },
    stdio: 'inherit',
  });
}

interface Client {
  socket: Socket;
  /** Resolves with what came, when the connection has been closed. */
  closed: Promise<string>;
}

/** Connects and asks. */
function ask(request = 'GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n'): Client {
  const socket = connect({ port, host: '127.0.0.1' });
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => undefined);
  socket.write(request);
  return { socket, closed: new Promise((resolve) => socket.on('close', () => resolve(text))) };
}

/** Process id of the worker that answered; 0 without an answer. */
const pidOf = (answer: string): number => Number(/\r\n\r\n(\d+)$/.exec(answer)?.[1] ?? 0);

/** Process ids of the workers, when there are so many. */
async function workers(count: number): Promise<number[]> {
  const pids = new Set<number>();
  await expect
    .poll(
      async () => {
        const pid = pidOf(await ask().closed);
        if (pid !== 0) pids.add(pid);
        return pids.size;
      },
      { interval: 20 },
    )
    .toBe(count);
  return [...pids];
}

const descriptors = (): number => readdirSync(`/proc/${supervisor.pid}/fd`).length;

function stop(pids: number[]): void {
  stopped.push(...pids);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
}

it('all start, though the first one says that it is open and ready at once', async () => {
  await start({ WORKERS: '3', BUSY_MS: '1500' });
  expect(await workers(3)).toHaveLength(3);
});

it('time the heads of the connections that they are handed', async () => {
  await start({ WORKERS: '2' });
  await workers(2);
  expect(await ask('GET / HTTP/1.1\r\n').closed).toMatch(/^HTTP\/1\.1 408 /);
});

it.runIf(process.platform === 'linux')(
  'killed with connections in its hands: other workers answer every client, and no descriptor is left',
  async () => {
    await start({ WORKERS: '2' });
    const [victim = 0, other = 0] = await workers(2);
    const before = descriptors();
    stop([victim]);
    const clients = Array.from({ length: 20 }, () => ask());
    // The late worker has one of them; the others did not wait for it.
    let answered = 0;
    for (const { closed } of clients) void closed.then(() => (answered += 1));
    await expect.poll(() => answered).toBe(19);
    process.kill(victim, 'SIGKILL');
    const answers = await Promise.all(clients.map(({ closed }) => closed));
    expect(new Set(answers.map(pidOf))).toEqual(new Set([other]));
    await workers(2);
    await expect.poll(descriptors).toBe(before);
  },
);

it.runIf(process.platform === 'linux')(
  'all killed with connections in their hands: the next ones answer every client, and no descriptor is left',
  async () => {
    await start({ WORKERS: '2' });
    const victims = await workers(2);
    const before = descriptors();
    stop(victims);
    const clients = Array.from({ length: 20 }, () => ask());
    await pause(300);
    for (const pid of victims) process.kill(pid, 'SIGKILL');
    const answers = await Promise.all(clients.map(({ closed }) => closed));
    for (const answer of answers) expect([0, ...victims]).not.toContain(pidOf(answer));
    await workers(2);
    await expect.poll(descriptors).toBe(before);
  },
);

it.runIf(process.platform === 'linux')(
  'late ones: clients beyond the bound are closed at once and the others when their time is over; then all is as before',
  async () => {
    await start({ WORKERS: '2', WAITING_MS: '2000' });
    const late = await workers(2);
    const before = descriptors();
    stop(late);
    const clients = Array.from({ length: 70 }, () => ask());
    const answers = await Promise.all(clients.map(({ closed }) => closed));
    expect(new Set(answers)).toEqual(new Set(['']));
    for (const pid of late) process.kill(pid, 'SIGCONT');
    expect(new Set(await workers(2))).toEqual(new Set(late));
    await expect.poll(descriptors).toBe(before);
  },
);
