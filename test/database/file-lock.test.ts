import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LockMode, lock, tryLock } from '../../server/database/file-lock.ts';

const fileLock = new URL('../../server/database/file-lock.ts', import.meta.url).href;
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'steyg-lock-'));
  path = join(directory, 'lock');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Another process that holds the lock until it is killed. */
async function holder(mode: LockMode): Promise<ChildProcess> {
  const script = `import { tryLock } from '${fileLock}'; tryLock('${path}', '${mode}'); globalThis.gc(); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

it('lets any number share, and one exclude, within one process too', () => {
  const first = tryLock(path, 'shared');
  const second = tryLock(path, 'shared');
  expect(tryLock(path, 'exclusive')).toBeNull();
  first?.release();
  expect(tryLock(path, 'exclusive')).toBeNull();
  second?.release();
  const exclusive = tryLock(path, 'exclusive');
  expect(exclusive).not.toBeNull();
  expect(tryLock(path, 'shared')).toBeNull();
  exclusive?.release();
  expect(tryLock(path, 'shared')).not.toBeNull();
});

it('excludes other processes for as long as the holder lives, however it ends', async () => {
  const child = await holder('exclusive');
  expect(tryLock(path, 'shared')).toBeNull();
  await expect(lock(path, 'exclusive', { timeoutMs: 50 })).rejects.toThrow('was locked');
  await kill(child);
  expect(tryLock(path, 'exclusive')).not.toBeNull();
});

it('counts holders across processes', async () => {
  const [one, other] = await Promise.all([holder('shared'), holder('shared')]);
  await kill(one);
  expect(tryLock(path, 'exclusive')).toBeNull();
  await kill(other);
  expect(tryLock(path, 'exclusive')).not.toBeNull();
});
