/** The canonical spelling of addresses. */

import { describe, expect, test } from 'vitest';
import { normalAddress } from '../../server/accounts/address.ts';

describe('one address has one spelling', () => {
  test.each([
    ['lower case', 'Jane.Doe@Example.COM', 'jane.doe@example.com'],
    ['full-width letters', 'ｊａｎｅ@example.com', 'jane@example.com'],
    ['a ligature', 'o\uFB03ce@example.com', 'office@example.com'],
    ['composed and decomposed accents', 'jose\u0301@example.com', 'jos\u00e9@example.com'],
    ['plus and dots, which are the provider’s to interpret', 'a.b+c@example.com', 'a.b+c@example.com'],
  ])('%s', (_name, written, normal) => {
    expect(normalAddress(written)).toBe(normal);
    expect(normalAddress(normal)).toBe(normal);
  });
});

describe('what is no address, or hides something, is refused', () => {
  test.each([
    ['empty', ''],
    ['no @', 'jane.example.com'],
    ['nothing before the @', '@example.com'],
    ['nothing behind it', 'jane@'],
    ['two @', 'jane@doe@example.com'],
    ['a blank', 'jane doe@example.com'],
    ['a list', 'jane@example.com,joe@example.com'],
    ['a name around it', 'Jane <jane@example.com>'],
    ['a NUL', 'jane\0@example.com'],
    ['a line break, which would start a mail header', 'jane@example.com\r\nbcc: x@y.z'],
    ['half of a character', 'jane\ud800@example.com'],
    ['a zero-width space', 'ja\u200bne@example.com'],
    ['a zero-width joiner', 'ja\u200dne@example.com'],
    ['a turned reading direction', 'ja\u202ene@example.com'],
    ['a Hangul filler, which shows nothing', 'ja\u3164ne@example.com'],
    ['dots that mean nothing', 'jane..doe@example.com'],
    ['a dot at the end of the name', 'jane.@example.com'],
    ['a host that ends in a dot', 'jane@example.'],
    ['a name over 64 characters', `${'a'.repeat(65)}@example.com`],
    ['over 254 characters', `jane@${'a'.repeat(250)}.com`],
    ['longer than 254 only after normalisation', `jane@${'\uFB03'.repeat(120)}.com`],
  ])('%s', (_name, written) => {
    expect(normalAddress(written)).toBeNull();
  });
});
