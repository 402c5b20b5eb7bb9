import { writeFileSync } from 'node:fs';
import { openApiDocument } from './document.ts';

/**
 * Prints the OpenAPI document to `sdk/openapi.json`, from which the SDK's types are generated. The address is a
 * placeholder: every deployment serves the document with its own.
 */
export const placeholderBaseUrl = 'https://steyg.example/api';

export function printedDocument(): string {
  return `${JSON.stringify(openApiDocument(placeholderBaseUrl), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(new URL('../../../sdk/openapi.json', import.meta.url), printedDocument());
