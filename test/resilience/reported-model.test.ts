import { describe, expect, it } from 'vitest';
import { isSameModel } from '../../server/gateway/upstream/reported-model.ts';

/** Which reported names mean the requested model. */

describe('a model that an upstream reports', () => {
  it.each([
    ['gpt-4o', 'gpt-4o'],
    ['gpt-4o', 'gpt-4o-2024-08-06'],
    ['gpt-4', 'gpt-4-0613'],
    ['kimi-k2', 'kimi-k2-0711-preview'],
    ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
    ['claude-sonnet-4-5', 'claude-sonnet-4-5@20250929'],
    ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet-20241022'],
    ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet'],
    ['anthropic/claude-sonnet-4', 'claude-sonnet-4'],
    ['claude-sonnet-4', 'anthropic/claude-sonnet-4'],
    ['Qwen/Qwen3-Coder', 'qwen3-coder'],
  ])('%s reported as %s is the one asked for', (asked, reported) => {
    expect(isSameModel(asked, reported)).toBe(true);
  });

  it.each([
    ['gpt-4o', 'gpt-4o-mini'],
    ['gpt-4', 'gpt-4o'],
    ['gpt-4o', 'gpt-4'],
    ['claude-opus-4', 'claude-opus-4-1-20250805'],
    ['claude-opus-4', 'claude-haiku-4'],
    ['deepseek-chat', 'deepseek-reasoner'],
    ['claude-3-5-sonnet-latest', 'claude-3-5-haiku-20241022'],
    ['sim', ''],
  ])('%s reported as %s is another model', (asked, reported) => {
    expect(isSameModel(asked, reported)).toBe(false);
  });
});
