/** Reads the text of PDF documents with embedded fonts, as a reader would copy it. */

import { inflateSync } from 'node:zlib';

export interface PdfText {
  pages: number;
  /** Texts in the order in which they were drawn, a line for each. */
  lines: string[];
}

export function readPdf(bytes: Buffer): PdfText {
  const objects = new Map<string, string>();
  const source = bytes.toString('latin1');
  for (const [, id = '', body = ''] of source.matchAll(/(\d+) 0 obj\n(.*?)\nendobj/gs)) objects.set(id, body);
  const fonts = new Map<string, Map<string, string>>();
  for (const body of objects.values())
    for (const [, name = '', id = ''] of body.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const unicode = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id) ?? '')?.[1];
      if (unicode !== undefined) fonts.set(name, readMap(streamOf(objects.get(unicode) ?? '')));
    }
  const pages = [...objects.values()].filter((body) => /\/Type \/Page\n/.test(body));
  const lines = pages.flatMap((body) => {
    const content = /\/Contents (\d+) 0 R/.exec(body)?.[1] ?? '';
    return readContent(streamOf(objects.get(content) ?? ''), fonts);
  });
  return { pages: pages.length, lines };
}

function streamOf(body: string): string {
  const at = body.indexOf('stream\n');
  if (at < 0) return '';
  const raw = Buffer.from(body.slice(at + 7, body.lastIndexOf('\nendstream')), 'latin1');
  return body.slice(0, at).includes('/FlateDecode') ? inflateSync(raw).toString('latin1') : raw.toString('latin1');
}

function readMap(text: string): Map<string, string> {
  const map = new Map<string, string>();
  for (const [, from = '', , list = ''] of text.matchAll(/<([0-9a-f]+)> <([0-9a-f]+)> \[([^\]]*)\]/gi))
    for (const [index, [, hex = '']] of [...list.matchAll(/<([0-9a-f ]*)>/gi)].entries()) {
      const glyph = (Number.parseInt(from, 16) + index).toString(16).padStart(4, '0');
      map.set(glyph, Buffer.from(hex.replaceAll(' ', ''), 'hex').swap16().toString('utf16le'));
    }
  return map;
}

function readContent(text: string, fonts: Map<string, Map<string, string>>): string[] {
  const lines: string[] = [];
  let font = new Map<string, string>();
  for (const [, name, shown] of text.matchAll(/\/(F\d+) [\d.]+ Tf|\[(.*?)\] TJ/gs)) {
    if (name !== undefined) font = fonts.get(name) ?? new Map();
    else
      lines.push(
        [...(shown ?? '').matchAll(/<([0-9a-f]+)>/gi)]
          .flatMap(([, hex = '']) => hex.toLowerCase().match(/.{4}/g) ?? [])
          .map((glyph) => font.get(glyph) ?? '\uFFFD')
          .join(''),
      );
  }
  return lines;
}
