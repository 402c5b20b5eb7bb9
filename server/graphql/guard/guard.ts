import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';

/** Rules that hold for the whole schema; a schema that breaks one is not served. */

type Options = { authScopes?: unknown } | undefined;

const optionsOf = (extensions: unknown): Options =>
  (extensions as { pothosOptions?: Options } | undefined)?.pothosOptions;

/** Types that Pothos makes around a field's own result: the field's rule covers them. */
const wrapsResult = (typeName: string): boolean => typeName.endsWith('Success');

/**
 * Lists root fields and object types without an authorisation rule: each root field needs its own, each object type
 * needs one for every path that leads to it. Openness is written as `{ public: true }`.
 */
export function findUnguarded(schema: GraphQLSchema): string[] {
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  const unguarded: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    if (roots.has(type)) {
      for (const field of Object.values(type.getFields())) {
        if (optionsOf(field.extensions)?.authScopes === undefined) unguarded.push(`${type.name}.${field.name}`);
      }
    } else if (optionsOf(type.extensions)?.authScopes === undefined && !wrapsResult(type.name)) {
      unguarded.push(type.name);
    }
  }
  return unguarded.sort();
}

/** Members of every page and of its elements, and the arguments of every list: `PageInfo` says what they are. */
const pageMembers = {
  Connection: new Set(['edges', 'nodes', 'pageInfo']),
  Edge: new Set(['cursor', 'node']),
  arguments: new Set(['first', 'after']),
};

/** Whether a member's name and type say what it is: a member of a page, the `input` of a mutation, or the ids that it takes. */
function isSaidElsewhere(owner: string, field: GraphQLField<unknown, unknown>, argument?: GraphQLArgument): boolean {
  if (argument === undefined) {
    const [, kind] = /(Connection|Edge)$/.exec(owner) ?? [];
    return kind !== undefined && pageMembers[kind as 'Connection' | 'Edge'].has(field.name);
  }
  if (owner === 'Mutation') return /^input$|^id$|Id$/.test(argument.name);
  return getNamedType(field.type).name.endsWith('Connection') && pageMembers.arguments.has(argument.name);
}

/** Whether a type's name says what it is: a result or the input of a field, a page, an element of one. */
function isNamedAfterOthers(type: GraphQLNamedType, schema: GraphQLSchema): boolean {
  if (isUnionType(type)) return type.name.endsWith('Result');
  if (!isInputObjectType(type)) return /(?:Connection|Edge)$/.test(type.name);
  const [, name = ''] = /^(\w+)Input$/.exec(type.name) ?? [];
  return schema.getMutationType()?.getFields()[name.slice(0, 1).toLowerCase() + name.slice(1)] !== undefined;
}

/**
 * Lists every type, field, argument and enum value without a description, but those that are described in one place for
 * all: pages and their members (`PageInfo`), results and inputs of mutations (`Mutation`).
 */
export function findUndescribed(schema: GraphQLSchema): string[] {
  const missing: string[] = [];
  const note = (name: string, description: string | null | undefined) => {
    if (description === null || description === undefined || description.trim() === '') missing.push(name);
  };
  const noteField = (owner: string, field: GraphQLField<unknown, unknown>) => {
    if (!isSaidElsewhere(owner, field)) note(`${owner}.${field.name}`, field.description);
    for (const argument of field.args) {
      if (!isSaidElsewhere(owner, field, argument))
        note(`${owner}.${field.name}(${argument.name}:)`, argument.description);
    }
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || (isScalarType(type) && isSpecifiedScalarType(type))) continue;
    if (!isNamedAfterOthers(type, schema)) note(type.name, type.description);
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) noteField(type.name, field);
    } else if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) note(`${type.name}.${field.name}`, field.description);
    } else if (isEnumType(type)) {
      for (const value of type.getValues()) note(`${type.name}.${value.name}`, value.description);
    } else if (!isUnionType(type) && !isScalarType(type)) {
      missing.push(String(type satisfies never));
    }
  }
  return missing.sort();
}
