/** The text of a catalog file that a command writes: comment lines, then the catalog as YAML. */

import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'yaml';

const maxLineLength = 500;

/**
 * One line of printable ASCII, at most 500 characters. Every other character becomes `?`: names of a public price list
 * are others' texts, and one with a line break would end a comment and go on as content of the file.
 */
export function plainLine(text: string): string {
  const plain = text.slice(0, maxLineLength).replaceAll(/[^\x20-\x7E]/g, '?');
  return text.length > maxLineLength ? `${plain.slice(0, -3)}...` : plain;
}

/**
 * The text of a catalog file, each of `head` as a comment line. Throws where the text, read again from its bytes, is
 * anything else than the catalog.
 */
export function catalogText(head: readonly string[], catalog: Record<string, unknown>): string {
  const lines = head.map((line) => `# ${plainLine(line)}`.trimEnd());
  const text = [...lines, stringify(catalog, { lineWidth: 0 })].join('\n');
  const written: unknown = parse(Buffer.from(text, 'utf8').toString('utf8'));
  // Through JSON, because members that are undefined are not written.
  if (isDeepStrictEqual(written, JSON.parse(JSON.stringify(catalog)))) return text;
  throw new Error('The catalog file would say something else than the catalog');
}
