import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { protocols, send } from '../gateway/support.ts';
import type { Customer } from '../support/app.ts';
import { attack, maxDelayMs, startTarget, type Target } from './support.ts';

/** What can be sent to the REST addresses without money: bodies, token counts, half requests, calls that vendors refuse. */

let target: Target;
let poor: Customer;
let bystander: Customer;
beforeAll(async () => {
  target = await startTarget();
  poor = await target.customer({ usd: '0' });
  bystander = await target.customer();
});
afterAll(() => target.close());

const mb = 1_048_576;
const counting = { ...protocols.messages, path: '/v1/messages/count_tokens' };
const dense = (length: number): string =>
  Array.from({ length }, (_none, index) => String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000))).join('');
const nested = (depth: number, items: number): string =>
  `${'[{"a":'.repeat(depth)}[${Array.from({ length: items }, () => '"x"').join(',')}]${'}]'.repeat(depth)}`;

/** Requests of a bystander during an attack, one after the other; how many of them failed. */
async function bystanderFailures(customer: Customer, until: Promise<unknown>): Promise<number> {
  const attackIsOver = until.then(() => true);
  let isOver = false;
  let failed = 0;
  while (!isOver) {
    const response = await send(target, protocols.chat, { secret: customer.secret });
    await response.arrayBuffer();
    if (response.status !== 200) failed += 1;
    const later = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 50));
    isOver = await Promise.race([attackIsOver, later]);
  }
  return failed;
}

describe('counting tokens', () => {
  it.each([
    ['deeply nested', `{"model":"only-chat","messages":[{"role":"user","content":${nested(60, 100_000)}}]}`],
    [
      'without a blank',
      JSON.stringify({ model: 'only-chat', messages: [{ role: 'user', content: dense(1_000_000) }] }),
    ],
    [
      'one letter each',
      JSON.stringify({
        model: 'only-chat',
        messages: Array.from({ length: 40_000 }, () => ({ role: 'user', content: 'x' })),
      }),
    ],
    [
      '30 MB of text',
      JSON.stringify({ model: 'only-chat', messages: [{ role: 'user', content: 'some words '.repeat(2_800_000) }] }),
    ],
  ])('20 at once, %s', async (name, raw) => {
    const report = await attack(
      target,
      `count_tokens: ${name}`,
      async () => {
        const sent = Promise.all(
          Array.from({ length: raw.length > mb * 10 ? 3 : 20 }, async () => {
            const response = await send(target, counting, { secret: poor.secret, raw });
            await response.arrayBuffer();
            return response.status;
          }),
        );
        const failed = await bystanderFailures(bystander, sent);
        return { failed, statuses: await sent };
      },
      { figures: ({ failed }) => ({ 'bystander failed': failed }) },
    );
    expect(report.result.statuses.every((status) => status < 500)).toBe(true);
    expect(report.result.failed).toBe(0);
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});

describe('large bodies of an account without money', () => {
  it.each([
    '/v1/messages',
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages/count_tokens',
    '/v1/models',
    '/v1/usage',
    '/v1/nothing',
  ])('%s: ten of 30 MB at once', async (path) => {
    const body = `{"model":"sim-medium","max_tokens":16,"messages":[{"role":"user","content":"${'a"},{"role":"user","content":"'.repeat(1_000_000)}"}]}`;
    const report = await attack(
      target,
      `30 MB to ${path}`,
      async () => {
        const sent = Promise.all(
          Array.from({ length: 10 }, async () => {
            const response = await fetch(target.baseUrl + path, {
              method: 'POST',
              headers: {
                'content-type': 'application/json',
                'anthropic-version': '2023-06-01',
                authorization: `Bearer ${poor.secret}`,
              },
              body,
            });
            await response.arrayBuffer();
            return response.status;
          }),
        );
        const failed = await bystanderFailures(bystander, sent);
        return { failed, statuses: await sent };
      },
      { figures: ({ failed }) => ({ 'bystander failed': failed }) },
    );
    expect(report.result.statuses.every((status) => status >= 400)).toBe(true);
    expect(report.result.failed).toBe(0);
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});

describe('bodies that are never completed', () => {
  it('16 sockets of four accounts: every request of 1.2 MB of a fifth is served', async () => {
    const greedy = await Promise.all(Array.from({ length: 4 }, () => target.customer({ usd: '0' })));
    const { hostname, port } = new URL(target.url);
    const report = await attack(
      target,
      '16 sockets that announce 32 MB and send 31',
      async () => {
        const sockets = greedy.flatMap(({ secret }) =>
          Array.from({ length: 4 }, (): Socket => {
            const socket = connect({ host: hostname, port: Number(port) });
            socket.on('error', () => undefined);
            socket.write(
              `POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${32 * mb}\r\n\r\n`,
            );
            socket.write(Buffer.alloc(31 * mb, ' '));
            return socket;
          }),
        );
        const statuses: number[] = [];
        for (let count = 0; count < 20; count += 1) {
          const response = await send(target, protocols.chat, {
            secret: bystander.secret,
            text: 'x'.repeat(1_200_000),
          });
          await response.arrayBuffer();
          statuses.push(response.status);
        }
        for (const socket of sockets) socket.destroy();
        return statuses;
      },
      { figures: (statuses) => ({ 'bystander failed': statuses.filter((status) => status !== 200).length }) },
    );
    expect(report.result).toEqual(Array.from({ length: 20 }, () => 200));
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});

describe('calls that the vendor refuses', () => {
  it('one trial key gets at most 60 of them a minute', async () => {
    const trial = await target.customer({ trial: true });
    const before = target.simulator.stats().requests;
    const report = await attack(
      target,
      'one trial key, calls that are refused',
      async () => {
        const until = performance.now() + 5_000;
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            while (performance.now() < until) {
              const response = await send(target, protocols.chat, { secret: trial.secret, text: '[[status 400]]' });
              await response.arrayBuffer();
            }
          }),
        );
        return target.simulator.stats().requests - before;
      },
      { retries: 0, figures: (calls) => ({ 'upstream calls': calls }) },
    );
    // Requests that run at the same moment are counted when they end.
    expect(report.result).toBeLessThanOrEqual(60 + 4);
  });
});
