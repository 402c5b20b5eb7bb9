import { createHash } from 'node:crypto';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  stripIgnoredCharacters,
  typeFromAST,
  validate,
  visit,
} from 'graphql';

/**
 * Makes the control plane's part of the SDK from the schema and the operation documents: one typed method for each
 * operation. A file of documents is a domain; an operation's name is the method's name.
 */

export interface ConsoleInput {
  schema: GraphQLSchema;
  /** Text of `operations/<domain>.graphql`, by domain. */
  operations: Record<string, string>;
}

export interface ConsoleOutput {
  /** Types of variables and results, enums and inputs. */
  types: string;
  /** The methods' interfaces. */
  methods: string;
  /** Their names, each with a mark of what it returns. */
  operations: string;
  /** What else it takes to run each, but its text. */
  facts: string;
  /** The documents, apart: they are loaded with the first call. */
  documents: string;
  /** Those of the domains in `rare`, each by its domain. */
  rareDocuments: Record<string, string>;
}

interface Operation {
  domain: string;
  name: string;
  kind: 'query' | 'mutation' | 'subscription';
  node: OperationDefinitionNode;
  /** From the data to what the method returns: single fields are stepped into. */
  path: string[];
  /** TypeScript for what the method returns. */
  result: string;
  description: string;
  /** Whether it answers a list in pages. */
  pages: boolean;
  idempotencyKey: 'variables' | 'input' | null;
}

/** Domains that few programs call: the documents of each are loaded by themselves. */
const rare = ['books', 'machines', 'operator'];

const header = '// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.\n';
const scalars = {
  ID: 'string',
  UsdAmount: 'UsdAmount',
  VndAmount: 'VndAmount',
  BigInt: 'string',
  DateTime: 'string',
  Json: 'unknown',
};

/** Amounts that the schema has as plain strings and whole numbers; in TypeScript their types say the unit. */
const amounts = [
  ['Estimate', 'hold', 'UsdAmount'],
  ['Estimate', 'least', 'UsdAmount'],
  ['Estimate', 'most', 'UsdAmount'],
  ['TimelineEvent', 'vnd', 'VndAmount'],
] as const;

function sayUnits(schema: GraphQLSchema): void {
  for (const [owner, name, unit] of amounts) {
    const type = schema.getType(owner);
    const scalar = schema.getType(unit);
    const field = isObjectType(type) ? type.getFields()[name] : undefined;
    if (field === undefined || !isScalarType(scalar)) throw new Error(`The schema has no ${owner}.${name}.`);
    field.type = isNonNullType(field.type) ? new GraphQLNonNull(scalar) : scalar;
  }
}

export async function printConsole({ schema, operations: texts }: ConsoleInput): Promise<ConsoleOutput> {
  sayUnits(schema);
  const domains = Object.keys(texts).sort();
  const parsed = new Map(domains.map((domain) => [domain, parse(texts[domain] ?? '')]));
  const whole: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [...parsed.values()].flatMap(({ definitions }) => definitions),
  };
  const faults = validate(schema, whole);
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.message).join('\n'));

  const fragments = new Map(
    whole.definitions.flatMap((definition) =>
      definition.kind === 'FragmentDefinition' ? [[definition.name.value, definition] as const] : [],
    ),
  );
  const operations = [...parsed].flatMap(([domain, document]) =>
    document.definitions.flatMap((definition) =>
      definition.kind === 'OperationDefinition' ? [describe(schema, domain, definition)] : [],
    ),
  );
  const types = await codegen({
    schema: undefined as never,
    schemaAst: schema,
    documents: [{ document: whole }],
    filename: 'types.ts',
    config: { scalars, useTypeImports: true, nonOptionalTypename: false },
    plugins: [{ operations: {} }],
    pluginMap: { operations: typescriptOperations as never },
  });
  const documentsOf = (name: string, isOf: (domain: string) => boolean) =>
    printDocuments(
      name,
      operations.filter(({ domain }) => isOf(domain)),
      fragments,
    );
  const documents = documentsOf('documents', (domain) => !rare.includes(domain));
  const rareDocuments = Object.fromEntries(
    rare.map((each) => [each, documentsOf(`${each}Documents`, (domain) => domain === each)]),
  );
  return {
    types: `${header}\nimport type { UsdAmount, VndAmount } from '../amounts.ts';\n\n${types.replaceAll(/[ \t]+$/gm, '').trimEnd()}\n`,
    methods: printMethods(schema, operations),
    operations: printOperations(operations),
    facts: printFacts(operations, digest([documents, ...Object.values(rareDocuments)])),
    documents,
    rareDocuments,
  };
}

/** Names this set of documents: another text of one of them makes another name. */
function digest(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('')).digest('hex').slice(0, 16);
}

function describe(schema: GraphQLSchema, domain: string, node: OperationDefinitionNode): Operation {
  const name = node.name?.value ?? '';
  const kind = node.operation;
  const root = schema.getRootType(node.operation);
  if (name === '' || root === undefined || root === null) throw new Error(`An operation of ${domain} has no name.`);
  const steps = stepsInto(schema, root, node.selectionSet);
  const type = `${capital(name)}${capital(kind)}`;
  const last = steps.at(-1);
  if (last === undefined) throw new Error(`${name} asks for more than one field at its root.`);
  const variables = new Map(node.variableDefinitions?.map((each) => [each.variable.name.value, each.type]));
  const input = variables.get('input');
  const inputType = input === undefined ? undefined : getNamedType(typeFromAST(schema, input as never));
  return {
    domain,
    name,
    kind,
    node,
    path: steps.map(({ name: step }) => step),
    result: resultType(type, steps),
    description: node.description?.value ?? last.description ?? '',
    pages: variables.has('after') && isConnection(getNamedType(last.type)),
    idempotencyKey: variables.has('idempotencyKey')
      ? 'variables'
      : isInputObjectType(inputType) && inputType.getFields()['idempotencyKey'] !== undefined
        ? 'input'
        : null,
  };
}

type Field = GraphQLField<unknown, unknown>;

/** The fields from the root down, as long as each is the only one: what is below the last is the result. */
function stepsInto(schema: GraphQLSchema, type: GraphQLObjectType, { selections }: SelectionSetNode): Field[] {
  const [only, ...others] = selections;
  if (only === undefined || others.length > 0 || only.kind === 'FragmentSpread') return [];
  if (only.kind === 'InlineFragment') {
    const narrowed = schema.getType(only.typeCondition?.name.value ?? type.name);
    return isObjectType(narrowed) ? stepsInto(schema, narrowed, only.selectionSet) : [];
  }
  const field = type.getFields()[only.name.value];
  if (field === undefined) return [];
  const below = getNamedType(field.type);
  const isList = isListType(isNonNullType(field.type) ? field.type.ofType : field.type);
  if (only.selectionSet === undefined || isList || isUnionType(below)) return [field];
  return [field, ...stepsInto(schema, below as GraphQLObjectType, only.selectionSet)];
}

function resultType(type: string, steps: readonly Field[]): string {
  return steps.reduce((above, { name }, index) => {
    const before = steps[index - 1];
    if (before !== undefined && isInterfaceType(getNamedType(before.type))) return `Narrowed<${above}, '${name}'>`;
    return before === undefined || isNonNullType(before.type) ? `${above}['${name}']` : `Below<${above}, '${name}'>`;
  }, type);
}

const isConnection = (type: unknown) => isObjectType(type) && type.getFields()['edges'] !== undefined;

function printMethods(schema: GraphQLSchema, operations: readonly Operation[]): string {
  const domains = [...new Set(operations.map(({ domain }) => domain))];
  const used = operations.flatMap(({ name, kind }) => {
    const type = `${capital(name)}${capital(kind)}`;
    return [type, `${type}Variables`];
  });
  const interfaces = domains.map((domain) => {
    const own = operations.filter((operation) => operation.domain === domain);
    return `/** Operations on ${words(domain)}. */\nexport interface ${interfaceName(domain)} {\n${own
      .map((operation) => printMethod(schema, operation))
      .join('\n')}\n}`;
  });
  const results = operations.map(
    ({ name, result }) => `/** What \`${name}\` answers. */\nexport type ${resultName(name)} = ${result};`,
  );
  const members = domains.map(
    (domain) => `  /** Operations on ${words(domain)}. */\n  ${domain}: ${interfaceName(domain)};`,
  );
  return [
    header,
    `import type { Below, Narrowed, Paged, Subscription } from '../console.ts';`,
    `import type { Pending } from '../internal/pending.ts';`,
    `import type { RequestOptions } from '../options.ts';`,
    `import type {\n${used
      .sort()
      .map((type) => `  ${type},`)
      .join('\n')}\n} from './console-types.ts';\n`,
    ...results.map((result) => `${result}\n`),
    ...interfaces.map((each) => `${each}\n`),
    `/** Every operation of the control plane, by domain. */\nexport interface Console {\n${members.join('\n')}\n}\n`,
  ].join('\n');
}

function printOperations(operations: readonly Operation[]): string {
  const table = [...new Set(operations.map(({ domain }) => domain))].map((domain) => {
    const own = operations.filter((operation) => operation.domain === domain);
    return `  ${domain}: [\n${own.map((operation) => `    '${printName(operation)}',`).join('\n')}\n  ],`;
  });
  return `${header}\n/** The operations of the control plane by domain: \`~\` marks a subscription, \`*\` a list in pages. */\nexport const consoleOperations = {\n${table.join('\n')}\n} as const;\n`;
}

function printFacts(operations: readonly Operation[], documentSet: string): string {
  return `${header}
/**
 * What else it takes to run each operation: where its result stands in the data (nothing: at the operation's name), and
 * marks. \`!\` changes something; \`^\` the input takes an idempotency key, \`+\` the variables do.
 */
export const operationFacts: Record<string, string> = {
${operations.map((operation) => `  ${operation.name}: '${factsOf(operation)}',`).join('\n')}
};

/** Names the set of the operations' texts. */
export const documentSet = '${documentSet}';
`;
}

function printMethod(schema: GraphQLSchema, operation: Operation): string {
  const { domain, name, kind, description, pages } = operation;
  const definitions = operation.node.variableDefinitions ?? [];
  const needed = definitions.filter(
    ({ type, defaultValue }) => type.kind === 'NonNullType' && defaultValue === undefined,
  );
  const samples = needed.map(({ variable, type }) => {
    const inputType = typeFromAST(schema, type as never) as unknown as GraphQLInputType;
    return `${variable.name.value}: ${sample(inputType, variable.name.value)}`;
  });
  const call = `steyg.console.${domain}.${name}(${samples.length === 0 ? '' : `{ ${samples.join(', ')} }`})`;
  const result = resultName(name);
  const returns =
    kind === 'subscription' ? `Subscription<${result}>` : pages ? `Paged<${result}>` : `Pending<${result}>`;
  const example =
    kind === 'subscription'
      ? `for await (const event of ${call}) console.log(event);`
      : pages
        ? `for await (const each of ${call}) console.log(each);`
        : `const result = await ${call};`;
  const variables = `variables${needed.length === 0 ? '?' : ''}: ${capital(name)}${capital(kind)}Variables`;
  const text = description.split('\n').map((line) => `   * ${line}`.trimEnd());
  return [
    '  /**',
    ...text,
    '   *',
    '   * @example',
    '   * ```ts',
    `   * ${example}`,
    '   * ```',
    '   */',
    `  ${name}(${variables}, options?: RequestOptions): ${returns};`,
  ].join('\n');
}

/** An operation in one word, since every program loads the table: its name and the marks of what it returns. */
function printName({ name, kind, pages }: Operation): string {
  return `${name}${kind === 'subscription' ? '~' : pages ? '*' : ''}`;
}

function factsOf({ name, kind, path, idempotencyKey }: Operation): string {
  const place = path.join('.') === name ? '' : path.join('.');
  const key = idempotencyKey === 'input' ? '^' : idempotencyKey === 'variables' ? '+' : '';
  return `${place}${kind === 'mutation' ? '!' : ''}${key}`;
}

/** A value that such a variable could have, for the example. */
function sample(type: GraphQLInputType, name: string): string {
  if (isNonNullType(type)) return sample(type.ofType, name);
  if (isListType(type)) return `[${sample(type.ofType, name)}]`;
  if (isEnumType(type)) return `'${type.getValues()[0]?.name ?? ''}'`;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return required.length === 0
      ? '{}'
      : `{ ${required.map((field) => `${field.name}: ${sample(field.type, field.name)}`).join(', ')} }`;
  }
  switch (type.name) {
    case 'Int':
      return '1';
    case 'Boolean':
      return 'true';
    case 'ID':
      return name === 'id' ? 'id' : `'${name.replace(/Id$/, '')}-id'`;
    case 'UsdAmount':
      return "'10'";
    case 'VndAmount':
      return "'250000'";
    case 'DateTime':
      return "'2026-12-31T00:00:00Z'";
    default:
      return /^(password|secret|token)/i.test(name) ? name : `'${name}'`;
  }
}

function printDocuments(
  name: string,
  operations: readonly Operation[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): string {
  const needed = new Map(operations.map((operation) => [operation, spreadsOf(operation.node, fragments)]));
  const all = [...new Set([...needed.values()].flat())].sort();
  const constants = all.map((name) => {
    const fragment = fragments.get(name);
    return `const ${lower(name)} = ${literal(stripIgnoredCharacters(print(fragment as FragmentDefinitionNode)))};`;
  });
  const entries = operations.map((operation) => {
    const { description: _description, ...bare } = operation.node;
    const own = literal(stripIgnoredCharacters(print(bare)));
    const parts = [own, ...(needed.get(operation) ?? []).map(lower)];
    return `  ${operation.name}: ${parts.join(' + ')},`;
  });
  return [
    header,
    ...constants,
    '',
    '/** The text of each operation. */',
    `export const ${name}: Record<string, string> = {\n${entries.join('\n')}\n};`,
    '',
  ].join('\n');
}

/** Names of the fragments that a document needs, directly or through others. */
function spreadsOf(node: OperationDefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): string[] {
  const found = new Set<string>();
  const collect = (from: OperationDefinitionNode | FragmentDefinitionNode): void => {
    visit(from, {
      FragmentSpread({ name: { value } }) {
        const fragment = fragments.get(value);
        if (fragment === undefined || found.has(value)) return;
        found.add(value);
        collect(fragment);
      },
    });
  };
  collect(node);
  return [...found].sort();
}

const capital = (name: string) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
const lower = (name: string) => `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
const interfaceName = (domain: string) => `Console${capital(domain)}`;
const resultName = (operation: string) => `${capital(operation)}Answer`;
const words = (domain: string) => domain.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
