/** Finds the name that somebody meant. */

const maxMistakes = 2;

/** Longer names are compared with none: comparing takes the product of both lengths. */
const maxLetters = 64;

/** Maximum names that one is compared with; those behind them are not found. */
const maxNames = 256;

/** The one of these names that is at most two typing mistakes away, and fewer than half its letters; null: none is. */
export function closest(written: string, names: readonly string[]): string | null {
  if (written.length > maxLetters) return null;
  const found = names
    .slice(0, maxNames)
    // Each letter more or less is a mistake.
    .filter((name) => Math.abs(name.length - written.length) <= maxMistakes)
    .map((name) => ({ name, mistakes: mistakes(written, name) }))
    .filter(({ name, mistakes: count }) => count <= maxMistakes && count * 2 < name.length)
    .sort((a, b) => a.mistakes - b.mistakes);
  return found[0]?.name ?? null;
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function mistakes(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_each, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (line[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + same,
          swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = last;
    last = line;
  }
  return last[b.length] ?? 0;
}
