import type { Buffer } from 'node:buffer';
import { inflateSync } from 'node:zlib';
import {
  isWord,
  type PdfDict,
  PdfDoubt,
  type PdfLexer,
  type PdfRef,
  type PdfString,
  type PdfToken,
  type PdfValue,
  type PdfWork,
  pdfLexer,
  spend,
} from './lexer.ts';

/**
 * The objects of a PDF file, found as its cross-references say: ISO 32000-1, sections 7.3 and 7.5. Readers repair what is
 * broken, each in its own way, so nothing here is repaired, and what two readers may take differently is in doubt.
 */
export interface PdfFile {
  root: PdfDict;
  /** What a value refers to, or the value itself; a reference to nothing is null. */
  resolve(value: PdfValue | undefined): PdfObject;
  /** The bytes of a stream, unpacked. */
  unpack(stream: PdfStream): Buffer;
}

export interface PdfStream {
  stream: PdfDict;
  start: number;
  length: number;
}
export type PdfObject = Exclude<PdfValue, PdfRef> | PdfStream;

type Entry = { offset: number } | { within: number; index: number } | null;

/** Sections of cross-references: one for each time that the file was changed. */
const maxSections = 16;
/** The end of a file, where it says where its cross-references begin. */
const tailBytes = 1_024;

export const isRef = (value: PdfValue | undefined): value is PdfRef =>
  typeof value === 'object' && value !== null && 'ref' in value;
export const isDict = (value: PdfObject | undefined): value is PdfDict => value instanceof Map;
export const isStream = (value: PdfObject): value is PdfStream =>
  typeof value === 'object' && value !== null && 'stream' in value;
export const isString = (value: PdfObject): value is PdfString =>
  typeof value === 'object' && value !== null && 'bytes' in value;
export const isList = (value: PdfObject): value is readonly PdfValue[] => Array.isArray(value);
export const nameOf = (value: PdfObject | PdfRef | undefined): string | null =>
  typeof value === 'object' && value !== null && 'name' in value ? value.name : null;

export function openPdf(file: Buffer, work: PdfWork): PdfFile {
  if (file.toString('latin1', 0, 5) !== '%PDF-') throw new PdfDoubt('not a PDF');
  const entries = new Map<number, Entry>();
  const known = new Map<number, PdfObject>();
  const opening = new Set<number>();
  const packed = new Map<number, { numbers: readonly number[]; offsets: readonly number[]; bytes: Buffer }>();

  function resolve(value: PdfValue | undefined): PdfObject {
    if (!isRef(value)) return value ?? null;
    const { ref } = value;
    const before = known.get(ref);
    if (before !== undefined) return before;
    if (opening.has(ref)) throw new PdfDoubt('an object that refers to itself');
    opening.add(ref);
    const object = read(ref);
    opening.delete(ref);
    known.set(ref, object);
    return object;
  }

  function read(ref: number): PdfObject {
    const entry = entries.get(ref) ?? null;
    spend(work, 16);
    if (entry === null) return null;
    if ('within' in entry) return readPacked(ref, entry.within, entry.index);
    const { number, value } = objectAt(entry.offset);
    if (number !== ref) throw new PdfDoubt('another object than referred to');
    return value;
  }

  /** `12 0 obj` and what follows. */
  function objectAt(offset: number): { number: number; value: PdfObject } {
    if (offset <= 0 || offset >= file.length) throw new PdfDoubt('an object outside of the file');
    const lexer = pdfLexer(file, offset, work);
    const [number, generation, word] = [lexer.next(), lexer.next(), lexer.next()];
    if (typeof number !== 'number' || typeof generation !== 'number' || !isWord(word, 'obj'))
      throw new PdfDoubt('no object where one is referred to');
    const value = lexer.value();
    if (isRef(value)) throw new PdfDoubt('an object that is a reference');
    const after = lexer.next();
    if (isWord(after, 'endobj')) return { number, value };
    if (!isWord(after, 'stream') || !isDict(value)) throw new PdfDoubt('an object without an end');
    return { number, value: streamAfter(lexer, value) };
  }

  function streamAfter({ at }: PdfLexer, dict: PdfDict): PdfStream {
    let start = at;
    if (file[start] === 0x0d) start += 1;
    if (file[start] !== 0x0a) throw new PdfDoubt('a stream without a beginning');
    start += 1;
    const length = resolve(dict.get('Length'));
    if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || dict.has('F'))
      throw new PdfDoubt('a stream without a length');
    const end = pdfLexer(file, start + length, work);
    if (start + length > file.length || !isWord(end.next(), 'endstream')) throw new PdfDoubt('a stream without an end');
    return { stream: dict, start, length };
  }

  function unpack({ stream, start, length }: PdfStream): Buffer {
    const filters = resolve(stream.get('Filter'));
    const [filter, ...more] = isList(filters) ? filters.map(resolve) : filters === null ? [] : [filters];
    const raw = file.subarray(start, start + length);
    spend(work, length);
    if (filter === undefined) return raw;
    if (more.length > 0 || nameOf(filter) !== 'FlateDecode') throw new PdfDoubt('a filter that is not read here');
    let bytes: Buffer;
    try {
      bytes = inflateSync(raw, { maxOutputLength: Math.max(1, work.left) });
    } catch {
      throw new PdfDoubt('a stream that cannot be unpacked');
    }
    spend(work, bytes.length);
    const parms = resolve(stream.get('DecodeParms'));
    const parm = isList(parms) ? resolve(parms[0]) : parms;
    return isDict(parm) ? unpredicted(bytes, parm) : bytes;
  }

  /** Objects that are packed into a stream: their numbers and places stand before them. */
  function readPacked(ref: number, within: number, index: number): PdfObject {
    const stream = packed.get(within) ?? openPacked(within);
    const offset = stream.offsets[index];
    if (stream.numbers[index] !== ref || offset === undefined) throw new PdfDoubt('another object than referred to');
    const value = pdfLexer(stream.bytes, offset, work).value();
    // Places of strings are those in the file.
    if (isRef(value)) throw new PdfDoubt('an object that is a reference');
    return value;
  }

  function openPacked(within: number) {
    const entry = entries.get(within);
    if (entry === undefined || entry === null || 'within' in entry)
      throw new PdfDoubt('a stream of objects is missing');
    const object = resolve({ ref: within });
    if (!isStream(object) || nameOf(object.stream.get('Type')) !== 'ObjStm' || object.stream.has('Extends'))
      throw new PdfDoubt('no stream of objects');
    const bytes = unpack(object);
    const [count, first] = [resolve(object.stream.get('N')), resolve(object.stream.get('First'))];
    if (typeof count !== 'number' || typeof first !== 'number') throw new PdfDoubt('no stream of objects');
    const lexer = pdfLexer(bytes, 0, work, Math.min(first, bytes.length));
    const numbers: number[] = [];
    const offsets: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const [number, offset] = [lexer.next(), lexer.next()];
      if (typeof number !== 'number' || typeof offset !== 'number') throw new PdfDoubt('no stream of objects');
      numbers.push(number);
      offsets.push(first + offset);
    }
    const opened = { numbers, offsets, bytes };
    packed.set(within, opened);
    return opened;
  }

  /** To the first trailer, which is the newest. */
  function readSections(): PdfDict {
    const tail = file.toString('latin1', Math.max(0, file.length - tailBytes));
    const [, start] = /startxref\s+(\d{1,10})\s+%%EOF\s*$/.exec(tail) ?? [];
    let at: PdfObject = start === undefined ? null : Number(start);
    let newest: PdfDict | null = null;
    const seen = new Set<number>();
    for (;;) {
      if (typeof at !== 'number' || seen.has(at) || seen.size === maxSections)
        throw new PdfDoubt('no cross-references');
      seen.add(at);
      const trailer = readSection(at);
      // A second table for readers of streams hides objects from those of tables.
      if (trailer.has('Encrypt') || trailer.has('XRefStm')) throw new PdfDoubt('sealed, or of two kinds');
      newest ??= trailer;
      if (!trailer.has('Prev')) return newest;
      const previous = trailer.get('Prev');
      at = isRef(previous) ? null : (previous ?? null);
    }
  }

  function readSection(offset: number): PdfDict {
    if (offset <= 0 || offset >= file.length) throw new PdfDoubt('no cross-references');
    const lexer = pdfLexer(file, offset, work);
    if (isWord(lexer.next(), 'xref')) return readTable(lexer);
    const { value } = objectAt(offset);
    if (!isStream(value) || nameOf(value.stream.get('Type')) !== 'XRef') throw new PdfDoubt('no cross-references');
    readStream(value);
    return value.stream;
  }

  const add = (number: number, entry: Entry): void => {
    // Newer sections come first.
    if (!entries.has(number)) entries.set(number, entry);
  };

  function readTable(lexer: PdfLexer): PdfDict {
    for (;;) {
      const first: PdfToken = lexer.next();
      if (isWord(first, 'trailer')) {
        const trailer = lexer.value();
        if (isRef(trailer) || !isDict(trailer)) throw new PdfDoubt('no trailer');
        return trailer;
      }
      const count = lexer.next();
      if (typeof first !== 'number' || typeof count !== 'number') throw new PdfDoubt('no cross-references');
      for (let number = first; number < first + count; number += 1) {
        const [offset, , kind] = [lexer.next(), lexer.next(), lexer.next()];
        if (typeof offset !== 'number' || !(isWord(kind, 'n') || isWord(kind, 'f')))
          throw new PdfDoubt('no cross-references');
        add(number, isWord(kind, 'n') ? { offset } : null);
      }
    }
  }

  function readStream(object: PdfStream): void {
    const { stream } = object;
    const widths = numbersIn(stream.get('W'));
    const size = stream.get('Size');
    const ranges = stream.has('Index') ? numbersIn(stream.get('Index')) : [0, typeof size === 'number' ? size : 0];
    if (widths.length !== 3 || widths.some((width) => width > 6)) throw new PdfDoubt('no cross-references');
    const bytes = unpack(object);
    let at = 0;
    const field = (width: number, otherwise: number): number => {
      if (width === 0) return otherwise;
      if (at + width > bytes.length) throw new PdfDoubt('cross-references end early');
      at += width;
      return bytes.readUIntBE(at - width, width);
    };
    const [kinds = 0, seconds = 0, thirds = 0] = widths;
    for (let range = 0; range + 1 < ranges.length; range += 2) {
      const [first = 0, count = 0] = [ranges[range], ranges[range + 1]];
      for (let number = first; number < first + count; number += 1) {
        spend(work, 16);
        const [kind, second, third] = [field(kinds, 1), field(seconds, 0), field(thirds, 0)];
        if (kind > 2) throw new PdfDoubt('cross-references of a new kind');
        add(number, kind === 0 ? null : kind === 1 ? { offset: second } : { within: second, index: third });
      }
    }
  }

  const root = resolve(readSections().get('Root'));
  if (!isDict(root)) throw new PdfDoubt('no catalog');
  return { root, resolve, unpack };
}

function numbersIn(value: PdfValue | undefined): number[] {
  if (value === undefined || isRef(value) || !isList(value)) throw new PdfDoubt('no numbers');
  return value.map((number) => {
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0) throw new PdfDoubt('no number');
    return number;
  });
}

/** Undoes the predictors of PNG, in which cross-references are packed: RFC 2083, section 6. Only `none` and `up` are read. */
function unpredicted(bytes: Buffer, parms: PdfDict): Buffer {
  const predictor = parms.get('Predictor') ?? 1;
  if (predictor === 1) return bytes;
  const columns = parms.get('Columns') ?? 1;
  const isPlain = (parms.get('Colors') ?? 1) === 1 && (parms.get('BitsPerComponent') ?? 8) === 8;
  if (typeof predictor !== 'number' || predictor < 10 || typeof columns !== 'number' || columns < 1 || !isPlain)
    throw new PdfDoubt('a predictor that is not read here');
  const rows = bytes.length / (columns + 1);
  if (!Number.isInteger(rows)) throw new PdfDoubt('rows of two lengths');
  const plain = bytes.subarray(0, rows * columns);
  const before = new Uint8Array(columns);
  for (let row = 0; row < rows; row += 1) {
    const from = row * (columns + 1);
    const filter = bytes[from];
    if (filter !== 0 && filter !== 2) throw new PdfDoubt('a predictor that is not read here');
    for (let column = 0; column < columns; column += 1) {
      const value = ((bytes[from + 1 + column] ?? 0) + (filter === 2 ? (before[column] ?? 0) : 0)) & 0xff;
      before[column] = value;
      // Rows get shorter, so what is written lies before what is still to be read.
      plain[row * columns + column] = value;
    }
  }
  return plain;
}
