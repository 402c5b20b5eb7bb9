import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { printedSchema } from './schema.ts';

/** Writes `schema.graphql`: `npm run generate:schema`. */

export const schemaPath: string = fileURLToPath(new URL('../../schema.graphql', import.meta.url));

if (import.meta.main) await writeFile(schemaPath, printedSchema());
