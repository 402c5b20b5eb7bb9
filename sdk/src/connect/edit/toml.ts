/**
 * Sets keys and replaces one table in a TOML file that people also edit by hand: everything else, comments included,
 * stays as it is.
 */

type Scalar = string | number;

/** The text with keys set before the first table, and one table replaced or appended. */
export function setToml(
  text: string,
  top: Record<string, Scalar>,
  table: { name: string; values: Record<string, Scalar> },
): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const headers = findHeaders(lines);
  const firstHeader = headers[0] ?? lines.length;
  const head = Object.entries(top).reduce(
    (done, [key, value]) => setKey(done, key, value),
    lines.slice(0, firstHeader),
  );
  const rest = replaceTable(lines.slice(firstHeader), table);
  if (head.length > 0 && rest.length > 0 && head.at(-1) !== '') head.push('');
  return `${[...head, ...rest].join('\n')}\n`;
}

function setKey(lines: readonly string[], key: string, value: Scalar): string[] {
  const line = `${key} = ${JSON.stringify(value)}`;
  const at = lines.findIndex((each) => new RegExp(`^\\s*"?${key}"?\\s*=`).test(each));
  if (at !== -1) return lines.with(at, line);
  const end = lines.findLastIndex((each) => each.trim() !== '') + 1;
  return [...lines.slice(0, end), line, ...lines.slice(end)];
}

function replaceTable(
  lines: readonly string[],
  { name, values }: { name: string; values: Record<string, Scalar> },
): string[] {
  const block = [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)];
  const headers = findHeaders(lines);
  const start = headers.find((at) => headerName(lines[at] ?? '') === name);
  if (start === undefined) {
    const kept = lines.slice(0, lines.findLastIndex((each) => each.trim() !== '') + 1);
    return [...kept, ...(kept.length === 0 ? [] : ['']), ...block];
  }
  const next = headers.find((at) => at > start) ?? lines.length;
  // Comments right above the next table belong to it.
  let end = next;
  while (end > start + 1 && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
  return [...lines.slice(0, start), ...block, ...lines.slice(end)];
}

const headerName = (line: string): string | undefined =>
  /^\s*\[\s*([^[\]]+?)\s*\]\s*(?:#.*)?$/
    .exec(line)?.[1]
    ?.replaceAll(/\s*\.\s*/g, '.')
    .replaceAll('"', '');

/** Lines that begin a table. A line of a value that runs over several is none, whatever it looks like. */
function findHeaders(lines: readonly string[]): number[] {
  const found: number[] = [];
  let depth = 0;
  let quote: string | null = null;
  for (const [at, line] of lines.entries()) {
    if (depth === 0 && quote === null && /^\s*\[/.test(line)) {
      found.push(at);
      continue;
    }
    for (const token of line.match(/"""|'''|"(?:\\.|[^"\\])*"|'[^']*'|#.*|[[\]]/g) ?? []) {
      if (quote !== null) quote = token === quote ? null : quote;
      else if (token === '"""' || token === "'''") quote = token;
      else if (token === '[') depth += 1;
      else if (token === ']') depth -= 1;
    }
  }
  return found;
}
