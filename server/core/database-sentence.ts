/**
 * Classes of SQLSTATE whose sentences are about the schema, settings or the machine: what is not supported (0A), the state of a
 * transaction or an object (25, 55), who may connect (28), names and syntax (3D, 3F, 42), resources and the operator (53, 57), the
 * system and its files (58, F0), and the database's own faults (XX). Data exceptions (22) and violated constraints (23) quote rows.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const classes: ReadonlySet<string> = new Set(['0A', '25', '28', '3D', '3F', '42', '53', '55', '57', '58', 'F0', 'XX']);

/** Longest sentence, characters. */
const maxLength = 300;

/**
 * What the database itself said in an error about its schema or settings, in one line; undefined for every other error. Names stand
 * in double quotes there; what stands in single ones is a text of the query, and is left out.
 */
export function databaseSentence(error: unknown): string | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 3; one = one.cause, depth += 1) {
    const { code, message } = one as Error & { code?: unknown };
    if (!('severity' in one) || typeof code !== 'string') continue;
    if (!/^[0-9A-Z]{5}$/.test(code) || !classes.has(code.slice(0, 2))) return undefined;
    const [line = ''] = message.split('\n');
    return line.replaceAll(/(?<!\w)'[^']*('|$)/g, '…').slice(0, maxLength);
  }
  return undefined;
}
