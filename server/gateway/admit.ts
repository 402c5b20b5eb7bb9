import type { Admitted, Ledger, Refused } from '../billing/ledger.ts';
import { formatUsd } from '../core/money.ts';
import { estimateInput, mediaTokens } from '../metering/estimate.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Call, ModelRequest } from './call.ts';
import type { Refusal, Refusals } from './refusals.ts';
import type { Slots } from './slots.ts';

/** Step two: a hold on the budget, or the refusal that says what is missing. */
export interface AdmitterParts {
  ledger: Pick<Ledger, 'admit' | 'balance' | 'extend' | 'release'>;
  refusals: Refusals;
  slots: Slots;
  /** Requests a trial account may run at once. */
  trialSlots: number;
  metrics: Metrics;
}

export function createAdmitter({ ledger, refusals, slots, trialSlots, metrics }: AdmitterParts) {
  const refusalOf = (refused: Refused, request: ModelRequest): Refusal => {
    const figures = {
      balanceUsd: formatUsd(refused.balance.free),
      heldUsd: formatUsd(refused.balance.held),
      ...(refused.required === undefined ? {} : { requiredUsd: formatUsd(refused.required) }),
      ...(refused.affordableMaxTokens === undefined ? {} : { affordableMaxTokens: refused.affordableMaxTokens }),
    };
    switch (refused.reason) {
      case 'key':
        return refusals.invalidApiKey();
      case 'suspended':
        return refusals.accountSuspended();
      case 'exhausted':
        return refusals.budgetExhausted(figures);
      case 'model':
        return refusals.modelNotFound(request.facts.model);
      case 'model_not_allowed':
        return refusals.modelNotAllowed(request.facts.model);
      case 'key_limit':
        return refusals.keyLimitReached({
          period: refused.keyLimit?.period ?? 'lifetime',
          limitUsd: formatUsd(refused.keyLimit?.limit ?? 0n),
          spentUsd: formatUsd(refused.keyLimit?.spent ?? 0n),
        });
      case 'short':
        return refusals.budgetShort(figures);
      case 'reserved':
        return refusals.budgetReserved(figures);
      case 'unavailable':
        return refusals.unavailable();
    }
  };

  /**
   * Several answers that are not streamed are reserved to their last token: nothing can stop them on the way, and what
   * one answer may cost beyond its hold they cost as many times. Null: it is reserved.
   */
  const reserveAll = async (call: Call, { facts }: ModelRequest, admission: Admitted): Promise<Refusal | null> => {
    const { price, contextWindow, maxOutputTokens, amount } = admission;
    const input = BigInt(estimateInput(facts, contextWindow)) * price.input;
    const longest = BigInt(Math.min(facts.maxTokens ?? maxOutputTokens, maxOutputTokens));
    const token = BigInt(facts.answers) * price.output;
    const required = input + longest * token;
    if (required <= amount) return null;
    const ref = { accountId: call.principal.accountId, requestId: call.requestId };
    const reserved = amount + (await ledger.extend(ref, required - amount));
    if (reserved >= required) return null;
    const balance = await ledger.balance(ref.accountId);
    const [free, held] = [balance.free + reserved, balance.held - reserved];
    const figures = {
      balanceUsd: formatUsd(free),
      heldUsd: formatUsd(held),
      requiredUsd: formatUsd(required),
      ...(reserved < input || token === 0n ? {} : { affordableMaxTokens: Number((reserved - input) / token) }),
    };
    // Only what others hold comes back by waiting.
    const isReserved = held > 0n && free + held >= required;
    metrics.budgetRefusal(isReserved ? 'reserved' : 'short');
    return isReserved ? refusals.budgetReserved(figures) : refusals.budgetShort(figures);
  };

  return async function admit(call: Call, request: ModelRequest): Promise<Admitted | Refusal> {
    const { facts, model } = request;
    const admission = await ledger.admit({
      requestId: call.requestId,
      accountId: call.principal.accountId,
      keyId: call.principal.keyId,
      model: model.id,
      textBytes: facts.textBytes,
      mediaTokens: mediaTokens(facts),
      cacheWrite: facts.cacheWrite,
      maxTokens: facts.maxTokens,
      answers: facts.answers,
    });
    if (admission.kind === 'refused') {
      metrics.budgetRefusal(admission.reason);
      return refusalOf(admission, request);
    }
    if (admission.trialOnly && slots.running(call.principal.accountId) > trialSlots) {
      // Not waited for: it is never given up, so it would wait as long as the database is away.
      ledger.release({ accountId: call.principal.accountId, requestId: call.requestId }).catch(() => undefined);
      return refusals.tooManyRequests('trial account');
    }
    if (facts.stream || facts.answers === 1) return admission;
    const refusal = await reserveAll(call, request, admission).catch(() => refusals.unavailable());
    if (refusal === null) return admission;
    ledger.release({ accountId: call.principal.accountId, requestId: call.requestId }).catch(() => undefined);
    return refusal;
  };
}
