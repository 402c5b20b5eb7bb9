/**
 * Reads XML from outside as elements: names without their prefixes, texts with character references resolved. What
 * a plain document has no use for is refused: a DOCTYPE (with it every entity of its own), depth, size, other encodings.
 */

export interface XmlElement {
  name: string;
  children: XmlElement[];
  /** Its own text and that of no child. */
  text: string;
}

export class XmlRefused extends Error {
  override name = 'XmlRefused';
}

const maxDepth = 64;
const maxElements = 20_000;

/** One token: a comment, a CDATA section, an instruction, a tag, or text. Each alternative ends where the next begins. */
const token =
  /<!--(?:(?!--)[\s\S])*-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<\/([^\s<>/]+)\s*>|<([^\s<>/!?]+)((?:\s+[^\s=<>/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The root of a document. Throws `XmlRefused` when it is not well formed or says more than plain elements. */
export function readXml(bytes: Uint8Array): XmlElement {
  const source = decoded(bytes);
  const outside: XmlElement = { name: '', children: [], text: '' };
  const open = [outside];
  let elements = 0;
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const found = token.exec(source);
    if (found === null) throw new XmlRefused('not well formed');
    const [, cdata, closed, opened, , selfClosing, text] = found;
    const parent = open.at(-1) ?? outside;
    if (opened !== undefined) {
      elements += 1;
      if (elements > maxElements || open.length > maxDepth) throw new XmlRefused('too many elements');
      const element: XmlElement = { name: opened, children: [], text: '' };
      parent.children.push(element);
      if (selfClosing === '') open.push(element);
    } else if (closed !== undefined) {
      if (open.length === 1 || parent.name !== closed) throw new XmlRefused('an element is not closed');
      open.pop();
    } else if (cdata !== undefined) parent.text += cdata;
    else if (text !== undefined) parent.text += resolved(text);
  }
  const [root] = outside.children;
  if (root === undefined || open.length > 1 || outside.children.length > 1 || outside.text.trim() !== '')
    throw new XmlRefused('not one element');
  return unprefixed(root);
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new XmlRefused('not UTF-8');
  }
}

function resolved(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]+));|&/g, (_all, decimal, hexadecimal, name) => {
    const code =
      decimal !== undefined ? Number(decimal) : hexadecimal === undefined ? 0 : Number.parseInt(hexadecimal, 16);
    const character =
      name !== undefined
        ? named[name as string]
        : code > 0 && code <= 0x10_ff_ff
          ? String.fromCodePoint(code)
          : undefined;
    if (character === undefined) throw new XmlRefused('an unknown reference');
    return character;
  });
}

function unprefixed(element: XmlElement): XmlElement {
  element.name = element.name.slice(element.name.indexOf(':') + 1);
  for (const child of element.children) unprefixed(child);
  return element;
}

/** The first element below by a path of names; undefined: there is none. */
export function elementAt(from: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  let at = from;
  for (const name of path) at = at?.children.find((child) => child.name === name);
  return at;
}
