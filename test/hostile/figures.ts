import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { createDirectory } from '../support/directory.ts';

/** The table of figures that a run of the attacks ends with: one row for each attack, for comparison with another commit. */

declare module 'vitest' {
  interface ProvidedContext {
    /** A file with one JSON object a line. */
    figuresFile: string;
  }
}

/** One row: the attack's name and its figures, each named with its unit (`delay ms`, `peak RSS MB`, `operator loss USD`). */
export interface FiguresRow {
  attack: string;
  [figure: string]: string | number | null;
}

/** Adds a row to the table at the end of the run. */
export function recordFigures(row: FiguresRow): void {
  appendFileSync(inject('figuresFile'), `${JSON.stringify(row)}\n`);
}

/** The rows as text, with a column for each figure that a row has. */
export function formatFigures(rows: readonly FiguresRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [columns, ...rows.map((row) => columns.map((column) => format(row[column])))];
  const widths = columns.map((_column, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)));
  return cells
    .map((row) => row.map((cell, index) => (index === 0 ? cell.padEnd(width(index)) : cell.padStart(width(index)))))
    .map((row) => row.join('  ').trimEnd())
    .join('\n');

  function width(index: number): number {
    return widths[index] ?? 0;
  }
}

function format(value: FiguresRow[string] | undefined): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'string' || Number.isInteger(value) ? String(value) : value.toFixed(2);
}

/** Once a run: provides the file, and prints the table when all attacks are over. */
export default function setup(project: TestProject): () => void {
  const directory = createDirectory('steyg-figures-');
  const file = join(directory, 'figures.ndjson');
  appendFileSync(file, '');
  project.provide('figuresFile', file);
  return () => {
    const rows = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    rmSync(directory, { recursive: true, force: true });
    if (rows.length === 0) return;
    process.stdout.write(`\n${formatFigures(rows.map((row) => JSON.parse(row) as FiguresRow))}\n\n`);
  };
}
