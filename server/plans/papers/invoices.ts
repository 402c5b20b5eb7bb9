import type { ClientBase, Pool } from 'pg';
import type { Log } from '../../core/log.ts';
import { repeatedTransaction } from '../../database/lane.ts';
import { describeError } from '../../runtime/http.ts';
import { appendAudit } from '../../shared/audit.ts';
import type { KeysetRange } from '../../shared/keyset.ts';
import { isUuid } from '../../shared/uuid.ts';
import { createInvoiceFiles, retryFile } from './invoice-files.ts';

/**
 * E-invoices of paid orders: exactly one for each, at a provider. The row is written in the transaction that pays the
 * order; the order's id is the provider's reference. Before every try but the first the provider is asked for that
 * reference, so that a lost answer or a killed process makes no second invoice. When an invoice was cancelled at the
 * provider and the order needs one again, the next has its own reference: the order's id with `-2`, and so on.
 */

export type InvoiceState = 'due' | 'issued' | 'failed' | 'withdrawn' | 'to_cancel';

export interface OrderInvoice {
  orderId: string;
  provider: string;
  state: InvoiceState;
  /** The provider's number of the invoice. */
  number: string | null;
  /** Where the invoice can be read. */
  url: string | null;
  tries: number;
  nextAt: Date;
  requestedAt: Date | null;
  issuedAt: Date | null;
  /** Why the last try failed: a code of the provider's or ours. */
  problem: string | null;
  /** Why its XML was not stored: a code. */
  fileProblem: string | null;
  /** Whether its XML is here: the file of the invoice that counts now. */
  hasFile: boolean;
  createdAt: Date;
}

/** What an invoice says. Nothing in it changes between two tries. */
export interface InvoiceToIssue {
  /** Unique at the provider. */
  reference: string;
  paidAt: Date;
  memo: string;
  planId: string;
  planName: string;
  /** Pico-USD. */
  budget: bigint;
  /** Whole VND, taxes included. */
  priceVnd: bigint;
  buyer: { name: string; email: string; company: { name: string; taxCode: string; address: string } | null };
}

export type InvoiceProgress =
  | { kind: 'issued'; number: string; url: string | null }
  | { kind: 'pending' }
  /** The provider knows none of this reference. */
  | { kind: 'unknown' }
  /** It was issued and cancelled at the provider, by a person. */
  | { kind: 'cancelled' }
  /** A person has to look: a code. */
  | { kind: 'failed'; problem: string };

export interface InvoiceProvider {
  name: string;
  /** The longest that one of the calls below takes, all of its requests and their timeouts included. */
  maxCallMs: number;
  /** The invoice of a reference. */
  find(reference: string): Promise<InvoiceProgress>;
  /** Requests an invoice; `exists`: the reference was used before. */
  request(invoice: InvoiceToIssue): Promise<{ kind: 'requested'; tracking: string } | { kind: 'exists' }>;
  /** How far a request is. */
  check(tracking: string): Promise<InvoiceProgress>;
  /** The XML of the invoice that a request made, to the byte; null: the provider has none yet. */
  file(tracking: string): Promise<Uint8Array | null>;
}

/** A refusal of the provider. `isFinal`: the same request would be refused again. */
export class InvoiceRefused extends Error {
  override name = 'InvoiceRefused';
  readonly code: string;
  readonly isFinal: boolean;
  constructor(code: string, isFinal: boolean) {
    super(`the invoice provider refused: ${code}`);
    this.code = code;
    this.isFinal = isFinal;
  }
}

/** Writes that an order needs an invoice, within the transaction that pays it. Once for each order. */
export async function recordInvoice(client: ClientBase, orderId: string, provider: string): Promise<void> {
  await client.query(
    // An order that is paid again after an undone match gets the invoice that it had, or may have had, unless a person
    // has cancelled it. That is a question to the look-up: what a tracking code answers may be older.
    `INSERT INTO order_invoice AS i (order_id, provider) VALUES ($1, $2)
     ON CONFLICT (order_id) DO UPDATE SET ${dueAgain} WHERE i.state IN ('withdrawn', 'to_cancel')`,
    [orderId, provider],
  );
}

const dueAgain = `state = 'due', next_at = now(), tries = 0, problem = NULL, tracking = NULL,
  replace_cancelled = i.replace_cancelled OR i.state = 'to_cancel'`;

/** The invoice of an order whose refund was undone counts again: the same question to the look-up. */
export async function restoreInvoice(client: ClientBase, orderId: string): Promise<void> {
  await client.query(
    `UPDATE order_invoice AS i SET ${dueAgain} WHERE order_id = $1 AND state IN ('withdrawn', 'to_cancel')`,
    [orderId],
  );
}

/** Takes back the invoice of an order whose payment was undone: one that may exist is for a person to cancel. */
export async function withdrawInvoice(client: ClientBase, orderId: string): Promise<void> {
  await client.query(
    `UPDATE order_invoice SET state = CASE WHEN requested_at IS NULL THEN 'withdrawn' ELSE 'to_cancel' END,
            problem = 'payment_undone' WHERE order_id = $1`,
    [orderId],
  );
}

export interface InvoiceDeps {
  /** Must read BIGINT as `bigint`. */
  pool: Pool;
  /** Null: no invoices are issued. */
  provider: InvoiceProvider | null;
  log: Pick<Log, 'warn'>;
}

/** Calls of a step at most: check, look-up, request, check again. */
const maxCallsPerStep = 4;
/** Until then the row belongs to the process that took it: all calls of a step, and as long as one more for the rest. */
const leaseSeconds = ({ maxCallMs }: InvoiceProvider): number => Math.ceil(((maxCallsPerStep + 1) * maxCallMs) / 1_000);
/** The delays rise to six hours: 16 tries are about three days. */
const maxTries = 16;
const backOff = (firstSeconds: number, tries: number): number =>
  Math.min(21_600, firstSeconds * 2 ** Math.max(0, tries - 1));
/** After a failure. */
const failedSeconds = 60;
/** While the provider works on a request. */
const pendingSeconds = 15;

const columns = `order_id AS "orderId", provider, state, tracking, number, url, tries, next_at AS "nextAt",
  requested_at AS "requestedAt", issued_at AS "issuedAt", problem, created_at AS "createdAt", reference_no AS "referenceNo",
  replace_cancelled AS "replaceCancelled", file_problem AS "fileProblem", file_state = 'stored' AS "hasFile"`;

type Claimed = OrderInvoice & {
  tracking: string | null;
  /** Counts the references of the order that were used at the provider; the first is 1. */
  referenceNo: number;
  /** When the invoice turns out to be cancelled, another is issued under the next reference. */
  replaceCancelled: boolean;
};

const cancelledProblem = 'invoice_cancelled';

const referenceOf = ({ orderId, referenceNo }: Pick<Claimed, 'orderId' | 'referenceNo'>): string =>
  referenceNo === 1 ? orderId : `${orderId}-${referenceNo}`;

export function createInvoices(deps: InvoiceDeps) {
  const { pool } = deps;
  const files = createInvoiceFiles(deps);

  /** Works on the invoices that are due, each in one process at a time. Returns how many were issued. */
  async function issueDue(): Promise<number> {
    const { provider } = deps;
    if (provider === null) return 0;
    let issued = 0;
    const tried: string[] = [];
    for (;;) {
      const claimed = await claim(pool, { tried, seconds: leaseSeconds(provider) });
      if (claimed === null) return issued;
      tried.push(claimed.orderId);
      if (await step(provider, claimed)) issued += 1;
    }
  }

  async function step(from: InvoiceProvider, claimed: Claimed): Promise<boolean> {
    try {
      return await apply(claimed, await advance(pool, from, claimed));
    } catch (error) {
      const refused = error instanceof InvoiceRefused ? error : null;
      deps.log.warn(describeError(error), 'an invoice could not be issued');
      await fail(claimed, refused?.code ?? 'unreachable', refused?.isFinal === true);
      return false;
    }
  }

  /** What is due changes only while the lease lasts: a late answer may be of an invoice that was cancelled since. */
  async function apply(claimed: Claimed, progress: InvoiceProgress): Promise<boolean> {
    const { orderId, tries, nextAt, referenceNo } = claimed;
    if (progress.kind === 'issued') {
      // An order whose payment was undone keeps its state: a person cancels the invoice by this number.
      const { rowCount } = await pool.query(
        `UPDATE order_invoice SET number = $2, url = $3, issued_at = coalesce(issued_at, now()),
                state = CASE WHEN state = 'due' THEN 'issued' ELSE state END,
                problem = CASE WHEN state = 'due' THEN NULL ELSE problem END
         WHERE order_id = $1 AND reference_no = $4 AND (state = 'to_cancel' OR (state = 'due' AND next_at = $5))`,
        [orderId, progress.number, progress.url, referenceNo, nextAt],
      );
      return rowCount === 1;
    }
    if (progress.kind === 'failed') await fail(claimed, progress.problem, true);
    else if (progress.kind === 'cancelled' && !claimed.replaceCancelled) await fail(claimed, cancelledProblem, true);
    else if (tries >= maxTries) await fail(claimed, 'still_pending', true);
    else
      await pool.query(
        `UPDATE order_invoice SET next_at = now() + $2 * interval '1 second', problem = NULL
         WHERE order_id = $1 AND state = 'due' AND next_at = $3`,
        [orderId, backOff(pendingSeconds, tries), nextAt],
      );
    return false;
  }

  async function fail({ orderId, tries, nextAt }: Claimed, problem: string, isFinal: boolean) {
    await pool.query(
      `UPDATE order_invoice SET problem = $2, state = $3, next_at = now() + $4 * interval '1 second'
       WHERE order_id = $1 AND state = 'due' AND next_at = $5`,
      [
        orderId,
        problem.slice(0, 100),
        isFinal || tries >= maxTries ? 'failed' : 'due',
        backOff(failedSeconds, tries),
        nextAt,
      ],
    );
  }

  return {
    /** Null: no invoices are issued. */
    get provider() {
      return deps.provider?.name ?? null;
    },
    issueDue,
    fetchFiles: files.fetchDue,
    file: files.read,
    ...invoiceReaders(pool),

    /** An operator has an invoice or its file tried again, a cancelled one replaced; false when neither has failed. */
    async retry({ orderId, by }: { orderId: string; by: string }): Promise<boolean> {
      if (!isUuid(orderId)) return false;
      return repeatedTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `UPDATE order_invoice SET state = 'due', tries = 0, next_at = now(),
                  replace_cancelled = replace_cancelled OR problem = $2
           WHERE order_id = $1 AND state = 'failed'`,
          [orderId, cancelledProblem],
        );
        if (rowCount === 0 && !(await retryFile(client, orderId))) return false;
        await appendAudit(client, { actor: by, action: 'invoice.retry', subject: `order:${orderId}` });
        return true;
      });
    },
  };
}

export type Invoices = ReturnType<typeof createInvoices>;

function invoiceReaders(pool: Pool) {
  return {
    /** The invoices of orders, by order. */
    async ofOrders(orderIds: readonly string[]): Promise<Map<string, OrderInvoice>> {
      const { rows } = await pool.query<OrderInvoice>(
        `SELECT ${columns} FROM order_invoice WHERE order_id = ANY ($1::uuid[])`,
        [orderIds],
      );
      return new Map(rows.map((row) => [row.orderId, row]));
    },

    /** Invoices that an operator should know of: failed, to be cancelled, or tried more than once. The oldest first. */
    async troubled({ limit, after }: KeysetRange): Promise<OrderInvoice[]> {
      const { rows } = await pool.query<OrderInvoice>(
        `SELECT ${columns} FROM order_invoice
         WHERE (state IN ('failed', 'to_cancel') OR (state = 'due' AND problem IS NOT NULL)
                OR (state = 'issued' AND file_problem IS NOT NULL))
           AND ($2::timestamptz IS NULL OR (created_at, order_id) > ($2, $3::uuid))
         ORDER BY created_at, order_id LIMIT $1`,
        [limit, after?.at, after?.ids[0]],
      );
      return rows;
    },
  };
}

/** Takes one invoice that is due for this process; another takes it when the lease has ended. */
async function claim(pool: Pool, lease: { tried: readonly string[]; seconds: number }): Promise<Claimed | null> {
  const { rows } = await pool.query<Claimed>(
    `UPDATE order_invoice SET tries = tries + 1, next_at = now() + $2 * interval '1 second'
     WHERE order_id = (SELECT order_id FROM order_invoice WHERE state = 'due' AND next_at <= now()
                         AND order_id <> ALL ($1::uuid[]) ORDER BY next_at, order_id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING ${columns}`,
    [lease.tried, lease.seconds],
  );
  return rows[0] ?? null;
}

/** What is known of the invoice after the next call: the look-up comes before every second request. */
async function advance(pool: Pool, from: InvoiceProvider, claimed: Claimed): Promise<InvoiceProgress> {
  if (claimed.tracking !== null) {
    const progress = await from.check(claimed.tracking);
    if (progress.kind === 'issued' || progress.kind === 'pending') return progress;
  }
  if (claimed.requestedAt !== null) {
    const found = await from.find(referenceOf(claimed));
    if (found.kind === 'cancelled' && claimed.replaceCancelled) return replace(pool, from, claimed);
    if (found.kind !== 'unknown') return found;
  }
  return request(pool, from, claimed);
}

/** Gives up the reference of a cancelled invoice, and requests one under the next. */
async function replace(pool: Pool, from: InvoiceProvider, claimed: Claimed): Promise<InvoiceProgress> {
  const { rowCount } = await pool.query(
    `UPDATE order_invoice SET reference_no = reference_no + 1, replace_cancelled = false, tracking = NULL, number = NULL,
            url = NULL, requested_at = NULL, issued_at = NULL, file_state = 'due', file_tries = 0, file_next_at = NULL,
            file_problem = NULL, file_tracking = NULL
     WHERE order_id = $1 AND state = 'due' AND next_at = $2`,
    [claimed.orderId, claimed.nextAt],
  );
  if (rowCount === 0) return { kind: 'pending' };
  claimed.referenceNo += 1;
  claimed.replaceCancelled = false;
  return request(pool, from, claimed);
}

/** Requests the invoice under the reference that is its own now. */
async function request(pool: Pool, from: InvoiceProvider, claimed: Claimed): Promise<InvoiceProgress> {
  const invoice = await begin(pool, claimed);
  // The payment was undone meanwhile, or the lease has ended.
  if (invoice === null) return { kind: 'pending' };
  const answer = await from.request(invoice);
  if (answer.kind === 'requested') {
    await pool.query(
      'UPDATE order_invoice SET tracking = $2, file_tracking = $2 WHERE order_id = $1 AND next_at = $3',
      [claimed.orderId, answer.tracking, claimed.nextAt],
    );
    return from.check(answer.tracking);
  }
  const found = await from.find(referenceOf(claimed));
  return found.kind === 'unknown' ? { kind: 'pending' } : found;
}

/** Marks that the provider may have the invoice from now on, and reads what it says; null when it is not due any more. */
async function begin(pool: Pool, claimed: Claimed): Promise<InvoiceToIssue | null> {
  const { rows } = await pool.query<
    Omit<InvoiceToIssue, 'buyer' | 'reference'> & {
      name: string;
      email: string;
      company: InvoiceToIssue['buyer']['company'];
    }
  >(
    `UPDATE order_invoice i SET requested_at = coalesce(i.requested_at, now())
     FROM purchase_order o JOIN account a ON a.id = o.account_id LEFT JOIN order_parties p ON p.order_id = o.id
     WHERE i.order_id = $1 AND o.id = i.order_id AND i.state = 'due' AND i.next_at = $2 AND o.status = 'paid'
     RETURNING o.paid_at AS "paidAt", o.memo, o.plan_id AS "planId", o.plan_name AS "planName",
               o.budget, o.price_vnd AS "priceVnd", a.name, a.email, p.company`,
    [claimed.orderId, claimed.nextAt],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { name, email, company, ...invoice } = row;
  return { ...invoice, reference: referenceOf(claimed), buyer: { name, email, company } };
}
