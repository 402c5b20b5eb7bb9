import { z } from 'zod';

/** Parsing that the messages of all bank providers share. */

/** Texts as providers send them: absent, null and empty are equal. PostgreSQL stores every character but NUL. */
export const bankText = z
  .string()
  .max(4000)
  .nullish()
  .transform((value) => (value ?? '').replaceAll('\u0000', ''));

/** An amount of whole VND as a number or its digits; negative for money that left. */
export const signedVnd = z
  .union([z.number(), z.string().regex(/^-?\d{1,15}$/)])
  .transform(Number)
  .pipe(z.number().int().min(-1e15).max(1e15));

/** An id, which some providers send as a number and some as text. */
export const providerId = z.union([z.number().int().nonnegative(), z.string().min(1).max(100)]);

/** The id of a movement without a provider's id: reference, direction and amount together identify it. */
export function idMadeOf(movement: {
  bankReference: string | null;
  direction: 'in' | 'out';
  amountVnd: bigint;
}): string {
  const { bankReference, direction, amountVnd } = movement;
  return `${bankReference ?? ''}:${direction}:${amountVnd}`;
}

/** `2026-11-21 16:05:00` in Vietnam, which has had one offset since 1975; null for anything else. */
export function parseVietnamTime(value: string): Date | null {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(value);
  if (match === null) return null;
  const moment = new Date(`${match[1]}T${match[2]}+07:00`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** The value of a JSON text; null when it is invalid (or is null). */
export function jsonOrNull(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
