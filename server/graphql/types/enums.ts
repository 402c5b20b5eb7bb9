import {
  defaultFieldResolver,
  type GraphQLEnumType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { builder } from '../builder.ts';

/**
 * Enums whose values come from rows. A row may be older than this version of the service, or written by a newer one during
 * an upgrade: its value is answered as null, so that nobody loses a whole page to it. So a field of such an enum is
 * nullable, and the enum is the same where it is sent.
 */

/** An enum that is read from rows. */
export function storedEnum<const Values extends Record<string, { value: string; description: string }>>(
  name: string,
  { description, values }: { description: string; values: Values },
) {
  return builder.enumType(name, {
    description: `${description} Null in an answer: a value that this version of the service does not know; lists leave it out.`,
    values,
  });
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

/** Lets every field that may be null, and every list, do without the values that its enum does not have. */
export function omitUnknownValues(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      const isList = isListType(getNullableType(field.type));
      if (!isEnumType(named) || (isNonNullType(field.type) && !isList)) continue;
      const known = knownOf(named);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (...given) => {
        const answer: unknown = resolve(...given);
        return answer instanceof Promise ? answer.then(known) : known(answer);
      };
    }
  }
}

/** The value, or null when the enum does not have it; of a list, the elements that the enum has. */
function knownOf(type: GraphQLEnumType): (value: unknown) => unknown {
  const values = new Set(type.getValues().map(({ value }) => value as unknown));
  return (value) => {
    if (Array.isArray(value)) return value.filter((each) => values.has(each));
    return values.has(value) ? value : null;
  };
}
