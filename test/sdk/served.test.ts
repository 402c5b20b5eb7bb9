/** The SDK that a running server serves: whoever copies the first command of a page gets the version of that server. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { root, run, withDirectory } from './programs.ts';

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  execFileSync('npm', ['run', '--silent', 'prestart'], { cwd: root });
  app = await startApp();
  customer = await app.customer();
});
afterAll(() => app.close());

const fetched = async (path: string) => {
  const response = await fetch(`${app.url}${path}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, caching: response.headers.get('cache-control'), bytes };
};

describe('the served package', () => {
  it('is there under the present name, and under its version for ever', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'sdk/package.json'), 'utf8')) as { version: string };
    const present = await fetched('/sdk.tgz');
    const versioned = await fetched(`/sdk-${version}.tgz`);
    expect(present).toMatchObject({ status: 200, caching: 'no-cache' });
    expect(versioned).toMatchObject({ status: 200, caching: 'public, max-age=31536000, immutable' });
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(digest(present.bytes)).toBe(digest(versioned.bytes));
  });

  it('carries its licence, its page and its examples', async () => {
    await withDirectory(async (directory) => {
      const { bytes } = await fetched('/sdk.tgz');
      const names = execFileSync('tar', ['-tz'], { input: bytes, cwd: directory, encoding: 'utf8' }).split('\n');
      expect(names).toEqual(
        expect.arrayContaining(['package/LICENSE', 'package/README.md', 'package/examples/first-request.ts']),
      );
    });
  });

  it('runs from an empty folder by the command that pages show', async () => {
    await withDirectory(async (directory) => {
      const env = { STEYG_BASE_URL: `${app.url}/api`, STEYG_API_KEY: customer.secret };
      const { code, stdout, stderr } = await run('npx', ['--yes', `${app.url}/sdk.tgz`, 'connect', 'claude-code'], {
        cwd: directory,
        env,
      });
      expect(stderr).not.toContain('npm error');
      expect(stdout).toContain(`${app.url}/api`);
      expect(code).toBe(0);
    });
  });
});
