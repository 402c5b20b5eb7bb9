import { type GraphQLSchema, isEnumType } from 'graphql';
import { builder } from '../builder.ts';

/**
 * Enums whose values come from rows. A row may be older than this version of the service, or written by a newer one during
 * an upgrade: its value is answered as `OTHER`, so that nobody loses a whole page to it. What is sent has no such value:
 * an enum that is answered and sent has two names.
 */

const other = Symbol('a value that this version does not know');

/** The values of an enum that is read from rows, with `OTHER`. Resolvers never return it: an unknown value becomes it. */
export function orOther<Values extends object>(values: Values): Values {
  return {
    ...values,
    OTHER: {
      value: other,
      description: 'Something that this version of the service does not know; only in answers.',
    },
  };
}

/** An enum that is read from rows, and what of it can be sent: the same values under a second name, without `OTHER`. */
export function answeredAndSent<const Values extends Record<string, { value: string; description: string }>>(
  answered: string,
  sent: string,
  { description, values }: { description: string; values: Values },
) {
  return [
    builder.enumType(answered, { description, values: orOther(values) }),
    builder.enumType(sent, { description: `\`${answered}\` as it is sent.`, values }),
  ] as const;
}

/** Values of an enum that are named after the words that are stored: `PRICE_ADD` for `price.add`. */
export function wordValues<Word extends string>(
  descriptions: Readonly<Record<Word, string>>,
): Record<string, { value: Word; description: string }> {
  const words = Object.entries(descriptions) as [Word, string][];
  return Object.fromEntries(words.map(([value, description]) => [enumName(value), { value, description }]));
}

/** The name of an enum's value for a word that is stored. */
function enumName(word: string): string {
  return word.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase();
}

/** Lets every enum that has `OTHER` answer it for unknown values. */
export function readOtherValues(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isEnumType(type)) continue;
    const values = type.getValues();
    const unknown = values.find(({ value }) => value === other);
    if (unknown === undefined) continue;
    const known = new Set(values.map(({ value }) => value as unknown));
    const answer = type.coerceOutputValue.bind(type);
    type.coerceOutputValue = (value) => (known.has(value) ? answer(value) : unknown.name);
  }
}
