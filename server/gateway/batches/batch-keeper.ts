import { setTimeout as delay } from 'node:timers/promises';
import { Quarantined } from '../../billing/lane/failure.ts';
import type { Ledger, Settlement } from '../../billing/lane/ledger.ts';
import type { BatchLine, BatchReport, VendorBatch, VendorBatches } from '../../billing/vendor-batches.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { UpstreamRecord } from '../../catalog/route.ts';
import type { Reach, Router } from '../../catalog/router.ts';
import type { Log } from '../../core/log.ts';
import type { Outcome } from '../../core/outcome.ts';
import { entryCost } from '../../core/price.ts';
import { pricesAtMoment } from '../../core/price-clock.ts';
import { batchPrices } from '../../core/price-variants.ts';
import type { Protocol } from '../../core/protocol.ts';
import { chargedBytesPerToken } from '../../core/tokens.ts';
import { describeError } from '../../runtime/http.ts';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import type { LineEnding } from '../../wire/batches/batch-results.ts';
import { meterWhole, toSettlement, unmetered } from '../settle.ts';
import { lineRequestId } from './batch-ids.ts';
import { type ReadLine, readResults } from './result-lines.ts';
import type { VendorAnswer, VendorAsk, VendorCalls } from './vendor-calls.ts';
import { vendorForms } from './vendor-forms.ts';

/**
 * Keeps batches that vendors answer: asks how they are, and settles their lines when they have ended, whether or not their clients ever
 * fetch the results. A line is settled once: its entry's id follows from the batch and its name. Any process may do any
 * of this, also twice, and go on where a dead one stopped.
 */
export interface BatchKeeper {
  /** Asks the vendor, and notes what it says. Null: the vendor could not be asked. */
  look(batch: VendorBatch): Promise<VendorBatch | null>;
  /** Settles the lines of a batch that has ended, unless that is done already; resolves to whether all of them are settled. */
  settle(batch: VendorBatch): Promise<boolean>;
  /** How the vendor of a batch is reached; null: it cannot be at the moment. */
  reach(batch: VendorBatch): { reach: Reach; upstream: UpstreamRecord } | null;
  /** Asks the vendor to stop a batch that runs; what it answered before is charged. Null: the vendor could not be asked. */
  cancel(batch: VendorBatch): Promise<VendorBatch | null>;
  /** Ends a batch that no vendor runs: what is held for it is free again. */
  fail(batch: Pick<VendorBatch, 'accountId' | 'id'>): Promise<void>;
  close(): Promise<void>;
}

export interface BatchKeeperParts {
  store: VendorBatches;
  calls: VendorCalls;
  ledger: Pick<Ledger, 'settle' | 'endBatch'>;
  catalog: Pick<Catalog, 'upstream' | 'resolve'>;
  router: Pick<Router, 'reach'>;
  metrics: Pick<Metrics, 'fault' | 'charged' | 'settled'>;
  log: Log;
  /** How often a vendor is asked about a batch. */
  pollMs: number;
}

/** `unread`: its results could not be read to their end; `unanswered`: they could, and lines were missing. */
type Settling = 'settled' | 'unread' | 'unanswered';

/** Batches that a process takes at a time. */
const taken = 8;
/** A process that has taken a batch gets so many polls of time, before another one takes it. */
const leasePolls = 10;
/** After so many whole readings, lines that the results never had are settled at nothing. */
const maxAttempts = 5;
/**
 * The vendor ends a batch within a day. One that it says nothing of for three is given up, and so are results that cannot be read for
 * three days after their end: until then a vendor that is away must not make them free.
 */
const givenUpMs = 72 * 3_600_000;
const linesAtOnce = 1_000;

export function createBatchKeeper(parts: BatchKeeperParts): BatchKeeper {
  const { store, calls, ledger, catalog, router, metrics, log, pollMs } = parts;
  const stop = new AbortController();
  const settling = new Map<string, Promise<Settling>>();

  const reachOf: BatchKeeper['reach'] = (batch) => {
    const upstream = catalog.upstream(batch.upstream);
    const reach = upstream === null ? null : router.reach(upstream, batch.upstreamKey);
    return upstream === null || reach === null ? null : { reach, upstream };
  };

  const asked = async (batch: VendorBatch, ask: (reach: Reach) => VendorAsk): Promise<VendorAnswer | null> => {
    const found = reachOf(batch);
    if (found === null) return null;
    return calls.ask(found.reach, ask(found.reach)).catch(() => null);
  };

  const look: BatchKeeper['look'] = async (batch) => {
    if (batch.state === 'ended' || batch.state === 'failed' || batch.vendorId === null) return batch;
    const form = vendorForms[batch.form];
    const answer = await asked(batch, (reach) => form.retrieve(batch, reach));
    const report = answer === null ? null : form.read(answer);
    if (report === null) return null;
    const noted = await store.report(
      batch,
      counted(report, batch),
      report.state === 'ended' || report.state === 'failed' ? 0 : pollMs,
    );
    // Another process has seen its end meanwhile.
    return noted ?? store.again(batch);
  };

  const cancel: BatchKeeper['cancel'] = async (batch) => {
    if (batch.state !== 'in_progress') return batch;
    const answer = await asked(batch, (reach) => vendorForms[batch.form].cancel(batch, reach));
    return answer === null ? null : ((await look(batch)) ?? batch);
  };

  const fail: BatchKeeper['fail'] = async ({ accountId, id }) => {
    await ledger.endBatch({ accountId, requestId: id });
    await store.close({ accountId, id }, { charged: 0n, failed: true });
  };

  const settle: BatchKeeper['settle'] = async (batch) => (await run(batch)) === 'settled';

  const run = (batch: VendorBatch): Promise<Settling> => {
    const known = settling.get(batch.id);
    if (known !== undefined) return known;
    const begun = settleOnce(batch).finally(() => settling.delete(batch.id));
    settling.set(batch.id, begun);
    return begun;
  };

  const settleOnce = async (batch: VendorBatch): Promise<Settling> => {
    if (batch.settledAt !== null) return 'settled';
    const found = reachOf(batch);
    if (batch.seenAt === null || found === null) return 'unread';
    const isGivenUp = Date.now() - batch.seenAt.getTime() >= givenUpMs;
    const strangers = { count: 0 };
    const settler = await createLineSettler(parts, { ...batch, seenAt: batch.seenAt });
    let isWhole = true;
    for (const ask of vendorForms[batch.form].results(batch, found.reach)) {
      const stream = await calls.open(found.reach, ask).catch(() => null);
      if (stream === null || 'status' in stream) {
        isWhole = false;
        continue;
      }
      try {
        for await (const lines of readResults(batch, found.upstream, stream, store, strangers)) {
          // Another process, or the next run of this one, goes on.
          if (stop.signal.aborted) return 'unread';
          await settler.settle(lines);
        }
      } catch (error) {
        if (!isGivenUp) throw error;
        isWhole = false;
      } finally {
        stream.destroy();
      }
    }
    if (strangers.count > 0) {
      metrics.fault('batch_results');
      log.warn({ requestId: batch.id, lines: strangers.count }, 'a vendor answered what no batch had asked');
    }
    if (!isWhole && !isGivenUp) return 'unread';
    const missing = await settler.missing();
    const ending = endingOfMissing(batch);
    const isStrange = missing.length > 0 && (ending === 'errored' || !isWhole);
    if (isStrange && isWhole && batch.attempts < maxAttempts) return 'unanswered';
    if (isStrange) {
      metrics.fault('batch_results');
      log.warn(
        { requestId: batch.id, lines: missing.length },
        'a vendor never answered lines of a batch: they cost nothing',
      );
    }
    await settler.settleMissing(ending);
    await ledger.endBatch({ accountId: batch.accountId, requestId: batch.id });
    await store.close(batch, { charged: await settler.charged(), failed: false });
    return 'settled';
  };

  /** One batch whose turn it is. */
  const keep = async (batch: VendorBatch): Promise<void> => {
    if (batch.state === 'preparing') {
      log.warn(
        { requestId: batch.id },
        'a batch was never confirmed by its vendor: what was held for it is free again',
      );
      return fail(batch);
    }
    const now = await look(batch);
    if (now === null) {
      if (Date.now() - batch.createdAt.getTime() < givenUpMs) return store.putOff(batch, pollMs, false);
      metrics.fault('batch_results');
      log.error(
        { requestId: batch.id },
        'a vendor says nothing of a batch any more: what was held for it is free again',
      );
      return fail(batch);
    }
    if (now.erased && now.state === 'in_progress')
      await asked(now, (reach) => vendorForms[now.form].cancel(now, reach));
    if (now.state === 'failed') return fail(now);
    if (now.state !== 'ended') return;
    const settled = await run(now).catch(logged(now));
    if (settled !== 'settled') return store.putOff(now, pollMs, settled === 'unanswered');
    if (now.erased) await forget(now);
  };

  const logged =
    (batch: VendorBatch) =>
    (error: unknown): 'unread' => {
      log.warn({ requestId: batch.id, ...describeError(error) }, 'the results of a batch were not read to their end');
      return 'unread';
    };

  /** Makes the vendor forget what an erased account has asked. */
  const forget = async (batch: VendorBatch): Promise<void> => {
    const found = reachOf(batch);
    if (found === null) return;
    for (const ask of vendorForms[batch.form].forget(batch, found.reach))
      await calls.ask(found.reach, ask).catch(() => null);
  };

  const keepAll = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        for (const batch of await store.takeDue(taken, pollMs * leasePolls)) {
          if (stop.signal.aborted) break;
          await keep(batch).catch(logged(batch));
        }
      } catch (error) {
        // The database is away: its own alert says so.
        log.debug(describeError(error), 'batches were not looked at');
      }
      await delay(Math.max(50, pollMs / 4), undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  };
  const running = keepAll();

  return {
    look,
    settle,
    reach: reachOf,
    cancel,
    fail,
    async close() {
      stop.abort();
      await running;
    },
  };
}

/** No more lines than the batch has, whatever the vendor says. */
function counted(report: BatchReport, { lines }: VendorBatch): BatchReport {
  const { succeeded, errored, canceled, expired } = report.counts;
  if (succeeded + errored + canceled + expired <= lines) return report;
  return { ...report, counts: { succeeded: 0, errored: 0, canceled: 0, expired: 0 } };
}

const outcomes: Record<Exclude<LineEnding, 'succeeded'>, Outcome> = {
  errored: 'upstream_error',
  canceled: 'client_closed',
  expired: 'timeout',
};

/** How lines ended that the results do not have: OpenAI's leave out what a canceled batch never ran. */
function endingOfMissing({ form, times }: VendorBatch): Exclude<LineEnding, 'succeeded'> {
  if (form !== 'openai') return 'errored';
  if (times?.['cancelled_at'] !== undefined) return 'canceled';
  return times?.['expired_at'] === undefined ? 'errored' : 'expired';
}

const protocols: Record<string, Protocol> = {
  '/v1/messages': 'messages',
  '/v1/chat/completions': 'chat-completions',
  '/v1/embeddings': 'chat-completions',
  '/v1/responses': 'responses',
};

/** Settles lines of one batch that has ended. */
async function createLineSettler(
  { store, ledger, catalog, metrics }: Pick<BatchKeeperParts, 'store' | 'ledger' | 'catalog' | 'metrics'>,
  batch: VendorBatch & { seenAt: Date },
) {
  const { accountId } = batch;
  const acceptedAtMs = batch.createdAt.getTime();
  const kind = batch.endpoint === '/v1/embeddings' ? 'embedding' : 'text';
  const latencyMs = Math.min(batch.seenAt.getTime() - acceptedAtMs, 2 ** 31 - 1);
  const routes = await Promise.all(
    batch.models.map(async ({ model, upstreamModel }) => {
      const known = (await catalog.resolve(model))?.routes.find(
        (route) => route.upstream.id === batch.upstream && route.upstreamModel === upstreamModel,
      );
      const costs = known?.costs == null ? null : batchPrices(pricesAtMoment(known.costs, acceptedAtMs));
      return { upstream: { id: batch.upstream }, upstreamModel, costs };
    }),
  );
  const idOf = ({ digest }: BatchLine): string => lineRequestId(batch.seenAt, batch.id, digest);

  const settlementOf = ({
    line,
    result,
    account,
  }: Pick<ReadLine, 'line' | 'account'> & { result: LineEnding }): Settlement => {
    const model = batch.models[line.model];
    const route = routes[line.model];
    if (model === undefined || route === undefined) throw new Error('a line of a batch has no model');
    const metered =
      result === 'succeeded' && account !== null
        ? meterWhole(account, estimatedFacts(line), line.input + line.output, 'completed')
        : unmetered(result === 'succeeded' ? 'upstream_error' : outcomes[result]);
    return {
      ...toSettlement({
        accountId,
        keyId: batch.keyId,
        requestId: idOf(line),
        model: model.model,
        route,
        facts: { protocol: protocols[batch.endpoint] ?? 'chat-completions', stream: false },
        price: model.price,
        admittedAtMs: acceptedAtMs,
        metered,
        bounds: {
          input: line.input,
          output: line.output,
          searches: line.searches,
          images: 0,
          minutes: 0,
          longWrites: line.longWrites,
        },
        attribution: null,
        others: [],
        latencyMs,
        timeToFirstByteMs: null,
      }),
      // All that the batch holds may pay: bounds of its lines together are what was held.
      promise: { escrowId: batch.id, parts: batchParts },
    };
  };

  const settleAll = async (settlements: readonly Settlement[]): Promise<void> => {
    const entered = await store.entered(
      accountId,
      settlements.map(({ requestId }) => requestId),
    );
    const news = new Map(
      settlements.filter(({ requestId }) => !entered.has(requestId)).map((each) => [each.requestId, each]),
    );
    await Promise.all(
      [...news.values()].map(async (settlement) => {
        try {
          const { charged } = await ledger.settle(settlement);
          metrics.charged(settlement.model, charged);
          const { protocol, model, outcome, usageSource, usage } = settlement;
          metrics.settled({ protocol, model, kind, outcome, usageSource, usage, cost: entryCost(settlement) });
        } catch (error) {
          // It was set aside for an operator: the others go on.
          if (!(error instanceof Quarantined)) throw error;
        }
      }),
    );
  };
  const batchParts = await store.heldParts(batch);

  const eachMissing = async (found: (lines: BatchLine[]) => Promise<boolean>): Promise<void> => {
    let after: Buffer | null = null;
    for (;;) {
      const lines: BatchLine[] = await store.linesAfter(batch, after, linesAtOnce);
      if (lines.length === 0) return;
      after = lines.at(-1)?.digest ?? null;
      const entered = await store.entered(accountId, lines.map(idOf));
      if (!(await found(lines.filter((line) => !entered.has(idOf(line)))))) return;
    }
  };

  return {
    /** Settles a group of results; a line that comes twice counts as its first. */
    settle(lines: readonly ReadLine[]): Promise<void> {
      const first = new Map<string, ReadLine>();
      for (const line of lines) {
        const id = idOf(line.line);
        if (!first.has(id)) first.set(id, line);
      }
      return settleAll(
        [...first.values()].map(({ line, account, result }) => settlementOf({ line, account, result: result.ending })),
      );
    },

    /** Lines without an entry, some of them at most. */
    async missing(): Promise<BatchLine[]> {
      let missing: BatchLine[] = [];
      await eachMissing(async (lines) => {
        missing = lines;
        return lines.length === 0;
      });
      return missing;
    },

    /** What all lines came to. */
    async charged(): Promise<bigint> {
      let charged = 0n;
      for (let after: Buffer | null = null; ; ) {
        const lines = await store.linesAfter(batch, after, linesAtOnce);
        if (lines.length === 0) return charged;
        after = lines.at(-1)?.digest ?? null;
        charged += await store.chargedOf(accountId, lines.map(idOf));
      }
    },

    /** Settles what was never answered, at nothing. */
    settleMissing: (ending: Exclude<LineEnding, 'succeeded'>) =>
      eachMissing(async (lines) => {
        await settleAll(lines.map((line) => settlementOf({ line, account: null, result: ending })));
        return true;
      }),
  };
}

/** What an answer without usage is estimated from. */
function estimatedFacts({ estimated, longWrites }: BatchLine): Parameters<typeof meterWhole>[1] {
  return {
    textBytes: Math.floor(estimated * chargedBytesPerToken),
    images: 0,
    documents: 0,
    documentBytes: 0,
    answers: 1,
    maxTokens: null,
    cacheWrite: longWrites ? '1h' : 'none',
    reasoning: 'unsaid',
  };
}
