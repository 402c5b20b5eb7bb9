import { describe, expect, test } from 'vitest';
import { splice } from '../../../server/wire/body.ts';
import { mintedThinkingEdits } from '../../../server/wire/dialogue/minted-thinking.ts';
import { wireFor } from '../../../server/wire/wires.ts';
import { opened } from '../fixtures.ts';
import { bytes, contextWith, factsOf, text } from './support.ts';

/** Thinking that the gateway signed itself never reaches a vendor. */

const strip = (body: string) => text(splice(bytes(body), mintedThinkingEdits(bytes(body))));
const ours = '{"type":"thinking","thinking":"Hm.","signature":"gw1.00"}';
const theirs = '{"type": "thinking", "thinking": "Hm 1.0", "signature": "c2ln=="}';
const said = '{"type":"text","text":"\\"gw1.\\" 12345678901234567890"}';
const body = (...content: string[]) =>
  `{"model":"m","messages":[{"role":"user","content":"Hi"}, {"role":"assistant","content":[${content.join(' , ')}]} ,{"role":"user","content":"Go"}]}`;

describe('53 thinking that the gateway has signed, on its way to a real vendor', () => {
  test.each([
    ['first', [ours, said], [said]],
    ['last', [said, ours], [said]],
    ['in the middle', [theirs, ours, said], [theirs, said]],
    ['several in a row', [ours, ours, theirs, ours, said, ours, ours], [theirs, said]],
  ])('is taken out: %s', (_where, given, left) => {
    expect(JSON.parse(strip(body(...given)))).toEqual(JSON.parse(body(...left)));
  });

  test('every other byte stays, other signatures too', () => {
    expect(strip(body(theirs, said))).toBe(body(theirs, said));
    expect(strip(body(ours, said)).endsWith(`"content":[${said}]} ,{"role":"user","content":"Go"}]}`)).toBe(true);
    expect(mintedThinkingEdits(bytes('{"messages":[{"role":"user","content":"Hi"}]}'))).toEqual([]);
  });

  test('a message that held nothing else goes with it', () => {
    expect(JSON.parse(strip(body(ours, ours))).messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Go' },
    ]);
  });
});

describe('53 the native wire', () => {
  test('sends everything but what the gateway has signed', () => {
    const raw = bytes(body(ours, said).replace('"m"', '"cat-1"').replace('{', '{"max_tokens":9,'));
    const { body: sent } = opened(
      wireFor('messages', 'messages').request(raw, factsOf('messages', raw), contextWith()),
    );
    expect(text(sent)).toBe(body(said).replace('"m"', '"up-1"').replace('{', '{"max_tokens":9,'));
  });
});
