import { Buffer } from 'node:buffer';

/**
 * Skips the inside of long JSON strings sixteen bytes at a time. Contexts of a megabyte are nearly all strings with an
 * escape every few words; byte by byte, looking through them takes more than half of what such a request costs.
 *
 * JavaScript has no such instructions but WebAssembly does, and V8 turns it into them everywhere. Its function is put
 * together here, instruction by instruction, when the process starts: it is small, and this way there is no binary that
 * only another tool could make again.
 */

/** The part of the global that is used here; the types of browsers have it, those of Node do not. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: { memory: { buffer: ArrayBuffer }; find(at: number): number } };
};

/** Bytes of instructions that leave one value, or do something. */
type Code = readonly number[];

/** Bytes that one instruction looks at. */
const block = 16;
/** What is looked at lies in the module's own memory. A piece of this size stays in the processor's nearest caches. */
const windowBytes = 65_536;

/** Small numbers as WebAssembly writes them: seven bits a byte, the least first. */
function leb(value: number): number[] {
  const rest = value >> 7;
  const low = value & 0x7f;
  // The last byte's seventh bit is the sign.
  return rest === (low & 0x40 ? -1 : 0) ? [low] : [low | 0x80, ...leb(rest)];
}

/** Something behind its own length, of up to 16,383 bytes. */
const sized = (content: Code): Code =>
  content.length < 0x80
    ? [content.length, ...content]
    : [(content.length & 0x7f) | 0x80, content.length >> 7, ...content];

const number = (value: number): Code => [0x41, ...leb(value)];
const vector = (bytes: readonly number[]): Code => [0xfd, 0x0c, ...bytes];
const filled = (byte: number): Code => vector(Array.from({ length: block }, () => byte));
const read = (local: number): Code => [0x20, local];
const assign = (local: number, value: Code): Code => [...value, 0x21, local];

const binary =
  (...instruction: Code) =>
  (one: Code, other: Code): Code => [...one, ...other, ...instruction];
const add = binary(0x6a);
const subtract = binary(0x6b);
const and = binary(0x71);
const or = binary(0x72);
const xor = binary(0x73);
const shiftLeft = binary(0x74);
const shiftRight = binary(0x76);
const equalEach = binary(0xfd, 0x23);
const belowEach = binary(0xfd, 0x26);
const andEach = binary(0xfd, 0x4e);
const orEach = binary(0xfd, 0x50);
/** Each byte of `other` picks one of `one`. */
const pick = binary(0xfd, 0x0e);

const not = (value: Code): Code => xor(value, number(-1));
const lowestBit = (value: Code): Code => [...value, 0x68];
const loadBlock = (address: Code): Code => [...address, 0xfd, 0x00, 0, 0];
/** One bit for each byte, the first byte's is the lowest. */
const bits = (comparison: Code): Code => [...comparison, 0xfd, 0x64];
const when = (condition: Code, then: readonly Code[], otherwise: readonly Code[]): Code =>
  [condition, [0x04, 0x40], ...then, [0x05], ...otherwise, [0x0b]].flat();
const giveBack = (value: Code): Code => [...value, 0x0f];
const forever = (steps: readonly Code[]): Code => [[0x03, 0x40], ...steps, [0x0c, 0, 0x0b, 0x00]].flat();

/** Characters that make an escape with one backslash, each where its lower four bits say; two more would stand there too. */
const simple = Array.from({ length: block }, () => 0xff);
for (const character of '"\\/fnt') simple[character.charCodeAt(0) & 15] = character.charCodeAt(0);
const [letterB, letterR] = [0x62, 0x72];

const [at, carried, backslashes, stops, series, escaped, bytes] = [0, 1, 2, 3, 4, 5, 6];
/** Every second bit. Which of several backslashes in a row escape follows from where the row begins. */
const odd = number(0xaaaaaaaa | 0);

/**
 * `find(at)`: where the first byte is that ends a string, is a control character, or is a backslash that begins anything
 * but a simple escape. There must be one: a zero behind the text is.
 */
const find = forever([
  assign(bytes, loadBlock(read(at))),
  assign(stops, bits(orEach(equalEach(read(bytes), filled(0x22)), belowEach(read(bytes), filled(0x20))))),
  assign(backslashes, bits(equalEach(read(bytes), filled(0x5c)))),
  when(
    or(read(backslashes), read(carried)),
    [
      // A subtraction borrows through each row of backslashes, and so finds its first, third and so on at once.
      assign(series, and(read(backslashes), not(read(carried)))),
      assign(series, xor(subtract(or(shiftLeft(read(series), number(1)), odd), read(series)), odd)),
      assign(escaped, and(xor(read(series), or(read(backslashes), read(carried))), number(0xffff))),
      assign(carried, shiftRight(and(read(series), read(backslashes)), number(block - 1))),
      // A fault of an escaped character is reported at the backslash, one place earlier.
      assign(
        stops,
        or(
          shiftLeft(and(read(stops), not(read(escaped))), number(1)),
          and(
            read(escaped),
            not(
              bits(
                orEach(
                  equalEach(pick(vector(simple), andEach(read(bytes), filled(15))), read(bytes)),
                  orEach(equalEach(read(bytes), filled(letterB)), equalEach(read(bytes), filled(letterR))),
                ),
              ),
            ),
          ),
        ),
      ),
    ],
    [assign(stops, shiftLeft(read(stops), number(1)))],
  ),
  when(read(stops), [giveBack(subtract(add(read(at), lowestBit(read(stops))), number(1)))], []),
  assign(at, add(read(at), number(block))),
]);

/** The module: one function of a number that gives a number, with five more numbers and a vector, and two pages of memory. */
function assemble(): Uint8Array {
  const [i32, v128] = [0x7f, 0x7b];
  const name = (text: string): Code => sized([...Buffer.from(text)]);
  const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const section = (id: number, content: Code): Code => [id, ...sized(content)];
  const types = section(1, [1, 0x60, 1, i32, 1, i32]);
  const functions = section(3, [1, 0]);
  const memories = section(5, [1, 0, 2]);
  const names = section(7, [2, ...name('memory'), 2, 0, ...name('find'), 0, 0]);
  const code = section(10, [1, ...sized([2, 5, i32, 1, v128, ...find, 0x0b])]);
  return new Uint8Array([header, types, functions, memories, names, code].flat());
}

const { exports: module } = new WebAssembly.Instance(new WebAssembly.Module(assemble()));
const memory = Buffer.from(module.memory.buffer);

/**
 * Looks into strings of one document. What it returns takes a place inside of a string that is not in the middle of an
 * escape, and gives the next place to look at: the string's end, a control character, a backslash, the document's end,
 * or any place before those that is not in the middle of an escape either.
 *
 * All of them share one memory: a caller must be done with one before the next one is made.
 */
export function createStringSkip(document: Buffer): (at: number) => number {
  let from = 0;
  let to = 0;
  return (at) => {
    if (at < from || at >= to) {
      from = at;
      to = at + document.copy(memory, 0, at, at + windowBytes);
      memory[to - from] = 0;
    }
    return from + module.find(at - from);
  };
}
