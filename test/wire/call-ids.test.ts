import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { bytes, contextWith, factsOf, text } from './dialogue/support.ts';
import { opened } from './fixtures.ts';

/** A session changes its model in its middle: ids of calls that another vendor made are short enough for every vendor. */

const everyProtocol: Protocol[] = ['messages', 'chat-completions', 'responses'];
const pairs = everyProtocol.flatMap((client) => everyProtocol.map((upstream) => [client, upstream] as const));
/** Of vLLM, of Kimi with a tool of a server, and of a session that went through two gateways. */
const ids = [`chatcmpl-tool-${'0'.repeat(32)}`, `functions.${'mcp__server__tool_'.repeat(4)}:12`, 'x'.repeat(118)];
const tool = { type: 'object' };

/** A history with two calls, whose ids differ at their ends alone, and their results. */
function historyOf(client: Protocol, [one, two]: readonly [string, string]): Record<string, unknown> {
  if (client === 'messages')
    return {
      model: 'cat-1',
      max_tokens: 10,
      tools: [{ name: 'f', input_schema: tool }],
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: [one, two].map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
        {
          role: 'user',
          content: [one, two].map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'a' })),
        },
      ],
    };
  if (client === 'chat-completions')
    return {
      model: 'cat-1',
      tools: [{ type: 'function', function: { name: 'f', parameters: tool } }],
      messages: [
        { role: 'user', content: 'Go.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [one, two].map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
        },
        ...[one, two].map((tool_call_id) => ({ role: 'tool', tool_call_id, content: 'a' })),
      ],
    };
  return {
    model: 'cat-1',
    tools: [{ type: 'function', name: 'f', parameters: tool, strict: false }],
    input: [
      { role: 'user', content: 'Go.' },
      ...[one, two].map((call_id) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' })),
      ...[one, two].map((call_id) => ({ type: 'function_call_output', call_id, output: 'a' })),
    ],
  };
}

function sent(client: Protocol, upstream: Protocol, pair: readonly [string, string], callIdMax?: number | null) {
  const raw = bytes(JSON.stringify(historyOf(client, pair)));
  const context = { ...contextWith(), ...(callIdMax === undefined ? {} : { callIdMax }) };
  return text(opened(wireFor(client, upstream).request(raw, factsOf(client, raw), context)).body);
}

const members: Record<Protocol, [RegExp, RegExp]> = {
  messages: [/"id":"([^"]*)"/g, /"tool_use_id":"([^"]*)"/g],
  'chat-completions': [/"id":"([^"]*)"/g, /"tool_call_id":"([^"]*)"/g],
  responses: [/"call_id":"([^"]*)"/g, /"call_id":"([^"]*)"/g],
};
const found = (pattern: RegExp, body: string): string[] => [...body.matchAll(pattern)].map(([, id = '']) => id);
const most: Record<Protocol, number> = { messages: 64, 'chat-completions': 40, responses: 64 };

describe.each(pairs)('from %s to %s', (client, upstream) => {
  test.each(ids)('an id such as %s is bounded, and calls and results stay together', (id) => {
    // Natively a client of messages has no ids but those that the protocol allows.
    const own = client === 'messages' ? id.replaceAll(/[^\w-]/g, '_') : id;
    const body = sent(client, upstream, [`${own}1`, `${own}2`]);
    const [calls, results] = members[upstream].map((pattern) => found(pattern, body)) as [string[], string[]];
    expect(new Set([...calls, ...results]).size).toBe(2);
    expect(new Set(results)).toEqual(new Set(calls));
    for (const written of calls) expect(written.length).toBeLessThanOrEqual(most[upstream]);
    // The same ones in the next turn: the vendor finds the beginning in its cache.
    expect(sent(client, upstream, [`${own}1`, `${own}2`])).toBe(body);
  });

  test('a short id stays, and so does a long one where the vendor takes it', () => {
    expect(sent(client, upstream, ['call_a', 'call_b'])).toContain('"call_a"');
    const long = 'y'.repeat(90);
    expect(sent(client, upstream, [`${long}1`, `${long}2`], null)).toContain(`"${long}1"`);
  });
});
