import { readFileSync, writeFileSync } from 'node:fs';
import { printRest } from './rest.ts';

/** Writes what is generated into `src/generated`. A test compares it with what is committed. */

const at = (path: string) => new URL(path, import.meta.url);

/** Path below `sdk/` and text of every generated file. */
export async function generate(): Promise<Record<string, string>> {
  const rest = printRest(JSON.parse(readFileSync(at('../openapi.json'), 'utf8')));
  return { 'src/generated/rest.ts': rest };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await generate())) writeFileSync(at(`../${path}`), text);
}
