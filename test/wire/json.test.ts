import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addMembers,
  JsonFault,
  leaf,
  listOf,
  scanJson,
  shape,
  textOf,
  tryScanJson,
  valueOf,
} from '../../server/wire/json.ts';

/** The scanner of JSON agrees with `JSON.parse`, and keeps its limits. */

const limits = { maxDepth: 128, maxValues: 200_000, refuseDuplicates: false };

function scan(text: string | Buffer, wanted = leaf) {
  return scanJson(typeof text === 'string' ? Buffer.from(text) : text, wanted, limits);
}

function accepts(bytes: Buffer): boolean {
  return tryScanJson(bytes, leaf, limits) !== null;
}

function parses(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

describe('what is retained', () => {
  // Enough values for any answer, of which only the wanted ones cost memory.
  const generous = { ...limits, maxValues: 20_000_000 };
  const choices = (count: number) => Buffer.from(`{"choices":[${'{},'.repeat(count - 1)}{}]}`);
  const wanted = shape({ choices: listOf(shape({ text: leaf })) });

  test('is bounded, however short it is written', () => {
    expect(scanJson(choices(199_998), wanted, generous).members.get('choices')?.items).toHaveLength(199_998);
    expect(() => scanJson(choices(199_999), wanted, generous)).toThrow(JsonFault);
  });

  test('does not count what nobody wants', () => {
    expect(scanJson(choices(300_000), leaf, generous).kind).toBe('object');
  });
});

describe('what counts as JSON', () => {
  test.each([
    '{}',
    '[]',
    '  [ 1 , -0 , 1.5e+10, 0.1E-2 ]\r\n\t',
    '"\\u00e9\\ud800\\"\\\\\\/\\b\\f\\n\\r\\t"',
    '{"a":{"__proto__":{"constructor":null}},"a":true}',
    'null',
    '"\u007f"',
    `"${'x'.repeat(100)}\\n${'y'.repeat(100)}"`,
  ])('%s is accepted', (text) => {
    expect(scan(text)).toMatchObject({ end: text.trimEnd().length });
    expect(parses(Buffer.from(text))).toBe(true);
  });

  test.each([
    '',
    '  ',
    '{',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"a" 1}',
    '{"a":}',
    '[1 2]',
    '01',
    '-',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    'nul',
    'True',
    'NaN',
    '"\\x"',
    '"\\u12g4"',
    '"\\u12',
    '"abc',
    '"a\nb"',
    `"${'x'.repeat(61)}\u0001${'y'.repeat(61)}"`,
    '{} {}',
    '[]]',
    '\ufeff{}',
    '\u00a0{}',
  ])('%j is refused', (text) => {
    expect(parses(Buffer.from(text))).toBe(false);
    expect(() => scan(text)).toThrow(JsonFault);
  });

  test('it agrees with JSON.parse on any JSON and on any damage done to it', () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.constantFrom(...Buffer.from('"\\{}[],:0-+.eE \n\u0001tfnux')),
      fc.constantFrom('replace', 'insert', 'delete'),
    );
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.array(damage, { maxLength: 3 }), fc.nat(3), (json, damages, shift) => {
        const bytes = [...Buffer.from(json)];
        for (const [place, byte, how] of damages) {
          const at = place % (bytes.length + 1);
          bytes.splice(at, how === 'insert' ? 0 : 1, ...(how === 'delete' ? [] : [byte]));
        }
        // Nothing may depend on where in memory a document begins.
        const shifted = Buffer.alloc(bytes.length + shift).fill(0x22);
        shifted.set(bytes, shift);
        const view = shifted.subarray(shift);
        // Damage can break a UTF-8 sequence, which the decoder of JSON.parse mends.
        expect(accepts(view)).toBe(parses(view));
      }),
      { numRuns: 1500 },
    );
  });

  test('it agrees with JSON.parse on long strings with one odd byte at any place', () => {
    for (const odd of [0x00, 0x1f, 0x20, 0x21, 0x22, 0x5c, 0x7f, 0x80, 0xa2, 0xdc, 0xff]) {
      for (let at = 0; at < 90; at += 1) {
        const bytes = Buffer.from(`["${'a'.repeat(90)}"]`);
        bytes[2 + at] = odd;
        expect([odd, at, accepts(bytes)]).toEqual([odd, at, parses(bytes)]);
      }
    }
  });
});

describe('limits', () => {
  test('a document is refused for its depth before it is read to the end', () => {
    const pit = Buffer.alloc(1_000_000, '[');
    expect(() => scan(pit)).toThrow('nested deeper than 128 levels (at byte 128)');
    expect(accepts(Buffer.from('['.repeat(128) + ']'.repeat(128)))).toBe(true);
    expect(accepts(Buffer.from('['.repeat(129) + ']'.repeat(129)))).toBe(false);
  });

  test('a document is refused for its width before it is read to the end', () => {
    const wide = Buffer.concat([Buffer.from('['), Buffer.alloc(30_000_000, '[],'), Buffer.from('1]')]);
    const fault = thrown(() => scan(wide));
    expect(fault.message).toContain('more than 200000 values');
    expect(Number(/at byte (\d+)/.exec(fault.message)?.[1])).toBeLessThan(1_000_000);
  });

  test('names count towards neither, values do', () => {
    expect(tryScanJson(Buffer.from('{"a":1,"b":2}'), leaf, { ...limits, maxValues: 3 })).not.toBeNull();
    expect(tryScanJson(Buffer.from('{"a":1,"b":2}'), leaf, { ...limits, maxValues: 2 })).toBeNull();
  });

  test('a fault never quotes the document', () => {
    expect(thrown(() => scan('{"secret" secret}')).message).not.toContain('secret');
  });
});

describe('what is retained', () => {
  const item = shape({ type: leaf });
  addMembers(item, { nested: listOf(item) });
  const wanted = shape({ model: leaf, list: listOf(item) });
  const text = '{"model":"m","other":{"model":1},"list":[{"type":"a","x":[1]},{"nested":[{"type":"b"}]},3]}';

  test('named members at their place, and nothing else', () => {
    const root = scan(text, wanted);
    expect([...root.members.keys()]).toEqual(['model', 'list']);
    const list = root.members.get('list');
    expect(list?.items.map(({ kind }) => kind)).toEqual(['object', 'object', 'number']);
    expect(valueOf(Buffer.from(text), list?.items[1] as never)).toEqual({ nested: [{ type: 'b' }] });
    expect(textOf(Buffer.from(text), list?.items[1]?.members.get('nested')?.items[0]?.members.get('type'))).toBe('b');
  });

  test('spans include the quotes, and keys say where they start', () => {
    const node = scan(text, wanted).members.get('model');
    expect(text.slice(node?.start, node?.end)).toBe('"m"');
    expect(text.slice(node?.keyStart)).toMatch(/^"model"/);
  });

  test('a name written with escapes is the same name', () => {
    expect(scan('{"mod\\u0065l":1}', wanted).members.get('model')?.kind).toBe('number');
  });

  test('every member, where the shape asks for all', () => {
    const all = shape({ model: leaf });
    all.every = true;
    expect([...scan('{"model":1,"é":2,"__proto__":3}', all).members.keys()]).toEqual(['model', 'é', '__proto__']);
  });

  test('of a member that stands there twice the last one counts, unless duplicates are refused', () => {
    const twice = Buffer.from('{"model":1,"mod\\u0065l":"x"}');
    expect(scan(twice, wanted).members.get('model')?.kind).toBe('string');
    const fault = thrown(() => scanJson(twice, wanted, { ...limits, refuseDuplicates: true }));
    expect(fault.duplicate).toBe('model');
    expect(scanJson(Buffer.from('{"x":1,"x":2}'), wanted, { ...limits, refuseDuplicates: true }).kind).toBe('object');
  });
});

function thrown(act: () => unknown): JsonFault {
  try {
    act();
  } catch (fault) {
    if (fault instanceof JsonFault) return fault;
    throw fault;
  }
  throw new Error('nothing was thrown');
}
