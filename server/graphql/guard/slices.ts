import {
  defaultFieldResolver,
  type FragmentDefinitionNode,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { GraphqlContext } from '../context.ts';
import { transportError } from '../types/errors.ts';
import type { Work } from './work.ts';

/**
 * Long lists are executed in slices: the library completes every element of a list synchronously, which blocks the
 * event loop. Elements beyond a slice are passed to it as promises, each of which resolves in a turn of the event loop
 * of its own.
 */

/** Fields that are resolved in one slice: some milliseconds. */
const fieldsPerSlice = 400;

/** Maximum fields below lists that one operation resolves: the bound where the estimate was too low. */
export const maxFields = 120_000;

/** Wraps the resolvers of all lists of a schema. */
export function sliceLists(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isListType(getNullableType(field.type))) continue;
      field.resolve = inSlices(field.resolve ?? defaultFieldResolver);
    }
  }
}

type Resolver = GraphQLFieldResolver<unknown, GraphqlContext>;

function inSlices(resolve: Resolver): Resolver {
  return (parent, args, context, info) => {
    const list = resolve(parent, args, context, info);
    return isPromise(list) ? list.then((items) => slice(items, context.work, info)) : slice(list, context.work, info);
  };
}

function slice(items: unknown, work: Work, info: GraphQLResolveInfo): unknown {
  if (!Array.isArray(items) || items.length === 0) return items;
  const width = widthOf(info);
  work.fields += items.length * width;
  if (work.fields > maxFields)
    throw transportError(
      'DOCUMENT_TOO_LARGE',
      `This operation asks for too much at once: ${maxFields} fields at most.`,
      { measure: 'fields', cost: work.fields, maximum: maxFields },
    );
  const fitting = Math.max(0, Math.floor((fieldsPerSlice - work.inSlice) / width));
  if (items.length <= fitting) {
    work.inSlice += items.length * width;
    return items;
  }
  work.inSlice += fitting * width;
  const perSlice = Math.max(1, Math.floor(fieldsPerSlice / width));
  const sliced: unknown[] = items.slice(0, fitting);
  for (let at = fitting; at < items.length; at += perSlice) {
    const some = items.slice(at, at + perSlice);
    const turn = beginSlice(work, some.length * width);
    for (const item of some) sliced.push(turn.then(() => item));
  }
  return sliced;
}

async function beginSlice(work: Work, fields: number): Promise<void> {
  await work.turns.next(work.principal);
  work.inSlice = fields;
}

const widths = new WeakMap<object, number>();

/** Fields of an element itself, without nested lists, which are counted when they are resolved. */
function widthOf({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  const [first] = fieldNodes;
  if (first === undefined) return 1;
  const known = widths.get(first);
  if (known !== undefined) return known;
  const width = Math.max(
    1,
    fieldNodes.reduce((sum, node) => sum + fieldsIn(node.selectionSet, fragments), 0),
  );
  widths.set(first, width);
  return width;
}

/** Fields of a selection, including those of nested objects and lists: the minimum cost of an element. */
function fieldsIn(
  set: SelectionSetNode | undefined,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): number {
  let count = 0;
  for (const selection of set?.selections ?? []) {
    if (selection.kind === Kind.FIELD) count += 1 + fieldsIn(selection.selectionSet, fragments);
    else if (selection.kind === Kind.INLINE_FRAGMENT) count += fieldsIn(selection.selectionSet, fragments);
    else count += fieldsIn(fragments[selection.name.value]?.selectionSet, fragments);
  }
  return count;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | null)?.then === 'function';
}
