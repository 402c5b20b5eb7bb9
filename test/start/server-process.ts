import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';

/** Starts the server as an operator does, in a process of its own, and watches it from outside. */

const root = join(import.meta.dirname, '../..');

/** The server as an operator starts it: a process of its own, seen from outside. */
export interface ServerProcess {
  pid: number;
  url: string;
  /** What clients are configured with. */
  baseUrl: string;
  /** Everything it printed so far, and what of that was its log. */
  readonly output: string;
  readonly errors: string;
  readonly log: Record<string, unknown>[];
  /** Resolves when `/readyz` says so; rejects when the process ends first. */
  ready(): Promise<void>;
  /** Resolves when something is so, of what it printed for example; rejects when the process ends first. */
  until(isSo: () => boolean): Promise<void>;
  /** Status of a page, or null without an answer. */
  status(path: string): Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** The exit code, once everything it printed has been read; null when a signal ended it. */
  exited: Promise<number | null>;
  /** Kills it in any state. */
  kill(): Promise<void>;
}

export interface ServerProcessOptions {
  dataDir: string;
  env?: Record<string, string>;
  port?: number;
  /** The checkout to start; absent: this one. */
  folder?: string;
  /** The Node to run it; absent: this one. */
  node?: string;
}

export async function startServer({
  dataDir,
  env = {},
  port,
  folder = root,
  node = process.execPath,
}: ServerProcessOptions): Promise<ServerProcess> {
  const listensAt = port ?? (await freePort());
  const child = spawn(node, ['server/main.ts'], {
    cwd: folder,
    env: { ...surroundings(), PORT: String(listensAt), DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // What it printed last may arrive after the news of its end.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const url = `http://127.0.0.1:${listensAt}`;
  const read = gather(child);

  const status = async (path: string): Promise<number | null> => {
    try {
      const response = await fetch(url + path);
      await response.text();
      return response.status;
    } catch {
      return null;
    }
  };

  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const itsEnd = async (): Promise<Error> => {
    await exited;
    return new Error(`it ended: ${read.err}\n${read.out}`);
  };

  return {
    pid: child.pid ?? 0,
    url,
    baseUrl: `${url}/api`,
    get output() {
      return read.out;
    },
    get errors() {
      return read.err;
    },
    get log() {
      return (
        read.out
          .split('\n')
          // What follows the last end of a line is still coming.
          .slice(0, -1)
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line))
      );
    },
    async ready() {
      while ((await status('/readyz')) !== 200) {
        if (hasEnded()) throw await itsEnd();
        await pause();
      }
    },
    async until(isSo) {
      while (!isSo()) {
        if (hasEnded()) {
          const error = await itsEnd();
          if (isSo()) return;
          throw error;
        }
        await pause(5);
      }
    },
    status,
    signal: (name) => void child.kill(name),
    exited,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** What a shell of an operator would have; nothing of this machine that could configure the server. */
function surroundings(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    NODE_ENV: 'test',
    // Each start compiles the same files: a third of its CPU time.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
    // A machine that runs many tests at once is late all the time, and would refuse requests for it.
    OVERLOAD_LAG_MS: '86400000',
    // The tests keep their connections, which a process that stops waits for.
    ADMISSION_TIMEOUT_MS: '20000',
    DRAIN_IDLE_MS: '0',
  };
}

function gather({ stdout, stderr }: ChildProcess): { out: string; err: string } {
  const read = { out: '', err: '' };
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    read.out += text;
  });
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    read.err += text;
  });
  return read;
}

export function pause(ms = 20): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Runs a program to its end. */
export function runProgram(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd: root, env: { ...surroundings(), ...env } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err });
    });
  });
}

/** The operator's command line. */
export async function admin(
  dataDir: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; json: Record<string, Record<string, unknown>> }> {
  const { code, out, err } = await runProgram(process.execPath, ['server/admin.ts', ...args, '--json'], {
    DATA_DIR: dataDir,
    ...env,
  });
  try {
    return { code, json: JSON.parse(out) };
  } catch {
    throw new Error(`no JSON from ${args.join(' ')}: ${out}${err}`);
  }
}

/** Whether a process of this id lives. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
