import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { catalogTables } from './catalog-schema.ts';

/** Writes the tables of keys into `server/CATALOG.md`: `npm run generate:catalog`. */

export const catalogPagePath: string = fileURLToPath(new URL('../CATALOG.md', import.meta.url));

const start = '<!-- keys -->\n';
const end = '\n<!-- end of keys -->';

/** The page with the tables of the present schema. */
export function withCatalogKeys(page: string): string {
  const [before = '', rest = ''] = page.split(start);
  return `${before}${start}\n${catalogTables()}\n${end}${rest.split(end)[1] ?? ''}`;
}

if (import.meta.main) await writeFile(catalogPagePath, withCatalogKeys(await readFile(catalogPagePath, 'utf8')));
