import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSecret, parseKey, parseToken } from '../../server/keys/secret.ts';

/** The format of keys: prefix, randomness and checksum. */

describe('a fresh key', () => {
  test('has the shape that scanners look for', () => {
    const { secret, prefix, last4 } = createSecret('key');
    expect(secret).toMatch(/^sk-steyg-[0-9A-Za-z]{49}$/);
    expect(secret.startsWith(prefix)).toBe(true);
    expect(prefix).toHaveLength('sk-steyg-'.length + 4);
    expect(secret.endsWith(last4)).toBe(true);
    expect(last4).toHaveLength(4);
  });

  test('is looked up by the SHA-256 of all of it', () => {
    const { secret, hash } = createSecret('key');
    expect(hash.equals(createHash('sha256').update(secret).digest())).toBe(true);
    expect(parseKey(secret)?.hash.equals(hash)).toBe(true);
  });

  test('never comes twice', () => {
    const secrets = Array.from({ length: 500 }, () => createSecret('key').secret);
    expect(new Set(secrets).size).toBe(500);
  });
});

describe('what cannot be a key is known without a look-up', () => {
  const { secret } = createSecret('key');

  test('any single changed character', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 9, max: secret.length - 1 }),
        fc.constantFrom('0', '9', 'A', 'Z', 'a', 'z', '_', '-', ' ', 'é'),
        (at, character) => {
          fc.pre(secret[at] !== character);
          expect(parseKey(secret.slice(0, at) + character + secret.slice(at + 1))).toBeNull();
        },
      ),
    );
  });

  test.each([
    ['empty', ''],
    ['cut short', secret.slice(0, -1)],
    ['with something after it', `${secret}0`],
    ['without its prefix', secret.slice('sk-steyg-'.length)],
    ['in other letters', secret.toUpperCase()],
    ["another vendor's", 'sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['an access token', createSecret('token').secret],
    ['with a NUL', `${secret.slice(0, -1)}\0`],
  ])('%s', (_name, text) => {
    expect(parseKey(text)).toBeNull();
  });

  test('a key is no access token either', () => {
    expect(parseToken(secret)).toBeNull();
    const token = createSecret('token');
    expect(parseToken(token.secret)?.hash.equals(token.hash)).toBe(true);
  });
});
