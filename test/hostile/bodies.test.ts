import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyProtocol } from '../gateway/support.ts';
import type { Customer } from '../support/app.ts';
import { attack, maxDelayMs, startTarget, type Target } from './support.ts';

/** No body that the limits let in delays the other clients, whatever route it is sent to. */

let target: Target;
let poor: Customer;
beforeAll(async () => {
  target = await startTarget();
  poor = await target.customer({ usd: '0' });
});
afterAll(() => target.close());

const size = 30 * 1_048_576;

const floods: Record<string, Uint8Array<ArrayBuffer>> = {
  'nothing but opening brackets': new Uint8Array(size).fill(0x5b),
  'nothing but blanks': new Uint8Array(size).fill(0x20),
};

describe('bodies of 30 MB that are no requests', () => {
  it.each(Object.keys(floods))('%s', async (name) => {
    const report = await attack(target, `30 MB: ${name}`, async () => {
      const statuses = await Promise.all(
        everyProtocol.map(async ({ path }) => {
          const response = await fetch(target.baseUrl + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${poor.secret}` },
            body: floods[name] ?? '',
          });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      return statuses;
    });
    expect(report.result.every((status) => status >= 400 && status < 500)).toBe(true);
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});
