import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import Published from 'pdfkit';
import { describe, expect, test } from 'vitest';
import { boundOf } from '../../server/metering/bound.ts';
import { scanBody } from '../../server/wire/body.ts';
import { measurePdf, pdfWorkOfBody } from '../../server/wire/pdf/measure.ts';
import { packedPdfOf, pagesOf, pdfOf, plainStream, sharedContents, showing, streamOf } from '../support/pdf-files.ts';

/**
 * A PDF within a body is bounded by its pages and what they show, each as often as it is shown. What is not understood
 * completely counts as the model's window.
 */

const measure = (file: Buffer) => measurePdf(file, { left: pdfWorkOfBody });

/** Tokens of the document at a vendor that reads text and a picture of each page; null: the window. */
function tokensOf(...files: readonly Buffer[]): number | null {
  const blocks = files.map((file) => ({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: file.toString('base64') },
  }));
  const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: blocks }] };
  const scan = scanBody(Buffer.from(JSON.stringify(body)), 'messages');
  if (!scan.ok) throw new Error(scan.problem.message);
  const routes = [{ upstream: { protocol: 'messages' as const, profile: 'anthropic' as const } }];
  const { parts } = boundOf(scan.facts, { allow: new Set(), routes });
  const documents = parts.filter(({ kind }) => kind === 'document' || kind === 'pdf_pages');
  return documents.some(({ tokens }) => tokens === null)
    ? null
    : documents.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
}

const picture = 4_784;

describe('what is shown is counted as often as it is shown', () => {
  test('sixty pages that share one stream of contents come to sixty times its text', () => {
    const file = sharedContents(60, 988_000);
    expect(file.length).toBeLessThan(10_000);
    expect(tokensOf(file)).toBeGreaterThanOrEqual(60 * 988_000 + 60);
  });

  test('a form that is shown three times, within one that is shown twice, comes to six times its text', () => {
    const inner = streamOf(showing('b'.repeat(1_000)), '/Subtype/Form/Resources<</Font<</F1 3 0 R>>>>');
    const outer = streamOf('/X Do /X Do /X Do', '/Subtype/Form/Resources<</XObject<</X 4 0 R>>>>');
    const file = pdfOf(pagesOf(['/Y Do /Y Do'], { resources: '/XObject<</Y 5 0 R>>', more: [inner, outer] }));
    expect(tokensOf(file)).toBeGreaterThanOrEqual(6_000 + picture);
  });

  test('a page that stands in the tree many times is as many pages', () => {
    const [catalog, , ...rest] = pagesOf(['']);
    const tree = `<</Type/Pages/Kids[${'5 0 R '.repeat(40)}]/Count 40>>`;
    expect(measure(pdfOf([catalog ?? '', tree, ...rest]))?.pages).toBe(40);
  });

  test('a code that a font lets stand for many characters comes to all of them', () => {
    const text = 'FDFA'.repeat(20);
    const map = streamOf(`1 beginbfchar <41> <${text}> endbfchar`);
    const font = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode 4 0 R>>';
    const file = pdfOf(pagesOf([showing('A'.repeat(100))], { font, more: [map] }));
    const characters = '\u{FDFA}'.repeat(20);
    const bytes = Buffer.byteLength(characters.normalize('NFKC'));
    expect(tokensOf(file)).toBeGreaterThanOrEqual(100 * bytes + picture);
    const names = `<</Type/Encoding/Differences[65/uni${text}]>>`;
    const named = `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding ${names}>>`;
    const byName = pdfOf(pagesOf([showing('A'.repeat(100))], { font: named }));
    expect(tokensOf(byName)).toBeGreaterThanOrEqual(100 * bytes + picture);
  });

  test('strings in every spelling are counted, and breaks where words may begin', () => {
    const contents = `BT /F1 1 Tf [(ab\\)c\\\\) -500 <61 62> 3 (${'(x)'.repeat(50)})] TJ T* (d) ' ET`;
    const plain = measure(pdfOf(pagesOf(['']))) ?? { textBytes: 0 };
    expect(measure(pdfOf(pagesOf([contents])))?.textBytes).toBeGreaterThanOrEqual(
      plain.textBytes + 5 + 2 + 150 + 1 + 5,
    );
  });

  test('two documents of a body are the sum of both, and one that is not understood makes it the window', () => {
    const file = pdfOf(pagesOf([showing('words')]));
    const [one, two] = [tokensOf(file), tokensOf(file, file)];
    expect(two).toBe(2 * (one ?? 0));
    expect(tokensOf(file, Buffer.from('%PDF-1.7'))).toBeNull();
  });
});

/** A file of a published program. */
async function published(pages: number): Promise<Buffer> {
  const document = new Published();
  const pieces: Buffer[] = [];
  document.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise((resolve) => document.on('end', resolve));
  for (let page = 0; page < pages; page += 1) {
    if (page > 0) document.addPage();
    document.font('Helvetica').text('Words of an invoice. '.repeat(40));
    document.link(72, 72, 100, 20, 'https://example.com/');
  }
  document.end();
  await ended;
  return Buffer.concat(pieces);
}

describe('ordinary documents are far below a window', () => {
  test('of a published program', async () => {
    const file = await published(3);
    expect(measure(file)?.pages).toBe(3);
    const tokens = tokensOf(file) ?? Number.NaN;
    expect(tokens).toBeGreaterThan(3 * (picture + 800));
    expect(tokens).toBeLessThan(50_000);
  });

  test('with tables of cross-references, and packed as newer programs write them', () => {
    const objects = pagesOf([showing('one'), showing('two')]);
    expect(measure(packedPdfOf(objects))).toEqual(measure(pdfOf(objects)));
    expect(measure(pdfOf(objects))).toEqual({ pages: 2, textBytes: expect.any(Number) });
  });

  test('with fonts of two-byte codes and a map of them', () => {
    const map = streamOf(
      '1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0003> <0060> <0020> endbfrange',
    );
    const font =
      '<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2>>]/ToUnicode 4 0 R>>';
    const contents = `BT /F1 1 Tf <${'0041'.repeat(1_000)}> Tj ET`;
    const tokens = tokensOf(pdfOf(pagesOf([contents], { font, more: [map] }))) ?? Number.NaN;
    expect(tokens).toBeGreaterThanOrEqual(1_000 + picture);
    expect(tokens).toBeLessThan(12_000);
  });

  test('whose slashes are escaped in JSON', () => {
    const data = pdfOf(pagesOf([showing('words')])).toString('base64');
    const url = JSON.stringify(`data:application/pdf;base64,${data}`).replaceAll('/', '\\/');
    const raw = `{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":${url}}}]}]}`;
    const scan = scanBody(Buffer.from(raw), 'chat-completions');
    expect(scan).toMatchObject({ ok: true, facts: { media: [{ kind: 'pdf_pages', count: 1 }] } });
  });
});

const good = pagesOf([showing('words')]);
const text = pdfOf(good).toString('latin1');
const changed = (from: string, to: string): Buffer => {
  expect(text).toContain(from);
  return Buffer.from(text.replace(from, to), 'latin1');
};
const withFont = (font: string, more: readonly string[] = []) => pdfOf(pagesOf([showing('words')], { font, more }));
const withResources = (resources: string, more: readonly string[] = []) =>
  pdfOf(pagesOf([showing('words')], { resources, more }));
const catalogWith = (more: string) => pdfOf([`<</Type/Catalog/Pages 2 0 R${more}>>`, ...good.slice(1)]);
const formLoop = streamOf('/X Do', '/Subtype/Form/Resources<</XObject<</X 4 0 R>>>>');
/** Two forms that show each other twice, eight deep and more. */
const doubling = Array.from({ length: 12 }, (_form, index) =>
  streamOf('/X Do /X Do', `/Subtype/Form/Resources<</XObject<</X ${5 + index} 0 R>>>>`),
);

test.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['another format', Buffer.from('PK\u0003\u0004')],
  ['a header alone', Buffer.from('%PDF-1.7\n')],
  ['half of it', pdfOf(good).subarray(0, text.length >> 1)],
  ['no end', changed('%%EOF', '')],
  ['something behind its end', Buffer.from(`${text}startxref\n0\n`, 'latin1')],
  ['a beginning of cross-references elsewhere', changed('startxref\n', 'startxref\n1')],
  ['cross-references off by one', Buffer.from(text.replace('%PDF-1.7\n', '%PDF-1.7\n\n\n'), 'latin1')],
  ['no root', changed('/Root 1 0 R', '')],
  ['a seal', pdfOf(good, '/Encrypt<</Filter/Standard>>')],
  ['cross-references of two kinds', pdfOf(good, '/XRefStm 15')],
  ['an earlier section that is itself', pdfOf(good, `/Prev ${text.indexOf('xref\n')}`)],
  ['no pages', pdfOf(['<</Type/Catalog>>'])],
  ['a tree that is a circle', pdfOf(['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[2 0 R]/Count 1>>'])],
  ['a count that is not kept', changed('/Count 1', '/Count 9')],
  ['a page of an unknown type', changed('/Type/Page/', '/Type/Pane/')],
  ['a key twice', changed('/MediaBox[0 0 612 792]', '/Contents 1 0 R    ')],
  ['a stream that is longer than it says', changed('/Length ', '/Length 1')],
  ['a filter that is not read', changed('/FlateDecode', '/LZWDecode  ')],
  ['contents that are no zip', pdfOf([...good.slice(0, 3), plainStream('x', '/Filter/FlateDecode'), good[4] ?? ''])],
  ['a string without an end', pdfOf(pagesOf(['BT (words Tj ET']))],
  ['a list without an end', pdfOf(pagesOf(['BT [(words) TJ ET']))],
  ['a digit that is none', pdfOf(pagesOf(['BT <6g> Tj ET']))],
  ['an image among its contents', pdfOf(pagesOf(['BI /W 1 /H 1 ID ( EI']))],
  ['a form that shows itself', pdfOf(pagesOf(['/X Do'], { resources: '/XObject<</X 4 0 R>>', more: [formLoop] }))],
  [
    'forms within forms',
    pdfOf(pagesOf(['/X Do'], { resources: '/XObject<</X 4 0 R>>', more: [...doubling, formLoop] })),
  ],
  ['a pattern of contents', withResources('/Pattern<</P 4 0 R>>', [streamOf('', '/PatternType 1')])],
  ['a mask of contents', withResources('/ExtGState<</G<</SMask<</G 1 0 R>>>>>>')],
  ['words that stand for contents', withResources('/Properties<</M<</ActualText(words)>>>>')],
  ['a font of drawn glyphs', withFont('<</Type/Font/Subtype/Type3/Encoding/WinAnsiEncoding>>')],
  ['codes of its own', withFont('<</Type/Font/Subtype/Type0/Encoding/Identity-H>>')],
  ['names within an embedded font', withFont('<</Subtype/Type1/FontDescriptor<</FontFile 1 0 R>>>>')],
  ['a glyph that is words', withFont('<</Subtype/Type1/Encoding<</Differences[1/squarekm]>>>>')],
  ['a map that goes on elsewhere', withFont('<</Subtype/Type1/ToUnicode 4 0 R>>', [streamOf('/A usecmap')])],
  ['a map of literals', withFont('<</Subtype/Type1/ToUnicode 4 0 R>>', [streamOf('beginbfchar <41> (AB) endbfchar')])],
  ['a form that is filled in', catalogWith('/AcroForm<</Fields[5 0 R]>>')],
  ['a file within it', catalogWith('/Names<</EmbeddedFiles<<>>>>')],
  ['notes', pdfOf(pagesOf([showing('words')], { page: '/Annots[<</Subtype/FreeText/Contents(words)>>]' }))],
  ['more than can be unpacked', sharedContents(1, pdfWorkOfBody)],
  ['more pages than vendors take', sharedContents(1_001, 1)],
])('a PDF with %s counts as the window', (_what, file) => {
  expect(tokensOf(pdfOf(good))).toBeLessThan(6_000);
  expect(measure(file)).toBeNull();
  expect(tokensOf(file)).toBeNull();
});

test('whatever its bytes, a file is measured or not, within the work that is given', () => {
  const files = [pdfOf(good), packedPdfOf(pagesOf([showing('one'), showing('two')]))];
  const edit = fc.record({ at: fc.nat(2_000), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.constantFrom(...files), fc.array(edit, { minLength: 1, maxLength: 4 }), (file, edits) => {
      const bytes = Buffer.from(file);
      for (const { at, byte } of edits) bytes[at % bytes.length] = byte;
      const work = { left: pdfWorkOfBody };
      const found = measurePdf(bytes, work);
      expect(found === null || found.pages >= 1).toBe(true);
      expect(work.left).toBeGreaterThan(pdfWorkOfBody - 200_000);
    }),
    { numRuns: 300 },
  );
});

test('work is counted, so that no document holds others up', () => {
  const cases = ['1 '.repeat(900_000), '()'.repeat(900_000), `(${'a'.repeat(1_900_000)})`, '[]'.repeat(900_000)];
  for (const contents of cases) {
    const work = { left: pdfWorkOfBody };
    expect(measurePdf(pdfOf(pagesOf([contents])), work)).toBeNull();
    // What is left then, the next document of the body has not.
    expect(measurePdf(pdfOf(good), work)).toBeNull();
  }
});
