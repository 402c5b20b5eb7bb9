/** CSV as spreadsheets read it (RFC 4180), safe against formulas. */

/** The byte order mark, from which spreadsheets know UTF-8; the first text of a file for people. */
export const byteOrderMark = '\uFEFF';

/** A cell that is a number of ours: a spreadsheet adds it up, also below zero. */
export interface CsvNumber {
  /** Decimal, such as `-12.5`. */
  number: string;
}

/** One line of a CSV file. */
export function csvLine(cells: readonly (string | CsvNumber)[]): string {
  return `${cells.map((cell) => (typeof cell === 'string' ? csvCell(cell) : csvNumber(cell))).join(',')}\r\n`;
}

function csvNumber({ number }: CsvNumber): string {
  return /^-?\d+(?:\.\d+)?$/.test(number) ? number : csvCell(number);
}

/**
 * Whether a spreadsheet would begin a formula there: also in the wide forms that East Asian versions take for the narrow ones
 * (U+FF1D, U+FF0B, U+FF0D, U+FF20 and the like, which NFKC makes narrow), the minus sign, and behind characters that are not seen.
 */
function isFormula(text: string): boolean {
  const first = /^[\s\p{Cc}\p{Cf}\p{Zs}]*(.?)/u.exec(text)?.[1] ?? '';
  return /^[\t\r\n]/.test(text) || /^[=+\-@\u2212\u2010-\u2015]/.test(first.normalize('NFKC'));
}

/** Cells that a spreadsheet would read as a formula get an apostrophe in front; special characters are quoted. */
function csvCell(text: string): string {
  const safe = isFormula(text) ? `'${text}` : text;
  // Spreadsheets of some countries separate by semicolons, and split at each one that is not quoted.
  return /[",;\t\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
