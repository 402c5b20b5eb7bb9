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
  const ending = /\r\n|\n|\r/g;
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    ending.lastIndex = 0;
    for (let match = ending.exec(rest); match !== null; match = ending.exec(rest)) {
      // A CR at the very end may be the first half of a CRLF.
      if (match[0] === '\r' && ending.lastIndex === rest.length) break;
      yield rest.slice(start, match.index);
      start = ending.lastIndex;
    }
    rest = rest.slice(start);
  }
  // An event counts only with its empty line, so of what is left a held-back CR alone can still end one.
  if (rest.endsWith('\r')) yield rest.slice(0, -1);
}
