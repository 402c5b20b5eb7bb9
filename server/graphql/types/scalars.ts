import { GraphQLError } from 'graphql';
import { formatUsd, parseUsd } from '../../core/money.ts';
import { parseMoment } from '../../shared/moment.ts';
import { builder } from '../builder.ts';

/** Scalars of the schema. Their errors never repeat the value. */

function refuse(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
}

function usd(value: unknown): bigint {
  if (typeof value !== 'string') throw refuse('UsdAmount is a decimal string such as "12.5", never a number.');
  const amount = value.length <= 32 ? parseUsd(value) : null;
  if (amount === null) throw refuse('UsdAmount has at most 12 decimals and fits into 9 million.');
  return amount;
}

builder.scalarType('UsdAmount', {
  description:
    'An amount of USD as a decimal string with at most 12 decimals, e.g. `"0.195"`. Exact: never a floating-point number.',
  serialize: (value) => formatUsd(value),
  parseValue: usd,
});

const maxVnd = 1_000_000_000_000n;

function vnd(value: unknown): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,13}$/.test(text)) {
    throw refuse('VndAmount is a whole number of VND, as a string such as "250000".');
  }
  const amount = BigInt(text);
  if (amount > maxVnd) throw refuse('VndAmount is at most 1,000,000,000,000.');
  return amount;
}

builder.scalarType('VndAmount', {
  description: 'A whole number of VND as a string, e.g. `"250000"`.',
  serialize: (value) => String(value),
  parseValue: vnd,
});

function dateTime(value: unknown): Date {
  const moment = typeof value === 'string' ? parseMoment(value) : null;
  if (moment !== null) return moment;
  throw refuse('DateTime is a moment in ISO 8601 with a time zone, such as "2026-11-21T08:30:00Z".');
}

builder.scalarType('DateTime', {
  description: 'A moment in ISO 8601, UTC, e.g. `"2026-11-21T08:30:00.000Z"`. A bare date is its midnight in UTC.',
  serialize: (value) => (value instanceof Date ? value : new Date(value)).toISOString(),
  parseValue: dateTime,
});

builder.scalarType('BigInt', {
  description: 'A whole number of any size as a string: token counts can exceed what a JSON number holds exactly.',
  serialize: (value) => String(value),
  parseValue: (value) => {
    if (typeof value === 'string' && /^-?\d{1,18}$/.test(value)) return BigInt(value);
    throw refuse('BigInt is a whole number as a string.');
  },
});

builder.scalarType('Json', {
  description: 'Any JSON value; only in answers.',
  serialize: (value) => value,
  parseValue: () => {
    throw refuse('Json is only given out, never taken.');
  },
});
