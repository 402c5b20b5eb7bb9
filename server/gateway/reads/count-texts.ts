/**
 * Finds the texts of a messages request that become context, in the raw body. One pass over the bytes, without
 * recursion or a parsed copy, so that the cost is linear and the pass can be paused anywhere. The body was scanned
 * before: it is JSON of bounded depth.
 */

/** Top-level members whose texts a vendor counts. */
const counted: ReadonlySet<string> = new Set(['system', 'messages', 'tools']);
/** Types whose `data` is not text: media, which are counted separately, and encrypted reasoning. */
const withoutText: ReadonlySet<string> = new Set(['base64', 'redacted_thinking']);
/** Upper bound on the names and types that matter here. */
const maxNameBytes = 64;
/** Approximate size of the parts that a text is yielded in. */
const partBytes = 2_048;
/** After this many bytes without a text, an empty one is yielded, so that the caller can yield to the event loop. */
const silentBytes = 65_536;

const quote = 0x22;
const backslash = 0x5c;
const [openObject, closeObject, openArray, closeArray, comma, colon] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a];

interface Container {
  isObject: boolean;
  /** The member of the enclosing object that holds this value or its list. */
  name: string;
  /** Content blocks and their media sources, where a vendor parses them; everything else is text. */
  role: 'root' | 'messages' | 'message' | 'content' | 'block' | 'source' | 'other';
  /** The next string is a member's name. */
  isName: boolean;
  member: string;
  /** Type of a block or source. It decides whether `data` is text, and may follow it. */
  type: string | null;
  data: [number, number] | null;
}

/** Yields the texts, member names included, in parts; `''` after `silentBytes` without one. */
export function* contextTexts(raw: Buffer): Generator<string> {
  const stack: Container[] = [];
  let top: Container | undefined;
  let isCounted = false;
  let silentFrom = 0;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at];
    if (at - silentFrom >= silentBytes) {
      silentFrom = at;
      yield '';
    }
    if (byte === quote) {
      const end = endOfString(raw, at + 1);
      if (top?.isName === true) {
        top.isName = false;
        top.member = end - at > maxNameBytes ? '' : decode(raw, at + 1, end);
        if (stack.length === 1) isCounted = counted.has(top.member);
        else if (isCounted) yield* parts(raw, at + 1, end);
      } else if (isCounted && top !== undefined) {
        const isTyped = top.role === 'source' || top.role === 'block';
        if (isTyped && top.member === 'data') top.data = [at + 1, end];
        else {
          if (isTyped && top.member === 'type' && end - at <= maxNameBytes) top.type = decode(raw, at + 1, end);
          yield* parts(raw, at + 1, end);
        }
      }
      at = end;
      silentFrom = Math.max(silentFrom, at);
    } else if (byte === openObject || byte === openArray) {
      top = opened(top, byte === openObject);
      stack.push(top);
    } else if (byte === closeObject || byte === closeArray) {
      if (top?.data && !withoutText.has(top.type ?? '')) yield* parts(raw, ...top.data);
      stack.pop();
      top = stack.at(-1);
    } else if (byte === comma && top?.isObject === true) top.isName = true;
    else if (byte === colon && top?.isObject === true) top.isName = false;
  }
}

function opened(parent: Container | undefined, isObject: boolean): Container {
  const name = parent === undefined ? '' : parent.isObject ? parent.member : parent.name;
  return { isObject, name, role: roleOf(parent, isObject, name), isName: isObject, member: '', type: null, data: null };
}

function roleOf(parent: Container | undefined, isObject: boolean, name: string): Container['role'] {
  if (parent === undefined) return 'root';
  if (parent.role === 'root' && !isObject)
    return name === 'messages' ? 'messages' : name === 'system' ? 'content' : 'other';
  if (parent.role === 'messages' && isObject) return 'message';
  // A tool result contains content blocks; a tool input does not, whatever its members are called.
  if ((parent.role === 'message' || parent.role === 'block') && !isObject)
    return name === 'content' ? 'content' : 'other';
  if (parent.role === 'content' && isObject) return 'block';
  return parent.role === 'block' && isObject && name === 'source' ? 'source' : 'other';
}

/** Offset of the closing quote of the string that begins at `start`. */
function endOfString(raw: Buffer, start: number): number {
  for (let from = start; ; ) {
    const at = raw.indexOf(quote, from);
    if (at < 0) return raw.length;
    if (!isEscaped(raw, at, start)) return at;
    from = at + 1;
  }
}

/** Whether an odd number of backslashes precedes the byte. */
function isEscaped(raw: Buffer, at: number, start: number): boolean {
  let first = at;
  while (first > start && raw[first - 1] === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

function* parts(raw: Buffer, start: number, end: number): Generator<string> {
  for (let at = start; at < end; ) {
    const next = endOfPart(raw, at, end);
    yield decode(raw, at, next);
    at = next;
  }
}

/** Offset at which a part may end: not inside a character or an escape. */
function endOfPart(raw: Buffer, start: number, end: number): number {
  let at = start + partBytes;
  if (at >= end) return end;
  while (((raw[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  for (let before = at - 1; before > at - 6; before -= 1) {
    if (raw[before] === backslash && !isEscaped(raw, before, start)) return before;
  }
  return at;
}

function decode(raw: Buffer, start: number, end: number): string {
  const text = raw.toString('utf8', start, end);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
