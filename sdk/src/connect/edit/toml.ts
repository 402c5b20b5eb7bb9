import { ConfigurationError } from '../../errors.ts';

/**
 * Sets keys in a TOML file that people also edit by hand: everything else, comments included, stays as it is. What it
 * cannot change safely it refuses, so that no file comes out broken.
 */

type Scalar = string | number;

/** The text with keys set before the first table, and keys of one table, which is appended when it is missing. */
export function setToml(
  text: string,
  top: Record<string, Scalar>,
  table: { name: string; values: Record<string, Scalar> },
): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const { headers } = scan(lines);
  refuseOtherForms(lines, table.name);
  const firstHeader = headers[0] ?? lines.length;
  const head = setKeys(lines.slice(0, firstHeader), top);
  const rest = setTable(lines.slice(firstHeader), table);
  if (head.length > 0 && rest.length > 0 && head.at(-1) !== '') head.push('');
  return `${[...head, ...rest].join('\n')}\n`;
}

function setKeys(lines: readonly string[], values: Record<string, Scalar>): string[] {
  return Object.entries(values).reduce<string[]>((done, [key, value]) => setKey(done, key, value), [...lines]);
}

function setKey(lines: string[], key: string, value: Scalar): string[] {
  const line = `${key} = ${JSON.stringify(value)}`;
  const { inside } = scan(lines);
  const at = lines.findIndex((each, index) => inside[index] === false && keyOf(each) === key);
  if (at === -1) {
    const end = lines.findLastIndex((each) => each.trim() !== '') + 1;
    return [...lines.slice(0, end), line, ...lines.slice(end)];
  }
  if (inside[at + 1] === true) throw refused(`${key} runs over several lines`);
  return lines.with(at, `${line}${commentOf(lines[at] ?? '')}`);
}

function setTable(
  lines: readonly string[],
  { name, values }: { name: string; values: Record<string, Scalar> },
): string[] {
  const { headers } = scan(lines);
  const start = headers.find((at) => headerName(lines[at] ?? '') === name);
  if (start === undefined) {
    const kept = lines.slice(0, lines.findLastIndex((each) => each.trim() !== '') + 1);
    return [...kept, ...(kept.length === 0 ? [] : ['']), `[${name}]`, ...setKeys([], values)];
  }
  const next = headers.find((at) => at > start) ?? lines.length;
  // Comments right above the next table belong to it.
  let end = next;
  while (end > start + 1 && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
  return [...lines.slice(0, start + 1), ...setKeys(lines.slice(start + 1, end), values), ...lines.slice(end)];
}

/** The same table can be written in other ways; a second one beside it would make the file invalid. */
function refuseOtherForms(lines: readonly string[], name: string): void {
  const [outer = '', inner = ''] = name.split('.');
  const { inside } = scan(lines);
  let table = '';
  for (const [at, line] of lines.entries()) {
    if (inside[at] === true) continue;
    table = headerName(line) ?? table;
    const [first] = (keyOf(line) ?? '').split('.');
    if (table === '' && first === outer) throw refused(`${outer} is written as a key`);
    if (table === outer && first === inner) throw refused(`${name} is written inside [${outer}]`);
  }
}

/** `a.b` of a line that sets it, without spaces and quotes. */
const keyOf = (line: string): string | undefined => /^\s*([\w."'\s-]+?)\s*=/.exec(line)?.[1]?.replaceAll(/["'\s]/g, '');

/** The comment at the end of a line that sets a key, with the space before it. */
const commentOf = (line: string): string =>
  /^[^=]*=\s*(?:"(?:\\.|[^"\\])*"|'[^']*'|[^#"']*?)(\s*#.*)$/.exec(line)?.[1] ?? '';

const headerName = (line: string): string | undefined =>
  /^\s*\[\s*([^[\]]+?)\s*\]\s*(?:#.*)?$/
    .exec(line)?.[1]
    ?.replaceAll(/\s*\.\s*/g, '.')
    .replaceAll('"', '');

interface Scan {
  /** Lines that begin a table. */
  headers: number[];
  /** Per line, whether it goes on with a value that began above it. */
  inside: boolean[];
}

/** Tells lines of their own from those of values that run over several. Throws when the text can be no TOML. */
function scan(lines: readonly string[]): Scan {
  const headers: number[] = [];
  const inside: boolean[] = [];
  let depth = 0;
  let quote: string | null = null;
  for (const [at, line] of lines.entries()) {
    const began = depth > 0 || quote !== null;
    inside.push(began);
    if (!began && /^\s*\[/.test(line)) {
      headers.push(at);
      continue;
    }
    if (!began && !/^\s*(#|$)/.test(line) && !line.includes('=')) throw refused(`line ${at + 1} is not valid TOML`);
    for (let rest = line; ; ) {
      if (quote !== null) {
        const end = rest.indexOf(quote);
        if (end === -1) break;
        rest = rest.slice(end + quote.length);
        quote = null;
      }
      const found = /"""|'''|"(?:\\.|[^"\\])*"|'[^']*'|#.*|[[\]{}]/.exec(rest);
      if (found === null) break;
      const [token] = found;
      if (token === '"""' || token === "'''") quote = token;
      else if (token === '[' || token === '{') depth += 1;
      else if (token === ']' || token === '}') depth -= 1;
      rest = rest.slice(found.index + token.length);
    }
  }
  if (depth !== 0 || quote !== null) throw refused('a value has no end');
  return { headers, inside };
}

const refused = (why: string) =>
  new ConfigurationError(`The settings file was left as it is: ${why}. Please change it by hand.`);
