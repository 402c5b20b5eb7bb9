import type { GraphQLSchema } from 'graphql';
import { openApiDocument } from '../gateway/openapi/document.ts';
import { describeErrors } from '../gateway/refusals/error-reference.ts';
import { createRefusals, type Pointers } from '../gateway/refusals/refusals.ts';
import { conflictTexts } from '../graphql/types/conflict-texts.ts';
import { codeTexts } from '../graphql/types/error-texts.ts';
import type { Documentation } from '../pages/docs/docs.ts';
import type { DocumentedError } from '../pages/docs/errors.ts';

/** What the pages of documentation are made of: both APIs as they are built. */

export function createDocumentation({
  publicUrl,
  schema,
}: {
  publicUrl: string;
  schema: GraphQLSchema;
}): Documentation {
  return { schema, openApi: openApiDocument(`${publicUrl}/api`), errors: documentedErrors(publicUrl) };
}

/** The errors of both APIs: names of the REST API in lower case, codes of GraphQL in capitals. */
function documentedErrors(publicUrl: string): DocumentedError[] {
  const refusals = createRefusals(refusalPointers({ publicUrl }));
  return [
    ...describeErrors(refusals).map(
      ({ name, refusals: sent, texts }): DocumentedError => ({
        name,
        api: 'rest',
        statuses: [...new Set(sent.flatMap(({ status, messagesStatus }) => [status, messagesStatus ?? status]))],
        codes: [...new Set(sent.flatMap(({ code }) => code ?? []))],
        sentences: [...new Set(sent.map(({ message }) => message))],
        isFinal: sent.every(({ final }) => final === true),
        texts,
      }),
    ),
    // Those that have a text of their own among the codes of expected errors keep it.
    ...Object.entries(conflictTexts).flatMap(([name, texts]): DocumentedError[] => {
      const [en, vi] = [texts.en, texts.vi].map(([title, cause, cure]) => ({ title, cause, cure }));
      if (name in codeTexts || en === undefined || vi === undefined) return [];
      return [
        { name, api: 'graphql', statuses: [200], codes: [name], sentences: [], isFinal: true, texts: { en, vi } },
      ];
    }),
    ...Object.entries(codeTexts).map(
      ([name, { status, isFinal, en, vi }]): DocumentedError => ({
        name,
        api: 'graphql',
        statuses: [status],
        codes: [name],
        sentences: [],
        isFinal,
        texts: { en, vi },
      }),
    ),
  ];
}

/** The addresses in the sentences of refusals, below the public one at the moment of the sentence. */
export function refusalPointers(at: { readonly publicUrl: string }): Pointers {
  return {
    get topUpUrl() {
      return `${at.publicUrl}/topup`;
    },
    get statusUrl() {
      return `${at.publicUrl}/status`;
    },
    get errorsUrl() {
      return `${at.publicUrl}/docs/errors`;
    },
  };
}
