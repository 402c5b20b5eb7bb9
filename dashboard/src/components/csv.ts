/** A table as a CSV file (RFC 4180), made in the browser. Null is an empty cell, which is no zero. */
export function saveCsv(name: string, rows: readonly (readonly (string | number | null)[])[]): void {
  const text = rows.map((row) => row.map(cell).join(',')).join('\r\n');
  const url = URL.createObjectURL(new Blob([`${text}\r\n`], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replaceAll(/[^\p{L}\p{N}]+/gu, '-')}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}

/** Figures without exponents; a text that a spreadsheet would run as a formula is marked as a text. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return plain(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  // Spreadsheets of some countries separate by semicolons, and split at each one that is not quoted.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** At most 12 decimals, the finest that amounts have. */
function plain(value: number): string {
  const text = value.toFixed(12);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
