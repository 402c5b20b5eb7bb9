/** Visits of a browser that does not follow redirects: to sign in with an account elsewhere. */

import { expect } from 'vitest';
import { type Browser, type ControlPlane, publicUrl } from './server.ts';

/** One step; returns where the browser is sent. */
export async function visitFrom(ip: string, at: ControlPlane, browser: Browser, address: string): Promise<string> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const { pathname, search } = new URL(address, publicUrl);
  const reply = await at.app.inject({
    method: 'GET',
    url: `${pathname}${search}`,
    remoteAddress: ip,
    headers: { cookie },
  });
  const lines = [reply.headers['set-cookie'] ?? []].flat();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '' || /max-age=0(;|$)/i.test(line)) browser.cookies.delete(name);
    else browser.cookies.set(name, value);
  }
  expect(reply.statusCode).toBe(302);
  return String(reply.headers.location);
}
