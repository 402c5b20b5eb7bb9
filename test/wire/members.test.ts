import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { scanBody } from '../../server/wire/body.ts';
import { memberPages, memberTables, mistakenFor } from '../../server/wire/members.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { contextWith, factsWith } from './fixtures.ts';

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

  test('what the vendor declares in its published client library is known, and what is said to be declared is', () => {
    const declared = declaredMembers[protocol]();
    expect(declared.filter((name) => !Object.hasOwn(members, name))).toEqual([]);
    const page = {
      messages: memberPages.messages,
      'chat-completions': memberPages.chat,
      responses: memberPages.responses,
    }[protocol];
    const claimed = Object.keys(members).filter((name) => members[name]?.page === page);
    // Of another protocol's page, gated here as well; of the older library; of a coding agent's own.
    const elsewhere = ['top_k', 'temperature', 'top_p', 'cache_control', 'fallbacks', 'modalities', 'client_metadata'];
    expect(claimed.filter((name) => !declared.includes(name) && !elsewhere.includes(name))).toEqual([]);
  });

  test.each(Object.entries(members).filter(([, { gate }]) => gate !== undefined))(
    '%s: a value that asks for nothing needs no permission and is left out by every translation, and no other is',
    (name, { gate, translation }) => {
      for (const value of values) {
        const isGated = gatesOf(protocol, { [name]: value }).includes(gate?.name ?? name);
        for (const upstream of protocols.filter((other) => other !== protocol)) {
          const raw = Buffer.from(JSON.stringify({ ...base[protocol], [name]: value }));
          const asked = scan(protocol, raw.toString());
          if (!asked.ok) throw new Error(asked.problem.message);
          const request = wireFor(protocol, upstream).request(raw, asked.facts, contextWith());
          const isRefused = !request.ok && request.problem.param === name;
          expect({ value, upstream, isRefused }).toEqual({
            value,
            upstream,
            isRefused: isGated && translation !== 'drop',
          });
        }
      }
      expect(gatesOf(protocol, { [name]: null })).toEqual([]);
    },
  );

  test('a content part of an unknown type is named by the scan, and no known one is', () => {
    const content = [{ type: 'text', text: 'x' }, { type: 'hologram' }, { type: 'hologram' }];
    const more =
      protocol === 'responses' ? { input: [{ role: 'user', content }] } : { messages: [{ role: 'user', content }] };
    expect(factsWith(protocol, more).unknownMembers).toEqual(['hologram']);
  });

  test('a member that is in no table is named by the scan, and no known one is', () => {
    expect(factsWith(protocol, { temperature: 1, unheard_of: 1, 'other-one': {} }).unknownMembers).toEqual([
      'unheard_of',
      'other-one',
    ]);
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x${index}`, 1]));
    expect(factsWith(protocol, many).unknownMembers.length).toBeLessThanOrEqual(16);
  });
});

/** Values that some vendor takes for "no" or for its default, and some that ask for something. */
const values = [
  null,
  false,
  [],
  {},
  'off',
  'none',
  'auto',
  'default',
  'standard',
  'standard_only',
  'global',
  'priority',
  { enabled: false },
  { mode: 'off' },
  { mode: 'on' },
  { cyber: 'standard' },
  [{ id: 'web', enabled: false }],
  ['x'],
  true,
];

/** Names of the members that an interface of a published library declares. */
function interfaceMembers(file: string, name: string): string[] {
  const text = readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8');
  const body = new RegExp(`export interface ${name} \\{\n([\\s\\S]*?)\n\\}`).exec(text)?.[1] ?? '';
  return [...body.matchAll(/^ {4}([a-z_]+)\??:/gm)].map(([, member = '']) => member);
}

const anthropic = '@anthropic-ai/sdk/resources';
const declaredMembers: Record<Protocol, () => string[]> = {
  // The last three travel as headers.
  messages: () =>
    [
      ...interfaceMembers(`${anthropic}/messages/messages.d.ts`, 'MessageCreateParamsBase'),
      ...interfaceMembers(`${anthropic}/beta/messages/messages.d.ts`, 'MessageCreateParamsBase'),
    ].filter((name) => !['betas', 'user_profile_id', 'workspace_id'].includes(name)),
  'chat-completions': () =>
    interfaceMembers('openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase'),
  responses: () => interfaceMembers('openai/resources/responses/responses.d.ts', 'ResponseCreateParamsBase'),
};

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
  [
    'messages',
    '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"Type":"text","text":"x"}]}]}',
    'messages.0.content.0.type',
  ],
  [
    'messages',
    '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"TYPE":"web_search_1"}]}',
    'tools.0.type',
  ],
  [
    'chat-completions',
    '{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"\\u0054ype":"x"}]}',
    'tools[0].type',
  ],
] as const)('the gates of %s read no other spelling within what they look at either', (protocol, body, param) => {
  expect(scan(protocol, body)).toMatchObject({ ok: false, problem: { param } });
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
