/**
 * Prints TypeScript for an OpenAPI 3.1 document: a type for each component, and apart from them a table of the operations. It knows the
 * part of JSON Schema that the document uses and refuses anything else, so that nothing is typed wrongly in silence.
 */

export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}

interface OpenApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: JsonSchema }[];
}

export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  $ref?: string;
  description?: string;
  examples?: unknown[];
  [constraint: string]: unknown;
}

/** Members that narrow values without changing the type. */
const constraints = ['format', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'default', 'example'];
const shapes = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', '$ref'];
const understood = new Set([...shapes, 'anyOf', 'oneOf', 'description', 'examples', ...constraints]);

export function printRestTypes(document: OpenApiDocument): string {
  const types = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema)}export ${declaration(name, schema)}`,
  );
  const text = [...types, ...operationTypes(document)].join('\n\n');
  const units = ['UsdAmount', 'UsdNumber'].filter((name) => text.includes(`: ${name}`));
  const imports = units.length === 0 ? [] : [`import type { ${units.join(', ')} } from '../amounts.ts';`];
  return `${[header, ...imports, text].join('\n\n')}\n`;
}

/** The service's own answers, which the SDK names in camel case: the others are in the vendors' words. */
const ownAnswers = new Set([
  'Model',
  'ModelList',
  'UsageReport',
  'LedgerEntry',
  'UsageRequests',
  'UsageSummary',
  'KeyInfo',
  'Credits',
  'Estimate',
]);

/** Names of the query's parameters, apart: they are loaded with the first call that has some. */
export function printRestQueries({ paths }: OpenApiDocument): string {
  const rows = operationsOf(paths).flatMap(({ operation }) => {
    const names = queryOf(operation).map(({ name }) => literal(name));
    return names.length === 0 ? [] : [`  ${operation.operationId}: [${names.join(', ')}],`];
  });
  return `${header}\n\n/** The parameters of each operation that takes some. */\nexport const operationQueries = {\n${rows.join('\n')}\n} as const;\n`;
}

const queryOf = ({ parameters = [] }: OpenApiOperation) => parameters.filter((parameter) => parameter.in === 'query');

export function printRestOperations({ paths }: OpenApiDocument): string {
  const rows = operationsOf(paths).map(
    ({ method, path, operation }) =>
      `  ${operation.operationId}: { method: ${literal(method.toUpperCase())}, path: ${literal(path)} },`,
  );
  return `${header}\n\n/** Every operation of the data plane. */\nexport const operations = {\n${rows.join('\n')}\n} as const;\n`;
}

const header = '// Generated from openapi.json by `npm run generate:sdk`. Do not edit.';

function declaration(name: string, schema: JsonSchema): string {
  const isPlainObject = schema.type === 'object' && schema.anyOf === undefined && schema.oneOf === undefined;
  const type = typeOf(schema, { indent: '', own: ownAnswers.has(name) });
  return isPlainObject ? `interface ${name} ${type}` : `type ${name} = ${type};`;
}

/** `own`: members in snake case have their names in camel case. */
interface Place {
  indent: string;
  own: boolean;
}

function typeOf(schema: JsonSchema, place: Place): string {
  const unknown = Object.keys(schema).filter((key) => !understood.has(key));
  if (unknown.length > 0) throw new Error(`This printer does not know what ${unknown.join(', ')} means for a type.`);
  if (schema.$ref !== undefined) return schema.$ref.slice('#/components/schemas/'.length);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return unique(choices.map((choice) => typeOf(choice, place))).join(' | ');
  if ('const' in schema) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (schema.type === undefined) return 'unknown';
  return unique([schema.type].flat().map((type) => ofKind(type, schema, place))).join(' | ');
}

function ofKind(type: string, schema: JsonSchema, place: Place): string {
  switch (type) {
    case 'string':
      return schema['format'] === 'usd' ? 'UsdAmount' : type;
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return schema['format'] === 'usd' ? 'UsdNumber' : 'number';
    case 'array': {
      const item = typeOf(schema.items ?? {}, place);
      return /[|\s]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return objectType(schema, place);
    default:
      throw new Error(`This printer does not know the type ${type}.`);
  }
}

function objectType(schema: JsonSchema, { indent, own }: Place): string {
  const inner = `${indent}  `;
  const required = new Set(schema.required);
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const type = typeOf(member, { indent: inner, own });
    const optional = required.has(name) ? `: ${type}` : `?: ${type === 'unknown' ? type : `${type} | undefined`}`;
    return named({ name, own, type: `${optional};`, comment: member, indent: inner });
  });
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    members.push(`${inner}[member: string]: unknown;`);
  }
  return members.length === 0 ? 'object' : `{\n${members.join('\n')}\n${indent}}`;
}

interface Member {
  name: string;
  own: boolean;
  /** What follows the name. */
  type: string;
  comment: JsonSchema;
  indent: string;
}

/** A member; where it is the service's own, by its name in camel case. */
function named({ name, own, type, comment: about, indent }: Member): string {
  const camel = own ? name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) : name;
  return `${comment(about, indent)}${indent}${key(camel)}${type}`;
}

/** The query of each operation that takes one. */
function operationTypes({ paths }: OpenApiDocument): string[] {
  return operationsOf(paths).flatMap(({ operation }) => {
    const query = queryOf(operation);
    if (query.length === 0) return [];
    const place = { indent: '  ', own: true };
    const members = query.map(({ name, description, schema }) =>
      named({
        ...place,
        name,
        type: `?: ${typeOf(schema, place)} | undefined;`,
        comment: description === undefined ? {} : { description },
      }),
    );
    const name = `${operation.operationId.slice(0, 1).toUpperCase()}${operation.operationId.slice(1)}Query`;
    return [
      `/** What \`${operation.operationId}\` can be asked. */\nexport interface ${name} {\n${members.join('\n')}\n}`,
    ];
  });
}

function operationsOf(paths: OpenApiDocument['paths']) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

function comment({ description, examples }: JsonSchema, indent = ''): string {
  const example = examples?.[0];
  const lines = [
    ...(description === undefined ? [] : [description]),
    ...(example === undefined ? [] : [`@example ${JSON.stringify(example)}`]),
  ].map((line) => line.replaceAll('*/', '*\\/'));
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

function literal(value: unknown): string {
  return typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : JSON.stringify(value);
}

const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

const unique = (list: string[]) => [...new Set(list)];
