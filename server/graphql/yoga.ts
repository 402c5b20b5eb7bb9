import { PothosValidationError } from '@pothos/core';
import { GraphQLError, type GraphQLSchema, NoSchemaIntrospectionCustomRule, validate } from 'graphql';
import { createYoga, isAsyncIterable, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { actorOf } from '../people/principal.ts';
import { describeError } from '../runtime/http.ts';
import type { GraphqlContext } from './context.ts';
import { ExpectedError, InputError, TooManyAttemptsError, transportError } from './errors.ts';
import { cleanTextRule, findDirtyText, type Limits, limitsRule } from './limits.ts';

/** What of a failed operation goes into the log: kinds and places, never messages or arguments. */
export interface GraphqlLog {
  error(fields: object, message: string): void;
}

/** Live subscriptions that one principal may keep open on one process. */
const mostSubscriptions = 4;

/** Validation stops here: a document with more mistakes than this is answered with these. */
const mostValidationErrors = 10;

/**
 * The GraphQL engine without its HTTP edge: parsing, validation, execution, masking. In production the schema is not
 * told: no introspection, no suggestions in error messages.
 */
export function createEngine(options: {
  schema: GraphQLSchema;
  production: boolean;
  limits: Limits;
  log: GraphqlLog;
}): YogaServerInstance<GraphqlContext, object> {
  const { schema, production, limits, log } = options;
  return createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    maskedErrors: { maskError: (error) => maskError(error, log) },
    plugins: [
      parsing(limits),
      validation({ limits, production }),
      execution({ production }),
      subscriptionLimit(),
      completeErrors(),
    ],
  });
}

function parsing(limits: Limits): Plugin<GraphqlContext> {
  return {
    onParse: ({ parseFn, setParseFn }) => {
      const parse = parseFn as (source: unknown, options?: object) => unknown;
      setParseFn((source: unknown, settings?: object) => {
        try {
          return parse(source, { ...settings, maxTokens: limits.tokens });
        } catch (error) {
          // The parser says it as a syntax error; for the client it is the same kind of answer as the other limits.
          if (error instanceof GraphQLError && error.message.includes('more than')) {
            throw transportError('DOCUMENT_TOO_LARGE', `The document exceeds the limit of ${limits.tokens} tokens.`);
          }
          throw error;
        }
      });
    },
  };
}

function validation(options: { limits: Limits; production: boolean }): Plugin<GraphqlContext> {
  const limiting = limitsRule(options.limits);
  return {
    onValidate: ({ addValidationRule, setValidationFn }) => {
      addValidationRule(limiting);
      addValidationRule(cleanTextRule);
      if (options.production) addValidationRule(NoSchemaIntrospectionCustomRule);
      setValidationFn(((schema, document, rules) => {
        // Limits first and alone: the other rules cost time in proportion to what these refuse.
        const oversize = validate(schema, document, [limiting]);
        if (oversize.length > 0) return oversize;
        return validate(schema, document, rules, {
          maxErrors: mostValidationErrors,
          hideSuggestions: options.production,
        });
      }) as typeof validate);
    },
  };
}

function execution(options: { production: boolean }): Plugin<GraphqlContext> {
  const prepare = (args: object) => {
    Object.assign(args, { hideSuggestions: options.production });
    return findDirtyText((args as { variableValues?: unknown }).variableValues);
  };
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      const problem = prepare(args);
      if (problem !== null) setResultAndStopExecution({ errors: [problem] });
    },
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const problem = prepare(args);
      if (problem !== null) setResultAndStopExecution({ errors: [problem] });
    },
  };
}

function subscriberOf(context: GraphqlContext): string {
  return context.principal.kind === 'nobody' ? `address:${context.ip}` : actorOf(context.principal);
}

function subscriptionLimit(): Plugin<GraphqlContext> {
  const open = new Map<string, number>();
  return {
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const who = subscriberOf(args.contextValue);
      const count = open.get(who) ?? 0;
      if (count >= mostSubscriptions) {
        const message = `At most ${mostSubscriptions} subscriptions can be open at once.`;
        setResultAndStopExecution({ errors: [transportError('TOO_MANY_SUBSCRIPTIONS', message)] });
        return undefined;
      }
      open.set(who, count + 1);
      let ended = false;
      const leave = () => {
        if (ended) return;
        ended = true;
        const left = (open.get(who) ?? 1) - 1;
        if (left > 0) open.set(who, left);
        else open.delete(who);
      };
      // A client that goes away is told by the signal alone when the source never yields again.
      (args.contextValue as GraphqlContext).signal.addEventListener('abort', leave, { once: true });
      return {
        onSubscribeResult: ({ result }) => {
          if (!isAsyncIterable(result)) leave();
          return { onEnd: leave };
        },
        onSubscribeError: leave,
      };
    },
  };
}

/** What the library checks of a page, it says without the names of the arguments being ours to translate. */
const pageSentence =
  'A page goes forward with first and after, or backward with last and before; a cursor is one that the same list gave.';

/**
 * Whatever was not written for the client is replaced, and its kind is logged. Driver errors quote statements and
 * values; nothing of them leaves.
 */
function maskError(error: unknown, log: GraphqlLog): Error {
  const original = originOf(error);
  if (original instanceof ExpectedError) return located(error, exposed(original));
  if (original instanceof PothosValidationError && /cursor|Arguments? "/.test(original.message)) {
    return located(error, exposed(new InputError([{ path: [], message: pageSentence }])));
  }
  if (original instanceof PothosValidationError || isImpossibleValue(original)) {
    return located(error, transportError('BAD_USER_INPUT', 'An argument of this field cannot be used.'));
  }
  if (error instanceof GraphQLError && (original === error || original instanceof GraphQLError)) return bare(error);
  log.error(describeError(original), 'a GraphQL operation failed');
  return located(error, transportError('INTERNAL', 'Something went wrong on our side.'));
}

/** A cursor that a client made up can hold what a column's type cannot: the database says so, and nothing else does. */
function isImpossibleValue(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'P2007' || code === 'P2023';
}

/** What could not be parsed is quoted by the parser's own error, which the library hands on: a password may be in it. */
function bare(error: GraphQLError): GraphQLError {
  if (error.extensions['originalError'] === undefined) return error;
  delete error.extensions['originalError'];
  // Without it the library would take the mistake for one of the document, which is answered with 200.
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

/** An expected error of a field that has no result union: queries say it at the top level. */
function exposed(error: ExpectedError): GraphQLError {
  return new GraphQLError(error.message, {
    extensions: {
      code: error.code,
      ...(error instanceof TooManyAttemptsError ? { retryAfterSeconds: error.retryAfterSeconds } : {}),
      ...('problems' in error ? { problems: error.problems } : {}),
    },
  });
}

/**
 * Every error has a code: what the library says by itself, before anything runs, is about variables. People quote the
 * request id when they report a failure; the log line of it carries the same one.
 */
function completeErrors(): Plugin<GraphqlContext> {
  return {
    onExecutionResult: ({ result, context }) => {
      for (const one of Array.isArray(result) ? result : [result]) {
        for (const error of (one as { errors?: readonly GraphQLError[] } | undefined)?.errors ?? []) {
          error.extensions['code'] ??= 'BAD_USER_INPUT';
          if (error.extensions['code'] === 'INTERNAL')
            error.extensions['requestId'] = (context as unknown as GraphqlContext).requestId;
        }
      }
    },
  };
}
