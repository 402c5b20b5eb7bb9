/** Texts with placeholders, written `{name}`. */

/** A text that depends on a number. Languages without a singular write the same twice. */
export interface Forms {
  one: string;
  other: string;
}

/** Fills the placeholders. One without a value stays, so that the mistake is visible. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    return value === undefined ? place : String(value);
  });
}

export function pick(forms: Forms, category: Intl.LDMLPluralRule): string {
  return category === 'one' ? forms.one : forms.other;
}
