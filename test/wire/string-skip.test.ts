import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leaf, scanJson, tryScanJson } from '../../server/wire/json.ts';

/** The scanner skips the inside of long strings in blocks of 16 bytes, and takes 65,536 of them at a time. */
const blockBytes = 16;
const windowBytes = 65_536;

const limits = { maxDepth: 8, maxValues: 100, refuseDuplicates: false };
const scan = (text: string) => scanJson(Buffer.from(text), leaf, limits);
const accepts = (text: string): boolean => tryScanJson(Buffer.from(text), leaf, limits) !== null;

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('strings that are skipped in blocks', () => {
  test('are those that JSON.parse accepts, however escapes lie in them', () => {
    // Half of the pieces are right, so that whole strings often are.
    const piece = fc.constantFrom(
      '\\"',
      '\\\\',
      '\\\\\\\\',
      '\\u00e9',
      '\\n',
      '\\b\\r\\/\\t\\f',
      'é',
      'u',
      'plain words, ',
    );
    const oddPiece = fc.constantFrom('\\', '"', '\\u12', '\\x', '\\B', '\\2', '\\R', '\u0001', '\\\u0002');
    const text = fc.array(fc.oneof({ weight: 60, arbitrary: piece }, { weight: 1, arbitrary: oddPiece }), {
      maxLength: 60,
    });
    let accepted = 0;
    fc.assert(
      fc.property(text, fc.nat(2 * blockBytes), (pieces, shift) => {
        const json = `["${'a'.repeat(32 + shift)}${pieces.join('')}", true]`;
        expect(accepts(json)).toBe(parses(json));
        accepted += accepts(json) ? 1 : 0;
      }),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  test('may have the characters that JSON.parse accepts, and no other, at any place of a block, behind a backslash or not', () => {
    for (let code = 0; code < 0x80; code += 1) {
      for (let place = 0; place < blockBytes; place += 1) {
        for (const before of ['', '\\']) {
          const json = `["${'a'.repeat(40 + place)}${before}${String.fromCharCode(code)}0041${'a'.repeat(40)}"]`;
          expect([code, place, before, accepts(json)]).toEqual([code, place, before, parses(json)]);
        }
      }
    }
  });

  test('may have rows of backslashes across the ends of blocks and windows', () => {
    for (const around of [128, windowBytes]) {
      const start = 'a'.repeat(around - blockBytes);
      for (let row = 1; row < 4 * blockBytes; row += 1) {
        for (const after of ['"', 'n"', 'u0041"', 'x"', '']) {
          const json = `"${start}${'\\'.repeat(row)}${after}`;
          expect([around, row, after, accepts(json)]).toEqual([around, row, after, parses(json)]);
        }
      }
    }
  });

  test('end where they end, at any distance from the end of a window', () => {
    for (let more = 0; more < 3 * blockBytes; more += 1) {
      const text = 'a'.repeat(windowBytes + blockBytes + more);
      expect(accepts(`["${text}","${text}\\n",1]`)).toBe(true);
      expect(accepts(`["${text}`)).toBe(false);
      expect(accepts(`["${text}\\`)).toBe(false);
      expect(accepts(`["${text}\u0000"]`)).toBe(false);
    }
  });

  test('leave nothing behind for the next document', () => {
    expect(accepts(`["${'a'.repeat(200)}\\n${'b'.repeat(200)}"]`)).toBe(true);
    const cut = `["${'a'.repeat(100)}`;
    expect(() => scan(cut)).toThrow(`ends within a string (at byte ${cut.length})`);
    expect(() => scan(`${cut}\\`)).toThrow(`malformed escape (at byte ${cut.length})`);
  });
});
