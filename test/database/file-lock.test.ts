/** File locks: exclusive, shared, and released when their holder is killed. */

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

/** Another process that tries to take the lock, says how that went, and holds it until it is killed. */
async function another(mode: LockMode): Promise<{ child: ChildProcess; result: string }> {
  const script = `
    import { tryLock } from '${fileLock}';
    const taken = tryLock('${path}', '${mode}') !== null;
    // Without a reference the lock must stay all the same.
    globalThis.gc();
    console.log(taken ? 'held' : 'refused');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, result: output.toString().trim() };
}

async function holder(mode: LockMode): Promise<ChildProcess> {
  const { child, result } = await another(mode);
  expect(result).toBe('held');
  return child;
}

async function attempt(mode: LockMode): Promise<string> {
  const { child, result } = await another(mode);
  await kill(child);
  return result;
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

it('stays taken for other processes while this one tries to take it again', async () => {
  const first = tryLock(path, 'exclusive');
  expect(tryLock(path, 'exclusive')).toBeNull();
  expect(tryLock(path, 'shared')).toBeNull();
  expect(await attempt('exclusive')).toBe('refused');
  first?.release();
  expect(await attempt('exclusive')).toBe('held');

  const shared = [tryLock(path, 'shared'), tryLock(path, 'shared')];
  shared[0]?.release();
  expect(await attempt('exclusive')).toBe('refused');
});

it('counts holders across processes', async () => {
  const [one, other] = await Promise.all([holder('shared'), holder('shared')]);
  await kill(one);
  expect(tryLock(path, 'exclusive')).toBeNull();
  await kill(other);
  expect(tryLock(path, 'exclusive')).not.toBeNull();
});
