import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { scanBody } from '../../server/wire/body.ts';
import { memberTables, mistakenFor } from '../../server/wire/members.ts';
import { factsWith } from './fixtures.ts';

/** Every member that a vendor reads is known here, or travels unread, is counted and can be refused. */

const protocols: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

const base: Record<Protocol, Record<string, unknown>> = {
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
  'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi' },
};

const scan = (protocol: Protocol, body: Record<string, unknown> | string) =>
  scanBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), protocol);

const gatesOf = (protocol: Protocol, members: Record<string, unknown>) =>
  factsWith(protocol, members).gates.map(({ name }) => name);

describe.each(protocols)('%s', (protocol) => {
  const { members, parts } = memberTables[protocol];

  test.each(Object.entries(members))('%s: what changes the price or reaches an account has a gate', (_name, rule) => {
    expect(rule.page).toMatch(/^https:\/\//);
    expect(rule.gate !== undefined || (rule.effect !== 'price' && rule.effect !== 'tenant')).toBe(true);
  });

  test.each(Object.entries(parts))(
    'parts of type %s have the page that says what they cost',
    (_type, { effect, page, gate }) => {
      expect(page).toMatch(/^https:\/\//);
      expect(gate !== undefined).toBe(effect === 'price');
    },
  );

  test.each(Object.keys(members).flatMap((name) => spellings(name).map((other): [string, string] => [other, name])))(
    'a member spelled %s is refused by the name %s',
    (other, name) => {
      for (const value of ['x', 8, null]) {
        const refused = scan(protocol, { ...base[protocol], [other]: value });
        expect(refused).toMatchObject({ ok: false, problem: { param: name } });
      }
    },
  );

  test('a member that is in no table is named by the scan, and no known one is', () => {
    expect(factsWith(protocol, { temperature: 1, unheard_of: 1, 'other-one': {} }).unknownMembers).toEqual([
      'unheard_of',
      'other-one',
    ]);
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x${index}`, 1]));
    expect(factsWith(protocol, many).unknownMembers.length).toBeLessThanOrEqual(16);
  });
});

function spellings(name: string): string[] {
  const capital = name.slice(0, 1).toUpperCase() + name.slice(1);
  const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return [...new Set([capital, name.toUpperCase(), camel])].filter((other) => other !== name);
}

test('letters that fold to others in one direction only are no way around', () => {
  expect(mistakenFor('chat-completions', 'ſervice_tier')).toBe('service_tier');
  expect(mistakenFor('messages', 'speed')).toBeNull();
  expect(mistakenFor('messages', '\u212Aey')).toBeNull();
});

test.each([
  ['messages', '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"Type":"text","text":"x"}]}]}'],
  [
    'messages',
    '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"TYPE":"web_search_1"}]}',
  ],
  ['chat-completions', '{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"\\u0054ype":"x"}]}'],
] as const)('the gates of %s read no other spelling within what they look at either', (protocol, body) => {
  expect(scan(protocol, body)).toMatchObject({ ok: false, problem: { param: 'type' } });
});

test.each<[Protocol, Record<string, unknown>, string[]]>([
  ['chat-completions', { deferred: true }, ['deferred']],
  ['chat-completions', { deferred: false }, []],
  ['chat-completions', { modalities: ['text', 'audio'] }, ['audio']],
  ['chat-completions', { modalities: ['image', 'text'] }, ['image']],
  ['chat-completions', { modalities: ['text'] }, []],
  ['responses', { modalities: ['image'] }, ['image']],
  [
    'chat-completions',
    { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    ['input_audio'],
  ],
  ['responses', { input: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }, ['input_audio']],
  ['chat-completions', { search_parameters: { mode: 'off' } }, []],
  ['chat-completions', { search_parameters: { mode: 'auto' } }, ['web_search']],
  ['chat-completions', { plugins: [{ id: 'web', enabled: false }] }, []],
  ['chat-completions', { plugins: [{ id: 'web' }] }, ['plugins']],
  ['chat-completions', { enable_search: false }, []],
  ['chat-completions', { tools: [{ type: 'openrouter:web_search' }] }, ['openrouter:web_search']],
])('%s: %j needs %j', (protocol, members, gates) => {
  expect(gatesOf(protocol, members)).toEqual(gates);
});
