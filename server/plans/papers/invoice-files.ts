import type { ClientBase, Pool } from 'pg';
import type { Log } from '../../core/log.ts';
import { describeError } from '../../runtime/http.ts';
import { isUuid } from '../../shared/uuid.ts';
import { maxInvoiceFileBytes, problemOfFile } from './invoice-file.ts';

/**
 * Fetches the XML of issued e-invoices from the provider and keeps it. A file that is not the invoice of its order is not
 * kept: nobody is handed it, and an operator sees the code of what is wrong.
 */

/** The delays rise from a minute to six hours: 12 tries are about a day and a half. */
const maxTries = 12;
const backOff = (tries: number): number => Math.min(21_600, 60 * 2 ** Math.max(0, tries - 1));

interface Due {
  orderId: string;
  referenceNo: number;
  tracking: string | null;
  number: string;
  priceVnd: bigint;
  taxCode: string;
  tries: number;
  nextAt: Date;
}

/** What a provider of invoices does for their files (`InvoiceProvider`). */
interface FileSource {
  maxCallMs: number;
  file(tracking: string): Promise<Uint8Array | null>;
}

export function createInvoiceFiles(deps: { pool: Pool; provider: FileSource | null; log: Pick<Log, 'warn'> }) {
  const { pool, log } = deps;

  async function step(provider: FileSource, due: Due): Promise<boolean> {
    // The answer to its request was lost, and its provider gives files by requests alone.
    if (due.tracking === null) return fail(due, 'file_by_hand', true);
    let content: Uint8Array | null;
    try {
      content = await provider.file(due.tracking);
    } catch (error) {
      log.warn(describeError(error), 'the file of an invoice could not be fetched');
      return fail(due, 'file_unreachable', false);
    }
    if (content === null) return fail(due, 'file_missing', false);
    const problem = content.length > maxInvoiceFileBytes ? 'file_too_large' : problemOfFile(content, due);
    // A provider may still be waiting for the tax office's code: the same question is asked again later.
    if (problem !== null) return fail(due, problem, false);
    return store(due, content);
  }

  async function store({ orderId, referenceNo }: Due, content: Uint8Array): Promise<boolean> {
    // The first file stays: what the customer was given is what the books have.
    const { rowCount } = await pool.query(
      `WITH kept AS (
         INSERT INTO order_invoice_file (order_id, reference_no, content)
         SELECT order_id, reference_no, $3 FROM order_invoice WHERE order_id = $1 AND reference_no = $2 AND state = 'issued'
         ON CONFLICT DO NOTHING)
       UPDATE order_invoice SET file_state = 'stored', file_problem = NULL
       WHERE order_id = $1 AND reference_no = $2 AND state = 'issued'`,
      [orderId, referenceNo, Buffer.from(content)],
    );
    return rowCount === 1;
  }

  /** The next try, or the end of them; a problem counts from the third try on, because providers take minutes. */
  async function fail({ orderId, tries, nextAt }: Due, problem: string, isFinal: boolean): Promise<false> {
    const isOver = isFinal || tries >= maxTries;
    await pool.query(
      `UPDATE order_invoice SET file_problem = $2, file_state = $3, file_next_at = now() + $4 * interval '1 second'
       WHERE order_id = $1 AND file_state = 'due' AND file_next_at = $5`,
      [orderId, isOver || tries >= 3 ? problem : null, isOver ? 'failed' : 'due', backOff(tries), nextAt],
    );
    return false;
  }

  return {
    /** Fetches the files that are due, each in one process at a time. Returns how many were kept. */
    async fetchDue(): Promise<number> {
      const { provider } = deps;
      if (provider === null) return 0;
      let kept = 0;
      const tried: string[] = [];
      for (;;) {
        const due = await claim(pool, { tried, seconds: Math.ceil((2 * provider.maxCallMs) / 1_000) });
        if (due === null) return kept;
        tried.push(due.orderId);
        if (await step(provider, due)) kept += 1;
      }
    },

    /** The file of the invoice that an order has now, and whose it is; null: there is none. */
    async read(orderId: string): Promise<{ accountId: string; number: string; content: Buffer } | null> {
      if (!isUuid(orderId)) return null;
      const { rows } = await pool.query<{ accountId: string; number: string; content: Buffer }>(
        `SELECT o.account_id AS "accountId", i.number, f.content
         FROM order_invoice i JOIN purchase_order o ON o.id = i.order_id
         JOIN order_invoice_file f ON f.order_id = i.order_id AND f.reference_no = i.reference_no
         WHERE i.order_id = $1 AND i.state = 'issued'`,
        [orderId],
      );
      return rows[0] ?? null;
    },
  };
}

/** Asks for a file again that is not here; false when it is, or there is no invoice. */
export async function retryFile(client: ClientBase, orderId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE order_invoice SET file_state = 'due', file_tries = 0, file_next_at = now()
     WHERE order_id = $1 AND state = 'issued' AND file_state <> 'stored'`,
    [orderId],
  );
  return rowCount === 1;
}

/** Takes one file that is due for this process; another takes it when the lease has ended. */
async function claim(pool: Pool, lease: { tried: readonly string[]; seconds: number }): Promise<Due | null> {
  const { rows } = await pool.query<Due>(
    `UPDATE order_invoice i SET file_tries = i.file_tries + 1, file_next_at = now() + $2 * interval '1 second'
     FROM purchase_order o LEFT JOIN order_parties p ON p.order_id = o.id
     WHERE o.id = i.order_id AND i.order_id = (
       SELECT order_id FROM order_invoice WHERE state = 'issued' AND file_state = 'due'
          AND coalesce(file_next_at, issued_at) <= now() AND order_id <> ALL ($1::uuid[])
        ORDER BY coalesce(file_next_at, issued_at), order_id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING i.order_id AS "orderId", i.reference_no AS "referenceNo", coalesce(i.file_tracking, i.tracking) AS tracking,
               i.number, o.price_vnd AS "priceVnd", coalesce(p.company ->> 'taxCode', '') AS "taxCode",
               i.file_tries AS tries, i.file_next_at AS "nextAt"`,
    [lease.tried, lease.seconds],
  );
  return rows[0] ?? null;
}
