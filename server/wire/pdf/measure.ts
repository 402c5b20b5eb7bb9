import type { Buffer } from 'node:buffer';
import { expansionOf } from './fonts.ts';
import { isWord, type PdfDict, PdfDoubt, type PdfValue, type PdfWork, pdfLexer, spend } from './lexer.ts';
import {
  isDict,
  isList,
  isStream,
  isString,
  nameOf,
  openPdf,
  type PdfFile,
  type PdfObject,
  type PdfStream,
} from './objects.ts';

/** What the pages of a document hold at most. */
export interface PdfMeasure {
  pages: number;
  /** Bytes of the text that the pages show, each as often as it is shown. */
  textBytes: number;
}

/**
 * Work for all documents of one body. A byte costs some ten nanoseconds, so that it is done within a few hundredths of a
 * second; what is larger counts as the window.
 */
export const pdfWorkOfBody = 2_500_000;

/** More pages than vendors take. */
const maxPages = 1_000;
/** Contents within contents. */
const maxForms = 8;
/** Words that a vendor puts around a page, and the break behind it. */
const bytesAroundPage = 64;
const bytesOfBreak = 1;
/** A byte of an address in PDF's own encoding, as UTF-8. */
const bytesOfLink = 3;

/**
 * Measures a document: its pages, and a bound on their text. The same contents may be shown by many pages, and within a page
 * many times. Null: it is not understood completely, or is too much work, and nothing here bounds it.
 */
export function measurePdf(file: Buffer, work: PdfWork): PdfMeasure | null {
  try {
    return measured(openPdf(file, work), work);
  } catch (fault) {
    if (fault instanceof PdfDoubt) return null;
    throw fault;
  }
}

interface Page {
  dict: PdfDict;
  /** Its own or those of a node above it. */
  resources: PdfValue | undefined;
}

function measured(pdf: PdfFile, work: PdfWork): PdfMeasure {
  // Texts beside the pages: forms that are filled in, and files within the file.
  const form = pdf.resolve(pdf.root.get('AcroForm'));
  const names = pdf.resolve(pdf.root.get('Names'));
  const fields = isDict(form) ? pdf.resolve(form.get('Fields')) : null;
  if (form !== null && (!isDict(form) || form.has('XFA') || (isList(fields) && fields.length > 0)))
    throw new PdfDoubt('a form that is filled in');
  if (pdf.root.has('Collection') || (isDict(names) && names.has('EmbeddedFiles')))
    throw new PdfDoubt('files within it');
  const reader = contentsReader(pdf, work);
  const pages = pagesOf(pdf, work);
  let textBytes = 0;
  for (const page of pages) textBytes += bytesAroundPage + reader.pageText(page);
  return { pages: pages.length, textBytes: Math.ceil(textBytes) };
}

/** The leaves of the tree of pages, each as often as it stands there. */
function pagesOf(pdf: PdfFile, work: PdfWork): Page[] {
  const pages: Page[] = [];
  const walk = (value: PdfValue | undefined, above: PdfValue | undefined, path: readonly PdfDict[]): void => {
    spend(work, 32);
    const node = pdf.resolve(value);
    if (!isDict(node) || path.includes(node) || path.length > 32) throw new PdfDoubt('a tree of pages that is none');
    const resources = node.get('Resources') ?? above;
    const kind = nameOf(pdf.resolve(node.get('Type')));
    if (kind === 'Page' && !node.has('Kids')) {
      if (pages.length === maxPages) throw new PdfDoubt('more pages than vendors take');
      pages.push({ dict: node, resources });
      return;
    }
    const [kids, count] = [pdf.resolve(node.get('Kids')), pdf.resolve(node.get('Count'))];
    if (kind !== 'Pages' || !isList(kids)) throw new PdfDoubt('a tree of pages that is none');
    const before = pages.length;
    for (const kid of kids) walk(kid, resources, [...path, node]);
    // Some readers go by the count.
    if (count !== pages.length - before) throw new PdfDoubt('another number of pages than it says');
  };
  walk(pdf.root.get('Pages'), undefined, []);
  if (pages.length === 0) throw new PdfDoubt('no pages');
  return pages;
}

/** What stands directly in contents. */
interface Shown {
  stringBytes: number;
  /** Places where a reader may put a space or begin a line. */
  breaks: number;
  /** How often other contents are shown within them. */
  forms: number;
}

/** What the resources of contents make of them. */
interface Scope {
  expansion: number;
  forms: readonly PdfStream[];
}

function contentsReader(pdf: PdfFile, work: PdfWork) {
  const shownBy = new Map<PdfStream, Shown>();
  const scopes = new Map<PdfDict, Scope>();
  const formTexts = new Map<PdfStream, number>();

  function pageText({ dict, resources }: Page): number {
    spend(work, 64);
    const contents = pdf.resolve(dict.get('Contents'));
    const streams = contents === null ? [] : isList(contents) ? contents.map((each) => pdf.resolve(each)) : [contents];
    const sum: Shown = { stringBytes: 0, breaks: 0, forms: 0 };
    for (const stream of streams) {
      spend(work, 16);
      if (!isStream(stream)) throw new PdfDoubt('contents that are none');
      const { stringBytes, breaks, forms } = shown(stream);
      sum.stringBytes += stringBytes;
      sum.breaks += breaks;
      sum.forms += forms;
    }
    return textOf(sum, resources, 0) + noteBytes(pdf.resolve(dict.get('Annots')));
  }

  function textOf({ stringBytes, breaks, forms }: Shown, resources: PdfValue | undefined, depth: number): number {
    const scope = scopeOf(pdf.resolve(resources));
    let largest = 0;
    if (forms > 0) {
      spend(work, 4 * scope.forms.length);
      for (const form of scope.forms) largest = Math.max(largest, formText(form, resources, depth));
    }
    return stringBytes * scope.expansion + breaks * bytesOfBreak + forms * largest;
  }

  /** A form's own contents, with what they show in turn. */
  function formText(form: PdfStream, above: PdfValue | undefined, depth: number): number {
    const own = form.stream.get('Resources');
    const known = own === undefined ? undefined : formTexts.get(form);
    if (known !== undefined) return known;
    if (depth === maxForms) throw new PdfDoubt('contents within contents');
    spend(work, 64);
    const text = textOf(shown(form), own ?? above, depth + 1);
    if (own !== undefined) formTexts.set(form, text);
    return text;
  }

  function scopeOf(resources: PdfObject): Scope {
    if (resources === null) return { expansion: 1, forms: [] };
    if (!isDict(resources)) throw new PdfDoubt('resources that are none');
    const known = scopes.get(resources);
    if (known !== undefined) return known;
    let expansion = 1;
    for (const font of each(resources, 'Font')) {
      if (!isDict(font)) throw new PdfDoubt('a font that is none');
      expansion = Math.max(expansion, expansionOf(font, pdf, work));
    }
    const forms: PdfStream[] = [];
    for (const object of each(resources, 'XObject')) {
      const kind = isStream(object) ? nameOf(pdf.resolve(object.stream.get('Subtype'))) : null;
      if (isStream(object) && kind === 'Form') forms.push(object);
      else if (kind !== 'Image') throw new PdfDoubt('an object of another kind');
    }
    checkResources(resources);
    const scope = { expansion, forms };
    scopes.set(resources, scope);
    return scope;
  }

  /** Other ways to text: patterns and masks that are drawn by contents, and words that stand for contents. */
  function checkResources(resources: PdfDict): void {
    for (const pattern of each(resources, 'Pattern')) if (!isDict(pattern)) throw new PdfDoubt('a pattern of contents');
    for (const state of each(resources, 'ExtGState')) {
      if (!isDict(state) || state.has('Font')) throw new PdfDoubt('a state with a font');
      if (isDict(pdf.resolve(state.get('SMask')))) throw new PdfDoubt('a mask of contents');
    }
    for (const words of each(resources, 'Properties')) {
      if (!isDict(words) || ['ActualText', 'Alt', 'E'].some((key) => words.has(key)))
        throw new PdfDoubt('words that stand for contents');
    }
  }

  function* each(resources: PdfDict, kind: string): Generator<PdfObject> {
    const named = pdf.resolve(resources.get(kind));
    if (named === null) return;
    if (!isDict(named)) throw new PdfDoubt('resources that are none');
    for (const value of named.values()) {
      spend(work, 16);
      yield pdf.resolve(value);
    }
  }

  function shown(stream: PdfStream): Shown {
    const known = shownBy.get(stream);
    if (known !== undefined) return known;
    const found = shownIn(pdf.unpack(stream), work);
    shownBy.set(stream, found);
    return found;
  }

  /** Links, whose addresses some readers write out; every other note may have its own contents. */
  function noteBytes(notes: PdfObject): number {
    let bytes = 0;
    for (const value of isList(notes) ? notes : []) {
      spend(work, 16);
      const note = pdf.resolve(value);
      if (note === null) continue;
      if (!isDict(note) || nameOf(pdf.resolve(note.get('Subtype'))) !== 'Link' || note.has('AP'))
        throw new PdfDoubt('a note with contents');
      const action = pdf.resolve(note.get('A'));
      for (const holder of isDict(action) ? [note, action] : [note]) {
        spend(work, 16 * holder.size);
        for (const member of holder.values()) {
          const string = pdf.resolve(member);
          if (isString(string)) bytes += string.bytes * bytesOfLink;
        }
      }
    }
    return bytes;
  }

  return { pageText };
}

/** Operators of text, each of which may begin a word or a line. */
const textOperator = /^(?:T[*dDjJm]|['"]|BT|ET)$/;

/** Counts what contents show: ISO 32000-1, section 9.4. */
function shownIn(contents: Buffer, work: PdfWork): Shown {
  const found: Shown = { stringBytes: 0, breaks: 0, forms: 0 };
  const lexer = pdfLexer(contents, 0, work);
  let depth = 0;
  for (;;) {
    const token = lexer.next();
    if (token === null) {
      if (depth !== 0) throw new PdfDoubt('a list without an end');
      return found;
    }
    if (typeof token === 'number') {
      // Between the pieces of a line a number moves on.
      if (depth > 0) found.breaks += 1;
    } else if ('bytes' in token) {
      found.stringBytes += token.bytes;
      found.breaks += 1;
    } else if (isWord(token, '[')) depth += 1;
    else if (isWord(token, ']')) depth -= 1;
    else if (isWord(token, 'Do')) found.forms += 1;
    // Bytes of an image may look like anything.
    else if (isWord(token, 'BI')) throw new PdfDoubt('an image among contents');
    else if ('word' in token && textOperator.test(token.word)) found.breaks += 1;
  }
}
