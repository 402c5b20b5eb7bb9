/** Makes sample values for JSON schemas, for structured outputs and tool inputs. */

import { arrayOf, isObject, type ParsedObject } from './json.ts';

/** Schemas may refer to themselves; below this depth only what is required is filled in. */
const MAX_DEPTH = 8;

function resolve(schema: ParsedObject, root: ParsedObject): ParsedObject {
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema;
  let target: unknown = root;
  for (const step of reference.slice(2).split('/')) target = isObject(target) ? target[step] : undefined;
  return isObject(target) ? target : {};
}

function sampleString(schema: ParsedObject, text: string): string {
  if (schema['format'] === 'date-time') return '2026-01-01T00:00:00Z';
  if (schema['format'] === 'date') return '2026-01-01';
  const shortest = typeof schema['minLength'] === 'number' ? schema['minLength'] : 0;
  const longest = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : Number.POSITIVE_INFINITY;
  return text.padEnd(shortest, '.').slice(0, longest);
}

function sampleNumber(schema: ParsedObject): number {
  if (typeof schema['minimum'] === 'number') return schema['minimum'];
  if (typeof schema['exclusiveMinimum'] === 'number') return schema['exclusiveMinimum'] + 1;
  return typeof schema['maximum'] === 'number' ? Math.min(1, schema['maximum']) : 1;
}

function sampleObject(schema: ParsedObject, text: string, root: ParsedObject, depth: number): ParsedObject {
  const required = new Set(arrayOf(schema['required']));
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const wanted = properties.filter(([name]) => depth < MAX_DEPTH || required.has(name));
  return Object.fromEntries(wanted.map(([name, property]) => [name, sampleAt(property, text, root, depth + 1)]));
}

function sampleAt(value: unknown, text: string, root: ParsedObject, depth: number): unknown {
  // Recursive required properties have no finite instance, so they end with null.
  if (depth > 2 * MAX_DEPTH) return null;
  const schema = resolve(isObject(value) ? value : {}, root);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const [alternative] = [...arrayOf(schema['anyOf']), ...arrayOf(schema['oneOf']), ...arrayOf(schema['allOf'])];
  if (alternative !== undefined) return sampleAt(alternative, text, root, depth + 1);
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'object':
      return sampleObject(schema, text, root, depth);
    case 'array': {
      const length = typeof schema['minItems'] === 'number' ? Math.max(1, schema['minItems']) : 1;
      if (depth >= MAX_DEPTH) return [];
      return Array.from({ length }, () => sampleAt(schema['items'], text, root, depth + 1));
    }
    case 'integer':
    case 'number':
      return sampleNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'properties' in schema ? sampleObject(schema, text, root, depth) : sampleString(schema, text);
  }
}

/** A value that fits a JSON schema's types, names, enums and simple bounds, with `text` wherever a string goes. */
export function sampleOfSchema(schema: unknown, text: string): unknown {
  return sampleAt(schema, text, isObject(schema) ? schema : {}, 0);
}
