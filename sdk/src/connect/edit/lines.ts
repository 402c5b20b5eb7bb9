import { ConfigurationError } from '../../errors.ts';

/**
 * Small edits of files whose values stand one on a line: environment files, and YAML at its outermost level. What cannot
 * be changed safely is refused, so that no file comes out broken.
 */

/** `NAME=value` lines set; other lines stay. */
export function setEnvironment(text: string, values: Record<string, string>): string {
  return setLines(split(text), values, {
    matches: (name) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`),
    print: (name, value) => `${name}=${value}`,
  });
}

/** Outermost `key: value` lines of a YAML file set; other lines and comments stay. */
export function setYamlKeys(text: string, values: Record<string, string>): string {
  const lines = split(text);
  checkMapping(lines);
  return setLines(lines, values, {
    matches: yamlKey,
    print: (key, value, line, next) => {
      if (/^\s+[^\s#]/.test(next)) throw refused(`${key} runs over several lines`);
      return `${key}: ${JSON.stringify(value)}${commentOf(line)}`;
    },
  });
}

function setLines(
  lines: readonly string[],
  values: Record<string, string>,
  {
    matches,
    print,
  }: { matches: (name: string) => RegExp; print: (name: string, value: string, line: string, next: string) => string },
): string {
  let done = [...lines];
  for (const [name, value] of Object.entries(values)) {
    const at = done.findIndex((line) => matches(name).test(line));
    if (at === -1) done = [...done, print(name, value, '', '')];
    else done = done.with(at, print(name, value, done[at] ?? '', done[at + 1] ?? ''));
  }
  return `${done.join('\n')}\n`;
}

const begin = '# steyg: begin';
const end = '# steyg: end';

/**
 * Items of an outermost YAML list set, between two marks, so that a second time replaces the first. `items` are lines
 * without indentation.
 */
export function setYamlItems(text: string, list: string, items: readonly string[]): string {
  const lines = split(text);
  checkMapping(lines);
  const from = lines.findIndex((line) => line.trim() === begin);
  const to = lines.findIndex((line) => line.trim() === end);
  if (from !== -1 && to > from) {
    const indent = /^\s*/.exec(lines[from] ?? '')?.[0] ?? '';
    return `${[...lines.slice(0, from), ...block(items, indent), ...lines.slice(to + 1)].join('\n')}\n`;
  }
  const at = lines.findIndex((line) => yamlKey(list).test(line));
  if (at === -1) return `${[...lines, `${list}:`, ...block(items, '  ')].join('\n')}\n`;
  const line = lines[at] ?? '';
  const value = /:\s*([^#]*?)\s*(?:#.*)?$/.exec(line)?.[1] ?? '';
  if (!/^(\[\s*\])?$/.test(value)) throw refused(`${list} is written in one piece`);
  // Items of one list share their indentation; the next line that is no comment shows it.
  const next = lines.slice(at + 1).find((each) => each.trim() !== '' && !each.trim().startsWith('#'));
  const indent = /^(\s*)-\s/.exec(next ?? '')?.[1] ?? '  ';
  return `${[...lines.slice(0, at), `${list}:${commentOf(line)}`, ...block(items, indent), ...lines.slice(at + 1)].join('\n')}\n`;
}

const block = (items: readonly string[], indent: string): string[] =>
  [begin, ...items, end].map((line) => (line === '' ? '' : `${indent}${line}`));

const split = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const yamlKey = (key: string) => new RegExp(`^(["']?)${key}\\1\\s*:(\\s|$)`);

/** The comment at the end of a line, with the space before it. */
const commentOf = (line: string): string =>
  /^[^:]*:\s*(?:"(?:\\.|[^"\\])*"|'(?:''|[^'])*'|[^#"']*?)(\s+#.*)$/.exec(line)?.[1] ?? '';

/** One document that is a mapping, in block style: nothing else can be edited by the line. */
function checkMapping(lines: readonly string[]): void {
  for (const [at, line] of lines.entries()) {
    const isStart = /^---\s*(#.*)?$/.test(line) && lines.slice(0, at).every((above) => /^\s*([#%].*)?$/.test(above));
    const isPlain =
      /^\s*(#.*)?$|^ +\S|^%|^- |^-$|^[\]}],?\s*(#.*)?$|^("[^"]*"|'[^']*'|[^\s"'{}[\],:&*!|>@`-][^:]*|-[^\s:][^:]*)\s*:(\s|$)/.test(
        line,
      );
    if (!isStart && !isPlain) throw refused(`line ${at + 1} is not YAML that can be changed by the line`);
  }
}

const refused = (why: string) =>
  new ConfigurationError(`The settings file was left as it is: ${why}. Please change it by hand.`);
