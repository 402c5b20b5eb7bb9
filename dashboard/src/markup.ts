/** Prices from list prices and a markup, exactly as the server computes them. */

/** A markup as a fraction; null for text that is no percentage from 0 to 1000. */
export function readMarkup(text: string): { part: bigint; of: bigint } | null {
  const match = /^(0|[1-9]\d{0,3})(?:\.(\d{1,4}))?$/.exec(text.trim());
  if (match === null) return null;
  const part = BigInt(`${match[1]}${(match[2] ?? '').padEnd(4, '0')}`);
  return part > 10_000_000n ? null : { part, of: 1_000_000n };
}

/** A price per 1M tokens with the markup: at most 6 decimals, rounded up. */
export function withMarkup(price: string, { part, of }: { part: bigint; of: bigint }): string {
  const [whole = '0', fraction = ''] = price.split('.');
  const millionths = BigInt(`${whole}${fraction.padEnd(6, '0').slice(0, 6)}`);
  const sold = (millionths * (of + part) + of - 1n) / of;
  const digits = sold.toString().padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0+$/, '');
  return `${digits.slice(0, -6)}${decimals === '' ? '' : `.${decimals}`}`;
}
