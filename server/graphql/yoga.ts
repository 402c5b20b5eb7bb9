import {
  type ExecutionArgs,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  ValuesOfCorrectTypeRule,
  validate,
} from 'graphql';
import { createYoga, isAsyncIterable, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Rates } from '../shared/rates.ts';
import type { GraphqlContext } from './context.ts';
import { costError, operationCost } from './guard/cost.ts';
import { cleanTextRule, findDirtyText, type Limits, limitsRule } from './guard/limits.ts';
import { type GraphqlLog, maskError, withoutStrings } from './guard/masking.ts';
import { operationOf, valuesRule, variableErrors } from './guard/variables.ts';
import { documentId, type PersistedDocuments, persisted } from './persisted.ts';
import { transportError } from './types/errors.ts';

/** Maximum live subscriptions of one principal on one process. */
const maxSubscriptions = 4;

/** Validation stops after this many mistakes. */
const maxValidationErrors = 10;

/**
 * The GraphQL engine without its HTTP edge: parsing, validation, execution, masking. In production the schema is
 * hidden: no introspection, no suggestions in error messages.
 */
export function createEngine(options: {
  schema: GraphQLSchema;
  production: boolean;
  limits: Limits;
  /** Limits the total cost of a principal's operations. */
  costs: Rates;
  persistedDocuments: PersistedDocuments;
  log: GraphqlLog;
}): YogaServerInstance<GraphqlContext, object> {
  const { schema, production, limits, costs, persistedDocuments, log } = options;
  return createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    extraParamNames: [documentId],
    maskedErrors: { maskError: (error) => maskError(error, log) },
    plugins: [
      persisted(persistedDocuments),
      parsing(limits),
      validation({ limits, production }),
      execution({ production, costs }),
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
          // The parser reports it as a syntax error; the client gets the answer of the other limits.
          if (error instanceof GraphQLError && error.message.includes('more than')) {
            throw transportError('DOCUMENT_TOO_LARGE', `The document exceeds the limit of ${limits.tokens} tokens.`);
          }
          throw withoutStrings(error);
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
        // Limits run first and alone: the cost of the other rules grows with what these refuse.
        const oversize = validate(schema, document, [limiting]);
        if (oversize.length > 0) return oversize;
        const safe = rules?.map((rule) => (rule === ValuesOfCorrectTypeRule ? valuesRule : rule));
        return validate(schema, document, safe, {
          maxErrors: maxValidationErrors,
          hideSuggestions: options.production,
        });
      }) as typeof validate);
    },
  };
}

/**
 * Checks an operation's input, and charges its cost to its principal, before it runs. Lists that turn out longer than
 * estimated are charged afterwards.
 */
function execution(options: { production: boolean; costs: Rates }): Plugin<GraphqlContext> {
  const { production, costs } = options;
  const prepare = (args: ExecutionArgs): { errors: readonly GraphQLError[] } | { cost: number } => {
    Object.assign(args, { hideSuggestions: production });
    const { schema, document, operationName } = args;
    const variables = args.variableValues ?? {};
    const context = args.contextValue as GraphqlContext;
    const dirty = findDirtyText(variables);
    if (dirty !== null) return { errors: [dirty] };
    const operation = operationOf(document, operationName);
    // The library's error lists the operations.
    if (operation === undefined) return { cost: 0 };
    if (operation.operation !== 'query' && isLook(context)) return { errors: [viewOnly()] };
    const unusable = variableErrors(schema, operation, variables, { hideSchema: production });
    if (unusable.length > 0) return { errors: unusable };
    const cost = operationCost(schema, document, operation, variables, context);
    const excess = costError(cost);
    if (excess !== null) return { errors: [excess] };
    const retryAfterSeconds = costs.take(context.work.principal, cost.complexity);
    if (retryAfterSeconds !== null) return { errors: [tooManyRequests(retryAfterSeconds)] };
    return { cost: cost.complexity };
  };
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      const prepared = prepare(args);
      if ('errors' in prepared) {
        setResultAndStopExecution({ errors: prepared.errors });
        return undefined;
      }
      const { work, history } = args.contextValue as GraphqlContext;
      return {
        onExecuteDone: ({ result, setResult }) => {
          costs.charge(work.principal, Math.max(0, work.fields - prepared.cost));
          if (isAsyncIterable(result) || history.ageMs === null) return;
          const maxAgeSeconds = Math.ceil(history.ageMs / 1_000);
          setResult({ ...result, extensions: { ...result.extensions, history: { source: 'replica', maxAgeSeconds } } });
        },
      };
    },
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const prepared = prepare(args);
      if ('errors' in prepared) setResultAndStopExecution({ errors: prepared.errors });
    },
  };
}

function isLook({ principal }: GraphqlContext): boolean {
  return principal.kind === 'user' && principal.viewUntil !== undefined;
}

function viewOnly(): GraphQLError {
  return transportError('VIEW_ONLY', 'You are looking at the pages of a customer: nothing can be changed.');
}

function tooManyRequests(retryAfterSeconds: number): GraphQLError {
  return transportError(
    'TOO_MANY_REQUESTS',
    `Your operations of the last minute cost too much together; try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, http: { status: 429, headers: { 'retry-after': String(retryAfterSeconds) } } },
  );
}

function subscriptionLimit(): Plugin<GraphqlContext> {
  const open = new Map<string, number>();
  return {
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const who = (args.contextValue as GraphqlContext).work.principal;
      const count = open.get(who) ?? 0;
      if (count >= maxSubscriptions) {
        const message = `At most ${maxSubscriptions} subscriptions can be open at once.`;
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
      // When the source never yields again, only the signal tells that the client has disconnected.
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

/**
 * Gives every error a code and the id of the request, which the log has too. The library's own errors without a code
 * are about variables; their messages quote values.
 */
function completeErrors(): Plugin<GraphqlContext> {
  return {
    onExecutionResult: ({ result, context }) => {
      for (const one of Array.isArray(result) ? result : [result]) {
        for (const error of (one as { errors?: readonly GraphQLError[] } | undefined)?.errors ?? []) {
          error.extensions['code'] ??= 'BAD_USER_INPUT';
          error.extensions['requestId'] = (context as unknown as GraphqlContext).requestId;
        }
      }
    },
  };
}
