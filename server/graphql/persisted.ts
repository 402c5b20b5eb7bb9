import { readFile } from 'node:fs/promises';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import type { Plugin } from 'graphql-yoga';
import { z } from 'zod';
import type { GraphqlContext } from './context.ts';
import { transportError } from './types/errors.ts';

/**
 * Operations that clients send by name: the dashboard's pages then carry no documents. The form is `documentId` of GraphQL
 * over HTTP, appendix "Persisted Documents" (https://graphql.github.io/graphql-over-http/draft/). Any other operation may
 * be sent as a text: this saves bytes, and permits nothing.
 */
export type PersistedDocuments = ReadonlyMap<string, string>;

const file = z.record(z.string(), z.string());

/** Reads what the dashboard's build has left, text by id. Nothing without a build: clients then send texts. */
export async function readPersistedDocuments(path: string): Promise<PersistedDocuments> {
  const text = await readFile(path, 'utf8').catch(() => '{}');
  return new Map(Object.entries(file.parse(JSON.parse(text))));
}

/** The name of the parameter, which the engine has to let pass. */
export const documentId = 'documentId';

export function persisted(documents: PersistedDocuments): Plugin<GraphqlContext> {
  return usePersistedOperations<GraphqlContext>({
    allowArbitraryOperations: true,
    extractPersistedOperationId: (params) => {
      const id = (params as Record<string, unknown>)[documentId];
      return typeof id === 'string' ? id : null;
    },
    getPersistedOperation: (id) => documents.get(id) ?? null,
    customErrors: {
      keyNotFound: () =>
        transportError('BAD_USER_INPUT', 'Send a `query`, or the `documentId` of a document that is known.'),
      notFound: () =>
        transportError(
          'PERSISTED_DOCUMENT_NOT_FOUND',
          'No document of this id is known here; send its text as `query`.',
        ),
    },
  });
}
