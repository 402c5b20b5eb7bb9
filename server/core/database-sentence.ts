/**
 * Classes of SQLSTATE whose sentences are about the schema, settings or machines: a node out of reach (08), what is not supported (0A),
 * the state of a transaction or an object (25, 55), who may connect (28), names and syntax (3D, 3F, 42), resources and the operator
 * (53, 57), the system and its files (58, F0), and the database's own faults (XX). Data exceptions (22) and violated constraints (23)
 * quote rows. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const classes: ReadonlySet<string> = new Set('08 0A 25 28 3D 3F 42 53 55 57 58 F0 XX'.split(' '));

/** Longest sentence, characters. */
const maxLength = 300;

/**
 * What the database itself said in an error about its schema or settings, in one line; undefined for every other error. Names stand
 * in double quotes there; what stands in single ones is a text of the query, and is left out.
 */
export function databaseSentence(error: unknown): string | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 3; one = one.cause, depth += 1) {
    const said = saidIn(one);
    if (said === undefined) continue;
    if (!/^[0-9A-Z]{5}$/.test(said.code) || !classes.has(said.code.slice(0, 2))) return undefined;
    const [line = ''] = said.message.split('\n');
    return line.replaceAll(/(?<!\w)'[^']*('|$)/g, '…').slice(0, maxLength);
  }
  return undefined;
}

/** An error of the database as the driver throws it (it has a severity), or as Prisma wraps it. */
function saidIn(error: Error): { code: string; message: string } | undefined {
  const { code, meta } = error as Error & {
    code?: unknown;
    meta?: { driverAdapterError?: { cause?: { originalCode?: unknown; originalMessage?: unknown } } };
  };
  if ('severity' in error && typeof code === 'string') return { code, message: error.message };
  const { originalCode, originalMessage } = meta?.driverAdapterError?.cause ?? {};
  if (typeof originalCode !== 'string' || typeof originalMessage !== 'string') return undefined;
  return { code: originalCode, message: originalMessage };
}
