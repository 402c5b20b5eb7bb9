/** Sealing: bound to its row, with rotated keys. */

import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSeal } from '../../server/shared/seal.ts';

const place = { table: 'upstream_key', rowId: 'row-1', column: 'sealed' };
const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const seal = createSeal({ secretKeys: [oldKey] });
const text = 'sk-vendor-Ä-123';

describe('a sealed text', () => {
  test('opens at its place', () => {
    expect(seal.unseal(place, seal.seal(place, text))).toBe(text);
    expect(seal.unseal(place, new Uint8Array(seal.seal(place, '')))).toBe('');
  });

  test('looks different every time and shows nothing of the text', () => {
    const [a, b] = [seal.seal(place, text), seal.seal(place, text)];
    expect(a.equals(b)).toBe(false);
    // Version and key id are the same; from there on everything is random.
    expect(a.subarray(9, 21).equals(b.subarray(9, 21))).toBe(false);
    expect(a.includes(text)).toBe(false);
    expect(a.includes(oldKey)).toBe(false);
  });

  test.each([
    ['table', { ...place, table: 'webhook_endpoint' }],
    ['row', { ...place, rowId: 'row-2' }],
    ['column', { ...place, column: 'last4' }],
  ])('does not open in another %s', (_name, other) => {
    expect(seal.unseal(other, seal.seal(place, text))).toBeNull();
  });

  test('does not open when any byte of it was changed', () => {
    const sealed = seal.seal(place, text);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(seal.unseal(place, changed), `byte ${at}`).toBeNull();
    }
  });

  test('does not open when it was cut', () => {
    const sealed = seal.seal(place, text);
    for (let length = 0; length < sealed.length; length += 1) {
      expect(seal.unseal(place, sealed.subarray(0, length)), `${length} bytes`).toBeNull();
    }
  });

  test('does not open with another key', () => {
    expect(createSeal({ secretKeys: [newKey] }).unseal(place, seal.seal(place, text))).toBeNull();
  });
});

describe('exchanging the secret key', () => {
  test('what was sealed with the old one opens while it is at hand, and is known to be old', () => {
    const both = createSeal({ secretKeys: [newKey, oldKey] });
    const old = seal.seal(place, text);
    expect(both.unseal(place, old)).toBe(text);
    expect(both.isCurrent(old)).toBe(false);
    const fresh = both.seal(place, text);
    expect(both.isCurrent(fresh)).toBe(true);
    expect(seal.unseal(place, fresh)).toBeNull();
    expect(createSeal({ secretKeys: [newKey] }).unseal(place, fresh)).toBe(text);
  });

  test('a key of another length is refused', () => {
    expect(() => createSeal({ secretKeys: [randomBytes(31)] })).toThrow(RangeError);
  });
});
