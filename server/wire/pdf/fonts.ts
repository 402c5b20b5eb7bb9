import { Buffer } from 'node:buffer';
import { isWord, type PdfDict, PdfDoubt, type PdfValue, type PdfWork, pdfLexer, spend } from './lexer.ts';
import { isDict, isList, isStream, nameOf, type PdfFile } from './objects.ts';

/**
 * How many bytes of text one byte of a shown string can become: a font may let a code stand for many characters. Every figure
 * is for UTF-8, and for what normalising makes of it where that is more (`../normalisation.ts`).
 */

/** One character: four bytes, or five for a fraction (`¼`) after normalising. */
const bytesOfOne = 5;
/** A character by a name that is not listed here; those that stand for more are in doubt. */
const bytesOfNamed = 12;
/** Names of Adobe's list whose characters are words: https://github.com/adobe-type-tools/agl-aglfn */
const wordNames = /square|arabic|circle|paren(?!left|right)|ideograph|hangul|korean|japanese|corp|era|integral|prime/i;
/** Letters and marks of ordinary texts. */
const plainName =
  /^(?:[A-Za-z]{1,2}\d{0,5}|[A-Za-z]{1,2}(?:acute|grave|circumflex|dieresis|tilde|cedilla|caron|ring|breve|macron|dotaccent|ogonek|slash|croat|hungarumlaut|commaaccent)|\.notdef|nbspace|space|exclam|quotedbl|numbersign|dollar|percent|ampersand|quotesingle|quoteright|quoteleft|quotedbl(?:left|right|base)|quotesinglbase|guil(?:sin)?gl?l?(?:le|lle)?(?:mot)?(?:left|right)|paren(?:left|right)|brace(?:left|right)|bracket(?:left|right)|asterisk|plus|minus|comma|hyphen|sfthyphen|period|slash|zero|one|two|three|four|five|six|seven|eight|nine|colon|semicolon|less|equal|greater|question|at|backslash|asciicircum|asciitilde|underscore|grave|bar|endash|emdash|bullet|ellipsis|dotlessi|germandbls|ff[il]|section|paragraph|copyright|registered|degree|trademark|Euro|cent|sterling|yen|dagger|daggerdbl|mu|multiply|divide|periodcentered)$/;
const baseEncodings = new Set(['WinAnsiEncoding', 'MacRomanEncoding', 'StandardEncoding', 'PDFDocEncoding']);
/** Codes of two bytes. */
const twoByteEncodings = new Set(['Identity-H', 'Identity-V']);
/** A range of a map of codes is looked through up to so many characters. */
const maxRange = 4_096;

/** The most bytes of text for a byte of a string that is shown in this font. */
export function expansionOf(font: PdfDict, pdf: PdfFile, work: PdfWork): number {
  const kind = nameOf(pdf.resolve(font.get('Subtype')));
  const mapped = mapOf(font, pdf, work);
  if (kind === 'Type0') {
    const encoding = nameOf(pdf.resolve(font.get('Encoding')));
    if (encoding === null || mapped === null) throw new PdfDoubt('a font of codes of its own');
    return Math.max(mapped, bytesOfOne) / (twoByteEncodings.has(encoding) ? 2 : 1);
  }
  // Glyphs that are drawn by contents of their own may show text of other fonts.
  if (kind !== 'Type1' && kind !== 'TrueType' && kind !== 'MMType1') throw new PdfDoubt('a font of another kind');
  return Math.max(mapped ?? 0, encoded(font, mapped !== null, pdf, work));
}

/** By its encoding, which counts where its map says nothing. */
function encoded(font: PdfDict, isMapped: boolean, pdf: PdfFile, work: PdfWork): number {
  const encoding = pdf.resolve(font.get('Encoding'));
  const name = nameOf(encoding);
  if (name !== null && baseEncodings.has(name)) return bytesOfOne;
  if (encoding === null) {
    const descriptor = pdf.resolve(font.get('FontDescriptor'));
    const isEmbedded = isDict(descriptor) && [...descriptor.keys()].some((key) => key.startsWith('FontFile'));
    if (isEmbedded && !isMapped) throw new PdfDoubt('names of glyphs within a font');
    return bytesOfOne;
  }
  if (!isDict(encoding)) throw new PdfDoubt('an encoding that is not read here');
  const base = pdf.resolve(encoding.get('BaseEncoding'));
  if (base !== null && !baseEncodings.has(nameOf(base) ?? '')) throw new PdfDoubt('an encoding that is not read here');
  const differences = pdf.resolve(encoding.get('Differences'));
  let most = bytesOfOne;
  if (differences === null) return most;
  if (!isList(differences)) throw new PdfDoubt('an encoding that is not read here');
  spend(work, 16 * differences.length);
  for (const difference of differences) {
    const glyph = nameOf(pdf.resolve(difference));
    if (glyph !== null) most = Math.max(most, bytesOfGlyph(glyph));
  }
  return most;
}

/** By the rules of glyph names: what follows a period is left out, an underscore joins several. */
function bytesOfGlyph(glyph: string): number {
  if (glyph === '.notdef') return bytesOfOne;
  const [name = ''] = glyph.split('.', 1);
  let bytes = 0;
  for (const part of name.split('_')) {
    const [, units] = /^uni((?:[\dA-F]{4})+)$/i.exec(part) ?? /^u([\dA-F]{4,6})$/i.exec(part) ?? [];
    if (units !== undefined) bytes += bytesOfText(codePoints(units));
    else if (plainName.test(part)) bytes += bytesOfOne;
    else if (wordNames.test(part) || part.length > 40) throw new PdfDoubt('a glyph that stands for words');
    else bytes += bytesOfNamed;
  }
  return bytes;
}

function codePoints(digits: string): string {
  if (digits.length % 4 !== 0) {
    const point = Number.parseInt(digits, 16);
    return point <= 0x10_ff_ff ? String.fromCodePoint(point) : '';
  }
  return (digits.match(/.{4}/g) ?? []).map((unit) => String.fromCharCode(Number.parseInt(unit, 16))).join('');
}

const bytesOfText = (text: string): number =>
  Math.max(Buffer.byteLength(text), Buffer.byteLength(text.normalize('NFKC')));

/** The longest text that the font's map to Unicode has for a code; null: it has none. */
function mapOf(font: PdfDict, pdf: PdfFile, work: PdfWork): number | null {
  const map = pdf.resolve(font.get('ToUnicode'));
  if (map === null) return null;
  if (nameOf(map) !== null && twoByteEncodings.has(nameOf(map) ?? '')) return bytesOfOne;
  if (!isStream(map) || map.stream.has('UseCMap')) throw new PdfDoubt('a map that is not read here');
  return longestIn(pdf.unpack(map), work);
}

/** Reads a map of codes: https://adobe-type-tools.github.io/font-tech-notes/pdfs/5411.ToUnicode.pdf */
function longestIn(map: Buffer, work: PdfWork): number {
  const lexer = pdfLexer(map, 0, work);
  let most = 0;
  const textAt = (value: PdfValue): string => {
    if (typeof value !== 'object' || value === null || !('bytes' in value) || map[value.start] !== 0x3c)
      throw new PdfDoubt('a map that is not read here');
    const digits = map.toString('latin1', value.start + 1, value.end - 1).replaceAll(/\s/g, '');
    return codePoints(digits.padEnd(Math.ceil(digits.length / 4) * 4, '0'));
  };
  const range = (first: PdfValue, last: PdfValue, to: PdfValue): void => {
    if (Array.isArray(to)) {
      for (const each of to as readonly PdfValue[]) most = Math.max(most, bytesOfText(textAt(each)));
      return;
    }
    const text = textAt(to);
    const codes = codeOf(last) - codeOf(first);
    if (!(codes >= 0 && codes < maxRange)) throw new PdfDoubt('a range that is not looked through');
    spend(work, 16 * codes);
    const [start, end] = [text.slice(0, -1), text.charCodeAt(text.length - 1)];
    for (let code = 0; code <= codes; code += 1)
      most = Math.max(most, bytesOfText(start + String.fromCharCode((end + code) & 0xff_ff)));
  };
  const codeOf = (value: PdfValue): number => {
    const digits = map.toString('latin1', ...spanOf(value)).replaceAll(/\s/g, '');
    if (digits.length > 8) throw new PdfDoubt('a map that is not read here');
    return Number.parseInt(digits, 16);
  };
  for (;;) {
    const token = lexer.next();
    if (token === null) return most;
    if (isWord(token, 'usecmap')) throw new PdfDoubt('a map that is not read here');
    const isRange = isWord(token, 'beginbfrange');
    if (!isRange && !isWord(token, 'beginbfchar')) continue;
    for (;;) {
      const before = lexer.at;
      const end = lexer.next();
      if (isWord(end, isRange ? 'endbfrange' : 'endbfchar')) break;
      lexer.at = before;
      const [first, second] = [lexer.value(), lexer.value()];
      if (isRange) range(first, second, lexer.value());
      else most = Math.max(most, bytesOfText(textAt(second)));
    }
  }
}

/** Between the brackets of a string. */
function spanOf(value: PdfValue): [number, number] {
  if (typeof value !== 'object' || value === null || !('bytes' in value))
    throw new PdfDoubt('a map that is not read here');
  return [value.start + 1, value.end - 1];
}
