import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { bytes, contextWith, factsOf, MINIMAL, text } from './dialogue/support.ts';
import { opened } from './fixtures.ts';

/** An answer ended well only if its vendor has said so: everything else is a failure, for which nobody pays. */

const everyProtocol: Protocol[] = ['messages', 'chat-completions', 'responses'];

function streamOf(client: Protocol, upstream: Protocol) {
  const raw = bytes(JSON.stringify({ ...MINIMAL[client], stream: true }));
  return opened(wireFor(client, upstream).request(raw, factsOf(client, raw), contextWith())).stream();
}

const sse = (name: string | null, data: unknown): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: unknown, finish_reason: string | null = null): string =>
  sse(null, {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
const role = chunk({ role: 'assistant', content: '' });
const message = sse('message_start', {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
});
const response = (status: string, more: Record<string, unknown> = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'm',
  output: [],
  ...more,
});
const created = sse('response.created', { type: 'response.created', response: response('in_progress') });

const failures: [string, Protocol, string][] = [
  ['a terminator behind a role and nothing else', 'chat-completions', `${role}${sse(null, '[DONE]')}`],
  ['a terminator behind an empty choice', 'chat-completions', `${chunk({})}${sse(null, '[DONE]')}`],
  [
    'an event that is called an error',
    'chat-completions',
    `${role}${chunk({ content: 'a' })}${sse('error', { message: 'Worker died.', type: 'server_error' })}`,
  ],
  ['a finish reason that is a failure', 'chat-completions', `${role}${chunk({ content: 'a' }, 'error')}`],
  [
    'resources that ran out',
    'chat-completions',
    `${role}${chunk({ content: 'a' }, 'insufficient_system_resource')}${sse(null, '[DONE]')}`,
  ],
  ['a stop without a beginning of content', 'messages', `${message}${sse('message_stop', { type: 'message_stop' })}`],
  [
    'an event that is called an error, with its own type inside',
    'messages',
    `${message}${sse('error', { type: 'overloaded_error', message: 'Overloaded' })}`,
  ],
  [
    'a completed event of a response that failed',
    'responses',
    `${created}${sse('response.completed', { type: 'response.completed', response: response('failed', { error: { code: 'server_error', message: 'No.' } }) })}`,
  ],
  [
    'a response that was cancelled',
    'responses',
    `${created}${sse('response.cancelled', { type: 'response.cancelled', response: response('cancelled') })}`,
  ],
  [
    'an event that is called an error, with its own type inside',
    'responses',
    `${created}${sse('error', { type: 'server_error', message: 'No.' })}`,
  ],
];

/** What each protocol ends a good answer with. */
const goodEnd: Record<Protocol, RegExp> = {
  messages: /event: message_stop/,
  'chat-completions': /data: \[DONE\]/,
  responses: /event: response\.(?:completed|incomplete)/,
};
const badEnd: Record<Protocol, RegExp> = {
  messages: /event: error\ndata: \{"type":"error"/,
  'chat-completions': /data: \{[^\n]*"error":\{/,
  responses: /event: (?:response\.failed|error)/,
};

describe.each(everyProtocol)('a client of %s is told of', (client) => {
  test.each(failures)('%s (%s)', (_name, upstream, said) => {
    const stream = streamOf(client, upstream);
    const shown = text(stream.write(bytes(said))) + text(stream.end());
    expect(stream.error).not.toBeNull();
    expect(shown).not.toMatch(goodEnd[client]);
    expect(shown === '' || badEnd[client].test(shown)).toBe(true);
    expect(stream.account().partial).toBe(true);
  });
});

test('an answer without content that says how it ended, or what it took, is a good one', () => {
  const usage = sse(null, { id: 'c', choices: [], usage: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 } });
  for (const said of [`${role}${chunk({}, 'stop')}${sse(null, '[DONE]')}`, `${role}${usage}${sse(null, '[DONE]')}`])
    for (const client of everyProtocol) {
      const stream = streamOf(client, 'chat-completions');
      const shown = text(stream.write(bytes(said)));
      expect([client, stream.error]).toEqual([client, null]);
      expect(shown).toMatch(goodEnd[client]);
    }
});

test('reasoning whose part is counted up with every token reads as it was thought', () => {
  const delta = (content_index: number, text_: string): string =>
    sse('response.reasoning_text.delta', {
      type: 'response.reasoning_text.delta',
      item_id: 'rs_1',
      output_index: 0,
      content_index,
      delta: text_,
    });
  const done = sse('response.reasoning_text.done', {
    type: 'response.reasoning_text.done',
    item_id: 'rs_1',
    output_index: 0,
    content_index: 2,
  });
  const stream = streamOf('chat-completions', 'responses');
  const shown = text(
    stream.write(bytes(`${created}${delta(0, 'I ')}${delta(1, 'th')}${delta(2, 'ink')}${done}${delta(3, 'More')}`)),
  );
  const thought = [...shown.matchAll(/"reasoning_content":("(?:[^"\\]|\\.)*")/g)].map(([, piece = '""']) =>
    JSON.parse(piece),
  );
  // A part that has ended is a paragraph.
  expect(thought.join('')).toBe('I think\n\nMore');
});

test('a refusal repeats no text of the client but names of the protocol', () => {
  const secret = 'web_search_sk-somebodys-secret';
  for (const [client, tools] of [
    ['messages', [{ type: secret, name: 'x' }]],
    ['responses', [{ type: secret }]],
    ['chat-completions', [{ type: secret }]],
  ] as const) {
    const raw = bytes(JSON.stringify({ ...MINIMAL[client], tools }));
    const facts = factsOf(client, raw);
    expect(facts.gates.length).toBeGreaterThan(0);
    expect(JSON.stringify(facts.gates.map(({ problem }) => problem))).not.toContain('secret');
    const problems = everyProtocol.map((upstream) => {
      const request = wireFor(client, upstream).request(raw, facts, contextWith());
      return request.ok ? null : request.problem;
    });
    expect(JSON.stringify(problems)).not.toContain('secret');
  }
});

test('a client that asks for usage as OpenRouter does gets it over every upstream', () => {
  const raw = bytes(JSON.stringify({ ...MINIMAL['chat-completions'], stream: true, usage: { include: true } }));
  const facts = factsOf('chat-completions', raw);
  expect(facts.includeUsage).toBe(true);
  for (const upstream of everyProtocol)
    expect(wireFor('chat-completions', upstream).request(raw, facts, contextWith()).ok).toBe(true);
});

test('a reference to an earlier item names the setting that does without it, in the words of each library', () => {
  const raw = bytes(JSON.stringify({ ...MINIMAL.responses, input: [{ type: 'item_reference', id: 'msg_1' }] }));
  const [gate] = factsOf('responses', raw).gates;
  expect(gate?.problem.message).toContain('`store: false`');
  expect(gate?.problem.message).toContain('providerOptions: { openai: { store: false } }');
});
