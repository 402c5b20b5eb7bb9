import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeTranslation } from '../../../server/gateway/openapi/translation.ts';
import { translatedFields } from '../../../server/wire/wires.ts';
import { DIRECTIONS, MINIMAL, refusal, translate } from './support.ts';

/** What people are told is left out of their requests, held against what is. */

const lists = readFileSync(new URL('../../../server/wire/dialogue/CHANGES.md', import.meta.url), 'utf8');

/** Something that the field may well say. */
const said: Record<string, unknown> = {
  cache_control: { type: 'ephemeral' },
  client_metadata: { session: 's' },
  context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
  diagnostics: { previous_message_id: null },
  max_tool_calls: 3,
  metadata: { ticket: '7' },
  prompt_cache_options: { ttl: '30m' },
  prompt_cache_retention: '24h',
  seed: 7,
  session_id: 's',
  store: true,
  stream_options: { include_obfuscation: false },
  trace: { trace_id: 't' },
};

describe.each(DIRECTIONS)('$client to $upstream', (direction) => {
  const { client } = direction;
  const minimal = MINIMAL[client];
  const { read, dropped, harmless } = translatedFields(client);
  const page = describeTranslation(client);

  test.each(dropped)('%s is left out, and listed as such', (field) => {
    expect(said).toHaveProperty(field);
    expect(translate(direction, { ...minimal, [field]: said[field] })).toBe(translate(direction, minimal));
    expect(page).toContain(`\`${field}\``);
    expect(lists).toContain(`\`${client === 'responses' ? field.replace(/^(prompt_cache)_.*/, '$1_*') : field}\``);
  });

  // `background` is refused wherever the upstream stands, before any translation.
  test.each(harmless.filter((field) => field !== 'background'))(
    '%s is refused when it asks for something, and listed as such',
    (field) => {
      const asking: Record<string, unknown> = {
        n: 2,
        best_of: 2,
        include: ['message.output_text.logprobs'],
      };
      expect(refusal(direction, { ...minimal, [field]: asking[field] ?? { some: 'thing' } }).param).toBe(field);
      expect(page).toContain(`\`${field}\``);
    },
  );

  test('what is in none of the lists is refused by name', () => {
    for (const name of ['prediction', 'moderation', 'safeguards', 'new_in_2031']) {
      expect([...read, ...dropped, ...harmless]).not.toContain(name);
    }
    // The first four have a value that asks for nothing where their protocol knows them.
    for (const name of ['audio', 'conversation', 'prompt', 'container', 'prediction', 'moderation', 'new_in_2031']) {
      expect(refusal(direction, { ...minimal, [name]: {} }).param).toBe(name);
    }
  });
});
