import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { scanBody } from '../../server/wire/body.ts';
import { UnreadableReply } from '../../server/wire/protocol.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { exchange } from './dialogue/support.ts';
import { contextWith, opened } from './fixtures.ts';

/** What is too large to be translated in one piece is refused before it is parsed; a native route takes it. */

const maxValues = 50_000;

function statusOf(protocol: Protocol, upstream: Protocol, body: Record<string, unknown>): number {
  const raw = Buffer.from(JSON.stringify({ model: 'cat-1', max_tokens: 10, ...body }));
  const scan = scanBody(raw, protocol);
  if (!scan.ok) throw new Error(scan.problem.message);
  const request = wireFor(protocol, upstream).request(raw, scan.facts, contextWith());
  return request.ok ? 200 : (request.problem.status ?? 400);
}

const user = { role: 'user', content: 'words' };
const blocks = (count: number) => ({
  messages: [{ role: 'user', content: Array.from({ length: count }, () => ({ type: 'text', text: 'x' })) }],
});
const call = (id: string, args: string) => [
  { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: args } }] },
  { role: 'tool', tool_call_id: id, content: 'words' },
];
const tools = [{ type: 'function', function: { name: 'read' } }];
const listOf = (count: number) => `{"list":[${Array.from({ length: count }, () => '1').join(',')}]}`;

describe('a body with more JSON values than can be translated at once', () => {
  test('is refused as too large for another protocol, and served natively', () => {
    expect(statusOf('messages', 'messages', blocks(maxValues / 2))).toBe(200);
    expect(statusOf('messages', 'chat-completions', blocks(maxValues / 2))).toBe(413);
    expect(statusOf('messages', 'chat-completions', blocks(maxValues / 4))).toBe(200);
  });

  test('counts those within the arguments of all calls', () => {
    const large = [user, ...call('a', listOf(30_000)), ...call('b', listOf(30_000))];
    expect(statusOf('chat-completions', 'messages', { messages: large, tools })).toBe(413);
    const small = [user, ...call('a', listOf(20_000)), ...call('b', listOf(20_000))];
    expect(statusOf('chat-completions', 'messages', { messages: small, tools })).toBe(200);
  });

  test('counts arguments up to where they are no JSON; those that no parser may be given stay text', () => {
    const cutOff = [user, ...call('a', listOf(60_000).slice(0, -2))];
    expect(statusOf('chat-completions', 'messages', { messages: cutOff, tools })).toBe(413);
    const deep = [user, ...call('a', `{"list":${'['.repeat(600)}${']'.repeat(600)}}`)];
    expect(statusOf('chat-completions', 'messages', { messages: deep, tools })).toBe(200);
  });
});

test('a body with more text than can be translated at once is refused as too large; media are not text', () => {
  const text = { messages: [{ role: 'user', content: 'x'.repeat(9_000_000) }] };
  expect(statusOf('messages', 'chat-completions', text)).toBe(413);
  expect(statusOf('messages', 'messages', text)).toBe(200);
  const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(12_000_000) };
  const image = { messages: [{ role: 'user', content: [{ type: 'image', source }] }] };
  expect(statusOf('messages', 'chat-completions', image)).toBe(200);
});

test('a body with more members than any protocol has is refused', () => {
  const members = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]));
  const raw = Buffer.from(JSON.stringify({ model: 'cat-1', max_tokens: 10, messages: [user], ...members }));
  expect(scanBody(raw, 'messages')).toMatchObject({ ok: false, problem: { message: expect.stringContaining('4000') } });
});

describe('a whole answer that is too large to be translated in one piece', () => {
  const toMessages = exchange({ client: 'messages', upstream: 'chat-completions' });
  const toResponses = exchange({ client: 'responses', upstream: 'chat-completions' });
  const saying = (message: Record<string, unknown>) => ({ choices: [{ index: 0, finish_reason: 'stop', message }] });
  const calling = (count: number) =>
    saying({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: listOf(count) } }] });
  const ofValues = (count: number) => ({ ...saying({ content: 'x' }), more: Array.from({ length: count }, () => 1) });

  test.each([
    ['its bytes', saying({ content: 'x'.repeat(9_000_000) }), saying({ content: 'x'.repeat(4_000_000) })],
    ['its values', ofValues(60_000), ofValues(30_000)],
  ])('is refused for %s, and a smaller one is not', (_what, large, small) => {
    for (const { reply } of [toMessages, toResponses]) {
      expect(() => reply(large)).toThrow(UnreadableReply);
      expect(reply(small).body.length).toBeGreaterThan(0);
    }
  });

  test('is refused for the values in arguments where the client gets them parsed', () => {
    expect(() => toMessages.reply(calling(60_000))).toThrow(UnreadableReply);
    expect(toMessages.reply(calling(30_000)).body.length).toBeGreaterThan(0);
    expect(toResponses.reply(calling(60_000)).body.length).toBeGreaterThan(0);
  });

  test('one that comes in pieces lets others go on between reading and writing it', async () => {
    const raw = Buffer.from(JSON.stringify({ model: 'cat-1', max_tokens: 10, messages: [user] }));
    const scan = scanBody(raw, 'messages');
    if (!scan.ok) throw new Error(scan.problem.message);
    const { replyInPieces } = opened(wireFor('messages', 'chat-completions').request(raw, scan.facts, contextWith()));
    let pauses = 0;
    const answer = Buffer.from(JSON.stringify(saying({ content: 'x'.repeat(2_000_000) })));
    await replyInPieces([answer], async () => {
      pauses += 1;
    });
    expect(pauses).toBe(2);
  });
});
