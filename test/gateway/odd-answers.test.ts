import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { errorOf, everyProtocol, nativeCatalog, type ProtocolCase, send, settled } from './support.ts';

/** Answers that come in another form than the request asked for, or that say nothing. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
});
afterAll(() => app.close());

/** Makes the upstream answer with these bytes, under this type. */
function answered(type: string, bytes: string): string {
  return `[[headers ${JSON.stringify({ 'content-type': type })}]] [[raw ${Buffer.from(bytes).toString('base64')}]]`;
}

const sse = (events: readonly Record<string, unknown>[]): string =>
  events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const usage = { input_tokens: 30, output_tokens: 7 };
const item = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'So.', annotations: [] }],
};
const response = { id: 'r', object: 'response', status: 'completed', model: 'sim-medium', output: [item], usage };
const content = [{ type: 'text', text: 'So.' }];
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'sim-medium',
  content,
  stop_reason: 'end_turn',
  usage,
};
const choice = { index: 0, message: { role: 'assistant', content: 'So.' }, finish_reason: 'stop' };
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'sim-medium',
  choices: [choice],
  usage: { prompt_tokens: 30, completion_tokens: 7 },
};

interface Upstream {
  model: string;
  whole: Record<string, unknown>;
  stream: string;
  /** The whole answer in the last event that could carry it; empty: the protocol has no such event. */
  late: string;
}
const upstreams: Upstream[] = [
  {
    model: 'only-messages',
    whole: message,
    stream: sse([
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ]),
    late: '',
  },
  {
    model: 'only-chat',
    whole: completion,
    stream: `data: ${JSON.stringify({ ...completion, choices: [{ index: 0, delta: choice.message, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    late: `data: ${JSON.stringify(completion)}\n\ndata: [DONE]\n\n`,
  },
  {
    model: 'only-responses',
    whole: response,
    stream: sse([
      { type: 'response.created', response: { ...response, output: [], usage: null, status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm', delta: 'So.' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ]),
    late: sse([{ type: 'response.completed', response }]),
  },
];
const pairs = upstreams.flatMap((upstream) =>
  everyProtocol.map((protocol) => ({ ...upstream, protocol, client: protocol.protocol })),
);

async function ask(protocol: ProtocolCase, model: string, text: string, stream: boolean) {
  const customer = await app.customer();
  const answer = await send(app, protocol, { secret: customer.secret, text, more: { model, stream } });
  return { customer, answer };
}

describe.each(pairs)('$client client, model $model', ({ model, whole, stream, late, protocol }) => {
  it.each<[how: string, type: string, bytes: string]>([
    ['whole, although it was to be streamed', 'application/json; charset=utf-8', JSON.stringify(whole)],
    ['as a stream that is called plain text', 'text/plain', stream],
    ['as a stream that is called bytes', 'application/octet-stream', stream],
    ...(late === '' ? [] : [['with one of the last events', 'text/event-stream', late] as [string, string, string]]),
  ])('an answer that comes %s is delivered as a stream and charged as reported', async (_how, type, bytes) => {
    const { customer, answer } = await ask(protocol, model, answered(type, bytes), true);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const text = await answer.text();
    expect(text).toContain('So.');
    expect(text).toContain(protocol.terminator);
    expect(await settled(app, customer)).toMatchObject([
      { outcome: 'completed', usage_source: 'reported', input: 30n, output: 7n, cost: 65_000_000n },
    ]);
  });

  it('a byte order mark before a whole answer is no part of it', async () => {
    const marked = answered('application/json', `\ufeff${JSON.stringify(whole)}`);
    const { customer, answer } = await ask(protocol, model, marked, false);
    expect(answer.status).toBe(200);
    expect(protocol.text(JSON.parse(await answer.text()))).toBe('So.');
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'completed', input: 30n, output: 7n }]);
  });

  it.each([
    ['a terminator alone', 'text/event-stream', 'data: [DONE]\n\n'],
    ['a page', 'text/html', '<h1>So.</h1>'],
    ['plain text', 'text/plain', 'So.\n\n'],
    ['an error as JSON', 'application/json', '{"error":{"message":"So."}}'],
    ['an empty object', 'application/json', '{}'],
    ['nothing', 'application/json', ''],
  ])('%s is no answer to a request for a stream: 502, free of charge', async (_what, type, bytes) => {
    const { customer, answer } = await ask(protocol, model, answered(type, bytes), true);
    expect(answer.status).toBe(502);
    expect((await errorOf(answer, protocol.protocol)).message).not.toContain('So.');
    expect(await settled(app, customer)).toMatchObject([{ outcome: 'upstream_error', usage_source: 'none', cost: 0n }]);
  });
});
