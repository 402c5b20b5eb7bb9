/** Recognises the passwords that attackers guess first (NIST SP 800-63B-4, 3.1.1.2: blocklists). Works offline. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Six bytes of SHA-256 of each lower-case entry, sorted: the usual passwords of ten characters and more, and the usual
 * words of five and more that people decorate. Source: the frequency list of `@zxcvbn-ts/language-common` 4.1.3 (MIT) and a
 * few Vietnamese ones. Digests are compact, and the list itself is not fit to print.
 */
const digestLength = 6;
const listed: ReadonlySet<string> = readDigests(readFileSync(new URL('usual-passwords.bin', import.meta.url)));

function readDigests(bytes: Buffer): Set<string> {
  const digests = new Set<string>();
  for (let at = 0; at < bytes.length; at += digestLength) digests.add(bytes.toString('latin1', at, at + digestLength));
  return digests;
}

/** Longer passwords are on no list and are no keyboard walks. */
const maxLength = 64;

/**
 * Whether a password is usual: on the list as it is, with letters for look-alikes, or without the digits and signs around it
 * (`P@ssw0rd2024!`); a piece of the list or a few characters repeated; a walk over the keyboard or the alphabet; or one of
 * `personal`, such as the person's own address, with decoration.
 */
export function isUsualPassword(password: string, personal: readonly string[] = []): boolean {
  const text = password.normalize('NFKC').toLowerCase();
  if (text.length > maxLength) return false;
  const core = undecorated(text);
  const cores = new Set([
    text,
    core,
    withLetters(text),
    withLetters(core),
    unadorned(withLetters(core)),
    unadorned(text),
  ]);
  for (const each of cores) {
    const unit = repeatedUnit(each);
    if (isListed(each) || isListed(unit) || (each.length >= minRepetition && unit.length <= maxRepeatedUnit))
      return true;
    if (personal.some((name) => name.length >= minPersonalLength && name.toLowerCase() === each)) return true;
  }
  return isWalk(repeatedUnit(text));
}

const minPersonalLength = 4;
/** `abcabcabc` says no more than `abc`. */
const maxRepeatedUnit = 4;
const minRepetition = 6;

function isListed(text: string): boolean {
  return listed.has(createHash('sha256').update(text).digest().toString('latin1', 0, digestLength));
}

const lookalikes: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

function withLetters(text: string): string {
  return Array.from(text, (character) => lookalikes[character] ?? character).join('');
}

/** Without the digits and signs at both ends: `2024liverpool!!` is `liverpool`. */
function undecorated(text: string): string {
  return text.replaceAll(/^[\d\W_]+|[\d\W_]+$/g, '');
}

/** Letters and digits alone: `pass-word-123`. */
function unadorned(text: string): string {
  return text.replaceAll(/[\W_]/g, '').replaceAll(/^\d+|\d+$/g, '');
}

const isAscii = (text: string): boolean => /^[ -~]+$/.test(text);

/** The shortest text whose repetition makes this one: ASCII alone, as the lists are. */
function repeatedUnit(text: string): string {
  if (!isAscii(text)) return text;
  for (let length = 1; length <= text.length / 2; length += 1)
    if (text.length % length === 0 && text === text.slice(0, length).repeat(text.length / length))
      return text.slice(0, length);
  return text;
}

const rows = ['1234567890-=', 'qwertyuiop[]', 'asdfghjkl;', 'zxcvbnm,./'];
const position = new Map(
  rows.flatMap((keys, row) => Array.from(keys, (key, column) => [key, { row, column }] as const)),
);

/** Most steps go to a neighbouring key, the next character of the alphabet, or stay: `1q2w3e4r5t`, `abcdefghij`. */
function isWalk(text: string): boolean {
  if (!isAscii(text)) return false;
  let leaps = 0;
  for (let at = 1; at < text.length; at += 1) if (!isStep(text.charAt(at - 1), text.charAt(at))) leaps += 1;
  return leaps < (text.length < 12 ? 2 : 3);
}

function isStep(from: string, to: string): boolean {
  if (Math.abs(from.charCodeAt(0) - to.charCodeAt(0)) <= 1) return true;
  const [left, right] = [position.get(from), position.get(to)];
  if (left === undefined || right === undefined) return false;
  return Math.abs(left.row - right.row) <= 1 && Math.abs(left.column - right.column) <= 1;
}
