/** Reads moments that clients write in ISO 8601. */

const shape =
  /^(\d{4})-(\d\d)-(\d\d)(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

/**
 * Parses a moment in ISO 8601: a date, which begins in UTC, or a date and time with its zone, from 1970 to 9999. Null
 * for anything else, including days that the calendar does not have: `Date` would turn the 30th of February into the
 * 2nd of March.
 */
export function parseMoment(text: string): Date | null {
  const [, year, month, day] = (shape.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  const written = new Date(Date.UTC(year, month - 1, day));
  if (written.getUTCMonth() !== month - 1 || written.getUTCDate() !== day) return null;
  const moment = new Date(text);
  const inYear = moment.getUTCFullYear();
  return inYear >= 1970 && inYear <= 9999 ? moment : null;
}
