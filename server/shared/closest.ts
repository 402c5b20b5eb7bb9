/** Finds the name that somebody meant. */

/** The one of these names that is at most two typing mistakes away, and fewer than half its letters; null: none is. */
export function closest(written: string, names: readonly string[]): string | null {
  if (written.length > 64) return null;
  const found = names
    .map((name) => ({ name, mistakes: mistakes(written, name) }))
    .filter(({ name, mistakes: count }) => count <= 2 && count * 2 < name.length)
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
