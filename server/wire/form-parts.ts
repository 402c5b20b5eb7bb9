/**
 * Reads a form (`multipart/form-data`, RFC 7578) while it arrives: its fields one after the other, each as a stream. No more than a
 * piece of the body is in memory.
 */

/** Why a body is no form. */
export class FormFault extends Error {
  override name = 'FormFault';
}

export interface FormPart {
  /** Of the field. */
  name: string;
  /** Its contents, to be read before the next part is asked for. */
  body: AsyncIterable<Buffer>;
}

const maxHeadBytes = 16_384;

/** The boundary of a form's content type; null: it is none of a form. */
export function boundaryIn(contentType: string | undefined): string | null {
  const found = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? '',
  );
  return found?.[1] ?? found?.[2] ?? null;
}

/** Throws `FormFault`. */
export async function* formParts(stream: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<FormPart> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const pieces = stream[Symbol.asyncIterator]();
  // The first delimiter may stand at the very beginning.
  let rest: Buffer = Buffer.from('\r\n');

  const more = async (): Promise<void> => {
    const next = await pieces.next();
    if (next.done === true) throw new FormFault('The form ends too early.');
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
  };
  async function* untilDelimiter(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = rest.indexOf(delimiter);
      if (at !== -1) {
        const last = rest.subarray(0, at);
        rest = rest.subarray(at + delimiter.length);
        if (last.length > 0) yield last;
        return;
      }
      const sure = rest.length - delimiter.length + 1;
      if (sure > 0) {
        const piece = rest.subarray(0, sure);
        rest = rest.subarray(sure);
        yield piece;
      }
      await more();
    }
  }
  const head = async (): Promise<string> => {
    for (;;) {
      const at = rest.indexOf('\r\n\r\n');
      if (at > maxHeadBytes || (at === -1 && rest.length > maxHeadBytes))
        throw new FormFault('A part of the form has no readable head.');
      if (at !== -1) {
        const text = rest.toString('utf8', 0, at);
        rest = rest.subarray(at + 4);
        return text;
      }
      await more();
    }
  };

  const skip = async (contents: AsyncGenerator<Buffer>): Promise<void> => {
    while ((await contents.next()).done !== true);
  };

  // What stands before the first delimiter.
  await skip(untilDelimiter());
  for (;;) {
    while (rest.length < 2) await more();
    if (rest[0] === 0x2d && rest[1] === 0x2d) return;
    const name = /^content-disposition:[^\n]*?[;\s]name="([^"\r\n]*)"/im.exec(await head())?.[1];
    if (name === undefined) throw new FormFault('A part of the form has no name.');
    const body = untilDelimiter();
    yield { name, body };
    await skip(body);
  }
}
