/**
 * Reads an event stream. Chunks may be split anywhere: inside a character, a line or a line ending; lines end with LF,
 * CRLF or CR.
 */

export interface ServerEvent {
  /** The `event` field, or null. */
  type: string | null;
  /** The `data` lines joined with LF. */
  data: string;
}

/** An event's data as the object that every protocol's events are. Throws for anything else. */
export function parseEvent(data: string): object {
  const event = JSON.parse(data) as unknown;
  if (typeof event !== 'object' || event === null || Array.isArray(event)) throw new TypeError('no object');
  return event;
}

/** Yields what has data; comments (keep-alives) and fields of no use here are passed over. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let type: string | null = null;
  let data: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { type, data: data.join('\n') };
      type = null;
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') type = value;
    else if (field === 'data') data.push(value);
  }
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Pieces of a line that has not ended yet: joined once, however many chunks a long line comes in.
  let begun: string[] = [];
  let afterCr = false;
  for await (const chunk of chunks) {
    const decoded = decoder.decode(chunk, { stream: true });
    if (decoded === '') continue;
    // A CR has ended its line already; the LF of the same CRLF may come with the next chunk.
    const text: string = afterCr && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    afterCr = text.endsWith('\r');
    let start = 0;
    for (const { 0: ending, index } of text.matchAll(/\r\n|\n|\r/g)) {
      begun.push(text.slice(start, index));
      yield begun.join('');
      begun = [];
      start = index + ending.length;
    }
    if (start < text.length) begun.push(text.slice(start));
  }
  // An event counts only with its empty line, so what is left without a line's end can be none.
}
