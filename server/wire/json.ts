import { Buffer } from 'node:buffer';
import { createStringSkip } from './string-skip.ts';

/**
 * A validating JSON scanner over bytes that keeps spans instead of values.
 *
 * The gateway must know a handful of members of bodies and events that it otherwise hands through untouched.
 * Parsing and re-serialising would change numbers (12345678901234567890, 1.0, -0), cost a copy of every string
 * and let a hostile body buy seconds of work. The scanner accepts exactly what `JSON.parse` accepts, within
 * limits, and returns a sparse tree: only the members that a `Shape` names.
 */

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/** One retained value. Offsets count from the first scanned byte; `end` is exclusive, quotes are included. */
export interface JsonNode {
  kind: JsonKind;
  start: number;
  end: number;
  /** Where the member's key starts (its quote); -1 for an array item or the root. */
  keyStart: number;
  /** Retained members by name; empty unless `kind` is `object`. Of duplicates the last one stands, as in `JSON.parse`. */
  members: ReadonlyMap<string, JsonNode>;
  /** Retained items; empty unless `kind` is `array` and the shape asks for items. */
  items: readonly JsonNode[];
}

/** Which parts of a document are retained. One shape serves objects (`members`) and arrays (`items`) alike. */
export interface Shape {
  members: Map<string, WantedMember>;
  /** `members` once more, by the byte length of the name: looking a key up makes no string. */
  byLength: WantedMember[][];
  items: Shape | null;
  /** Items that are numbers are not retained: lists of tokens have hundreds of thousands. */
  skipsNumbers: boolean;
  /** Retain every member, named or not (names unknown to the shape as leaves, without duplicate check). */
  every: boolean;
}

interface WantedMember {
  name: string;
  /** The name's bytes; null for a member that is retained only because all are. */
  bytes: Buffer | null;
  shape: Shape;
}

/** Builds a shape; the empty one is a leaf, of which only kind and span are kept. */
export function shape(members: Record<string, Shape> = {}, items: Shape | null = null): Shape {
  const built: Shape = { members: new Map(), byLength: [], items, skipsNumbers: false, every: false };
  addMembers(built, members);
  return built;
}

/** Adds members to a shape after the fact: how a shape refers to itself (content blocks within content blocks). */
export function addMembers(target: Shape, members: Record<string, Shape>): void {
  for (const [name, member] of Object.entries(members)) {
    const bytes = Buffer.from(name);
    const wanted: WantedMember = { name, bytes, shape: member };
    target.members.set(name, wanted);
    target.byLength[bytes.length] = [...(target.byLength[bytes.length] ?? []), wanted];
  }
}

export const leaf: Shape = shape();

/** An array whose items are leaves, of which numbers are not retained. */
export function listWithoutNumbers(): Shape {
  const list = listOf(leaf);
  list.skipsNumbers = true;
  return list;
}

/** An array whose items have the given shape. */
export function listOf(items: Shape): Shape {
  return shape({}, items);
}

export interface JsonLimits {
  /** Containers within containers. The scanner recurses, so this also bounds its stack. */
  maxDepth: number;
  /** Values in the whole document, which bounds the work of parsing it later. */
  maxValues: number;
  /**
   * Refuse an object that has a named member twice, or one that differs from a named one only in the case of its letters: two
   * readers could take different ones for the truth.
   */
  refuseDuplicates: boolean;
}

/** Why a document is refused. The message never quotes the document. */
export class JsonFault extends Error {
  override name = 'JsonFault';
  /** The member that stands there twice, when that is the fault. */
  readonly duplicate: string | null;
  /** Where the name of that member begins, the second time. */
  readonly duplicateAt: number;

  constructor(message: string, duplicate: string | null = null, duplicateAt = 0) {
    super(message);
    this.duplicate = duplicate;
    this.duplicateAt = duplicateAt;
  }
}

/** Scans one whole document; throws `JsonFault`. */
export function scanJson(bytes: Uint8Array, wanted: Shape, limits: JsonLimits): JsonNode {
  return new Scanner(bytes, limits, false).document(wanted);
}

/** As `scanJson`, with what was met on the way: whether a string spells a character by its number (`\\u00e9`). */
export function scanText(
  bytes: Uint8Array,
  wanted: Shape,
  limits: JsonLimits,
): { root: JsonNode; spellsNumbers: boolean } {
  const scanner = new Scanner(bytes, limits, false);
  const root = scanner.document(wanted);
  return { root, spellsNumbers: scanner.spellsNumbers };
}

/** As `scanJson`, for bytes that may well be something else: null instead of a fault, and nothing is made of it. */
export function tryScanJson(bytes: Uint8Array, wanted: Shape, limits: JsonLimits): JsonNode | null {
  if (!looksLikeJson(bytes)) return null;
  try {
    return new Scanner(bytes, limits, true).document(wanted);
  } catch (fault) {
    if (fault === expectedFault || fault instanceof JsonFault) return null;
    throw fault;
  }
}

/** Whether the first and the last byte fit together. Throwing costs as much as reading a hundred bytes, and the empty events of a flood have none. */
function looksLikeJson(bytes: Uint8Array): boolean {
  const first = bytes[0];
  if (first === undefined) return false;
  if (first === 0x7b) return isSpace(bytes.at(-1)) || bytes.at(-1) === 0x7d;
  if (first === 0x5b) return isSpace(bytes.at(-1)) || bytes.at(-1) === 0x5d;
  return isSpace(first) || first === QUOTE || first === 0x2d || (first >= 0x30 && first <= 0x39) || isWordStart(first);
}

const isSpace = (byte: number | undefined): boolean => byte !== undefined && byte <= 0x20;
/** Of `true`, `false` or `null`. */
const isWordStart = (byte: number): boolean => byte === 0x74 || byte === 0x66 || byte === 0x6e;

/** Thrown where nobody asks for the reason. One for all: an error with its stack costs more than reading a line. */
const expectedFault = new JsonFault('not JSON');

/**
 * How many values a document has, up to its end or its first fault: a parser that stops there has not made more. Above
 * `maxValues` when there are too many, null when they are nested too deeply.
 */
export function countValues(bytes: Uint8Array, limits: JsonLimits): number | null {
  const scanner = new Scanner(bytes, limits, true);
  try {
    scanner.document(leaf);
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    if (scanner.isTooDeep) return null;
  }
  return scanner.values;
}

/** The value of a scalar or a small subtree; its bytes have been validated by the scan. */
export function valueOf(bytes: Uint8Array, node: JsonNode): unknown {
  return JSON.parse(asBuffer(bytes).toString('utf8', node.start, node.end));
}

/** The string at `node`, or null when it is something else. */
export function textOf(bytes: Uint8Array, node: JsonNode | undefined): string | null {
  if (node?.kind !== 'string') return null;
  const inner = asBuffer(bytes).toString('utf8', node.start + 1, node.end - 1);
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
}

/** Looks at bytes as a Buffer without copying them. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Retained values of one document. A retained value takes some hundred times the bytes that it may be written with, so
 * that without a bound a vendor's answer of megabytes of `{},` would fill the memory; no real one has nearly as many.
 */
const MAX_RETAINED = 200_000;

/** Stands for what is read beyond the end. */
const NO_BYTE = -1;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** Beyond this many bytes a string is long enough for what looks at many of them at a time. */
const SHORT_STRING_BYTES = 32;
/** Names are read byte by byte: whether one has an escape in it matters. */
const ANY_LENGTH = 2 ** 30;

const noMembers: ReadonlyMap<string, JsonNode> = new Map();
const noItems: readonly JsonNode[] = [];

/** A class because its methods share a position on the hottest path there is; it lives for one scan. */
class Scanner {
  private readonly bytes: Buffer;
  private readonly limits: JsonLimits;
  private readonly isFaultExpected: boolean;
  private at = 0;
  values = 0;
  isTooDeep = false;
  /** A string had an escape of more than one character. */
  spellsNumbers = false;
  private retained = 0;
  /** The name just skipped contains an escape. */
  private escaped = false;
  /** Made when the first long string is met. */
  private skip: ((at: number) => number) | null = null;

  constructor(bytes: Uint8Array, limits: JsonLimits, isFaultExpected: boolean) {
    this.bytes = asBuffer(bytes);
    this.limits = limits;
    this.isFaultExpected = isFaultExpected;
  }

  document(wanted: Shape): JsonNode {
    this.space();
    const node = this.value(wanted, 0, -1);
    this.space();
    if (this.at !== this.bytes.length) this.fail('has something after its end');
    if (node === null) throw new TypeError('a wanted value is always retained');
    return node;
  }

  private value(wanted: Shape | null, depth: number, keyStart: number): JsonNode | null {
    this.values += 1;
    if (this.values > this.limits.maxValues) this.fail(`has more than ${this.limits.maxValues} values`);
    if (wanted !== null && ++this.retained > MAX_RETAINED)
      this.fail(`has more than ${MAX_RETAINED} values of interest`);
    const start = this.at;
    const first = this.bytes[start] ?? NO_BYTE;
    switch (first) {
      case 0x7b:
        return this.object(wanted, depth + 1, keyStart);
      case 0x5b:
        return this.array(wanted, depth + 1, keyStart);
      case QUOTE:
        this.string(SHORT_STRING_BYTES);
        return this.scalar(wanted, 'string', start, keyStart);
      case 0x74:
        this.word(0x72, 0x75, 0x65);
        return this.scalar(wanted, 'true', start, keyStart);
      case 0x66:
        this.word(0x61, 0x6c, 0x73, 0x65);
        return this.scalar(wanted, 'false', start, keyStart);
      case 0x6e:
        this.word(0x75, 0x6c, 0x6c);
        return this.scalar(wanted, 'null', start, keyStart);
      default:
        this.number(first);
        return this.scalar(wanted, 'number', start, keyStart);
    }
  }

  private scalar(wanted: Shape | null, kind: JsonKind, start: number, keyStart: number): JsonNode | null {
    if (wanted === null) return null;
    return { kind, start, end: this.at, keyStart, members: noMembers, items: noItems };
  }

  private failTooDeep(): never {
    this.isTooDeep = true;
    return this.fail(`is nested deeper than ${this.limits.maxDepth} levels`);
  }

  private object(wanted: Shape | null, depth: number, keyStart: number): JsonNode | null {
    if (depth > this.limits.maxDepth) this.failTooDeep();
    const start = this.at;
    const members =
      wanted === null || (wanted.members.size === 0 && !wanted.every) ? null : new Map<string, JsonNode>();
    this.at += 1;
    this.space();
    if (this.bytes[this.at] === 0x7d) this.at += 1;
    else {
      for (;;) {
        const memberStart = this.at;
        if (this.bytes[memberStart] !== QUOTE) this.fail('lacks a member name');
        this.string(ANY_LENGTH);
        const known = members === null || wanted === null ? null : this.known(wanted, memberStart);
        this.space();
        if (this.bytes[this.at] !== COLON) this.fail('lacks a colon');
        this.at += 1;
        this.space();
        const node = this.value(known === null ? null : known.shape, depth, memberStart);
        if (node !== null && members !== null && known !== null) {
          if (known.bytes !== null && this.limits.refuseDuplicates && members.has(known.name)) {
            throw new JsonFault(`the JSON has the member "${known.name}" twice in one object`, known.name, memberStart);
          }
          members.set(known.name, node);
        }
        this.space();
        const next = this.bytes[this.at];
        this.at += 1;
        if (next === 0x7d) break;
        if (next !== COMMA) this.fail('lacks a comma or a closing brace', this.at - 1);
        this.space();
      }
    }
    if (wanted === null) return null;
    return { kind: 'object', start, end: this.at, keyStart, members: members ?? noMembers, items: noItems };
  }

  private array(wanted: Shape | null, depth: number, keyStart: number): JsonNode | null {
    if (depth > this.limits.maxDepth) this.failTooDeep();
    const start = this.at;
    const itemShape = wanted === null ? null : wanted.items;
    const items: JsonNode[] | null = itemShape === null ? null : [];
    const skipsNumbers = wanted?.skipsNumbers === true;
    this.at += 1;
    this.space();
    if (this.bytes[this.at] === 0x5d) this.at += 1;
    else {
      for (;;) {
        const node = this.value(skipsNumbers && this.isAtNumber() ? null : itemShape, depth, -1);
        if (node !== null && items !== null) items.push(node);
        this.space();
        const next = this.bytes[this.at];
        this.at += 1;
        if (next === 0x5d) break;
        if (next !== COMMA) this.fail('lacks a comma or a closing bracket', this.at - 1);
        this.space();
      }
    }
    if (wanted === null) return null;
    return { kind: 'array', start, end: this.at, keyStart, members: noMembers, items: items ?? noItems };
  }

  private isAtNumber(): boolean {
    const byte = this.bytes[this.at] ?? NO_BYTE;
    return byte === 0x2d || (byte >= 0x30 && byte <= 0x39);
  }

  /** The shape for the member whose name was just skipped; null when it is not wanted. */
  private known(wanted: Shape, memberStart: number): WantedMember | null {
    const start = memberStart + 1;
    const end = this.at - 1;
    if (this.escaped) {
      const name = JSON.parse(this.bytes.toString('utf8', memberStart, this.at)) as string;
      const exact = wanted.members.get(name);
      if (exact !== undefined) return exact;
      const decoded = Buffer.from(name);
      this.refuseOtherCase(wanted, decoded, 0, decoded.length, memberStart);
      return wanted.every ? { name, bytes: null, shape: leaf } : null;
    }
    const candidates = wanted.byLength[end - start];
    if (candidates !== undefined) {
      for (const candidate of candidates) {
        if (candidate.bytes !== null && this.matches(candidate.bytes, start)) return candidate;
      }
      this.refuseOtherCase(wanted, this.bytes, start, end, memberStart);
    }
    if (!wanted.every) return null;
    return { name: this.bytes.toString('utf8', start, end), bytes: null, shape: leaf };
  }

  private refuseOtherCase(wanted: Shape, bytes: Buffer, start: number, end: number, memberStart: number): void {
    if (!this.limits.refuseDuplicates) return;
    for (const { name, bytes: expected } of wanted.byLength[end - start] ?? []) {
      if (expected === null || !equalsIgnoringCase(expected, bytes, start)) continue;
      throw new JsonFault(`the JSON has the member "${name}" in another spelling`, name, memberStart);
    }
  }

  private matches(name: Buffer, start: number): boolean {
    for (let index = 0; index < name.length; index += 1) {
      if (this.bytes[start + index] !== name[index]) return false;
    }
    return true;
  }

  private space(): void {
    const { bytes } = this;
    let at = this.at;
    for (;;) {
      const byte = bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
      at += 1;
    }
    this.at = at;
  }

  private word(...rest: number[]): void {
    this.at += 1;
    for (const byte of rest) {
      if (this.bytes[this.at] !== byte) this.fail('has an unknown word');
      this.at += 1;
    }
  }

  private number(first: number): void {
    const { bytes } = this;
    let byte: number | undefined = first;
    if (byte === 0x2d) byte = bytes[++this.at];
    if (byte === 0x30) this.at += 1;
    else this.digits(first === NO_BYTE ? 'ends too early' : 'has an unexpected character');
    if (bytes[this.at] === 0x2e) {
      this.at += 1;
      this.digits('has a malformed number');
    }
    byte = bytes[this.at];
    if (byte === 0x65 || byte === 0x45) {
      byte = bytes[++this.at];
      if (byte === 0x2b || byte === 0x2d) this.at += 1;
      this.digits('has a malformed number');
    }
  }

  private digits(otherwise: string): void {
    const from = this.at;
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte === undefined || byte < 0x30 || byte > 0x39) break;
      this.at += 1;
    }
    if (this.at === from) this.fail(otherwise);
  }

  /** Skips a string, quotes included: so many bytes of it one by one. */
  private string(shortBytes: number): void {
    const { bytes } = this;
    this.escaped = false;
    let at = this.at + 1;
    const short = at + shortBytes;
    while (at < short) {
      const byte = bytes[at] ?? NO_BYTE;
      if (byte === QUOTE) {
        this.at = at + 1;
        return;
      }
      if (byte === BACKSLASH) at = this.escape(at);
      else if (byte < 0x20) this.failInString(byte, at);
      else at += 1;
    }
    this.at = this.longString(at);
  }

  /** Skips the rest of a long string. Returns where it ends. */
  private longString(from: number): number {
    const { bytes } = this;
    this.skip ??= createStringSkip(bytes);
    let at = from;
    for (;;) {
      at = this.skip(at);
      const byte = bytes[at] ?? NO_BYTE;
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at = this.escape(at);
      else if (byte < 0x20) this.failInString(byte, at);
    }
  }

  private failInString(byte: number, at: number): never {
    return this.fail(byte === NO_BYTE ? 'ends within a string' : 'has a control character in a string', at);
  }

  private escape(at: number): number {
    this.escaped = true;
    const end = endOfEscape(this.bytes, at);
    if (end > at + 2) this.spellsNumbers = true;
    return end < 0 ? this.fail('has a malformed escape', at) : end;
  }

  private fail(what: string, at: number = this.at): never {
    if (this.isFaultExpected) throw expectedFault;
    throw new JsonFault(`the JSON ${what} (at byte ${at})`);
  }
}

/** Whether ASCII bytes are the same letters. */
function equalsIgnoringCase(name: Buffer, bytes: Buffer, start: number): boolean {
  for (let index = 0; index < name.length; index += 1) {
    if (((bytes[start + index] ?? 0) | 0x20) !== ((name[index] ?? 0) | 0x20)) return false;
  }
  return true;
}

/** Where the escape at `at` ends; -1 when it is none. Lone surrogates (`\ud800`) are legal JSON and none of our business. */
export function endOfEscape(bytes: Uint8Array, at: number): number {
  switch (bytes[at + 1] ?? NO_BYTE) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return at + 2;
    case 0x75:
      for (let digit = at + 2; digit < at + 6; digit += 1) {
        if (!isHexDigit(bytes[digit])) return -1;
      }
      return at + 6;
    default:
      return -1;
  }
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
