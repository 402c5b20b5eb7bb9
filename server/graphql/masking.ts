import { PothosValidationError } from '@pothos/core';
import { GraphQLError, Kind } from 'graphql';
import type { Log } from '../core/log.ts';
import { describeError } from '../runtime/http.ts';
import { ExpectedError, InputError, TooManyAttemptsError, transportError } from './errors.ts';

/** Masks errors before they leave the server, and selects what of them is logged. */

/** The log fields of a failed operation: kinds and places, never messages or arguments. */
export type GraphqlLog = Pick<Log, 'error'>;

/** The library's messages about pages use its own names of arguments. */
const pageSentence =
  'A page goes forward with first and after, or backward with last and before; a cursor is one that the same list gave.';

/**
 * Replaces an error that was not written for the client and logs its kind. Driver errors quote statements and values,
 * which never leave the server.
 */
export function maskError(error: unknown, log: GraphqlLog): Error {
  const original = originOf(error);
  if (original instanceof ExpectedError) return located(error, exposed(original));
  if (original instanceof PothosValidationError && /cursor|Arguments? "/.test(original.message)) {
    return located(error, exposed(new InputError([{ path: cursorPath(error, original), message: pageSentence }])));
  }
  if (original instanceof PothosValidationError || isImpossibleValue(original)) {
    return located(error, transportError('BAD_USER_INPUT', 'An argument of this field cannot be used.'));
  }
  if (error instanceof GraphQLError && (original === error || original instanceof GraphQLError)) return bare(error);
  log.error(describeError(original), 'a GraphQL operation failed');
  return located(error, transportError('INTERNAL', 'Something went wrong on our side.'));
}

/** The argument that has a forged cursor; none where two arguments do not go together. */
function cursorPath(error: unknown, { message }: Error): string[] {
  if (!message.startsWith('Invalid cursor') || !(error instanceof GraphQLError)) return [];
  const [field] = error.nodes ?? [];
  const given = field?.kind === Kind.FIELD ? (field.arguments ?? []).map(({ name }) => name.value) : [];
  return ['after', 'before'].filter((name) => given.includes(name)).slice(0, 1);
}

/** A forged cursor can hold a value that the column's type cannot: only the database detects it. */
function isImpossibleValue(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'P2007' || code === 'P2023';
}

/** A JSON parser's error quotes the text, and the library passes it on: it may hold a password. */
function bare(error: GraphQLError): GraphQLError {
  if (error.extensions['originalError'] === undefined) return error;
  delete error.extensions['originalError'];
  // Without it the library treats the error as one of the document, which is answered with 200.
  error.extensions['http'] = { status: 400 };
  return error;
}

function originOf(error: unknown): unknown {
  let origin = error;
  while (origin instanceof GraphQLError && origin.originalError !== undefined && origin.originalError !== null) {
    origin = origin.originalError;
  }
  return origin;
}

function located(error: unknown, replacement: GraphQLError): GraphQLError {
  if (!(error instanceof GraphQLError)) return replacement;
  return new GraphQLError(replacement.message, {
    ...(error.nodes === undefined ? {} : { nodes: error.nodes }),
    ...(error.path === undefined ? {} : { path: error.path }),
    extensions: replacement.extensions,
  });
}

/** An expected error of a field without a result union: queries have it at the top level. */
function exposed(error: ExpectedError): GraphQLError {
  return new GraphQLError(error.message, {
    extensions: {
      code: error.code,
      ...(error instanceof TooManyAttemptsError ? { retryAfterSeconds: error.retryAfterSeconds } : {}),
      ...('problems' in error ? { problems: error.problems } : {}),
    },
  });
}

/** A syntax error names the token that the parser met; a string token may be a password. */
export function withoutStrings(error: unknown): unknown {
  if (!(error instanceof GraphQLError) || !/String "/.test(error.message)) return error;
  return new GraphQLError(error.message.replace(/((?:Block)?String) ".*"/s, '$1'), {
    ...(error.source === undefined ? {} : { source: error.source }),
    ...(error.positions === undefined ? {} : { positions: error.positions }),
    extensions: error.extensions,
  });
}
