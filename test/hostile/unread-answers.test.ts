import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { protocols } from '../gateway/support.ts';
import { catalogFile, post } from '../resilience/support.ts';
import type { Customer } from '../support/app.ts';
import { attack, maxDelayMs, memoryOf, startTarget, type Target } from './support.ts';

/** Answers that nobody reads, and streams that are faster than the ledger: memory stays bounded, others notice nothing. */

const answerMb = 60;
const eventBytes = 4_096;
const events = 2_000;

let target: Target;
let vendor: Server;

beforeAll(async () => {
  const whole = Buffer.from(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'vendor-name',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'x'.repeat(answerMb * 1_048_576) }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  );
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'vendor-name', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  vendor = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      if (!text.includes('"stream":true')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < events; i += 1) response.write(chunk({ content: 'y'.repeat(eventBytes) }));
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => {
    vendor.listen(0, '127.0.0.1', resolve);
  });
  const vendorUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  target = await startTarget({
    catalog: (url) =>
      catalogFile({
        upstreams: [
          { id: 'vendor', protocol: 'chat-completions', url: vendorUrl },
          { id: 'simulated', protocol: 'chat-completions', url },
        ],
        models: [
          { id: 'huge', routes: [{ upstream: 'vendor' }], contextWindow: 1_000_000 },
          { id: 'small', routes: [{ upstream: 'simulated' }] },
        ],
      }),
  });
});
afterAll(async () => {
  await target.close();
  vendor.closeAllConnections();
  vendor.close();
});

/** Asks for an answer over a socket that never reads. */
function askAndReadNothing(customer: Customer): Socket {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.pause();
  const body = JSON.stringify(protocols.chat.body('ping', { model: 'huge', max_tokens: 100 }));
  socket.write(
    `POST /api${protocols.chat.path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer ${customer.secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

it('30 answers of 60 MB that nobody reads: memory is bounded, and no other account is charged with them', async () => {
  const [greedy, bystander] = [await target.customer(), await target.customer()];
  const report = await attack(
    target,
    `30 unread answers of ${answerMb} MB`,
    async () => {
      const sockets = Array.from({ length: 30 }, () => askAndReadNothing(greedy));
      const statuses: number[] = [];
      for (let i = 0; i < 40; i += 1) {
        const response = await post(
          target,
          bystander.secret,
          { client: protocols.chat, model: 'small', stream: i % 2 === 0 },
          'ping',
        );
        await response.text();
        statuses.push(response.status);
        await delay(150);
      }
      for (const socket of sockets) socket.destroy();
      return statuses;
    },
    { figures: (statuses) => ({ 'bystander failed': statuses.filter((status) => status !== 200).length }) },
  );
  expect(report.result.filter((status) => status !== 200)).toEqual([]);
  expect(report.worstDelayMs).toBeLessThanOrEqual(maxDelayMs);
  // The account's bound and two answers beside it, above what an idle server takes; 30 answers would be 1,800 MB.
  expect(report.peakRssMb).toBeLessThan(750);
});

it('2,000 events of 4 KB faster than the ledger: the brake costs neither time nor memory', async () => {
  const customer = await target.customer({ usd: '50' });
  const before = memoryOf(target.server.pid)?.rssMb ?? 0;
  const report = await attack(
    target,
    `${events} events of 4 KB at once`,
    async () => {
      const startedAt = performance.now();
      const response = await post(
        target,
        customer.secret,
        { client: protocols.chat, model: 'huge', stream: true },
        'ping',
      );
      const text = await response.text();
      expect(text).toContain('[DONE]');
      expect(text.split('yyyy"').length - 1).toBe(events);
      return performance.now() - startedAt;
    },
    { figures: (ms) => ({ 'stream ms': Math.round(ms) }), retries: 0 },
  );
  expect(report.peakRssMb - before).toBeLessThan(150);
});
