/** Texts with places for values, written `{name}`. */

/** A text that depends on a number. Languages without a singular write the same twice. */
export interface Forms {
  one: string;
  other: string;
}

/** Puts values into their places. A place without a value stays as it is, so that the mistake is seen. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    return value === undefined ? place : String(value);
  });
}

export function pick(forms: Forms, category: Intl.LDMLPluralRule): string {
  return category === 'one' ? forms.one : forms.other;
}
