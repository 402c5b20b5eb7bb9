import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema } from 'graphql';
import { printConsole } from './console.ts';
import { type OpenApiDocument, printRestOperations, printRestQueries, printRestTypes } from './rest.ts';

/** Writes what is generated into `src/generated`. A test compares it with what is committed. */

const sdk = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, sdk), 'utf8');

/** The operation documents, by domain. */
export function readOperations(): Record<string, string> {
  const paths = globSync('operations/*.graphql', { cwd: fileURLToPath(sdk) }).sort();
  return Object.fromEntries(paths.map((path) => [basename(path, '.graphql'), read(path)]));
}

/** Path below `sdk/` and text of every generated file. */
export async function generate(): Promise<Record<string, string>> {
  const schema = buildSchema(read('../schema.graphql'));
  const document = JSON.parse(read('openapi.json')) as OpenApiDocument;
  const { types, methods, operations, facts, documents, rareDocuments } = await printConsole({
    schema,
    operations: readOperations(),
  });
  return {
    'src/generated/rest.ts': printRestTypes(document),
    'src/generated/rest-operations.ts': printRestOperations(document),
    'src/generated/rest-queries.ts': printRestQueries(document),
    'src/generated/console-types.ts': types,
    'src/generated/console.ts': methods,
    'src/generated/console-operations.ts': operations,
    'src/generated/console-facts.ts': facts,
    'src/generated/documents.ts': documents,
    ...Object.fromEntries(
      Object.entries(rareDocuments).map(([domain, text]) => [`src/generated/${domain}-documents.ts`, text]),
    ),
  };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await generate())) writeFileSync(new URL(path, sdk), text);
}
