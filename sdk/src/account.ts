import { NotFoundError } from './errors.ts';
import type {
  Credits,
  GetUsageQuery,
  KeyInfo,
  LedgerEntry,
  Model,
  ModelList,
  UsageReport,
  UsageSummary,
} from './generated/rest.ts';
import type { DataPlaneClient } from './internal/data-plane.ts';
import type { Pending } from './internal/pending.ts';
import type { RequestOptions } from './options.ts';
import type { CallCost } from './streams.ts';

/** What a key can see of its account: models, budget, spending. All of it also works with an exhausted budget. */

/**
 * The models that the key may call, with their prices.
 *
 * @example
 * ```ts
 * for (const model of (await steyg.models.list()).data) console.log(model.id, model.priceUsdPerMillion.input);
 * ```
 */
export interface Models {
  /**
   * All of them: the list is never cut into pages.
   *
   * @example
   * ```ts
   * const ids = (await steyg.models.list()).data.map(({ id }) => id);
   * ```
   */
  list(options?: RequestOptions): Pending<ModelList>;
  /**
   * One model; `NotFoundError` when the catalog has none of that id, or the key may not call it.
   *
   * @example
   * ```ts
   * const { contextLength } = await steyg.models.retrieve('sim-large');
   * ```
   */
  retrieve(id: string, options?: RequestOptions): Pending<Model>;
}

/** Filters of a usage report: days, grouping, page. */
export type UsageFilter = Omit<GetUsageQuery, 'requestId' | 'session' | 'user' | 'tag'>;

/** A session, an end user or a tag (`name=value`), as requests name it. Only one of them counts. */
export type UsageSubject = Pick<GetUsageQuery, 'session' | 'user' | 'tag' | 'from' | 'to'>;

/** A line of a usage report. */
export type UsageRow = UsageReport['data'][number];

/**
 * Budget and spending.
 *
 * @example
 * ```ts
 * const { balance } = await steyg.usage.get();
 * console.log(`${balance.freeUsd} of ${balance.grantedUsd} USD left`);
 * ```
 */
export interface Usage {
  /**
   * The balance, the grants it is made of, and the first page of what was spent.
   *
   * @example
   * ```ts
   * const report = await steyg.usage.get({ from: '2026-11-01', groupBy: 'model' });
   * ```
   */
  get(query?: UsageFilter, options?: RequestOptions): Pending<UsageReport>;
  /**
   * Every line of what was spent, page after page.
   *
   * @example
   * ```ts
   * for await (const { date, model, costUsd } of steyg.usage.rows({ groupBy: 'day,model' })) console.log(date, model, costUsd);
   * ```
   */
  rows(query?: UsageFilter, options?: RequestOptions): AsyncIterable<UsageRow>;
  /**
   * The ledger entry of one finished request: what it used, at which prices, what was charged.
   *
   * @example
   * ```ts
   * const entry = await steyg.usage.entry(requestId);
   * console.log(verifyReceipt(entry).matches);
   * ```
   */
  entry(requestId: string, options?: RequestOptions): Pending<LedgerEntry>;
  /**
   * What a session, an end user or a tag came to, by model; zeros where nothing is known of it.
   *
   * @example
   * ```ts
   * const { costUsd } = await steyg.usage.of({ session: 'the-session-of-a-client' });
   * ```
   */
  of(subject: UsageSubject, options?: RequestOptions): Pending<UsageSummary>;
}

/**
 * The calling key, in the shape that OpenRouter's clients read.
 *
 * @example
 * ```ts
 * const { data } = await steyg.key.get();
 * console.log(data.label, data.limitRemaining);
 * ```
 */
export interface Key {
  get(options?: RequestOptions): Pending<KeyInfo>;
}

/**
 * The account's budget, in the shape that OpenRouter's clients read.
 *
 * @example
 * ```ts
 * const { data } = await steyg.credits.get();
 * console.log(data.totalCredits - data.totalUsage); // USD
 * ```
 */
export interface CreditsOverview {
  get(options?: RequestOptions): Pending<Credits>;
}

/** @internal */
export function createModels(plane: DataPlaneClient): Models {
  return {
    list: (options) => plane.get({ operation: 'listModels' }, options),
    retrieve: (id, options) => plane.get({ operation: 'retrieveModel', path: { id } }, options),
  };
}

/** @internal */
export function createUsage(plane: DataPlaneClient): Usage {
  const usage: Usage = {
    get: (query, options) => plane.get({ operation: 'getUsage', query }, options),
    async *rows(query, options) {
      for (let cursor = query?.cursor; ; ) {
        const page: UsageReport = await usage.get({ ...query, cursor }, options);
        yield* page.data;
        if (!page.hasMore || page.nextCursor === null) return;
        cursor = page.nextCursor;
      }
    },
    entry: (requestId, options) => plane.get({ operation: 'getUsage', query: { requestId } }, options),
    of: (query, options) => plane.get({ operation: 'getUsage', query }, options),
  };
  return usage;
}

/** @internal */
export function createKey(plane: DataPlaneClient): Key {
  return { get: (options) => plane.get({ operation: 'getKey' }, options) };
}

/** @internal */
export function createCredits(plane: DataPlaneClient): CreditsOverview {
  return { get: (options) => plane.get({ operation: 'getCredits' }, options) };
}

/** The settlement follows the last byte: within milliseconds, or when the database is back. */
const settlementWaitsMs = [20, 50, 100, 200, 400, 800, 1_600, 3_200];

/** @internal Looks up what a request cost. Throws `NotFoundError` when no entry appears within a few seconds. */
export async function findCost(usage: Usage, requestId: string): Promise<CallCost> {
  for (const waitMs of settlementWaitsMs) {
    try {
      const entry = await usage.entry(requestId);
      return { requestId, costUsd: entry.costUsd, entry };
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  const entry = await usage.entry(requestId);
  return { requestId, costUsd: entry.costUsd, entry };
}
