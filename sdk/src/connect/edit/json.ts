import { ConfigurationError } from '../../errors.ts';

/**
 * Changes single values in a settings file that people also edit by hand: comments, order, spacing and trailing commas
 * of everything else stay as they are. Takes JSON with comments.
 */

interface Member {
  key: string;
  keyStart: number;
  valueStart: number;
  valueEnd: number;
}

interface ObjectScan {
  members: Member[];
  /** Where its closing brace stands. */
  close: number;
  trailingComma: boolean;
}

/** The text with the value at `path` set; objects on the way are made where they are missing. */
export function setJson(text: string, path: readonly [string, ...string[]], value: unknown): string {
  const source = text.trim() === '' ? '{}\n' : text;
  // The whole of it: a scan sees only what lies on the way.
  parseJson(source);
  const open = skipSpace(source, 0);
  if (source[open] !== '{') throw new ConfigurationError('The settings file is no JSON object.');
  return setIn({ text: source, open, path, value, unit: indentUnit(source) });
}

/** The text without the member at `path`, if it has one. Throws where a comment would go with it. */
export function removeJson(text: string, path: readonly [string, ...string[]]): string {
  if (getJson(text, path) === undefined) return text;
  let open = skipSpace(text, 0);
  for (const key of path.slice(0, -1))
    open = scanObject(text, open).members.findLast((each) => each.key === key)?.valueStart ?? open;
  const { members, close } = scanObject(text, open);
  const at = members.findLastIndex((each) => each.key === path.at(-1));
  const [before, member, after] = [members[at - 1], members[at], members[at + 1]];
  if (member === undefined) return text;
  const [from, to] =
    after !== undefined
      ? [member.keyStart, after.keyStart]
      : [before?.valueEnd ?? open + 1, before === undefined ? close : member.valueEnd];
  const around = text.slice(from, Math.max(from, member.keyStart)) + text.slice(member.valueEnd, to);
  if (/[^\s,]/.test(around))
    throw new ConfigurationError(
      `The settings file has a comment beside ${JSON.stringify(path.at(-1))}: remove both by hand.`,
    );
  return text.slice(0, from) + text.slice(to);
}

/** The value at `path`, or undefined. */
export function getJson(text: string, path: readonly string[]): unknown {
  if (text.trim() === '') return undefined;
  let value = parseJson(text);
  for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value;
}

interface Edit {
  text: string;
  open: number;
  path: readonly string[];
  value: unknown;
  unit: string;
}

function setIn({ text, open, path, value, unit }: Edit): string {
  const [key = '', ...rest] = path;
  const scan = scanObject(text, open);
  const member = scan.members.findLast((each) => each.key === key);
  const nested = rest.reduceRight((inner: unknown, name) => ({ [name]: inner }), value);
  if (member === undefined) return insert({ text, open, scan, key, value: nested, unit });
  if (rest.length > 0 && text[member.valueStart] === '{') {
    return setIn({ text, open: member.valueStart, path: rest, value, unit });
  }
  const present = text.slice(member.valueStart, member.valueEnd);
  if (rest.length > 0 && present !== 'null') {
    throw new ConfigurationError(
      `The settings file has ${JSON.stringify(key)} as something that is no object; it was left as it is.`,
    );
  }
  const printed = printValue(nested, indentOf(text, member.keyStart), unit);
  return text.slice(0, member.valueStart) + printed + text.slice(member.valueEnd);
}

function insert(edit: {
  text: string;
  open: number;
  scan: ObjectScan;
  key: string;
  value: unknown;
  unit: string;
}): string {
  const { text, open, scan, key, value, unit } = edit;
  const outer = indentOf(text, open);
  const last = scan.members.at(-1);
  const indent = last === undefined ? outer + unit : indentOf(text, last.keyStart) || outer + unit;
  const line = `\n${indent}${JSON.stringify(key)}: ${printValue(value, indent, unit)}`;
  const end = last === undefined ? open + 1 : last.valueEnd;
  // What stands between the last value and the brace may be a comment on that value.
  const between = text.slice(end, scan.close).trimEnd();
  const comma = last === undefined || scan.trailingComma ? '' : ',';
  return `${text.slice(0, end)}${comma}${between}${line}\n${outer}${text.slice(scan.close)}`;
}

const printValue = (value: unknown, indent: string, unit: string): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', `\n${indent}`);

/** The spaces at the beginning of the line on which something stands. */
function indentOf(text: string, at: number): string {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, at))?.[0] ?? '';
}

function indentUnit(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}

function scanObject(text: string, open: number): ObjectScan {
  const members: Member[] = [];
  let trailingComma = false;
  let at = skipSpace(text, open + 1);
  while (text[at] === '"') {
    const keyStart = at;
    const keyEnd = skipValue(text, at);
    const colon = skipSpace(text, keyEnd);
    if (text[colon] !== ':') throw broken();
    const valueStart = skipSpace(text, colon + 1);
    const valueEnd = skipValue(text, valueStart);
    members.push({ key: JSON.parse(text.slice(keyStart, keyEnd)) as string, keyStart, valueStart, valueEnd });
    at = skipSpace(text, valueEnd);
    trailingComma = text[at] === ',';
    if (!trailingComma) break;
    at = skipSpace(text, at + 1);
  }
  if (text[at] !== '}') throw broken();
  return { members, close: at, trailingComma };
}

function skipSpace(text: string, from: number): number {
  const space = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  space.lastIndex = from;
  space.exec(text);
  return space.lastIndex;
}

/** Where the value that begins here ends. */
function skipValue(text: string, from: number): number {
  const token = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[{}[\]]|[^\s"{}[\],:/]+/y;
  let depth = 0;
  for (let at = from; at < text.length; ) {
    token.lastIndex = at;
    const match = token.exec(text)?.[0];
    if (match === undefined) {
      if (depth === 0) break;
      at += 1;
      continue;
    }
    at = token.lastIndex;
    if (match === '{' || match === '[') depth += 1;
    else if (match === '}' || match === ']') depth -= 1;
    if (depth === 0 && !match.startsWith('/')) return at;
  }
  throw broken();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(strict(text)) as unknown;
  } catch {
    throw broken();
  }
}

/** JSON as parsers take it: without comments and trailing commas. */
function strict(text: string): string {
  return text
    .replaceAll(
      /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\uFEFF/g,
      (_, string: string | undefined) => string ?? '',
    )
    .replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? '');
}

const broken = () => new ConfigurationError('The settings file is not valid JSON; it was left as it is.');
