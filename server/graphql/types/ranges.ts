import { builder } from '../builder.ts';
import { badInput } from './errors.ts';

/** A range of time in arguments: from a moment on, and before another one. Either may be left out. */
export interface Range {
  from?: Date | null | undefined;
  to?: Date | null | undefined;
}

/** Throws an `InputError` for an inverted range: its empty result would look like no activity. */
export function checkRange({ from, to }: Range, path: string | string[]): void {
  if (from && to && to.getTime() < from.getTime()) throw badInput(path, 'to must not be before from.');
}

/** The periods of charts that are too fine for months. */
export const HourOrDay = builder.enumType('HourOrDay', {
  description: 'How long the periods of a chart are.',
  values: {
    HOUR: { value: 'hour', description: 'An hour.' },
    DAY: { value: 'day', description: 'A day.' },
  } as const,
});
