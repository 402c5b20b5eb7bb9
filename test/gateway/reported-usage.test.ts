import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { everyProtocol, nativeCatalog, protocols, send, settled } from './support.ts';

/** Whatever an upstream says of its tokens, it is never a gain, never an error, and only free where the report says so. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog({ more: '    allow: [web_search]' }) });
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

/** A text of more bytes than the window of the models has tokens. */
const long = 'x'.repeat(200_001);

interface Reported {
  read?: unknown;
  generated?: unknown;
}

/** What an upstream reports, and the tokens and source it comes to. `null` tokens: an estimate above zero. */
const cases: [string, Reported, { input: number | null; output: number | 'cap' | null; source: string }][] = [
  ['nothing of the output', { read: 10 }, { input: 10, output: null, source: 'partial' }],
  ['nothing at all', {}, { input: null, output: null, source: 'estimated' }],
  ['negative numbers', { read: -5, generated: -7 }, { input: 0, output: 0, source: 'clamped' }],
  ['fractions', { read: 1.5, generated: 2.7 }, { input: 2, output: 3, source: 'clamped' }],
  ['text', { read: '10', generated: '5' }, { input: 10, output: 5, source: 'clamped' }],
  // Never more than the request's bound, whatever is claimed: the model's window of 200,000, because the text is longer.
  ['1e308', { read: 1e308, generated: 1 }, { input: 200_000, output: 1, source: 'clamped' }],
  ['more than fits', { read: 200_001, generated: 99_000_000 }, { input: 200_000, output: 'cap', source: 'clamped' }],
  ['as much as fits', { read: 200_000, generated: 7 }, { input: 200_000, output: 7, source: 'reported' }],
  ['other kinds', { read: true, generated: [1] }, { input: null, output: null, source: 'estimated' }],
  ['zeros', { read: 0, generated: 0 }, { input: 0, output: 0, source: 'reported' }],
];

describe.each(places)('$name on $model, stream: $stream', ({ protocol, model, stream, read, generated }) => {
  it.each(cases)('reported: %s', async (_what, reported, expected) => {
    const customer = await app.customer({ usd: '1000' });
    const usage = JSON.stringify({ [read]: reported.read, [generated]: reported.generated });
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: `[[len 40]] [[usage ${usage}]]${long}`,
      more: { model, stream },
    });
    expect(response.status).toBe(200);
    await response.text();
    const [row, ...others] = await settled(app, customer);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ outcome: 'completed', usage_source: expected.source });
    expect(Number(row?.['input'])).toSatisfy(within(expected.input));
    // The cap of the request, or the longest answer of the model.
    const most = protocol.protocol === 'messages' ? 1_000 : 32_000;
    expect(Number(row?.['output'])).toSatisfy(within(expected.output === 'cap' ? most : expected.output));
    expect(row?.['charged']).toBe(row?.['cost']);
  });
});

async function anomaliesOf(kind: string, upstream: string): Promise<number> {
  const metric = await app.app.metrics.registry.getSingleMetric('gateway_anomalies_total')?.get();
  return metric?.values.find(({ labels }) => labels['kind'] === kind && labels['upstream'] === upstream)?.value ?? 0;
}

it.each([true, false])(
  'an answer for which no output is counted is an anomaly of its upstream (stream: %s)',
  async (stream) => {
    const customer = await app.customer();
    const before = await anomaliesOf('uncounted_output', 'by-chat');
    for (const usage of ['{"prompt_tokens":10,"completion_tokens":0}', '{"prompt_tokens":10,"completion_tokens":4}']) {
      const text = `[[len 40]] [[usage ${usage}]]`;
      await (
        await send(app, protocols.chat, { secret: customer.secret, text, more: { model: 'only-chat', stream } })
      ).text();
    }
    expect(await settled(app, customer)).toHaveLength(2);
    expect(await anomaliesOf('uncounted_output', 'by-chat')).toBe(before + 1);
  },
);

it('more than a model can take is an anomaly of its upstream, and does not empty the account', async () => {
  const customer = await app.customer({ usd: '1000' });
  const before = await anomaliesOf('implausible_usage', 'by-messages');
  const text = `[[usage {"input_tokens":1000,"cache_read_input_tokens":99000000,"output_tokens":3}]]${long}`;
  const more = { model: 'only-messages' };
  await (await send(app, protocols.messages, { secret: customer.secret, text, more })).text();
  expect(await settled(app, customer)).toMatchObject([
    { input: 0n, cache_hit: 200_000n, output: 3n, usage_source: 'clamped' },
  ]);
  expect(await anomaliesOf('implausible_usage', 'by-messages')).toBe(before + 1);
});

it('a search at the vendor runs the model again and again: its context counts each time', async () => {
  const customer = await app.customer({ usd: '1000' });
  const search = (input: number) =>
    send(app, protocols.messages, {
      secret: customer.secret,
      text: `[[usage {"input_tokens":${input},"output_tokens":3}]]`,
      more: { model: 'only-messages', tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    });
  for (const input of [3_000_000, 4_000_000]) await (await search(input)).text();
  const rows = await settled(app, customer);
  expect(new Map(rows.map(({ input, usage_source: source }) => [source, input]))).toEqual(
    new Map([
      ['reported', 3_000_000n],
      ['clamped', 3_200_000n],
    ]),
  );
});

describe('an event that is too large to be read, and then the end', () => {
  const line = Buffer.from(`data: ${'a'.repeat(1_200_000)}\n\n`).toString('base64');

  it.each(everyProtocol.filter(({ protocol }) => protocol !== 'responses'))(
    '$protocol: is not estimated at more than the request allows, or else any answer can have',
    async (protocol) => {
      const customer = await app.customer();
      const response = await send(app, protocol, {
        secret: customer.secret,
        text: `[[headers {"content-type":"text/event-stream"}]] [[raw ${line}]]`,
        more: { model: protocol.only, stream: true },
      });
      await response.text();
      const rows = await settled(app, customer);
      const output = protocol.protocol === 'messages' ? 1_000n : 32_000n;
      expect(rows).toMatchObject([{ output, usage_source: 'estimated', outcome: 'upstream_cut' }]);
    },
  );
});

describe.each(everyProtocol)('messages upstream, $protocol client', (protocol) => {
  const events = (usage: unknown): string =>
    [
      {
        type: 'message_start',
        message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'so '.repeat(400) } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(usage === undefined ? {} : { usage }) },
      { type: 'message_stop' },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');

  it.each([
    ['no usage', undefined, 'partial'],
    ['usage of null', null, 'partial'],
    ['usage without output', { input_tokens: 10 }, 'partial'],
    ['an output that is no number', { output_tokens: 'many' }, 'clamped'],
  ])('the placeholder of the start is not what an answer costs: %s at its end', async (_what, usage, source) => {
    const customer = await app.customer();
    const raw = Buffer.from(events(usage)).toString('base64');
    const response = await send(app, protocol, {
      secret: customer.secret,
      text: `[[headers {"content-type":"text/event-stream"}]] [[raw ${raw}]]`,
      more: { model: 'only-messages', stream: true },
    });
    expect(await response.text()).toContain('so so');
    expect(await settled(app, customer)).toMatchObject([
      { input: 10n, output: 300n, usage_source: source, outcome: 'completed' },
    ]);
  });
});

function within(expected: number | null): (tokens: number) => boolean {
  return expected === null ? (tokens) => tokens > 5 : (tokens) => tokens === expected;
}
