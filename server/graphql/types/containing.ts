/** The filter for a text anywhere in a column, in any case. Prisma passes wildcards of LIKE on: they are escaped. */
export function containing(text: string): { contains: string; mode: 'insensitive' } {
  return { contains: text.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' };
}

/** Whole VND as people write them: with separators of thousands, blanks and the currency, or without. Null: no amount. */
export function writtenVnd(text: string): bigint | null {
  const digits = text.replaceAll(/[.,\s₫]|vnd/gi, '');
  return /^[1-9]\d{0,14}$/.test(digits) ? BigInt(digits) : null;
}
