/** Small edits of files whose values stand one on a line: environment files, and YAML at its outermost level. */

/** `NAME=value` lines set; other lines stay. */
export function setEnvironment(text: string, values: Record<string, string>): string {
  return setLines(
    text,
    values,
    (name) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`),
    (name, value) => `${name}=${value}`,
  );
}

/** Outermost `key: value` lines of a YAML file set; other lines stay. */
export function setYamlKeys(text: string, values: Record<string, string>): string {
  return setLines(
    text,
    values,
    (key) => new RegExp(`^${key}\\s*:`),
    (key, value) => `${key}: ${JSON.stringify(value)}`,
  );
}

function setLines(
  text: string,
  values: Record<string, string>,
  matches: (name: string) => RegExp,
  print: (name: string, value: string) => string,
): string {
  let lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  for (const [name, value] of Object.entries(values)) {
    const at = lines.findIndex((line) => matches(name).test(line));
    lines = at === -1 ? [...lines, print(name, value)] : lines.with(at, print(name, value));
  }
  return `${lines.join('\n')}\n`;
}

const begin = '# steyg: begin';
const end = '# steyg: end';

/**
 * Items of an outermost YAML list set, between two marks, so that a second time replaces the first. `items` are lines
 * without indentation.
 */
export function setYamlItems(text: string, list: string, items: readonly string[]): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const from = lines.findIndex((line) => line.trim() === begin);
  const to = lines.findIndex((line) => line.trim() === end);
  if (from !== -1 && to > from) {
    const indent = /^\s*/.exec(lines[from] ?? '')?.[0] ?? '';
    return `${[...lines.slice(0, from), ...block(items, indent), ...lines.slice(to + 1)].join('\n')}\n`;
  }
  const at = lines.findIndex((line) => new RegExp(`^${list}\\s*:`).test(line));
  if (at === -1) return `${[...lines, `${list}:`, ...block(items, '  ')].join('\n')}\n`;
  // Items of one list share their indentation; the next line that is no comment shows it.
  const next = lines.slice(at + 1).find((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  const indent = /^(\s*)-/.exec(next ?? '')?.[1] ?? '  ';
  return `${[...lines.slice(0, at), `${list}:`, ...block(items, indent), ...lines.slice(at + 1)].join('\n')}\n`;
}

const block = (items: readonly string[], indent: string): string[] =>
  [begin, ...items, end].map((line) => (line === '' ? '' : `${indent}${line}`));
