import { z } from 'zod';

/**
 * Mã số thuế: ten digits for a company, with three more for a dependent unit; twelve for a person, who has the number of their
 * identity card (Circular 86/2024/TT-BTC, articles 5 and 22). The tenth digit checks the nine before it: it is 10 less the
 * weighted sum modulo 11, as in https://github.com/arthurdejong/python-stdnum/blob/master/stdnum/vn/mst.py. Numbers of identity
 * cards have no check digit.
 */

const form = /^$|^\d{10}(-\d{3})?$|^\d{12}$/;
const weights = [31, 29, 23, 19, 17, 13, 7, 5, 3] as const;

/** Whether the tenth digit fits; true for every number that has no check digit. */
function isChecked(taxCode: string): boolean {
  if (!/^\d{10}(-\d{3})?$/.test(taxCode)) return true;
  const sum = weights.reduce((all, weight, place) => all + weight * Number(taxCode[place]), 0);
  return 10 - (sum % 11) === Number(taxCode[9]);
}

/** Empty: none is given. */
export const taxCodeShape = z
  .string()
  .regex(form, 'must be 10 digits, 10 digits, a hyphen and 3 digits, or 12 digits')
  .refine(
    (taxCode) => !form.test(taxCode) || isChecked(taxCode),
    'has a check digit that does not fit: a digit is mistyped',
  );
