import { Buffer } from 'node:buffer';

/** The words of PDF files: ISO 32000-1, section 7.2. Nothing is repaired: what is not as written there is in doubt. */

/** A file is not understood completely. Its text is not bounded then, and it counts as the window. */
export class PdfDoubt extends Error {}

/** Work that may still be done for the documents of one body, in bytes looked at or unpacked. Counted, not timed. */
export interface PdfWork {
  left: number;
}

export function spend(work: PdfWork, bytes: number): void {
  work.left -= bytes;
  if (work.left < 0) throw new PdfDoubt('too much work');
}

export interface PdfName {
  name: string;
}
/** Of a string its bytes alone matter: at most so many, before it is decoded. */
export interface PdfString {
  bytes: number;
  /** As it stands in the file, for maps of codes. */
  start: number;
  end: number;
}
export interface PdfRef {
  ref: number;
}
/** A word that is no value: an operator, or `obj`, `stream`, `xref` and their like. */
export interface PdfWord {
  word: string;
}
export type PdfDict = ReadonlyMap<string, PdfValue>;
export type PdfValue = null | boolean | number | PdfName | PdfString | PdfRef | PdfDict | readonly PdfValue[];
/** One word. Brackets are words too, so that a page's contents can be read without building anything. */
export type PdfToken = number | PdfName | PdfString | PdfWord | null;

const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0x0c || byte === 0;
const delimiters = new Set(Buffer.from('()<>[]{}/%'));
const hexDigit = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);

/** What a word and a value cost beside their bytes. */
const workOfWord = 8;
const workOfValue = 48;
/** Longer words are none of the format's. */
const maxWord = 256;
/** Values within values. */
const maxNesting = 48;

const wordsOf: Record<string, PdfWord> = {};
for (const word of ['[', ']', '<<', '>>']) wordsOf[word] = { word };

export interface PdfLexer {
  at: number;
  /** The next word; null: the end. */
  next(): PdfToken;
  /** The next value; a word that is none is in doubt. */
  value(): PdfValue;
  skipSpace(): void;
}

/** Reads `bytes` from a place. What a word cannot be, in doubt. */
export function pdfLexer(bytes: Buffer, from: number, work: PdfWork, to = bytes.length): PdfLexer {
  const lexer: PdfLexer = { at: from, next, value: () => valueAfter(next(), 0), skipSpace };

  function skipSpace(): void {
    while (lexer.at < to) {
      const byte = bytes[lexer.at] ?? 0;
      if (byte === 0x25) while (lexer.at < to && bytes[lexer.at] !== 0x0a && bytes[lexer.at] !== 0x0d) lexer.at += 1;
      else if (isSpace(byte)) lexer.at += 1;
      else return;
    }
  }

  function next(): PdfToken {
    const began = lexer.at;
    skipSpace();
    if (lexer.at >= to) return null;
    const token = word();
    spend(work, lexer.at - began + workOfWord);
    return token;
  }

  function word(): PdfToken {
    const byte = bytes[lexer.at] ?? 0;
    if (byte === 0x28) return literal();
    if (byte === 0x3c) return bytes[lexer.at + 1] === 0x3c ? bracket('<<') : hexadecimal();
    if (byte === 0x3e && bytes[lexer.at + 1] === 0x3e) return bracket('>>');
    if (byte === 0x5b) return bracket('[');
    if (byte === 0x5d) return bracket(']');
    if (byte === 0x2f) {
      lexer.at += 1;
      return { name: unescaped(regular()) };
    }
    const text = regular();
    if (text === '') throw new PdfDoubt('a character that begins nothing');
    return /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : { word: text };
  }

  function bracket(name: string): PdfWord {
    lexer.at += name.length;
    return wordsOf[name] ?? { word: name };
  }

  function regular(): string {
    const start = lexer.at;
    while (lexer.at < to) {
      const byte = bytes[lexer.at] ?? 0;
      if (isSpace(byte) || delimiters.has(byte)) break;
      lexer.at += 1;
    }
    if (lexer.at - start > maxWord) throw new PdfDoubt('a long word');
    return bytes.toString('latin1', start, lexer.at);
  }

  /** A string in parentheses; with its escapes it is never shorter than what it stands for. */
  function literal(): PdfString {
    const start = lexer.at;
    let depth = 0;
    for (; lexer.at < to; lexer.at += 1) {
      const byte = bytes[lexer.at];
      if (byte === 0x5c) lexer.at += 1;
      else if (byte === 0x28) depth += 1;
      else if (byte === 0x29) {
        depth -= 1;
        if (depth === 0) {
          lexer.at += 1;
          return { bytes: lexer.at - start - 2, start, end: lexer.at };
        }
      }
    }
    throw new PdfDoubt('a string without an end');
  }

  function hexadecimal(): PdfString {
    const start = lexer.at;
    let digits = 0;
    for (lexer.at += 1; lexer.at < to; lexer.at += 1) {
      const byte = bytes[lexer.at] ?? 0;
      if (byte === 0x3e) {
        lexer.at += 1;
        return { bytes: (digits + 1) >> 1, start, end: lexer.at };
      }
      if (hexDigit(byte)) digits += 1;
      else if (!isSpace(byte)) throw new PdfDoubt('a digit that is none');
    }
    throw new PdfDoubt('a string without an end');
  }

  function valueAfter(token: PdfToken, depth: number): PdfValue {
    spend(work, workOfValue);
    if (depth > maxNesting) throw new PdfDoubt('values within values');
    if (token === null) throw new PdfDoubt('an end before a value');
    if (typeof token === 'number') return refAfter(token);
    if (!('word' in token)) return token;
    if (token.word === '<<') return dictionary(depth);
    if (token.word === '[') return list(depth);
    if (token.word === 'true' || token.word === 'false') return token.word === 'true';
    if (token.word === 'null') return null;
    throw new PdfDoubt('a word that is no value');
  }

  /** `12 0 R` refers to an object. */
  function refAfter(number: number): PdfValue {
    if (!Number.isInteger(number) || number < 0) return number;
    const after = lexer.at;
    const generation = next();
    if (typeof generation === 'number' && Number.isInteger(generation)) {
      const letter = next();
      if (letter !== null && typeof letter === 'object' && 'word' in letter && letter.word === 'R') {
        return { ref: number };
      }
    }
    lexer.at = after;
    return number;
  }

  function list(depth: number): PdfValue[] {
    const values: PdfValue[] = [];
    for (;;) {
      const token = next();
      if (isWord(token, ']')) return values;
      values.push(valueAfter(token, depth + 1));
    }
  }

  function dictionary(depth: number): PdfDict {
    const entries = new Map<string, PdfValue>();
    for (;;) {
      const key = next();
      if (isWord(key, '>>')) return entries;
      if (key === null || typeof key !== 'object' || !('name' in key)) throw new PdfDoubt('a key that is no name');
      // Of two values readers take one or the other.
      if (entries.has(key.name)) throw new PdfDoubt('a key twice');
      entries.set(key.name, valueAfter(next(), depth + 1));
    }
  }

  return lexer;
}

export function isWord(token: PdfToken, word: string): boolean {
  return token !== null && typeof token === 'object' && 'word' in token && token.word === word;
}

/** `#41` in a name is the letter A. */
function unescaped(name: string): string {
  if (!name.includes('#')) return name;
  return name.replaceAll(/#([\da-f]{2})/gi, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
