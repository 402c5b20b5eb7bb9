import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { databaseUrlAdvice } from './binaries.ts';

/**
 * The identity of PostgreSQL's processes. It refuses to run as root, so root needs another one:
 * - `self`: the user of this process, who is not root.
 * - `namespace`: root, mapped to user 1000 inside a user namespace. Files stay root's: no chown is needed.
 * - `user`: another user of the machine, who must own PostgreSQL's files.
 */
export type Identity =
  | { kind: 'self' }
  | { kind: 'namespace' }
  | { kind: 'user'; name: string; uid: number; gid: number };

const unshare = ['unshare', '--user', '--map-user=1000', '--map-group=1000'] as const;

/**
 * Chooses the first identity that works here. Throws when root has none. `kinds` limits the choice, so that tests cover
 * each.
 */
export async function chooseIdentity(
  kinds: readonly Identity['kind'][] = ['self', 'namespace', 'user'],
): Promise<Identity> {
  if (process.getuid?.() !== 0) return { kind: 'self' };
  if (kinds.includes('namespace') && (await succeeds({ kind: 'namespace' }, 'true', []))) return { kind: 'namespace' };
  if (kinds.includes('user')) {
    for (const user of await unprivilegedUsers()) if (await succeeds(user, 'true', [])) return user;
  }
  throw new Error(
    `PostgreSQL does not run as root, and root can neither make a user namespace nor become "postgres" or "nobody" here. Start as another user. Or: ${databaseUrlAdvice}`,
  );
}

async function unprivilegedUsers(): Promise<Identity[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  return ['postgres', 'nobody'].flatMap((name) => {
    const line = lines.find((fields) => fields[0] === name);
    const [uid, gid] = [Number(line?.[2]), Number(line?.[3])];
    return line && uid > 0 && gid > 0 ? [{ kind: 'user' as const, name, uid, gid }] : [];
  });
}

/** Starts a program as `identity`. */
export function launch(
  identity: Identity,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  if (identity.kind === 'namespace') return spawn(unshare[0], [...unshare.slice(1), command, ...args], options);
  if (identity.kind === 'user') return spawn(command, args, { ...options, uid: identity.uid, gid: identity.gid });
  return spawn(command, args, options);
}

/** Whether a program can be run as `identity` and exits with 0. */
export function succeeds(identity: Identity, command: string, args: readonly string[]): Promise<boolean> {
  return runAs(identity, command, args).then(
    () => true,
    () => false,
  );
}

/** Runs a program to its end as `identity`. Throws with its output when it fails. */
export function runAs(identity: Identity, command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let written = '';
    const take = (chunk: Buffer) => {
      written = (written + chunk.toString('utf8')).slice(-4_000);
    };
    let child: ChildProcess;
    try {
      // In its own process group: Ctrl-C is handled by the parent, which stops it in order.
      child = launch(identity, command, args, { cwd: '/', detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      reject(error);
      return;
    }
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${signal ?? `code ${code}`}: ${written.trim()}`));
    });
  });
}
