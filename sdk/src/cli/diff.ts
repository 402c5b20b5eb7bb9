/** What would change in a file, line by line, in the usual form: three lines around each change. */

interface Line {
  mark: ' ' | '-' | '+';
  text: string;
}

/** An empty text when nothing changes. Files are small, so the plain quadratic way is good enough. */
export function diff(before: string, after: string): string {
  if (before === after) return '';
  const lines = compare(split(before), split(after));
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - 3), at + 4).some(({ mark }) => mark !== ' '));
  const shown = lines.flatMap(({ mark, text }, at) => {
    if (near[at] !== true) return [];
    return near[at - 1] === false ? ['…', mark + text] : [mark + text];
  });
  return `${shown.join('\n')}\n`;
}

const split = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

function compare(before: readonly string[], after: readonly string[]): Line[] {
  // common[i][j]: how many lines the rests from i and j have in common, in order.
  const common = Array.from({ length: before.length + 1 }, () => Array<number>(after.length + 1).fill(0));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const row = common[i];
      if (row !== undefined)
        row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i] ?? '' });
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: '-', text: before[i] ?? '' });
      i += 1;
    } else {
      lines.push({ mark: '+', text: after[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}
