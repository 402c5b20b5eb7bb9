/** Amounts of money: each type says its unit. */

/**
 * USD as a decimal string with at most 12 decimals, e.g. `'0.195'`. Exact: add amounts up as whole numbers, never as
 * floating-point ones. A price is one for 1,000,000 tokens, or for the unit that its member names.
 */
export type UsdAmount = string;

/** USD as a JSON number, as OpenRouter's clients read it: a `UsdAmount` rounded to what a floating-point number holds. */
export type UsdNumber = number;

/** A whole number of VND as a string, e.g. `'250000'`. */
export type VndAmount = string;
