import { describe, expect, test } from 'vitest';
import { featuresOf } from '../../server/catalog/features.ts';
import { vendorProfiles } from '../../server/catalog/profiles/profiles.ts';
import { profileProblem } from '../../server/catalog/upstreams.ts';
import { profileIds } from '../../server/core/profile.ts';

/** Vendor profiles: what an upstream is known to take because it names its vendor. */

const all = Object.entries(vendorProfiles);

test('each name has its profile', () => {
  expect(all.map(([name]) => name)).toEqual([...profileIds]);
  expect(all.map(([, { id }]) => id)).toEqual([...profileIds]);
});

describe.each(all)('%s', (_name, profile) => {
  test('names the public page for everything that it says', () => {
    expect(profile.quirks.length).toBeGreaterThan(0);
    for (const { what, source } of profile.quirks) {
      expect(what).not.toBe('');
      expect(source).toMatch(/^https:\/\/\S+$/);
    }
  });

  test('speaks a protocol, at an address that clients of that ecosystem would write', () => {
    const endpoints = Object.entries(profile.protocols);
    expect(endpoints.length).toBeGreaterThan(0);
    for (const [protocol, { baseUrl }] of endpoints) {
      expect(baseUrl ?? 'https://own').toMatch(/^https:\/\/[^/]+(?:\/.*[^/])?$/);
      expect([protocol, baseUrl?.endsWith('/v1') ?? false]).not.toEqual(['messages', true]);
    }
  });
});

describe('the features of an upstream', () => {
  test('are its vendor’s, unless it says otherwise', () => {
    expect(featuresOf('chat-completions', 'openai-gpt5', {})).toMatchObject({
      maxTokensField: 'max_completion_tokens',
      sampling: false,
      stop: false,
      store: true,
    });
    expect(featuresOf('chat-completions', 'openai-gpt5', { stop: true, store: false })).toMatchObject({
      maxTokensField: 'max_completion_tokens',
      stop: true,
      store: false,
    });
  });

  test('are the protocol’s where no vendor is named, or one that only a newer version knows', () => {
    for (const unknown of [null, undefined, 'vendor-of-tomorrow', '__proto__', 'constructor']) {
      expect(featuresOf('chat-completions', unknown, {})).toEqual(featuresOf('chat-completions', null, {}));
    }
  });

  test('say nothing of a protocol that the vendor does not speak, which is refused', () => {
    expect(profileProblem({ profile: 'anthropic', protocol: 'chat-completions' })).toBe(
      'is a vendor that speaks messages, not chat-completions',
    );
    expect(profileProblem({ profile: 'deepseek', protocol: 'messages' })).toBeNull();
    expect(profileProblem({ profile: null, protocol: 'responses' })).toBeNull();
  });
});
