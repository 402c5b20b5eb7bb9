/** Metrics: labels are bounded, and figures are read at a scrape. */

import { expect, test } from 'vitest';
import { createMetrics } from '../../server/runtime/telemetry/metrics.ts';

const settled = {
  protocol: 'messages',
  model: 'm',
  kind: 'text' as const,
  outcome: 'completed',
  usageSource: 'reported',
  usage: { input: 10, cacheHit: 0, cacheWrite5m: 2, cacheWrite1h: 1, output: 7 },
  cost: 1_500_000_000_000n,
};

test('figures are reported for each combination of labels, at every scrape', async () => {
  const metrics = createMetrics({ worker: 3 });
  for (const status of [200, 200, 429]) {
    metrics.requestDone({
      protocol: 'messages',
      model: 'm',
      kind: 'text',
      status,
      seconds: 0.02,
      firstByteSeconds: null,
    });
  }
  metrics.requestDone({
    protocol: 'responses',
    model: '200',
    kind: 'image',
    status: 200,
    seconds: 70,
    firstByteSeconds: 0.3,
  });
  metrics.settled(settled);
  metrics.settled({ ...settled, cost: 0n });
  metrics.charged('m', 1_250_000_000_000n);
  metrics.charged('m', 0n);
  metrics.inFlight.add('messages');
  metrics.inFlight.add('messages');
  metrics.inFlight.remove('messages');

  for (let looks = 0; looks < 2; looks += 1) {
    const lines = (await metrics.registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'gateway_requests_total{protocol="messages",model="m",status="200",worker="3"} 2',
        'gateway_requests_total{protocol="messages",model="m",status="429",worker="3"} 1',
        'gateway_requests_total{protocol="responses",model="200",status="200",worker="3"} 1',
        'gateway_tokens_total{model="m",token_type="input",operation="chat",worker="3"} 20',
        'gateway_tokens_total{model="m",token_type="cache_write",operation="chat",worker="3"} 6',
        'gateway_spend_usd_total{model="m",worker="3"} 1.5',
        'gateway_charged_usd_total{model="m",worker="3"} 1.25',
        'gateway_inflight{protocol="messages",worker="3"} 1',
        'gen_ai_server_request_duration_seconds_bucket{le="0.025",worker="3",protocol="messages",model="m",operation="chat"} 3',
        'gen_ai_server_request_duration_seconds_bucket{le="60",worker="3",protocol="responses",model="200",operation="generate_image"} 0',
        'gen_ai_server_request_duration_seconds_count{worker="3",protocol="responses",model="200",operation="generate_image"} 1',
      ]),
    );
    expect(lines.filter((line) => line.startsWith('gateway_requests_total'))).toHaveLength(3);
    expect(lines.filter((line) => line.startsWith('gateway_tokens_total'))).toHaveLength(3);
  }
});

test('names that clients choose become few labels, none of which can hold a secret', async () => {
  const metrics = createMetrics({ worker: 3 });
  const names = Array.from(
    { length: 500 },
    (_, index) => `member_${'abcdefghij'.at(index / 26)}${String.fromCharCode(97 + (index % 26))}x`,
  );
  for (const name of ['sk-0123456789', 'key_1', 'a\nb', 'x'.repeat(200), ...names])
    metrics.unknownMember('messages', name);
  const lines = (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('gateway_unknown_members'));
  expect(lines).toHaveLength(41);
  expect(lines.join('\n')).not.toMatch(/0123456789|key_1|xxxx/);
});
