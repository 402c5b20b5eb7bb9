/** The filter for a text anywhere in a column, in any case. Prisma passes wildcards of LIKE on: they are escaped. */
export function containing(text: string): { contains: string; mode: 'insensitive' } {
  return { contains: text.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' };
}
