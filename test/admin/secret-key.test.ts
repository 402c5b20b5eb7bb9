/** The generated secret key: made once, never replaced, readable for its owner only. */

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSecretKey, SecretKeyError } from '../../server/admin/secret-key.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'steyg-key-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('is made once, for its owner alone, and read from then on', async () => {
  const dataDir = join(directory, 'data');
  const key = await readSecretKey(dataDir);
  expect(key).toHaveLength(32);
  expect((await stat(join(dataDir, 'secret-key'))).mode & 0o777).toBe(0o600);
  expect(await readSecretKey(dataDir)).toEqual(key);
});

test('is the same for all who ask at once, and nothing else is left', async () => {
  const keys = await Promise.all(Array.from({ length: 10 }, () => readSecretKey(directory)));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  expect(await readdir(directory)).toEqual(['secret-key']);
});

test('is whole as soon as it appears, and never changes', async () => {
  for (let round = 0; round < 5; round += 1) {
    const dataDir = join(directory, `${round}`);
    const path = join(dataDir, 'secret-key');
    const making = Promise.all(Array.from({ length: 10 }, () => readSecretKey(dataDir)));
    while (!existsSync(path)) await new Promise(setImmediate);
    const first = readFileSync(path, 'utf8');
    const [key] = await making;
    expect(first).toBe(`${key?.toString('base64')}\n`);
  }
});

test('a file that holds something else is not replaced', async () => {
  const path = join(directory, 'secret-key');
  await writeFile(path, 'not a key\n');
  await expect(readSecretKey(directory)).rejects.toThrow(/is not a key/);
  expect(await readFile(path, 'utf8')).toBe('not a key\n');
});

test.each(['c2hvcnQ=', '', `${'A'.repeat(43)}=A`, `${'A'.repeat(20)}!${'A'.repeat(22)}=`])(
  'a file that holds %j is no key',
  async (text) => {
    await writeFile(join(directory, 'secret-key'), text);
    await expect(readSecretKey(directory)).rejects.toBeInstanceOf(SecretKeyError);
  },
);

test('what cannot be read or written is said with its path', async () => {
  const path = join(directory, 'secret-key');
  await mkdir(path);
  await expect(readSecretKey(directory)).rejects.toThrow(`${path} cannot be read (EISDIR).`);
  await writeFile(join(directory, 'file'), '');
  const below = join(directory, 'file', 'data');
  await expect(readSecretKey(below)).rejects.toBeInstanceOf(SecretKeyError);
});
