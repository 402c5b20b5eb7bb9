import { booksDocuments } from './generated/books-documents.ts';
import { documents } from './generated/documents.ts';
import { machinesDocuments } from './generated/machines-documents.ts';
import { operatorDocuments } from './generated/operator-documents.ts';
import { documentIdOf } from './internal/operations.ts';

/** The operations of `console` for whoever serves them, or passes nothing else. */

/**
 * The texts of all operations of `console`, each by the `documentId` under which a client with `persistedDocuments` sends it.
 *
 * @example
 * ```ts
 * import { persistedDocuments } from '@steyg/sdk/documents';
 * const allowed = new Map(Object.entries(persistedDocuments()));
 * ```
 */
export function persistedDocuments(): Record<string, string> {
  const texts = { ...documents, ...booksDocuments, ...machinesDocuments, ...operatorDocuments };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [documentIdOf(name), text]));
}
