import { isObject, type Json, type JsonObject } from './json.ts';

/** Keywords that the OpenAI protocols' strict mode refuses. */
const NOT_STRICT = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
];

/**
 * Whether a schema meets the conditions of strict mode: every object closed, every property required. Forcing
 * other schemas into that shape would change what the client asked for.
 */
export function isStrictSchema(schema: Json): boolean {
  if (!isObject(schema)) return false;
  if (NOT_STRICT.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  return isClosedObject(schema) && subschemas(schema).every(isStrictSchema);
}

function isClosedObject(schema: JsonObject): boolean {
  const type = schema.type;
  const describesObject =
    type === 'object' || (Array.isArray(type) && type.includes('object')) || 'properties' in schema;
  if (!describesObject) return true;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  return schema.additionalProperties === false && properties.every((name) => required.has(name));
}

function subschemas(schema: JsonObject): Json[] {
  const maps = [schema.properties, schema.$defs, schema.definitions].flatMap((map) =>
    isObject(map) ? Object.values(map) : [],
  );
  const lists = [schema.anyOf, schema.prefixItems].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...maps, ...lists, ...(schema.items === undefined ? [] : [schema.items])];
}

/** The schema of a tool without parameters. */
const EMPTY_SCHEMA: JsonObject = { type: 'object', properties: {} };

/** Adds the `type` that the Messages protocol insists on; arguments are objects in every protocol. */
export function objectSchema(schema: JsonObject | null): JsonObject {
  if (schema === null) return EMPTY_SCHEMA;
  return schema.type === undefined ? { type: 'object', ...schema } : schema;
}
