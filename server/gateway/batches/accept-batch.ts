import type { Ledger } from '../../billing/lane/ledger.ts';
import type { Refused } from '../../billing/types.ts';
import type { BatchForm, NewBatch, VendorBatch, VendorBatches } from '../../billing/vendor-batches.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import { nativeError } from '../../wire/envelope.ts';
import type { WireError } from '../../wire/protocol.ts';
import { type RefusedRequest, refusalOf } from '../admit.ts';
import { problemRefusal } from '../refusals/problem.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import { readVendorError, troubleOf } from '../upstream/vendor-errors.ts';
import type { BatchKeeper } from './batch-keeper.ts';
import type { BatchGatherer, BatchPlace } from './batch-request.ts';
import type { HeldBudget } from './held-budget.ts';
import { type VendorAnswer, VendorAway } from './vendor-calls.ts';
import { vendorForms } from './vendor-forms.ts';

/**
 * Accepts a batch: its row, its hold, then the vendor. Nothing is sent before the whole bound is held, and nothing stays held for
 * what the vendor has refused. A batch whose acceptance is not known (a process that died, an answer that was lost) is ended
 * as failed: its customer gets no name to fetch results by, and pays nothing.
 */
export type AcceptBatch = (asked: AskedBatch) => Promise<VendorBatch | Refusal | WireError>;

export interface AskedBatch {
  batch: Pick<NewBatch, 'accountId' | 'id' | 'keyId' | 'form' | 'endpoint' | 'inputFile'>;
  gathered: Pick<BatchGatherer, 'lines' | 'models' | 'priced' | 'bound'> & { lineCount: number };
  place: BatchPlace;
  requestId: string;
  /** The refusal where prices are not those of its bound any more. */
  repriced: Refusal;
  /** Sends it. */
  create(): Promise<VendorAnswer>;
}

export interface AcceptBatchParts {
  store: VendorBatches;
  ledger: Pick<Ledger, 'setAside'>;
  heldBudget: HeldBudget;
  keeper: Pick<BatchKeeper, 'fail'>;
  refusals: Refusals;
  metrics: Pick<Metrics, 'budgetRefusal'>;
  log: Log;
  pollMs: number;
}

const protocols: Record<BatchForm, 'messages' | 'chat-completions'> = {
  messages: 'messages',
  openai: 'chat-completions',
};

export function createBatchAcceptance({
  store,
  ledger,
  heldBudget,
  keeper,
  refusals,
  metrics,
  log,
  pollMs,
}: AcceptBatchParts): AcceptBatch {
  const budgetRefusal = async (accountId: string, refused: Refused): Promise<Refusal> => {
    metrics.budgetRefusal(refused.reason);
    return refusalOf(refusals, refused, allRequests, await heldBudget(accountId, refused));
  };

  return async ({ batch, gathered, place, requestId, repriced, create }) => {
    const { accountId, id, keyId } = batch;
    await store.insert(
      {
        ...batch,
        upstream: place.upstream.id,
        upstreamKey: place.key?.id ?? null,
        lines: gathered.lineCount,
        bound: gathered.bound,
        models: gathered.models,
      },
      gathered.lines,
    );
    const held = await ledger.setAside({
      accountId,
      requestId: id,
      keyId,
      amount: gathered.bound,
      models: gathered.priced,
    });
    if (held.kind !== 'set_aside') {
      await store.drop(batch);
      return held.kind === 'refused' ? budgetRefusal(accountId, held) : repriced;
    }
    let answer: VendorAnswer;
    try {
      answer = await create();
    } catch (error) {
      if (!(error instanceof VendorAway)) throw error;
      if (error.sent)
        log.warn({ requestId: id, upstream: place.upstream.id }, 'whether a vendor has taken a batch is not known');
      await keeper.fail(batch);
      return refusals.upstreamUnavailable();
    }
    const report = vendorForms[batch.form].read(answer);
    if (report === null) {
      await keeper.fail(batch);
      return refusedByVendor(batch.form, answer, place, requestId);
    }
    const accepted = await store.report(batch, report, pollMs);
    if (accepted === null) throw new Error('a batch that was accepted is gone');
    return accepted;
  };

  /** The vendor's words about the request itself go to the client; what concerns the operator's account does not. */
  function refusedByVendor(
    form: BatchForm,
    { status, body }: VendorAnswer,
    { upstream }: BatchPlace,
    requestId: string,
  ): Refusal | WireError {
    const isAboutRequest = status === 400 || status === 413 || status === 422;
    const trouble = isAboutRequest ? troubleOf(status, readVendorError(body), '', upstream.profile) : 'other';
    const said = isAboutRequest && trouble === null ? nativeError(protocols[form], status, body, requestId) : null;
    if (said !== null) return said;
    log.warn({ status, upstream: upstream.id }, 'a vendor has refused a batch');
    return isAboutRequest && trouble === null
      ? problemRefusal(refusals, { message: 'The vendor has refused the batch.', param: null, code: null })
      : refusals.upstreamUnavailable();
  }
}

/** A batch is refused as a whole: its figures are those of all its requests. */
const allRequests: RefusedRequest = { facts: { model: '', members: new Map() }, bound: { parts: [] } };
