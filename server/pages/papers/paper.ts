/** A document for paper, ready to be drawn: texts in their order, without any layout. */

export interface Paper {
  /** BCP 47: `en` or `vi`. */
  language: string;
  title: string;
  /** At the right of the title, such as "Paid in full"; empty: nothing. */
  state: string;
  /** In a frame above everything, such as the label of a demonstration; empty: nothing. */
  warning: string;
  facts: readonly Fact[];
  tables: readonly PaperTable[];
  /** Small print below. */
  notes: readonly string[];
  /** The foot of each page; the page's number stands beside it. */
  foot: string;
  /** When it was made, as the file says it. */
  at: Date;
}

export interface Fact {
  label: string;
  /** Empty lines are left out. */
  lines: readonly string[];
}

export interface PaperTable {
  /** Empty: no title. */
  title: string;
  columns: readonly { head: string /** Relative width. */; width: number; isFigure?: boolean }[];
  rows: readonly (readonly string[])[];
  /** The last rows, in heavier type. */
  sums: readonly (readonly string[])[];
}
