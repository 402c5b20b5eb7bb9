import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useEmbeddedPostgres } from '../../server/database/embedded.ts';

/** The command line as a script calls it: a process of its own, on the embedded PostgreSQL. */

const program = fileURLToPath(new URL('../../server/admin.ts', import.meta.url));
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'steyg-process-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

function admin(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { PATH, HOME } = process.env;
  const { promise, resolve } = Promise.withResolvers<{ code: number; out: string; err: string }>();
  const child = execFile(
    process.execPath,
    [program, ...args],
    { env: { PATH, HOME, DATA_DIR: dataDir } },
    (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
  );
  return promise;
}

const postmaster = () => existsSync(join(dataDir, 'postgres', 'postmaster.pid'));

test('it prepares an empty directory, several at once, prints one JSON object and leaves nothing running', async () => {
  const both = await Promise.all([
    admin('account', 'create', '--email', 'a@example.com', '--json'),
    admin('account', 'create', '--email', 'b@example.com', '--json'),
  ]);
  for (const { code, out, err } of both) {
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({ account: { id: expect.any(String), email: expect.stringMatching(/^[ab]@/) } });
    expect(out.trimEnd()).not.toContain('\n');
  }
  expect(postmaster()).toBe(false);
}, 300_000);

test('it works beside other users of the database, and leaves it running', async () => {
  const log = { info: () => {}, warn: () => {} };
  const server = await useEmbeddedPostgres({ dataDir, log });
  try {
    const { code, out } = await admin('budget', 'show', '--account', 'a@example.com');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^granted +5\n/) });
    expect(postmaster()).toBe(true);
  } finally {
    await server.release();
  }
  expect(postmaster()).toBe(false);
}, 300_000);

test('it fails with exit code 1 and the error as JSON', async () => {
  const { code, out, err } = await admin('nonsense', '--json');
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(JSON.parse(out)).toEqual({ error: { code: 'usage', message: expect.any(String) } });
});
