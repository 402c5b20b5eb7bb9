import type { AdmitAsk, Admitted, Ledger, Refused } from '../billing/ledger.ts';
import { formatUsd } from '../core/money.ts';
import { askedPieces, contextRuns, heldSearches, mediaTokens } from '../metering/estimate.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { ClientCall, ModelRequest } from './call.ts';
import type { Refusal, Refusals, SpendLimitFigures } from './refusals.ts';
import type { Slots } from './slots.ts';

/** Step two of a request: admits it with a hold on the budget, or refuses it with the figures of the budget. */

/** Labels of `gateway_budget_refusals_total` that differ from the ledger's reasons: operators' dashboards rely on them. */
const metricLabels: Partial<Record<Refused['reason'], string>> = { key_invalid: 'key', budget_below_minimum: 'short' };

/** Whether a route of the model speaks chat completions. */
const mayTakeChat = ({ routes }: ModelRequest['model']): boolean =>
  routes.some(({ upstream }) => upstream.protocol === 'chat-completions');

function figuresOf({ spendLimit }: Refused): SpendLimitFigures {
  const { of = 'key', period = 'lifetime', limit = 0n, spent = 0n, held = 0n } = spendLimit ?? {};
  const { returnsAtMs = null, burnMinutes } = spendLimit ?? {};
  const left = limit - spent - held;
  return {
    of,
    period,
    limitUsd: formatUsd(limit),
    spentUsd: formatUsd(spent),
    heldUsd: formatUsd(held),
    leftUsd: formatUsd(left > 0n ? left : 0n),
    returnsAt: returnsAtMs === null ? null : new Date(returnsAtMs).toISOString(),
    ...(burnMinutes === undefined ? {} : { burnMinutes }),
  };
}

export interface AdmitterParts {
  ledger: Pick<Ledger, 'admit' | 'release'>;
  refusals: Refusals;
  slots: Slots;
  /** Requests a trial account may run at once. */
  trialSlots: number;
  metrics: Metrics;
}

/** The refusal of a request that the ledger refused, with the figures of the budget. */
export function refusalOf(refusals: Refusals, refused: Refused, request: ModelRequest): Refusal {
  const figures = {
    balanceUsd: formatUsd(refused.balance.free),
    heldUsd: formatUsd(refused.balance.held),
    ...(refused.required === undefined ? {} : { requiredUsd: formatUsd(refused.required) }),
    ...(refused.affordableMaxTokens === undefined || request.facts.inputs !== undefined
      ? {}
      : { affordableMaxTokens: refused.affordableMaxTokens }),
  };
  switch (refused.reason) {
    case 'key_invalid':
      return refusals.invalidApiKey();
    case 'suspended':
      return refusals.accountSuspended();
    case 'exhausted':
      return refusals.budgetExhausted(figures);
    case 'model':
      return refusals.modelNotFound(request.facts.model);
    case 'model_not_allowed':
      return refusals.modelNotAllowed(request.facts.model);
    case 'prompt_unpriced':
      return refusals.promptTooLong(
        refused.maxPromptTokens ?? 0,
        request.facts.members.has('messages') ? 'messages' : 'input',
      );
    case 'key_limit':
    case 'member_limit':
    case 'project_limit':
    case 'account_limit':
    case 'burn_limit':
      return refusals.spendLimitReached(figuresOf(refused));
    case 'budget_below_minimum':
      return refusals.budgetShort(figures);
    case 'reserved':
      return refusals.budgetReserved(figures);
    case 'unavailable':
      return refusals.unavailable();
  }
}

/** What a request asks of the ledger. */
export function askOf(
  { requestId, principal }: Pick<ClientCall, 'requestId' | 'principal'>,
  { facts, model, maxTokens }: ModelRequest,
): AdmitAsk {
  return {
    requestId,
    accountId: principal.accountId,
    keyId: principal.keyId,
    model: model.id,
    textBytes: facts.textBytes,
    mediaTokens: mediaTokens(facts),
    cacheWrite: facts.cacheWrite,
    maxTokens,
    answers: facts.answers,
    stream: facts.stream,
    ...(facts.inputs === undefined ? {} : { inputs: facts.inputs }),
    contextRuns: contextRuns(facts, model.allow),
    searches: heldSearches(facts, model.allow, mayTakeChat(model)),
    ...askedPieces(facts, model.allow),
  };
}

export function createAdmitter({ ledger, refusals, slots, trialSlots, metrics }: AdmitterParts) {
  return async function admit(call: ClientCall, request: ModelRequest): Promise<Admitted | Refusal> {
    const { facts } = request;
    const admission = await ledger.admit(askOf(call, request));
    if (admission.kind === 'refused') {
      metrics.budgetRefusal(metricLabels[admission.reason] ?? admission.reason);
      return refusalOf(refusals, admission, request);
    }
    if (admission.trialOnly && slots.running(call.principal.accountId) > trialSlots) {
      // Not awaited: a release is retried until it succeeds, so it would wait for the whole outage of the database.
      ledger.release({ accountId: call.principal.accountId, requestId: call.requestId }).catch(() => undefined);
      return refusals.tooManyRequests('trial account');
    }
    // Each input of an embedding has the model's window.
    return facts.inputs === undefined
      ? admission
      : { ...admission, contextWindow: admission.contextWindow * facts.inputs };
  };
}
