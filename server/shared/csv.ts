/** CSV as spreadsheets read it (RFC 4180), safe against formulas. */

/** The byte order mark, from which spreadsheets know UTF-8; the first text of a file for people. */
export const byteOrderMark = '\uFEFF';

/** One line of a CSV file. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Cells that a spreadsheet would read as a formula get an apostrophe in front; special characters are quoted. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
