import type { ServerResponse } from 'node:http';

/**
 * The body of an event stream on its way to the client. HTTP/1.1 frames each write as a chunk (RFC 9112, section 7.1); Node does that
 * with four buffers, a cork and a callback for each. Here a frame is one buffer with what is pending, written to the socket itself.
 */
export interface StreamBody {
  /** Sends the head, together with what is added before the next `flush`. */
  begin(): void;
  /** Takes bytes. True: the first ones that wait for `flush`. */
  add(bytes: Uint8Array): boolean;
  /** Writes what waits. False: the socket is full, and `drained` is called when it is not. */
  flush(): boolean;
  /** Writes what waits, and the end. */
  end(): void;
  /** The client has gone: what waits goes nowhere. */
  drop(): void;
}

const CR = 0x0d;
const LF = 0x0a;
/** The chunk of no bytes, and no trailers: the body's end. */
const bodyEnd = '0\r\n\r\n';

export function createStreamBody(response: ServerResponse, drained: () => void): StreamBody {
  return new OpenStreamBody(response, drained);
}

class OpenStreamBody implements StreamBody {
  private readonly response: ServerResponse;
  private readonly waiting: Uint8Array[] = [];
  private length = 0;
  /** The body is made of chunks: that of HTTP/1.0 is not. */
  private isFramed = false;
  /** The head was written to the socket, so what follows may be, too; not so while an earlier answer of the connection runs. */
  private isDirect = false;
  private isHeadHeld = false;
  private isFull = false;
  private readonly drained: () => void;

  constructor(response: ServerResponse, drained: () => void) {
    this.response = response;
    this.drained = drained;
  }

  begin(): void {
    const { response } = this;
    response.socket?.cork();
    response.flushHeaders();
    const { socket } = response;
    this.isDirect = socket !== null && response.writableLength === socket.writableLength;
    this.isHeadHeld = socket !== null;
    this.isFramed = response.chunkedEncoding;
    // From here on the frames are made here.
    response.chunkedEncoding = false;
  }

  add(bytes: Uint8Array): boolean {
    this.length += bytes.length;
    return this.waiting.push(bytes) === 1;
  }

  flush(): boolean {
    const isOpen = this.length === 0 || this.write(this.take(false));
    if (this.isHeadHeld) {
      this.isHeadHeld = false;
      this.response.socket?.uncork();
    }
    return isOpen;
  }

  private write(bytes: Uint8Array): boolean {
    const { response, isDirect, isFull } = this;
    const { socket } = response;
    // The response calls its own listeners.
    if (!isDirect || socket === null) return response.write(bytes);
    if (!socket.writable || socket.write(bytes)) return true;
    if (!isFull) socket.once('drain', this.onDrain);
    this.isFull = true;
    return false;
  }

  private readonly onDrain = (): void => {
    this.isFull = false;
    this.drained();
  };

  end(): void {
    this.isHeadHeld = false;
    if (this.length > 0 || this.isFramed) this.response.end(this.take(true));
    else this.response.end();
  }

  drop(): void {
    this.waiting.length = 0;
    this.length = 0;
  }

  /** What waits, as the bytes that go out. */
  private take(isLast: boolean): Uint8Array {
    const { waiting, length, isFramed } = this;
    const [only] = waiting;
    if (!isFramed && only !== undefined && waiting.length === 1) {
      this.drop();
      return only;
    }
    const size = isFramed && length > 0 ? length.toString(16) : '';
    const end = isFramed && isLast ? bodyEnd : '';
    const frame = Buffer.allocUnsafe(length + (size === '' ? 0 : size.length + 4) + end.length);
    let at = 0;
    if (size !== '') {
      for (; at < size.length; at += 1) frame[at] = size.charCodeAt(at);
      at = lineEnd(frame, at);
    }
    for (const bytes of waiting) {
      frame.set(bytes, at);
      at += bytes.length;
    }
    if (size !== '') at = lineEnd(frame, at);
    if (end !== '') frame.write(end, at, 'latin1');
    this.drop();
    return frame;
  }
}

function lineEnd(frame: Buffer, at: number): number {
  frame[at] = CR;
  frame[at + 1] = LF;
  return at + 2;
}
