/** Amounts of USD as whole numbers, so that sums and products are exact. */

/** A decimal string as a whole number of its `places`-th decimal place. Throws a `RangeError` for what is none. */
export function parseDecimal(text: string, places: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  const fraction = match?.[2] ?? '';
  if (match === null || fraction.length > places) throw new RangeError(`${JSON.stringify(text)} is no amount of USD.`);
  return BigInt(`${match[1]}${fraction.padEnd(places, '0')}`);
}

/** Pico-USD (1e-12 USD) as a decimal string of USD, without trailing zeros. */
export function formatPico(pico: bigint): string {
  const digits = pico.toString().padStart(13, '0');
  const fraction = digits.slice(-12).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -12) : `${digits.slice(0, -12)}.${fraction}`;
}
