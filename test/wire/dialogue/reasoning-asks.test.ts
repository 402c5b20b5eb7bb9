import { describe, expect, test } from 'vitest';
import { bytes, C_TO_M, C_TO_R, exchange, relay, replied, sse, translated } from './support.ts';

/** Reasoning is asked for, switched off and hidden in every wording that chat completions clients have for it. */

const chat = (members: Record<string, unknown>) => ({
  model: 'cat-1',
  messages: [{ role: 'user', content: 'Go' }],
  ...members,
});

test.each<[Record<string, unknown>, unknown, string | undefined]>([
  [{ thinking: { type: 'disabled' } }, { type: 'disabled' }, 'none'],
  [{ thinking: { type: 'disabled' }, reasoning_effort: 'high' }, { type: 'disabled' }, 'none'],
  [{ enable_thinking: false }, { type: 'disabled' }, 'none'],
  [{ thinking: { type: 'enabled' } }, { type: 'adaptive' }, undefined],
  [{ enable_thinking: true, thinking_budget: 4096 }, { type: 'adaptive' }, 'high'],
  [{ thinking: { type: 'enabled', budget_tokens: 8192 } }, { type: 'adaptive' }, 'xhigh'],
  [{ thinking: { type: 'enabled' }, reasoning_effort: 'low' }, { type: 'adaptive' }, 'low'],
  [{ reasoning: { effort: 'high', enabled: false } }, { type: 'disabled' }, 'none'],
  [{ reasoning: { effort: 'high' } }, { type: 'adaptive' }, 'high'],
])('%j', (members, thinking, effort) => {
  expect(translated(C_TO_M, chat(members)).thinking).toEqual(thinking);
  expect(translated(C_TO_R, chat(members)).reasoning?.effort).toBe(effort);
});

describe('reasoning that the request excludes is not shown', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm', signature: 's' },
    { type: 'text', text: 'So' },
  ];
  const events = sse('messages', [
    { type: 'message_start', message: {} },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'So' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]);
  test.each([
    [{ effort: 'high', exclude: true }, false],
    [{ effort: 'high', exclude: false }, true],
  ])('%j', (reasoning, isShown) => {
    const whole = replied(C_TO_M, { content, stop_reason: 'end_turn' }, { reasoning });
    expect(whole.choices[0].message.content).toBe('So');
    expect(whole.choices[0].message.reasoning_content).toBe(isShown ? 'Hm' : undefined);
    const stream = relay(exchange(C_TO_M, { reasoning, stream: true }).stream(), [bytes(events)]);
    expect(stream).toContain('So');
    expect(stream.includes('Hm')).toBe(isShown);
  });
});
