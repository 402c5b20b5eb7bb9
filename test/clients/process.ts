/** Runs programs with a timeout, and kills everything that they started. */

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface Finished {
  /** Null when it was killed. */
  code: number | null;
  /** It did not end by itself in time. */
  timedOut: boolean;
  stdout: string;
  stderr: string;
  seconds: number;
}

export interface Run {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Ends it early, as the time-out does. */
  signal?: AbortSignal;
}

/** Runs a program to its end, or kills it with everything it started. Never throws for what the program does. */
export function run({ command, args, cwd, env, timeoutMs, signal }: Run): Promise<Finished> {
  const startedAt = performance.now();
  // A process group of its own: agents start shells and servers that would outlive them.
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    let timedOut = false;
    const stop = (): void => {
      timedOut = true;
      killGroup(child.pid);
    };
    const timer = setTimeout(stop, timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });
    const end = (code: number | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      killGroup(child.pid);
      // A process that left the group may hold the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ code, timedOut, stdout, stderr, seconds: (performance.now() - startedAt) / 1_000 });
    };
    child.on('error', (error) => {
      stderr += error.message;
      end(null);
    });
    // What it wrote last may still be on its way when it exits; half a second is for those who left the group.
    child.on('exit', (code) => {
      const patience = setTimeout(() => end(code), 500);
      child.once('close', () => {
        clearTimeout(patience);
        end(code);
      });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/**
 * Kills processes that left the group of the program that started them and still live in this home directory (Cline
 * leaves a daemon behind). Only Linux shows working directories; elsewhere nothing happens.
 */
export function killInhabitants(home: string): void {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
      if (variables.includes(`HOME=${home}`)) process.kill(Number(name), 'SIGKILL');
    } catch {
      // Another user's, or gone meanwhile.
    }
  }
}
