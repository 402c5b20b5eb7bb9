import { documentSet, operationFacts } from '../generated/console-facts.ts';
import type { PersistedDocument } from '../graphql.ts';

/** What the operations of the control plane are made of. Loaded with the first call, apart from the rest. */

type Variables = Record<string, unknown>;

/** How to run one operation. */
interface OperationFacts {
  changes: boolean;
  /** Where the operation takes an idempotency key. */
  idempotencyKey?: 'variables' | 'input' | undefined;
  /** From the data to the result, separated by dots. */
  path: string;
}

/** @internal An entry of the table of facts, whose comment says what the marks mean. */
export function parseFacts(name: string, entry: string): OperationFacts {
  const has = (mark: string) => entry.includes(mark);
  return {
    changes: has('!'),
    idempotencyKey: has('^') ? 'input' : has('+') ? 'variables' : undefined,
    path: entry.replace(/[!^+]+/, '') || name,
  };
}

/** The document of an operation. Those of some domains are apart: few programs call them. */
async function textOf(domain: string, name: string): Promise<string> {
  const all =
    domain === 'operator'
      ? (await import('../generated/operator-documents.ts')).operatorDocuments
      : domain === 'books'
        ? (await import('../generated/books-documents.ts')).booksDocuments
        : domain === 'machines'
          ? (await import('../generated/machines-documents.ts')).machinesDocuments
          : (await import('../generated/documents.ts')).documents;
  const text = all[name];
  if (text === undefined) throw new Error(`there is no operation ${domain}.${name}`);
  return text;
}

/** A key of its own for every call that has none, so that a retry after a lost answer makes nothing twice. */
function withIdempotencyKey(variables: Variables, place: 'variables' | 'input'): Variables {
  const keyed = (holder: Variables): Variables => ({
    ...holder,
    idempotencyKey: holder['idempotencyKey'] ?? randomId(),
  });
  if (place === 'variables') return keyed(variables);
  return { ...variables, input: keyed((variables['input'] ?? {}) as Variables) };
}

/** 128 bits by chance. `randomUUID` would do, but a page that came without TLS has none. */
function randomId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @internal The name that stands for the text of an operation: a service of the same version knows it. */
export function documentIdOf(operation: string): string {
  return `x-steyg:${documentSet}.${operation}`;
}

/** @internal What runs an operation: its document, or the name of that, with the variables to send. */
export async function prepare(
  { domain, name, persisted }: { domain: string; name: string; persisted: boolean },
  given: Variables = {},
): Promise<{ document: string | PersistedDocument; variables: Variables; repeatable: boolean; path: string }> {
  const { changes, idempotencyKey, path } = parseFacts(name, operationFacts[name] ?? '');
  const load = () => textOf(domain, name);
  return {
    document: persisted ? { id: documentIdOf(name), operation: name, load } : await load(),
    variables: idempotencyKey === undefined ? given : withIdempotencyKey(given, idempotencyKey),
    // Sent again after a failure, a mutation could happen twice, unless the server knows it by its key.
    repeatable: !changes || idempotencyKey !== undefined,
    path,
  };
}
