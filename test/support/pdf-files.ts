import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';

/** PDF files put together object by object, for what a reader of them must and must not understand. */

export const streamOf = (contents: string, more = ''): string => {
  const packed = deflateSync(Buffer.from(contents, 'latin1')).toString('latin1');
  return `<</Length ${packed.length}/Filter/FlateDecode${more}>>\nstream\n${packed}\nendstream`;
};
export const plainStream = (contents: string, more = ''): string =>
  `<</Length ${contents.length}${more}>>\nstream\n${contents}\nendstream`;

/** A file of objects 1, 2, … with a table of cross-references. The first is the catalog. */
export function pdfOf(objects: readonly string[], trailer = ''): Buffer {
  let file = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const start = file.length;
  const size = objects.length + 1;
  file += `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<</Size ${size}/Root 1 0 R${trailer}>>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(file, 'latin1');
}

/** The same with all objects but streams packed into one, and cross-references in a stream, as newer programs write it. */
export function packedPdfOf(objects: readonly string[]): Buffer {
  const isPacked = (object: string) => !object.includes('stream\n');
  const packed = objects.flatMap((object, index) => (isPacked(object) ? [{ number: index + 1, object }] : []));
  let at = 0;
  const heads = packed.map(({ number, object }) => {
    const head = `${number} ${at}`;
    at += object.length + 1;
    return head;
  });
  const first = heads.join(' ').length + 1;
  const bodies = `${heads.join(' ')} ${packed.map(({ object }) => object).join(' ')}`;
  const within = objects.length + 1;
  let file = '%PDF-1.7\n';
  const entries: [number, number, number][] = [[0, 0, 0]];
  const write = (number: number, object: string) => {
    const offset = file.length;
    file += `${number} 0 obj\n${object}\nendobj\n`;
    return offset;
  };
  for (const [index, object] of objects.entries()) {
    const place = packed.findIndex(({ number }) => number === index + 1);
    entries.push(place >= 0 ? [2, within, place] : [1, write(index + 1, object), 0]);
  }
  entries.push([1, write(within, streamOf(bodies, `/Type/ObjStm/N ${packed.length}/First ${first}`)), 0]);
  entries.push([1, file.length, 0]);
  const start = file.length;
  // Each row as what it adds to the one before, in which such streams pack best.
  const rows = entries.map(([kind, second, third]) => [kind, second >> 8, second & 255, third]);
  const predicted = rows.flatMap((row, index) => [
    2,
    ...row.map((byte, column) => (byte - (rows[index - 1]?.[column] ?? 0)) & 255),
  ]);
  const contents = Buffer.from(predicted).toString('latin1');
  const parms = '/DecodeParms<</Predictor 12/Columns 4>>';
  write(within + 1, streamOf(contents, `/Type/XRef/Size ${entries.length}/W[1 2 1]/Root 1 0 R${parms}`));
  return Buffer.from(`${file}startxref\n${start}\n%%EOF\n`, 'latin1');
}

/** An ordinary file: each page with these contents, in one of the fonts that every reader has. */
export function pagesOf(
  contents: readonly string[],
  {
    font = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    resources = '',
    page = '',
    more = [],
  }: { font?: string; resources?: string; page?: string; more?: readonly string[] } = {},
): string[] {
  // 1 catalog, 2 tree, 3 font, then what is added, then each page's contents and the page.
  const first = 4 + more.length;
  const kids = contents.map((_content, index) => `${first + 2 * index + 1} 0 R`);
  return [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids.join(' ')}]/Count ${kids.length}/Resources<</Font<</F1 3 0 R>>${resources}>>>>`,
    font,
    ...more,
    ...contents.flatMap((content, index) => [
      streamOf(content),
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${first + 2 * index} 0 R${page}>>`,
    ]),
  ];
}

/** Contents that show a text. */
export const showing = (text: string): string => `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;

/** The file of the table: so many pages that share one stream of contents. */
export function sharedContents(pages: number, textBytes: number): Buffer {
  const contents = streamOf(showing('a'.repeat(textBytes)));
  const kids = Array.from({ length: pages }, (_page, index) => `${5 + index} 0 R`).join(' ');
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages}/Resources<</Font<</F1 4 0 R>>>>>>`,
    contents,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    ...Array.from({ length: pages }, () => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 3 0 R>>'),
  ]);
}
