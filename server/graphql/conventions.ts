import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldConfig,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  getNamedType,
  getNullableType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { GraphqlContext } from './context.ts';
import { readOtherValues } from './enums.ts';
import { type InputError, transportError } from './errors.ts';

/**
 * Conventions that hold for the whole schema, laid over what the domain files declare: lists are read forward, pages of
 * one kind of element share an interface, and a mutation takes one argument, `input`.
 *
 * What clients sent before stays valid: older arguments are deprecated, never removed.
 */

/** The schema with its conventions. */
export function withConventions(schema: GraphQLSchema): GraphQLSchema {
  const objects = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
  );
  namePages(objects);
  for (const type of objects) for (const field of Object.values(type.getFields())) readForward(field);
  readOtherValues(schema);
  const config = schema.toConfig();
  const mutation = withInputs(schema);
  // Built anew, so that it knows the added types.
  return new GraphQLSchema({
    ...config,
    mutation,
    types: config.types.map((type) => (type.name === mutation.name ? mutation : type)),
  });
}

// ------------------------------------------------------------------------------------------------------ pages

/**
 * Interfaces for the pages of one kind of element: `ApiKeyConnection` and `ApiKeyEdge` for every list of `ApiKey`, so
 * that one fragment fits all of them. Relay's plugin names a page after the field that it was declared for.
 */
function namePages(objects: readonly GraphQLObjectType[]): void {
  const pages = objects.filter((type) => type.getFields()['edges'] !== undefined);
  for (const [nodeName, alike] of Map.groupBy(pages, (page) => nodeOf(page).name)) {
    const edge = new GraphQLInterfaceType({
      name: `${nodeName}Edge`,
      description: `An element of a list of \`${nodeName}\`, with its cursor.`,
      fields: sharedFields(alike.map(edgeOf)),
    });
    const page = new GraphQLInterfaceType({
      name: `${nodeName}Connection`,
      description: `A page of a list of \`${nodeName}\`, whichever list it is.`,
      fields: {
        ...sharedFields(alike),
        edges: {
          type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge))),
          description: 'The elements of the page with their cursors.',
        },
      },
    });
    for (const type of alike) {
      implement(type, page);
      implement(edgeOf(type), edge);
    }
  }
}

function edgeOf(page: GraphQLObjectType): GraphQLObjectType {
  return objectBehind(page, 'edges');
}

function nodeOf(page: GraphQLObjectType): GraphQLObjectType {
  return objectBehind(edgeOf(page), 'node');
}

function objectBehind(type: GraphQLObjectType, field: string): GraphQLObjectType {
  const behind = getNamedType(type.getFields()[field]?.type);
  if (!(behind instanceof GraphQLObjectType)) throw new Error(`${type.name}.${field} leads to no object`);
  return behind;
}

/** The fields that all of these types have, without deprecated ones. */
function sharedFields(types: readonly GraphQLObjectType[]) {
  const [first, ...others] = types.map((type) => type.toConfig().fields);
  const shared = Object.entries(first ?? {}).filter(
    ([name, { deprecationReason }]) => deprecationReason == null && others.every((fields) => name in fields),
  );
  return Object.fromEntries(shared.map(([name, { type, description }]) => [name, { type, description }]));
}

function implement(type: GraphQLObjectType, added: GraphQLInterfaceType): void {
  (type.getInterfaces() as GraphQLInterfaceType[]).push(added);
}

// ------------------------------------------------------------------------------------------------------ lists

/** `last` and `before` go on being answered, but are not offered any more. */
function readForward(field: GraphQLField<unknown, unknown>): void {
  if (!field.args.some(({ name }) => name === 'last')) return;
  for (const argument of field.args) {
    if (argument.name === 'last' || argument.name === 'before')
      argument.deprecationReason = 'Lists are read forward: use `first` and `after`.';
  }
}

// -------------------------------------------------------------------------------------------------- mutations

type Arguments = Record<string, unknown>;

type MutationConfig = GraphQLFieldConfig<unknown, GraphqlContext>;

/** The mutations, each with one argument. */
function withInputs(schema: GraphQLSchema): GraphQLObjectType {
  const mutation = schema.getMutationType();
  if (mutation == null) throw new Error('the schema has no mutations');
  const config = mutation.toConfig();
  const fields = Object.entries<MutationConfig>(config.fields).map(([name, field]) => {
    const older = Object.entries(field.args ?? {});
    const takesOne = older.length === 0 || older.some(([argument]) => argument === 'input');
    return [name, takesOne ? field : withInput(name, field, schema)] as const;
  });
  return new GraphQLObjectType({ ...config, fields: Object.fromEntries(fields) });
}

/** A mutation with the argument `input`, which has its older arguments as members. These stay for those who use them. */
function withInput(name: string, field: MutationConfig, schema: GraphQLSchema): MutationConfig {
  const typeName = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
  if (schema.getType(typeName) !== undefined) throw new Error(`there are two types ${typeName}`);
  const older = Object.entries(field.args ?? {});
  const input = new GraphQLInputObjectType({
    name: typeName,
    description: `What \`${name}\` is given.`,
    fields: Object.fromEntries(older),
  });
  const deprecated = older.map(([argument, config]) => [
    argument,
    { ...config, type: getNullableType(config.type), deprecationReason: `Use \`input { ${argument} }\`.` },
  ]);
  const required = older.flatMap(([argument, { type, default: byDefault }]) =>
    isNonNullType(type) && byDefault === undefined ? [argument] : [],
  );
  const resolve = field.resolve ?? defaultFieldResolver;
  return {
    ...field,
    args: { input: { type: input, description: 'Everything that it is given.' }, ...Object.fromEntries(deprecated) },
    resolve: async (root, { input: members, ...separate }: Arguments, context, info) => {
      const values = { ...separate, ...(members as Arguments | null | undefined) };
      const missing = required.find((argument) => values[argument] == null);
      if (missing !== undefined) throw transportError('BAD_USER_INPUT', `${name} needs \`input { ${missing} }\`.`);
      const result: unknown = await resolve(root, values, context, info);
      if (members != null) placeInInput(result);
      return result;
    },
  };
}

/**
 * Gives the problems of an input the paths that its members have in `input`. The plugin of errors hands them out behind a
 * proxy that is no instance of their class.
 */
function placeInInput(result: unknown): void {
  const { name, problems } = (result ?? {}) as Partial<InputError>;
  if (name !== 'InputError') return;
  for (const problem of problems ?? []) if (problem.path[0] !== 'input') problem.path = ['input', ...problem.path];
}
