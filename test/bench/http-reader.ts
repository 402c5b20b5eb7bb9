/**
 * The least HTTP/1.1 that benchmarks need, read from raw sockets: a parser that costs more than the program under
 * test would measure itself.
 */

/** Called as a message comes in. */
export interface MessageEvents {
  /** First line and headers, without the empty line behind them. */
  onHead(head: string): void;
  /** A part of the body, chunk framing taken off. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

export interface MessageReader {
  push(bytes: Buffer): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

type State =
  | { kind: 'head' }
  | { kind: 'length'; left: number }
  | { kind: 'size' }
  | { kind: 'chunk'; left: number }
  | { kind: 'trailer' };

function lengthOf(head: string): number {
  return Number(/\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1] ?? 0);
}

/**
 * Reads messages one after the other, split anywhere. Bodies have a length or are chunked; trailers are not
 * supported, and neither is a body that only the end of the connection ends.
 */
export function createMessageReader(events: MessageEvents): MessageReader {
  let state: State = { kind: 'head' };
  let rest: Buffer = Buffer.alloc(0);

  const end = (): void => {
    state = { kind: 'head' };
    events.onEnd();
  };
  const head = (bytes: Buffer): number => {
    const at = bytes.indexOf(HEAD_END);
    if (at < 0) return 0;
    const text = bytes.toString('latin1', 0, at);
    const chunked = /\r\ntransfer-encoding:\s*chunked/i.test(text);
    const length = chunked ? 0 : lengthOf(text);
    state = chunked ? { kind: 'size' } : { kind: 'length', left: length };
    events.onHead(text);
    if (!chunked && length === 0) end();
    return at + HEAD_END.length;
  };
  const size = (bytes: Buffer): number => {
    const at = bytes.indexOf(LINE_END);
    if (at < 0) return 0;
    const left = Number.parseInt(bytes.toString('latin1', 0, at), 16);
    state = left === 0 ? { kind: 'trailer' } : { kind: 'chunk', left };
    return at + LINE_END.length;
  };
  const trailer = (bytes: Buffer): number => {
    if (bytes.length < LINE_END.length) return 0;
    end();
    return LINE_END.length;
  };
  const length = (bytes: Buffer, left: number): number => {
    const taken = Math.min(left, bytes.length);
    events.onBody(bytes.subarray(0, taken));
    if (taken === left) end();
    else state = { kind: 'length', left: left - taken };
    return taken;
  };
  const chunk = (bytes: Buffer, left: number): number => {
    if (bytes.length === 0) return 0;
    // The line end behind the chunk belongs to its frame and may come later.
    if (left > 0) {
      const taken = Math.min(left, bytes.length);
      events.onBody(bytes.subarray(0, taken));
      state = { kind: 'chunk', left: left - taken };
      return taken;
    }
    if (bytes.length < LINE_END.length) return 0;
    state = { kind: 'size' };
    return LINE_END.length;
  };
  const step = (bytes: Buffer): number => {
    if (state.kind === 'head') return head(bytes);
    if (state.kind === 'length') return length(bytes, state.left);
    if (state.kind === 'size') return size(bytes);
    if (state.kind === 'chunk') return chunk(bytes, state.left);
    return trailer(bytes);
  };

  return {
    push(bytes) {
      let left = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      while (left.length > 0) {
        const taken = step(left);
        if (taken === 0) break;
        left = left.subarray(taken);
      }
      rest = left;
    },
  };
}

/** A whole request, to be written as often as it is asked for. */
export function requestBytes(url: string, path: string, headers: Record<string, string>, body: Buffer): Buffer {
  const fields = {
    host: new URL(url).host,
    'content-type': 'application/json',
    ...headers,
    'content-length': String(body.length),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}
