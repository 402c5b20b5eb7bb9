import { PothosValidationError } from '@pothos/core';
import { GraphQLError, Kind } from 'graphql';
import type { Log } from '../../core/log.ts';
import { describeError } from '../../runtime/http.ts';
import { BusyError, ExpectedError, InputError, TooManyAttemptsError, transportError } from '../types/errors.ts';

/** Masks errors before they leave the server, and selects what of them is logged. */

/** The log fields of a failed operation: kinds and places, never messages or arguments. */
export type GraphqlLog = Pick<Log, 'error'>;

/** The library's messages about pages use its own names of arguments. */
const pageSentence = 'A page goes forward with first and after; a cursor is one that the same list gave.';

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
  if (isOutOfReach(original)) {
    const message = 'The database did not answer in time; try again in a moment.';
    return located(error, transportError('OVERLOADED', message, { retryAfterSeconds }));
  }
  return located(error, transportError('INTERNAL', 'Something went wrong on our side.'));
}

const retryAfterSeconds = 2;

/**
 * No connection, none in time, or a statement that took too long: the same operation may succeed in a moment. The codes
 * are PostgreSQL's (https://www.postgresql.org/docs/current/errcodes-appendix.html), Node's and Prisma's
 * (https://www.prisma.io/docs/orm/reference/error-reference); the driver's own timeouts have a message alone.
 */
function isOutOfReach(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    /^(57014|57P0[1-5]|53...|08...|ECONN\w+|EPIPE|ETIMEDOUT|P1001|P1002|P1008|P1017|P2024)$/.test(code) ||
    /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated\b.*)$/.test(error.message)
  );
}

/** The argument that has a forged cursor. */
function cursorPath(error: unknown, { message }: Error): string[] {
  if (!message.startsWith('Invalid cursor') || !(error instanceof GraphQLError)) return [];
  const [field] = error.nodes ?? [];
  const given = field?.kind === Kind.FIELD ? (field.arguments ?? []).map(({ name }) => name.value) : [];
  return given.includes('after') ? ['after'] : [];
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
      ...(error instanceof TooManyAttemptsError || error instanceof BusyError
        ? { retryAfterSeconds: error.retryAfterSeconds }
        : {}),
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
