import type { AdmitAsk, Admitted, Ledger, Refused } from '../billing/lane/ledger.ts';
import { formatUsd } from '../core/money.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import type { HeldBudget } from './batches/held-budget.ts';
import type { ClientCall, ModelRequest } from './call.ts';
import type { Slots } from './limits/slots.ts';
import type { HeldByBatches, Refusal, Refusals, SpendLimitFigures } from './refusals/refusals.ts';

/** Step two of a request: admits it with a hold on the budget, or refuses it with the figures of the budget. */

/** Labels of `gateway_budget_refusals_total` that differ from the ledger's reasons: operators' dashboards rely on them. */
const metricLabels: Partial<Record<Refused['reason'], string>> = { key_invalid: 'key', budget_below_minimum: 'short' };

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
  heldBudget: HeldBudget;
  refusals: Refusals;
  slots: Slots;
  /** Requests a trial account may run at once. */
  trialSlots: number;
  metrics: Metrics;
}

/** Why a request is bounded by the model's window; null: it is not. */
function windowsOf({ parts }: RefusedRequest['bound']): string | null {
  const named = parts.flatMap(({ kind, tokens }) => (tokens === null ? [windowNames[kind] ?? ''] : []));
  const [first] = named.filter((name) => name !== '');
  return first === undefined ? null : first;
}

const byAddress = 'send the document inline, or top up';
/** Sentences about the contents that only the vendor can measure. */
const windowNames: Partial<Record<ModelRequest['bound']['parts'][number]['kind'], string>> = {
  document_by_address: `documents by address count as the model's whole window; ${byAddress}`,
  document: "documents count as the model's whole window; send their text, or top up",
  file_by_id: `files by id count as the model's whole window; ${byAddress}`,
  image: "images count as the model's whole window here; leave them out, or top up",
  image_by_address: "images by address count as the model's whole window; send the image inline, or top up",
  audio: "audio counts as the model's whole window; top up",
  video: "video counts as the model's whole window; top up",
  unknown_part: "kinds of content that are not known here count as the model's whole window; leave them out, or top up",
  unknown_member: "members that are not known here count as the model's whole window; leave them out, or top up",
  stored_context: "what is kept at the vendor counts as the model's whole window; send it with the request, or top up",
  vendor_tools:
    "tools that run at the vendor read the model's whole window each time; state how often they may be used, or top up",
};

/** What of a request the wording of its refusal depends on. */
export interface RefusedRequest {
  facts: Pick<ModelRequest['facts'], 'model' | 'inputs' | 'members'>;
  bound: Pick<ModelRequest['bound'], 'parts'>;
}

/** The refusal of a request that the ledger refused, with the figures of the budget. `held`: what batches hold of it. */
export function refusalOf(
  refusals: Refusals,
  refused: Refused,
  request: RefusedRequest,
  held: HeldByBatches | null,
): Refusal {
  const figures = {
    balanceUsd: formatUsd(refused.balance.free),
    heldUsd: formatUsd(refused.balance.held),
    ...(refused.required === undefined ? {} : { requiredUsd: formatUsd(refused.required) }),
    ...(refused.bound === undefined ? {} : { mostUsd: formatUsd(refused.bound), because: windowsOf(request.bound) }),
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
    case 'variant_unpriced':
      return refusals.invalidRequest(
        'service_tier, speed or inference_geo: this model has no price for what is asked; leave it out.',
        null,
        'unsupported_parameter',
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
      return held === null ? refusals.budgetReserved(figures) : refusals.budgetHeldByBatches(figures, held);
    case 'unavailable':
      return refusals.unavailable();
  }
}

/** What a request asks of the ledger. */
export function askOf(
  { requestId, principal }: Pick<ClientCall, 'requestId' | 'principal'>,
  { facts, model, bound }: Pick<ModelRequest, 'facts' | 'model' | 'bound'>,
): AdmitAsk {
  return {
    requestId,
    accountId: principal.accountId,
    keyId: principal.keyId,
    model: model.id,
    // The stream of an image cannot be stopped before it has cost what it costs.
    stream: facts.stream && facts.imageAsk === undefined,
    cacheWrite: facts.cacheWrite,
    ...bound.size,
  };
}

export function createAdmitter({ ledger, heldBudget, refusals, slots, trialSlots, metrics }: AdmitterParts) {
  return async function admit(call: ClientCall, request: ModelRequest): Promise<Admitted | Refusal> {
    const { facts } = request;
    const admission = await ledger.admit(askOf(call, request));
    if (admission.kind === 'refused') {
      metrics.budgetRefusal(metricLabels[admission.reason] ?? admission.reason);
      return refusalOf(refusals, admission, request, await heldBudget(call.principal.accountId, admission));
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
