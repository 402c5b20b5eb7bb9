import {
  ApiError,
  AuthenticationError,
  BudgetError,
  ConnectionError,
  GraphqlError,
  RateLimitError,
  ResultError,
  StreamError,
  StreamInterruptedError,
} from '@steyg/sdk';
import { fill, useLanguage } from './language/language.tsx';
import type { Texts } from './language/texts.ts';
import { type InputProblems, inputName, meaningOf, type Problem, problemsAt } from './problems.ts';

/** Explains errors in the reader's language, with what to do. */
export interface Explanation {
  sentence: string;
  /** To quote when asking for help; null without a request. */
  requestId: string | null;
  /** Messages about single inputs, by {@link inputName}. */
  fields: Record<string, string>;
}

export function useExplain(): (error: unknown) => Explanation {
  const { t, locale } = useLanguage();
  return (error) => explain(error, t, locale === 'en');
}

/**
 * The problems of a refused form: those that stand at its inputs, and the error itself (`rest`) when one of its
 * problems has no input in this form and would not be seen.
 *
 * @param names The inputs that show their problem.
 */
export function useProblems<Name extends string>(
  error: unknown,
  names: readonly Name[],
): { fields: InputProblems<Name>; rest: unknown } {
  const explain = useExplain();
  return error === null ? { fields: {}, rest: null } : problemsAt(error, explain(error).fields, names);
}

/**
 * The server writes English. Its codes and its messages about single inputs are translated; in other languages one
 * without a translation is explained in general terms, never half in English.
 */
export function explain(error: unknown, t: Texts, english: boolean): Explanation {
  const nothing = { requestId: null, fields: {} };
  if (error instanceof ResultError) {
    const { problems = [], retryAfterSeconds = 0 } = error.result as {
      problems?: Problem[];
      retryAfterSeconds?: number;
    };
    const fields = Object.fromEntries(
      problems.map((problem) => [inputName(problem.path), english ? atInput(problem) : inputProblem(problem, t)]),
    );
    const known = (t.errors as Record<string, string>)[error.code];
    const sentence =
      problems.length > 0
        ? (english ? problems.map(({ message }) => message) : Object.values(fields)).join(' ')
        : english && (known === undefined || error.code.startsWith('NOT_'))
          ? error.message
          : fill(known ?? t.errors.CONFLICT, { seconds: retryAfterSeconds });
    return { sentence, requestId: null, fields };
  }
  if (error instanceof GraphqlError) {
    if (error.code === 'OVERLOADED' || error.code === 'BUSY')
      return { ...nothing, sentence: fill(t.errors.BUSY, { seconds: 2 }), requestId: error.requestId };
    return {
      ...nothing,
      sentence: (t.errors as Record<string, string>)[error.code] ?? (english ? error.message : t.errors.UNKNOWN),
      requestId: error.requestId,
    };
  }
  if (error instanceof StreamInterruptedError) {
    return { ...nothing, sentence: t.calls.cut, requestId: error.requestId };
  }
  if (error instanceof ApiError) {
    return { ...nothing, sentence: ofModelCall(error, t) ?? error.message, requestId: error.requestId };
  }
  if (error instanceof Error && error.name === 'PasskeyCancelledError')
    return { ...nothing, sentence: t.passkeys.cancelled };
  if (error instanceof ConnectionError) return { ...nothing, sentence: t.errors.CONNECTION };
  return { ...nothing, sentence: t.errors.UNKNOWN };
}

/** The meaning of a refused model call; null where the server's own message, often the vendor's, says more. */
function ofModelCall(error: ApiError, t: Texts): string | null {
  if (error.code === 'OVERLOADED' || error.code === 'BUSY' || error.code === 'TOO_MANY_REQUESTS')
    return fill(t.errors.BUSY, { seconds: Math.ceil((error.retryAfterMs ?? 2_000) / 1_000) });
  if (error instanceof StreamError) return t.calls.cut;
  if (error instanceof AuthenticationError) return t.calls.key;
  if (error instanceof BudgetError) return ofBudget(error, t);
  if (error instanceof RateLimitError) return ofLimit(error, t);
  if (error.code === 'model_not_found') return t.calls.noModel;
  if (error.code === 'model_not_allowed') return t.calls.notAllowed;
  if (error.code === 'account_suspended') return t.errors.ACCOUNT_SUSPENDED;
  if (error.status === 413) return t.errors.REQUEST_TOO_LARGE;
  if (error.code.startsWith('upstream_')) return t.calls.upstream;
  return error.status >= 500 ? t.errors.INTERNAL : null;
}

function ofLimit({ code }: RateLimitError, t: Texts): string {
  if (code === 'budget_held_by_batches') return t.calls.batches;
  return code === 'budget_reserved' ? t.calls.reserved : t.calls.many;
}

function ofBudget({ keyLimit, balanceUsd, requiredUsd, affordableMaxTokens }: BudgetError, t: Texts): string {
  if (keyLimit !== null) return fill(t.calls.keyLimit, { limit: keyLimit.limitUsd });
  if (requiredUsd === null || balanceUsd === null || Number(balanceUsd) <= 0) return t.calls.budget;
  const short = fill(t.calls.short, { left: balanceUsd, needed: requiredUsd });
  return affordableMaxTokens === null || affordableMaxTokens < 1
    ? short
    : `${short} ${fill(t.calls.fits, { n: affordableMaxTokens })}`;
}

/** A message as it stands under its input, whose label names it: without the API's name of the input. */
function atInput({ path, message }: Problem): string {
  const name = `${path.at(-1) ?? ''} `;
  if (name === ' ' || !message.startsWith(name)) return message;
  const rest = message.slice(name.length);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function inputProblem(problem: Problem, t: Texts): string {
  // What has no words of its own is said in the server's: the reason is worth more than the language.
  const message = atInput(problem);
  const { name, parts } = meaningOf(message);
  return fill(t.problems[name], { ...parts, sentence: message });
}
