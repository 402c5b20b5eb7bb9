import { attributionFrom } from '../../core/attribution.ts';
import type { PicoUsd } from '../../core/money.ts';
import {
  type ClockChoice,
  chargedUnits,
  fromStoredLines,
  type RunLine,
  type StoredRunLine,
  type TierRange,
  toStoredLines,
  type UnitLine,
  type VariantChoice,
} from '../../core/price.ts';
import { parseWindowText, windowText } from '../../core/price-clock.ts';
import type { EscrowPromise, Settlement } from '../types.ts';

/** The lines of a spool file: one settlement each, as JSON, after a header that names the process which writes it. */

/** Encodes a settlement as a line. Amounts are decimal strings, as everywhere outside the program. */
export function encode(settlement: Settlement): string {
  const { id, input, cacheHit, cacheWrite5m, cacheWrite1h, output, tier, byClock, variant } = settlement.price;
  const line = {
    ...settlement,
    price: {
      id,
      input: String(input),
      cacheHit: String(cacheHit),
      cacheWrite5m: String(cacheWrite5m),
      cacheWrite1h: String(cacheWrite1h),
      output: String(output),
      ...(tier === undefined ? {} : { tier }),
      ...(variant === undefined ? {} : { variant }),
      ...(byClock === undefined
        ? {}
        : { byClock: { at: byClock.at, window: byClock.window && windowText(byClock.window) } }),
    },
    ...(settlement.units === undefined
      ? {}
      : { units: settlement.units.map((line) => ({ ...line, price: String(line.price) })) }),
    ...(settlement.lines === undefined ? {} : { lines: toStoredLines(settlement.lines) }),
    upstreamCost: settlement.upstreamCost === null ? null : String(settlement.upstreamCost),
    ...(settlement.promise === undefined ? {} : { promise: encodePromise(settlement.promise) }),
  };
  return `${JSON.stringify(line)}\n`;
}

/** Decodes a line to a settlement; null for an invalid line. */
export function decode(line: string): Settlement | 'header' | null {
  const value = parse(line);
  if (value === null) return null;
  if ('pid' in value) return 'header';
  // Lines of earlier versions say whether a limit of the customer bounded their charge, which none does any more.
  const { attribution: named, capped: _capped, ...rest } = value;
  const { price, usage } = rest;
  if (!isObject(price) || !isObject(usage)) return null;
  try {
    return {
      ...(rest as unknown as Settlement),
      price: {
        id: String(price['id']),
        input: toPico(price['input']),
        cacheHit: toPico(price['cacheHit']),
        cacheWrite5m: toPico(price['cacheWrite5m']),
        cacheWrite1h: toPico(price['cacheWrite1h']),
        output: toPico(price['output']),
        ...(price['tier'] === undefined ? {} : { tier: toTier(price['tier']) }),
        ...(price['variant'] === undefined ? {} : { variant: toVariantChoice(price['variant']) }),
        ...(price['byClock'] === undefined ? {} : { byClock: toClockChoice(price['byClock']) }),
      },
      ...(value['units'] === undefined ? {} : { units: toUnits(value['units']) }),
      ...(value['lines'] === undefined ? {} : { lines: toLines(value['lines']) }),
      upstreamCost: value['upstreamCost'] === null ? null : toPico(value['upstreamCost']),
      ...(value['promise'] === undefined ? {} : { promise: decodePromise(value['promise']) }),
      ...decodeAttribution(named),
    };
  } catch {
    return null;
  }
}

function encodePromise({ escrowId, parts }: EscrowPromise): object {
  return { escrowId, parts: parts.map(({ grantId, amount }) => [grantId, String(amount)]) };
}

function decodePromise(value: unknown): EscrowPromise {
  if (!isObject(value) || !Array.isArray(value['parts'])) throw new TypeError('not a promise of an escrow');
  const parts = value['parts'].map((part: unknown) => {
    if (!Array.isArray(part)) throw new TypeError('not a part of a promise');
    return { grantId: String(part[0]), amount: toPico(part[1]) };
  });
  return { escrowId: String(value['escrowId']), parts };
}

function decodeAttribution(value: unknown): Pick<Settlement, 'attribution'> {
  const attribution = attributionFrom(value);
  return attribution === null ? {} : { attribution };
}

function toUnits(value: unknown): UnitLine[] {
  if (!Array.isArray(value)) throw new TypeError('no list of units');
  return value.map((line: unknown) => {
    if (!isObject(line)) throw new TypeError('no line of units');
    const unit = chargedUnits.find((each) => each === line['unit']);
    const count = line['count'];
    if (unit === undefined || typeof count !== 'number' || !Number.isSafeInteger(count))
      throw new TypeError('no line of units');
    return { unit, count, price: toPico(line['price']) };
  });
}

function toLines(value: unknown): RunLine[] {
  if (!Array.isArray(value) || !value.every((line) => isObject(line) && typeof line['model'] === 'string'))
    throw new TypeError('no list of runs');
  return fromStoredLines(value as StoredRunLine[]);
}

function toTier(value: unknown): TierRange {
  if (!isObject(value)) throw new TypeError('not a tier of a price');
  const { above, upTo } = value;
  const isBound = (bound: unknown): bound is number | null => bound === null || Number.isSafeInteger(bound);
  if (!isBound(above) || !isBound(upTo)) throw new TypeError('not a tier of a price');
  return { above, upTo };
}

function toVariantChoice(value: unknown): VariantChoice {
  if (!isObject(value)) throw new TypeError('not a variant of a price');
  const { asked, served, charged } = value;
  const isText = (text: unknown): text is string | null => text === null || typeof text === 'string';
  if (typeof asked !== 'string' || !isText(served) || !isText(charged)) throw new TypeError('not a variant of a price');
  return { asked, served, charged };
}

function toClockChoice(value: unknown): ClockChoice {
  if (!isObject(value)) throw new TypeError('not a moment of a price');
  const { at, window } = value;
  if (!Number.isSafeInteger(at) || !(window === null || typeof window === 'string'))
    throw new TypeError('not a moment of a price');
  return { at: Number(at), window: window === null ? null : parseWindowText(window) };
}

function toPico(value: unknown): PicoUsd {
  if (typeof value !== 'string') throw new TypeError('an amount is a string');
  return BigInt(value);
}

/** Parses a line that should be a JSON object; null for any other. */
export function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
