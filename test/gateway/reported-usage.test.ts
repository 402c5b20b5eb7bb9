import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, nativeCatalog, send, settled } from './support.ts';

/** Fault 31: whatever an upstream says of its tokens, an answer is never free, never a gain and never an error. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
});
afterAll(() => app.close());

/** The two names that each upstream has for what was read and what was generated. */
const upstreams = [
  { model: 'only-messages', read: 'input_tokens', generated: 'output_tokens' },
  { model: 'only-chat', read: 'prompt_tokens', generated: 'completion_tokens' },
  { model: 'only-responses', read: 'input_tokens', generated: 'output_tokens' },
];
const places = everyProtocol.flatMap((protocol) =>
  upstreams.flatMap((upstream) =>
    [false, true].map((stream) => ({ name: protocol.protocol, protocol, stream, ...upstream })),
  ),
);

interface Reported {
  read?: unknown;
  generated?: unknown;
}

/** What an upstream reports, and the tokens and source it comes to. `null` tokens: an estimate above zero. */
const cases: [string, Reported, { input: number | null; output: number | null; source: string }][] = [
  ['nothing of the output', { read: 10 }, { input: 10, output: null, source: 'partial' }],
  ['nothing at all', {}, { input: null, output: null, source: 'estimated' }],
  ['negative numbers', { read: -5, generated: -7 }, { input: 0, output: 0, source: 'clamped' }],
  ['fractions', { read: 1.5, generated: 2.7 }, { input: 2, output: 3, source: 'clamped' }],
  ['text', { read: '10', generated: '5' }, { input: 10, output: 5, source: 'clamped' }],
  ['1e308', { read: 1e308, generated: 1 }, { input: 100_000_000, output: 1, source: 'clamped' }],
  ['other kinds', { read: true, generated: [1] }, { input: null, output: null, source: 'estimated' }],
  ['zeros', { read: 0, generated: 0 }, { input: 0, output: 0, source: 'reported' }],
];

describe.each(places)('$name on $model, stream: $stream', ({ protocol, model, stream, read, generated }) => {
  it.each(cases)('reported: %s', async (_what, reported, expected) => {
    const customer = await app.customer({ usd: '1000' });
    const usage = JSON.stringify({ [read]: reported.read, [generated]: reported.generated });
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: `[[len 40]] [[usage ${usage}]]`,
      more: { model, stream },
    });
    expect(response.status).toBe(200);
    await response.text();
    const [row, ...others] = await settled(app, customer);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ outcome: 'completed', usage_source: expected.source });
    expect(Number(row?.['input'])).toSatisfy(within(expected.input));
    expect(Number(row?.['output'])).toSatisfy(within(expected.output));
    expect(row?.['charged']).toBe(row?.['cost']);
  });
});

it.each(everyProtocol.filter(({ protocol }) => protocol !== 'responses'))(
  'fault 29: $protocol: a giant line is not estimated at more than any answer can have',
  async (protocol) => {
    const customer = await app.customer();
    const line = Buffer.from(`data: ${'a'.repeat(1_200_000)}\n\n`).toString('base64');
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: `[[headers {"content-type":"text/event-stream"}]] [[raw ${line}]]`,
      more: { model: protocol.only, stream: true },
    });
    await response.text();
    const rows = await settled(app, customer);
    expect(rows).toMatchObject([{ output: 200_000n, usage_source: 'estimated', outcome: 'upstream_cut' }]);
  },
);

function within(expected: number | null): (tokens: number) => boolean {
  return expected === null ? (tokens) => tokens > 5 : (tokens) => tokens === expected;
}
