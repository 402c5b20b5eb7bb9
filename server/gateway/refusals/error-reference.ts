import type { Locale } from '../../shared/page.ts';
import { type ErrorText, errorTexts } from './error-texts.ts';
import type { Refusal, RefusalName, Refusals } from './refusals.ts';

/** Every refusal of the data plane as it is sent, with its cause and cure: what the pages of errors are made of. */

export interface DescribedError {
  name: RefusalName;
  /** As they are sent; some have several sentences. */
  refusals: readonly Refusal[];
  texts: Readonly<Record<Locale, ErrorText>>;
}

type Maker = Exclude<keyof Refusals, 'statusUrl'>;

const budget = {
  balanceUsd: '0.42',
  heldUsd: '0.4',
  requiredUsd: '1.8',
  mostUsd: '1.8',
  because: null,
  affordableMaxTokens: 2_000,
};
const limit = {
  limitUsd: '5',
  spentUsd: '5',
  heldUsd: '0',
  leftUsd: '0',
  returnsAt: '2026-12-01T00:00:00.000Z',
} as const;

/** One call of each maker, with figures of an example. A new maker without one does not type-check. */
const examples: { [Name in Maker]: (refusals: Refusals) => readonly Refusal[] } = {
  invalidApiKey: (r) => [r.invalidApiKey()],
  accountSuspended: (r) => [r.accountSuspended()],
  modelNotFound: (r) => [r.modelNotFound('no-such-model')],
  modelOfOtherKind: (r) => [r.modelOfOtherKind('some-model', 'embedding')],
  addressNotAllowed: (r) => [r.addressNotAllowed('203.0.113.7')],
  modelNotAllowed: (r) => [r.modelNotAllowed('some-model')],
  probesAlone: (r) => [r.probesAlone()],
  promptTooLong: (r) => [r.promptTooLong(200_000, 'messages')],
  invalidRequest: (r) => [r.invalidRequest('max_tokens: must be a whole number above 0.', 'max_tokens')],
  versionHeaderMissing: (r) => [r.versionHeaderMissing()],
  unsupportedMediaType: (r) => [r.unsupportedMediaType()],
  contentEncoding: (r) => [r.contentEncoding()],
  requestTooLarge: (r) => [r.requestTooLarge(32 * 1_048_576)],
  requestTimeout: (r) => [r.requestTimeout()],
  tooManyHeaders: (r) => [r.tooManyHeaders()],
  notFound: (r) => [r.notFound()],
  notOffered: (r) => [r.notOffered()],
  methodNotAllowed: (r) => [r.methodNotAllowed('POST')],
  noWebSocket: (r) => [r.noWebSocket()],
  previousResponseNotFound: (r) => [r.previousResponseNotFound()],
  socketTooOld: (r) => [r.socketTooOld()],
  notSupported: (r) => [r.notSupported('This model does not offer this.')],
  spendLimitReached: (r) => [
    ...(['key', 'member', 'project', 'account'] as const).map((of) =>
      r.spendLimitReached({ ...limit, of, period: 'day' }),
    ),
    r.spendLimitReached({ ...limit, of: 'key', period: 'burn', burnMinutes: 10 }),
  ],
  tooManyRequests: (r) => [r.tooManyRequests('account')],
  tooManyReports: (r) => [r.tooManyReports()],
  readsLimited: (r) => [r.readsLimited('key', 12)],
  answersUnread: (r) => [r.answersUnread()],
  rateLimited: (r) => [r.rateLimited({ of: 'key', limit: 60, resetS: 12 })],
  tokensLimited: (r) => [
    r.tokensLimited({ kind: 'limited', of: 'key', limit: 100_000, wanted: 30_000, left: 10_000, resetS: 12 }),
  ],
  tooManyAtOnce: (r) => [r.tooManyAtOnce({ of: 'key', limit: 20 })],
  budgetExhausted: (r) => [r.budgetExhausted({ balanceUsd: '0', heldUsd: '0' })],
  budgetShort: (r) => [r.budgetShort(budget)],
  budgetReserved: (r) => [r.budgetReserved(budget)],
  budgetHeldByBatches: (r) => [
    r.budgetHeldByBatches(budget, {
      heldUsd: '4',
      count: 1,
      names: ['msgbatch_01a20a9b24b07b5bb7ccb5e4da86cead'],
      endAt: '2026-12-01T00:00:00.000Z',
      untilS: 36_000,
    }),
  ],
  budgetUsedUp: (r) => [r.budgetUsedUp()],
  unavailable: (r) => [r.unavailable()],
  budgetUnknown: (r) => [r.budgetUnknown()],
  overloaded: (r) => [r.overloaded()],
  draining: (r) => [r.draining()],
  internal: (r) => [r.internal()],
  upstreamUnreachable: (r) => [r.upstreamUnreachable()],
  upstreamError: (r) => [r.upstreamError()],
  upstreamRefused: (r) => [r.upstreamRefused(400)],
  contentRefused: (r) => [r.contentRefused()],
  upstreamOverloaded: (r) => [r.upstreamOverloaded()],
  upstreamUnavailable: (r) => [r.upstreamUnavailable()],
  upstreamTimeout: (r) => [r.upstreamTimeout()],
  upstreamCut: (r) => [r.upstreamCut()],
  upstreamStalled: (r) => [r.upstreamStalled()],
  vectorsTooLarge: (r) => [r.vectorsTooLarge()],
  answerTooLarge: (r) => [r.answerTooLarge()],
};

/** In the order of their table. */
export function describeErrors(refusals: Refusals): readonly DescribedError[] {
  const made = Map.groupBy(
    Object.values(examples).flatMap((make) => make(refusals)),
    ({ name }) => name,
  );
  return (Object.keys(errorTexts) as RefusalName[]).map((name) => ({
    name,
    refusals: made.get(name) ?? [],
    texts: errorTexts[name],
  }));
}
