import { expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { createTextSeal } from '../../server/shared/text-seal.ts';
import { compactingExchange, compactRequest, openCompaction } from '../../server/wire/responses/compaction.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { bytes, contextWith, factsOf, text } from './dialogue/support.ts';
import { opened } from './fixtures.ts';

/** A compaction that nobody can make says so, and what is no compaction of ours stays as it came. */

const trigger = { type: 'compaction_trigger' };
const context = contextWith();
const seal = createTextSeal(context.digest);

function compacting(upstream: Protocol, body: Record<string, unknown>) {
  const raw = bytes(JSON.stringify({ model: 'cat-1', ...body }));
  const asked = openCompaction(raw, factsOf('responses', raw), { seal, isOwn: true });
  const exchange = opened(wireFor('responses', upstream).request(asked.raw, asked.facts, context));
  return compactingExchange(exchange, context, { seal, isOwn: true, userItems: null });
}

const chunk = (delta: unknown, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const error = 'data: {"error":{"message":"Worker died.","type":"server_error"}}\n\n';

test('nothing is told before the summary is whole, in whatever pieces it comes', () => {
  const stream = compacting('chat-completions', {
    stream: true,
    input: [{ role: 'user', content: 'a' }, trigger],
  }).stream();
  const said = `${chunk({ role: 'assistant', content: 'The ' })}${chunk({ content: 'roof.' })}${chunk({}, 'stop')}data: [DONE]\n\n`;
  let shown = '';
  for (const byte of bytes(said)) {
    expect([shown, stream.state === 'open']).toEqual(['', false]);
    shown += text(stream.write(Uint8Array.of(byte)));
  }
  expect(stream.state).toBe('terminated');
  expect(shown.match(/event: response\.output_item\.done/g)).toHaveLength(1);
  expect(shown).not.toContain('roof');
});

test('a failure in the middle is the error event of the protocol', () => {
  const stream = compacting('chat-completions', {
    stream: true,
    input: [{ role: 'user', content: 'a' }, trigger],
  }).stream();
  const shown = text(stream.write(bytes(chunk({ role: 'assistant', content: 'The ' }) + error)));
  expect(stream.state).toBe('failed');
  expect(shown).toMatch(/^event: response\.failed\n/);
});

test('a model that says nothing has made no summary', () => {
  const said = `${chunk({ role: 'assistant' })}${chunk({}, 'stop')}data: [DONE]\n\n`;
  const stream = compacting('chat-completions', {
    stream: true,
    input: [{ role: 'user', content: 'a' }, trigger],
  }).stream();
  const shown = text(stream.write(bytes(said)));
  expect(shown).toContain('event: response.failed');
  expect(shown).not.toContain('"compaction"');
});

test('the choice of a tool and a schema of the answer do not reach the summary', () => {
  const { body } = compacting('responses', {
    input: [{ role: 'user', content: 'a' }, trigger],
    tools: [{ type: 'function', name: 'f', parameters: {} }],
    tool_choice: 'required',
    text: { format: { type: 'json_schema', name: 'n', schema: {} } },
  });
  expect(JSON.parse(text(body))).toMatchObject({ tool_choice: 'none', text: { format: { type: 'text' } } });
});

test('an item that was not sealed here, or was changed, passes natively as it came', () => {
  for (const encrypted_content of ['gAAAAABsealed', 'gwc1.', 'gwc1.AAAA', `gwc1.${'A'.repeat(80)}`]) {
    const raw = bytes(JSON.stringify({ model: 'cat-1', input: [{ type: 'compaction', encrypted_content }] }));
    const read = openCompaction(raw, factsOf('responses', raw), { seal, isOwn: true });
    expect(read.raw).toBe(raw);
  }
});

test('at its own address every form of input is taken, and a stream is not', () => {
  const compact = (body: unknown) => compactRequest(Buffer.from(JSON.stringify(body)));
  for (const [input, items] of [
    ['Hi.', 2],
    [[], 1],
    [[{ role: 'user', content: 'Hi.' }], 2],
  ] as const) {
    const asked = JSON.parse(String(compact({ model: 'm', stream: true, input }))) as {
      input: unknown[];
      stream: boolean;
    };
    expect([asked.input.length, asked.input.at(-1), asked.stream]).toEqual([items, trigger, false]);
  }
  expect(compact({ model: 'm', previous_response_id: 'resp_1', input: [] })).toBeNull();
  expect(compactRequest(Buffer.from('{'))).toBeNull();
});
