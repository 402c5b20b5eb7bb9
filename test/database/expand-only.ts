/**
 * What a migration may do so that the previous version of the server works beside it, and after a step back: add what that
 * version does not see. Everything else needs a reason.
 */

import { statementsOf } from '../../server/database/script.ts';

/** A statement that the previous version may not be able to live with. */
export interface Breach {
  /** The statement in one line, without comments. */
  statement: string;
  why: string;
}

/** Columns of each table, by name. */
type Tables = ReadonlyMap<string, ReadonlySet<string>>;

/** Refuses what is not known to be harmless. `before`: the scripts of earlier migrations, which say what there is. */
export function findBreaches(script: string, before: readonly string[]): Breach[] {
  const existing = tablesOf(before);
  const all = linesOf(script);
  const made = new Set(
    all.map((statement) => /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\S+?) ?\(/i.exec(statement)?.[1]),
  );
  return all.flatMap((statement) => {
    const why = judge(statement, { existing, isNew: (table) => made.has(table) && !existing.has(table) });
    return why === null ? [] : [{ statement, why }];
  });
}

interface Surroundings {
  existing: Tables;
  isNew: (table: string) => boolean;
}

/** Why the previous version may not live with the statement; null: it does. */
function judge(statement: string, { existing, isNew }: Surroundings): string | null {
  if (/^CREATE (UNLOGGED )?TABLE |^CREATE INDEX |^CREATE FUNCTION |^CREATE VIEW |^COMMENT ON /i.test(statement))
    return null;
  const table =
    /^ALTER TABLE (?:ONLY )?(\S+) /i.exec(statement)?.[1] ??
    /^CREATE (?:UNIQUE INDEX|(?:CONSTRAINT )?TRIGGER) .*? ON ([^\s(]+)/i.exec(statement)?.[1] ??
    /^INSERT INTO (\S+)/i.exec(statement)?.[1];
  if (table !== undefined && isNew(table)) return null;
  if (/^ALTER TABLE /i.test(statement)) {
    const actions = splitActions(statement.replace(/^ALTER TABLE (?:ONLY )?\S+ /i, ''));
    const added = new Set(actions.map((action) => /^ADD COLUMN (?:IF NOT EXISTS )?(\S+)/i.exec(action)?.[1] ?? ''));
    const columns = existing.get(table ?? '') ?? new Set();
    for (const action of actions) {
      const why = judgeAction(action, (name) => columns.has(name) && !added.has(name));
      if (why !== null) return why;
    }
    return null;
  }
  if (/^CREATE UNIQUE INDEX /i.test(statement)) return 'the previous version may write what the index refuses';
  if (/^CREATE (CONSTRAINT )?TRIGGER /i.test(statement)) return 'the trigger runs in what the previous version writes';
  if (/^CREATE OR REPLACE /i.test(statement)) return 'the previous version uses what is replaced';
  if (/^DROP |^TRUNCATE |^DELETE /i.test(statement)) return 'the previous version may need what is removed';
  if (/^UPDATE |^INSERT /i.test(statement)) return 'the previous version may misread what is written';
  return 'it is not known to be harmless to the previous version';
}

function judgeAction(action: string, isOld: (column: string) => boolean): string | null {
  if (/^ADD COLUMN /i.test(action)) {
    const isFilled = /\bDEFAULT\b|\bGENERATED\b/i.test(action);
    if (/\bNOT NULL\b|\bPRIMARY KEY\b/i.test(action) && !isFilled)
      return 'the previous version writes rows without the column';
    if (/\bUNIQUE\b/i.test(action) && isFilled) return 'every row that the previous version writes has the same value';
    return null;
  }
  const check = /^ADD CONSTRAINT \S+ CHECK (.*)$/i.exec(action)?.[1];
  if (check !== undefined) {
    const names = check.match(/[a-z_][a-z_0-9]*/gi) ?? [];
    return names.some(isOld) ? 'the previous version may write what the check refuses' : null;
  }
  if (/^ADD CONSTRAINT /i.test(action)) {
    const columns = /\(([^)]*)\)/.exec(action)?.[1]?.split(/\s*,\s*/) ?? [];
    return columns.some(isOld) || columns.length === 0
      ? 'the previous version may write what the constraint refuses'
      : null;
  }
  if (/^RENAME /i.test(action)) return 'the previous version uses the old name';
  if (/^DROP /i.test(action)) return 'the previous version may need what is dropped';
  if (/ TYPE /i.test(action)) return 'the previous version expects the old type';
  if (/ SET NOT NULL/i.test(action)) return 'the previous version may write NULL';
  return 'it is not known to be harmless to the previous version';
}

/** The tables and columns that scripts make. */
function tablesOf(scripts: readonly string[]): Tables {
  const tables = new Map<string, Set<string>>();
  for (const statement of scripts.flatMap(linesOf)) {
    const made = /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\S+?) ?\((.*)\)/i.exec(statement);
    if (made?.[1] !== undefined) {
      const names = splitActions(made[2] ?? '').map((line) => line.split(' ', 1)[0] ?? '');
      tables.set(made[1], new Set(names.filter((name) => !/^(CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)$/i.test(name))));
    }
    const altered = /^ALTER TABLE (?:ONLY )?(\S+) (.*)$/i.exec(statement);
    for (const action of splitActions(altered?.[2] ?? '')) {
      const name = /^ADD COLUMN (?:IF NOT EXISTS )?(\S+)/i.exec(action)?.[1];
      if (name !== undefined) tables.get(altered?.[1] ?? '')?.add(name);
    }
  }
  return tables;
}

/** The statements of a script in one line each: without comments, texts and the quotes of names. */
function linesOf(script: string): string[] {
  return statementsOf(script).map((statement) =>
    statement
      .replace(/--[^\n]*/g, '')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
      .replace(/'(?:[^']|'')*'/g, "''")
      .replaceAll('"', '')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

/** Parts between commas that are in no parentheses. */
function splitActions(text: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
