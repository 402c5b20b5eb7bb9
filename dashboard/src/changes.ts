/** A line-by-line diff: old lines with a minus, new ones with a plus. */
export function changesOf(before: unknown, after: unknown): string {
  const fields = (value: unknown): Record<string, unknown> =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : value == null ? {} : { value };
  const was = fields(before);
  const is = fields(after);
  const lines: string[] = [];
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const [old, now] = [JSON.stringify(was[name]), JSON.stringify(is[name])];
    if (old === now) lines.push(`  ${name}: ${now}`);
    else {
      if (old !== undefined) lines.push(`- ${name}: ${old}`);
      if (now !== undefined) lines.push(`+ ${name}: ${now}`);
    }
  }
  return lines.join('\n');
}
