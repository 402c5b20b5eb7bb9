import { badInput } from './errors.ts';

/** A stretch of time that an argument chooses: from a moment on, and before another one. Either may be left out. */
export interface Range {
  from?: Date | null | undefined;
  to?: Date | null | undefined;
}

/** Throws an `InputError` for a range that ends before it begins: it would say that nothing happened. */
export function checkRange({ from, to }: Range, path: string | string[]): void {
  if (from && to && to.getTime() < from.getTime()) throw badInput(path, 'to must not be before from.');
}
