/** Mails: sent in the background, retried, and never logged. */

import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMailer } from '../../server/runtime/mail.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'steyg-mail-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const mail = {
  to: 'a/../b@example.com',
  subject: 'Hello',
  text: 'Follow https://x.test/y\n',
  links: ['https://x.test/y'],
};

describe('without a mail server', () => {
  it('each mail is a file that only its owner reads', async () => {
    const mailer = createMailer({ settings: () => ({ smtpUrl: null, from: 'x' }), dataDir, log: { error() {} } });
    mailer.post(mail);
    mailer.post(mail);
    await mailer.close();
    const names = await readdir(join(dataDir, 'mail'));
    expect(names).toHaveLength(2);
    for (const name of names) {
      expect(name).toMatch(/^\d{4}-\d\d-\d\dT[\d-]+Z-a_.._b@example\.com\.json$/);
      expect(JSON.parse(await readFile(join(dataDir, 'mail', name), 'utf8'))).toEqual(mail);
      expect((await stat(join(dataDir, 'mail', name))).mode & 0o077).toBe(0);
    }
  });
});

describe('with a mail server', () => {
  it('that fails, a mail is tried again and then given up with a log line without names or addresses', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end('421 busy\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const logged: unknown[] = [];
    const smtpUrl = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const mailer = createMailer({
      settings: () => ({ smtpUrl, from: 'Steyg <no-reply@example.com>' }),
      dataDir,
      log: { error: (fields, message) => void logged.push({ fields, message }) },
      delaysMs: [1, 1],
    });
    mailer.post(mail);
    await mailer.idle();
    await mailer.close();
    await new Promise((resolve) => server.close(resolve));
    expect(connections).toBe(3);
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).not.toContain('example.com');
  });
});
