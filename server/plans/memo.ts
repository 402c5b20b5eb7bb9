import { randomInt } from 'node:crypto';

/**
 * The code that ties a bank transfer to its order: `SY`, six characters of Crockford's base 32 (without I, L, O, U,
 * which are easily confused), one check character. Nine characters, one token, because banks cut, wrap and decorate the
 * payer's text.
 */

const prefix = 'SY';
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const dataLength = 6;

/** Length of a memo code, prefix and check character included. */
export const memoLength: number = prefix.length + dataLength + 1;

// Usual misreadings of the characters that the alphabet leaves out.
const lookalikes: ReadonlyMap<string, string> = new Map([
  ['O', '0'],
  ['I', '1'],
  ['L', '1'],
]);

/** A fresh code. Only the database ensures that it is unique. */
export function createMemo(): string {
  let data = '';
  for (let i = 0; i < dataLength; i++) data += alphabet.charAt(randomInt(alphabet.length));
  return completeMemo(data);
}

/** Prefix and check character around six characters of the alphabet. */
export function completeMemo(data: string): string {
  return prefix + data + alphabet.charAt(multiplyByTwo(remainder(data)));
}

/**
 * Every valid code in a bank's text, in order of appearance, each once. Case, spaces and punctuation are ignored. Most
 * transfers of an account have none; two different ones are for a person to decide.
 */
export function findMemos(content: string): string[] {
  const text = content
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '');
  const found = new Set<string>();
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + 1)) {
    const body = readBody(text.slice(at + prefix.length, at + memoLength));
    if (body !== null) found.add(prefix + body);
  }
  return [...found];
}

function readBody(raw: string): string | null {
  if (raw.length !== dataLength + 1) return null;
  let body = '';
  for (const character of raw) body += lookalikes.get(character) ?? character;
  for (const character of body) if (!alphabet.includes(character)) return null;
  return remainder(body) === 0 ? body : null;
}

// The characters are the coefficients of a polynomial over the field with 32 elements; a code is valid when the
// polynomial is zero at 2. The weights of the seven places are different powers of 2 there, so that every single wrong
// character and every exchange of two characters is noticed.
function remainder(text: string): number {
  let value = 0;
  for (const character of text) value = multiplyByTwo(value) ^ alphabet.indexOf(character);
  return value;
}

// x^5 + x^2 + 1, for which 2 generates the field.
const reduction = 0b100101;

function multiplyByTwo(value: number): number {
  const doubled = value << 1;
  return doubled >= 32 ? doubled ^ reduction : doubled;
}
