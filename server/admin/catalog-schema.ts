/** Documents the keys of a catalog file from its schema. */

import { z } from 'zod';
import { catalogInput } from './catalog-content.ts';

/** A key of the catalog file. */
export interface CatalogKey {
  /** Where it stands, e.g. `models[].prices.input`. */
  path: string;
  /** The values that it takes, e.g. `text`, `true or false`, `messages, chat-completions or responses`. */
  takes: string;
  required: boolean;
  /** The value of a key that is left out, as JSON; null: none. */
  default: string | null;
  description: string;
}

/** The members of JSON Schema that a catalog file's schema uses. */
interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
}

/** The JSON Schema of a catalog file, which editors of YAML take for completion. */
export function catalogJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(catalogInput({ allowPrivate: false }), { io: 'input', unrepresentable: 'any' });
}

/** Every key of a catalog file, parents before their members. A key without a description has an empty one. */
export function catalogKeys(): CatalogKey[] {
  return membersOf(catalogJsonSchema() as Schema, '');
}

/** The keys as tables in Markdown, one for each part of the file. */
export function catalogTables(): string {
  const parts = Map.groupBy(catalogKeys(), ({ path }) => /^\w+/.exec(path)?.[0] ?? path);
  return [...parts.values()]
    .map(([part, ...keys]) =>
      part === undefined
        ? ''
        : [
            `### \`${part.path}\``,
            '',
            part.description,
            '',
            '| key | takes | left out | |',
            '|---|---|---|---|',
            ...keys.map(
              (key) =>
                `| \`${key.path.replace(/^\w+(\[\])?\./, '')}\` | ${key.takes} | ${leftOut(key)} | ${key.description} |`,
            ),
          ].join('\n'),
    )
    .join('\n\n');
}

function leftOut({ required, default: value }: CatalogKey): string {
  if (required) return 'required';
  return value === null ? '' : `\`${value}\``;
}

function membersOf(schema: Schema, path: string): CatalogKey[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const place = path === '' ? name : `${path}.${name}`;
    const inner = innerOf(member);
    const list = inner.items === undefined ? null : innerOf(inner.items);
    const key: CatalogKey = {
      path: list?.properties === undefined ? place : `${place}[]`,
      takes: valuesOf(inner),
      required: schema.required?.includes(name) === true,
      default: member.default === undefined ? null : JSON.stringify(member.default),
      description: member.description ?? inner.description ?? '',
    };
    return [key, ...membersOf(list ?? inner, key.path)];
  });
}

/** The schema of the value itself: `null` stands for a key that is left out. */
function innerOf(schema: Schema): Schema {
  const real = schema.anyOf?.filter(({ type }) => type !== 'null');
  return real?.length === 1 ? (real[0] as Schema) : schema;
}

function valuesOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((one) => valuesOf(innerOf(one))))].join(' or ');
  if (schema.enum !== undefined) return oneOf(schema.enum.map((value) => `\`${String(value)}\``));
  const type = [schema.type].flat().find((one) => one !== 'null');
  if (type === 'array') {
    const items = innerOf(schema.items ?? {});
    return items.properties === undefined ? `list of ${valuesOf(items)}` : 'list';
  }
  if (type === 'integer') return rangeOf(schema);
  if (type === 'boolean') return '`true` or `false`';
  return type === 'object' ? 'map' : 'text';
}

function rangeOf({ minimum, maximum }: Schema): string {
  // Without a bound of the schema, JSON Schema names the limits of a safe integer.
  const bounded = (value: number | undefined) => value !== undefined && Number.isSafeInteger(value + Math.sign(value));
  return bounded(minimum) && bounded(maximum) ? `whole number from ${minimum} to ${maximum}` : 'whole number';
}

function oneOf(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}
