/** The examination of a host behind nginx itself: as it comes, and as server/README.md sets it up. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { examineAddresses } from '../../server/admin/doctor/address.ts';
import { loadConfig } from '../../server/runtime/config.ts';
import { freePort } from '../support/free-port.ts';

async function behind(settings: string) {
  const [port, outer] = [await freePort(), await freePort()];
  const home = mkdtempSync(join(tmpdir(), 'steyg-nginx-'));
  chmodSync(home, 0o755);
  const conf = join(home, 'nginx.conf');
  const location = `location / { proxy_pass http://127.0.0.1:${port}; ${settings} }`;
  writeFileSync(
    conf,
    `daemon off; pid ${home}/pid; events {} http { access_log off; client_body_temp_path ${home}/a; proxy_temp_path ${home}/b;
     fastcgi_temp_path ${home}/c; uwsgi_temp_path ${home}/d; scgi_temp_path ${home}/e;
     server { listen 127.0.0.1:${outer}; ${location} } }`,
  );
  const nginx = spawn('nginx', ['-c', conf, '-p', home, '-e', 'stderr'], { stdio: 'ignore' });
  try {
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${outer}/`).then(
          (each) => each.status,
          () => 0,
        ),
      )
      .toBe(502);
    const config = loadConfig({ PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${outer}` });
    const findings = await examineAddresses(config);
    return Object.fromEntries(findings.map(({ subject, state, found }) => [subject, { state, found }]));
  } finally {
    nginx.kill();
    await once(nginx, 'close');
    rmSync(home, { recursive: true, force: true });
  }
}

it('nginx is found to collect streams as it comes, and to pass them on with its buffering off', async () => {
  // Its defaults: HTTP/1.0 towards the server, and buffers that are sent on when they are full.
  expect(await behind('')).toMatchObject({ 'public address': { state: 'good' }, streams: { state: 'bad' } });
  const off = await behind('proxy_http_version 1.1; proxy_buffering off;');
  expect(off).toMatchObject({ 'public address': { state: 'good' }, streams: { state: 'good' } });
});
