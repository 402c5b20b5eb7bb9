/** What is wrong with a field before it is sent, in the words of the page instead of the browser's. */

import { createContext } from 'react';
import { fill } from '../language/fill.ts';
import type { Texts } from '../language/texts.ts';

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Problems of a form's fields by the id of their control. */
export const ProblemsOfForm = createContext<Readonly<Record<string, string>>>({});

/** The problem of a control that the browser refuses. */
export function problemOf(control: Control, { problems }: Pick<Texts, 'problems'>): string {
  const { validity } = control;
  const limit = (name: string) => control.getAttribute(name) ?? '';
  if (validity.valueMissing) return problems.empty;
  if (validity.badInput) return problems.number;
  if (validity.typeMismatch) return control.type === 'email' ? problems.email : problems.webAddress;
  if (validity.tooShort) return fill(problems.short, { n: limit('minlength') });
  if (validity.tooLong) return fill(problems.long, { n: limit('maxlength') });
  if (validity.rangeUnderflow) return fill(problems.least, { n: limit('min') });
  if (validity.rangeOverflow) return fill(problems.most, { n: limit('max') });
  return validity.stepMismatch ? problems.step : problems.invalid;
}
