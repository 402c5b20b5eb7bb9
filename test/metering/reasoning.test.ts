import { expect, test } from 'vitest';
import type { ReasoningAsk } from '../../server/core/effort.ts';
import type { Protocol } from '../../server/core/protocol.ts';
import { type ReasoningModel, reasoningSpeed } from '../../server/metering/reasoning.ts';
import { scanBody } from '../../server/wire/body.ts';

/** Which requests have a model reason, by what they ask and what the catalog says of the model. */

const plain: ReasoningModel = { capabilities: ['tools'], efforts: [], reasoningTokensPerSecond: null };
const known: ReasoningModel = { ...plain, efforts: ['none', 'low', 'high'] };
const stated: ReasoningModel = { ...plain, reasoningTokensPerSecond: 60 };

test.each<[ReasoningAsk, ReasoningModel, Protocol, number | null]>([
  ['off', stated, 'chat-completions', null],
  ['on', { ...stated, reasoningTokensPerSecond: 0 }, 'chat-completions', null],
  ['on', plain, 'chat-completions', 80],
  ['on', stated, 'messages', 60],
  ['unsaid', plain, 'chat-completions', null],
  ['unsaid', known, 'chat-completions', 80],
  ['unsaid', known, 'responses', 80],
  ['unsaid', stated, 'responses', 60],
  ['unsaid', { ...plain, capabilities: ['thinking'] }, 'chat-completions', 80],
  ['unsaid', { ...plain, efforts: ['none'] }, 'chat-completions', null],
  // Reasoning is asked for there.
  ['unsaid', stated, 'messages', null],
])('asked %s of %o at %s: %s tokens a second', (asked, model, upstream, tokensPerSecond) => {
  const speed = reasoningSpeed(asked, model, upstream);
  expect(speed?.tokensPerSecond ?? null).toBe(tokensPerSecond);
  // Only what the entry states may be charged.
  expect(speed === null || speed.stated === (model.reasoningTokensPerSecond !== null)).toBe(true);
});

test.each<[Protocol, Record<string, unknown>, ReasoningAsk]>([
  ['messages', { thinking: { type: 'enabled', budget_tokens: 2_000 } }, 'on'],
  ['messages', { thinking: { type: 'adaptive' } }, 'on'],
  ['messages', { thinking: { type: 'disabled' } }, 'off'],
  ['messages', {}, 'unsaid'],
  ['chat-completions', { reasoning_effort: 'none' }, 'off'],
  ['chat-completions', { reasoning_effort: 'high' }, 'on'],
  ['chat-completions', { reasoning: { enabled: false } }, 'off'],
  ['chat-completions', { reasoning: { effort: 'low' } }, 'on'],
  ['chat-completions', { thinking: { type: 'disabled' } }, 'off'],
  ['chat-completions', { chat_template_kwargs: { enable_thinking: false } }, 'off'],
  ['chat-completions', { enable_thinking: true }, 'on'],
  ['chat-completions', { reasoning_effort: 7 }, 'unsaid'],
  ['chat-completions', {}, 'unsaid'],
  ['responses', { reasoning: { effort: 'none' } }, 'off'],
  ['responses', { reasoning: { effort: 'medium', summary: 'auto' } }, 'on'],
  ['responses', { reasoning: null }, 'unsaid'],
])('%s with %o asks for reasoning: %s', (protocol, more, asked) => {
  const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'x' }], ...more };
  const { messages, max_tokens, ...rest } = body;
  const sent = protocol === 'responses' ? { ...rest, input: 'x' } : body;
  const scan = scanBody(Buffer.from(JSON.stringify(sent)), protocol);
  expect(scan).toMatchObject({ ok: true, facts: { reasoning: asked } });
  expect([messages, max_tokens]).toHaveLength(2);
});
