/** Exact decimals of a price list, which writes numbers such as `2.5e-06`. Nothing passes through a float. */

/** A price list's number as it stands in the file. */
export class ListedNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Parses JSON with every number as its text, because a float would have rounded it. Throws a `SyntaxError`. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? new ListedNumber(context?.source ?? String(value)) : value,
  );
}

/** A decimal times a power of ten as a whole number; half a unit and more is rounded up. */
export interface Scaled {
  value: bigint;
  /** Whether nothing was rounded. */
  exact: boolean;
}

/** Bounds the work on a hostile exponent. */
const maxPower = 40;

/** The decimal number `text` times 10^`power`. Null for a negative number and for what is no number. */
export function scaled(text: string, power: number): Scaled | null {
  const match = /^(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text);
  if (match === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const shift = Number(exponent) - fraction.length + power;
  if (digits === 0n) return { value: 0n, exact: true };
  if (shift > maxPower) return null;
  if (shift >= 0) return { value: digits * 10n ** BigInt(shift), exact: true };
  const divisor = 10n ** BigInt(Math.min(-shift, 200));
  return { value: (digits * 2n + divisor) / (divisor * 2n), exact: digits % divisor === 0n };
}

/** A whole number of the list, such as a number of tokens; null when it is none. */
export function wholeOf(value: unknown): number | null {
  const read = value instanceof ListedNumber ? scaled(value.text, 0) : null;
  return read === null || !read.exact || read.value > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(read.value);
}
