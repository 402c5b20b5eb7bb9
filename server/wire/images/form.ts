import { Buffer } from 'node:buffer';
import { boundaryIn } from '../form-parts.ts';
import type { WireProblem } from '../protocol.ts';

/**
 * A request for images as a form (`multipart/form-data`, RFC 7578), which is in memory as every other body. It is read as strictly as
 * JSON is, and written anew on its way to the vendor with a boundary that no client knows: two readers of forms could take
 * different parts for the truth. Files are not looked into.
 */
export interface PictureForm {
  /** Its fields as a JSON object, each file as an empty picture, which all rules for JSON bodies hold for. */
  json: Buffer;
  parts: readonly FormPart[];
}

interface FormPart {
  name: string;
  /** Null: a field. */
  file: { name: string; type: string } | null;
  contents: Buffer;
}

export type ReadForm = { ok: true; form: PictureForm } | { ok: false; problem: WireProblem };

/** The most parts: sixteen pictures, a mask and every field. */
const maxParts = 64;
const maxHeadBytes = 2_048;
const maxFieldBytes = 200_000;
/** Fields with a file, and those of them that may come several times, as clients name them. */
const listOfFiles = /^images?(?:\[\d{0,3}\])?$/;
const files = /^(?:images?(?:\[\d{0,3}\])?|mask|markup)$/;
const emptyPicture = 'data:image/png;base64,';
/** A vendor that reads brackets, spaces or control characters in a name would take it for another field than is read here. */
const fieldName = /^[A-Za-z][\w-]*$/;
/** What a vendor takes for a picture by its bytes. */
const pictureType = /^(?:image\/[\w.+-]{1,64}|application\/octet-stream)$/;
const wholeNumber = /^(?:0|[1-9]\d{0,8})$/;
/** Fields that are no text in JSON. */
const numbers: ReadonlySet<string> = new Set(['n', 'partial_images', 'output_compression']);
const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');

class Fault extends Error {
  readonly param: string | null;
  constructor(message: string, param: string | null = null) {
    super(message);
    this.param = param;
  }
}

/** Reads the body of a form. `contentType`: of the request, which names the boundary. */
export function readImageForm(body: Buffer, contentType: string | undefined): ReadForm {
  try {
    const boundary = boundaryIn(contentType);
    if (boundary === null) throw new Fault('The content type of the form names no boundary.');
    const parts = partsOf(body, boundary);
    return { ok: true, form: { json: jsonOf(parts), parts } };
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return { ok: false, problem: { message: fault.message, param: fault.param, code: null } };
  }
}

function partsOf(body: Buffer, boundary: string): FormPart[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const first = delimiter.subarray(lineEnd.length);
  if (!body.subarray(0, first.length).equals(first)) throw new Fault('The form does not begin with its boundary.');
  const parts: FormPart[] = [];
  let at = first.length;
  for (;;) {
    if (body[at] === 0x2d && body[at + 1] === 0x2d) return parts;
    if (body[at] !== 0x0d || body[at + 1] !== 0x0a) throw new Fault('The form cannot be read: a boundary has no end.');
    if (parts.length === maxParts) throw new Fault(`The form has more than ${maxParts} parts.`);
    const from = at + lineEnd.length;
    const head = body.indexOf(headEnd, from);
    if (head === -1 || head - from > maxHeadBytes) throw new Fault('A part of the form has no readable head.');
    const start = head + headEnd.length;
    // An empty part may end where its head does.
    const end = body.indexOf(delimiter, start - lineEnd.length);
    if (end === -1) throw new Fault('The form ends too early.');
    parts.push(partOf(body.toString('utf8', from, head), body.subarray(start, Math.max(start, end))));
    at = end + delimiter.length;
  }
}

const headers =
  /^content-disposition: *form-data; *name="([^"\\\r\n%]{1,128})"(?:; *filename="([^"\r\n]{0,512})")?(?:; *filename\*=[^\r\n;"]{0,1024})?$/i;

/** One part. Only the two header fields that say what it is are known; another could change how its contents are read. */
function partOf(head: string, contents: Buffer): FormPart {
  let named: RegExpExecArray | null = null;
  let type = 'application/octet-stream';
  for (const line of head.split('\r\n')) {
    const disposition = headers.exec(line);
    const media = /^content-type: *([\w.+-]{1,64}\/[\w.+-]{1,64})(?:;[^\r\n]{0,128})?$/i.exec(line);
    if (disposition !== null && named === null) named = disposition;
    else if (media?.[1] !== undefined) type = media[1].toLowerCase();
    else if (!/^content-length: *\d+$/i.test(line))
      throw new Fault('A part of the form has a head that is not read here.');
  }
  const name = named?.[1];
  if (name === undefined) throw new Fault('A part of the form has no name.');
  const fileName = named?.[2];
  if (fileName === undefined) {
    if (files.test(name)) throw new Fault(`${name}: must be a file`, name);
    if (!fieldName.test(name)) throw new Fault('A field of the form has a name that is not read here.');
    if (contents.length > maxFieldBytes) throw new Fault(`${name}: is too long`, name);
    return { name, file: null, contents };
  }
  if (!files.test(name)) throw new Fault(`${name.slice(0, 64)}: must not be a file`);
  if (!pictureType.test(type)) throw new Fault(`${name}: must be a picture`, name);
  return { name, file: { name: fileName, type }, contents };
}

function jsonOf(parts: readonly FormPart[]): Buffer {
  const members: string[] = [];
  const pictures = parts.filter(({ name, file }) => file !== null && listOfFiles.test(name));
  if (pictures.length > 0) members.push(`"image":${JSON.stringify(pictures.map(() => emptyPicture))}`);
  for (const { name, file, contents } of parts) {
    if (file !== null && listOfFiles.test(name)) continue;
    // A name that stands twice is refused as in JSON.
    members.push(
      `${JSON.stringify(name)}:${file === null ? fieldValue(name, contents) : JSON.stringify(emptyPicture)}`,
    );
  }
  return Buffer.from(`{${members.join(',')}}`);
}

function fieldValue(name: string, contents: Buffer): string {
  const text = contents.toString('utf8');
  if (numbers.has(name)) {
    if (!wholeNumber.test(text)) throw new Fault(`${name}: must be an integer`, name);
    return text;
  }
  if (name !== 'stream') return JSON.stringify(text);
  // What one reader takes for true another takes for a text.
  if (text !== 'true' && text !== 'false') throw new Fault('stream: must be true or false', name);
  return text;
}

/** The form as it is sent: the vendor's name of the model, and without the fields in `leftOut`. No client may know `boundary`. */
export function writeImageForm(
  { parts }: PictureForm,
  model: string,
  leftOut: readonly string[],
  boundary: string,
): { body: Buffer; contentType: string } {
  const pieces: Buffer[] = [];
  for (const [index, { name, file, contents }] of parts.entries()) {
    if (leftOut.includes(name)) continue;
    const of = file === null ? '' : `; filename="${plainFileName(file.name, index)}"\r\nContent-Type: ${file.type}`;
    pieces.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${of}\r\n\r\n`));
    pieces.push(name === 'model' ? Buffer.from(model) : contents, lineEnd);
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { body: Buffer.concat(pieces), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** A client's own name could be read in two ways (quotes, escapes); vendors look at its ending at most. */
function plainFileName(name: string, index: number): string {
  const ending = /\.(png|jpe?g|webp|gif|heic|avif)$/i.exec(name)?.[1]?.toLowerCase();
  return `picture-${index + 1}${ending === undefined ? '' : `.${ending}`}`;
}
