/**
 * Finds the causes of notices in what the service has written down anyway: prices, incidents, transfers, the ledger and
 * its sums. Requests do nothing for it.
 */

import type { ClientBase, Pool } from 'pg';
import { transaction } from '../database/lane.ts';
import type { DueNotice, NoticeFacts } from './rules.ts';
import type { Teller } from './telling.ts';

export interface CauseDeps {
  /** Must read BIGINT as `bigint` (the types of the money lane). */
  pool: Pool;
  teller: Teller;
  formatUsd: (amount: bigint) => string;
  /** What this process knows of its upstreams. */
  upstreamHealth: () => readonly { upstreamId: string; consecutiveFailures: number; ejected: boolean }[];
}

/** A model is used by the accounts that have called it within this time. */
const usedWithin = '30 days';
/** Causes that are older were made while no process looked, or before this version: they are no news. */
const newsFor = '2 days';
/** An upstream that no process has seen failing for this long works again. */
const upstreamQuiet = '5 minutes';
/** Pico-USD per token to USD per million tokens: 1e6 tokens of 1e-12 USD. */
const perMillion = 1_000_000n;

export function createCauses(deps: CauseDeps) {
  const { pool } = deps;
  const models = createModelCauses(deps);
  const business = createBusinessCauses(deps);

  /** Everything that one process looks for on behalf of all. */
  async function find(): Promise<void> {
    await models.findPriceChanges();
    await models.findIncidents();
    await business.findWaitingTransfers();
    await business.findShortfalls();
    await business.findLowMargin();
    await business.clearUpstreams();
  }

  /** Forgets marks that nothing asks for any more. */
  async function prune(): Promise<void> {
    await pool.query(`DELETE FROM notice_cause WHERE created_at < now() - interval '30 days'`);
  }

  return { find, findFailingUpstreams: business.findFailingUpstreams, tellBills: createBillCauses(deps), prune };
}

/** Causes that concern the accounts that use a model. */
function createModelCauses({ pool, teller, formatUsd }: CauseDeps) {
  /** Tells those who use a model that its price changes. */
  async function findPriceChanges(): Promise<void> {
    const { rows } = await pool.query<PriceChange>(
      `SELECT p.id, p.model_id AS model, p.valid_from AS "validFrom", p.input, p.output, b.input AS "inputBefore", b.output AS "outputBefore"
       FROM price p CROSS JOIN LATERAL (
         SELECT e.input, e.output FROM price e WHERE e.model_id = p.model_id AND (e.valid_from, e.created_at, e.id) < (p.valid_from, p.created_at, p.id)
         ORDER BY e.valid_from DESC, e.created_at DESC, e.id DESC LIMIT 1) AS b
       WHERE p.created_at > now() - $1::interval
         AND NOT EXISTS (SELECT FROM notice_cause c WHERE c.kind = 'price_changed' AND c.subject = p.id::text)`,
      [newsFor],
    );
    const usd = (perToken: bigint) => formatUsd(perToken * perMillion);
    for (const { id, model, validFrom, input, output, inputBefore, outputBefore } of rows)
      await tellUsers(model, {
        kind: 'price_changed',
        subject: id,
        facts: {
          model,
          valid_from: validFrom.toISOString(),
          input_usd: usd(input),
          input_usd_before: usd(inputBefore),
          output_usd: usd(output),
          output_usd_before: usd(outputBefore),
        },
      });
  }

  /** Tells those who use a model that it has an incident, and those who got that notice when it has ended. */
  async function findIncidents(): Promise<void> {
    const { rows } = await pool.query<{ id: string; model: string; impact: string; startedAt: Date }>(
      `SELECT i.id, i.model, i.impact, i.started_at AS "startedAt" FROM incident i
       WHERE i.ended_at IS NULL AND i.opened_at > now() - $1::interval
         AND NOT EXISTS (SELECT FROM notice_cause c WHERE c.kind = 'model_incident' AND c.subject = i.id::text)`,
      [newsFor],
    );
    for (const { id, model, impact, startedAt } of rows)
      await tellUsers(model, {
        kind: 'model_incident',
        subject: id,
        facts: { model, impact, started_at: startedAt.toISOString() },
      });
    await transaction(pool, async (client) => {
      const { rows: ended } = await client.query<EndedIncident>(
        `UPDATE notice n SET cleared_at = i.ended_at FROM incident i
         WHERE n.kind = 'model_incident' AND n.cleared_at IS NULL AND n.subject = i.id::text AND i.ended_at IS NOT NULL
         RETURNING n.account_id AS "accountId", i.id, i.model, i.started_at AS "startedAt", i.ended_at AS "endedAt",
                   i.ended_at > now() - $1::interval AS "isNews"`,
        [newsFor],
      );
      for (const [id, told] of Map.groupBy(ended, (one) => one.id)) {
        const [{ model, startedAt, endedAt, isNews }] = told as [EndedIncident];
        const accountIds = told.map(({ accountId }) => accountId).toSorted();
        const facts = {
          of: 'model_incident',
          model,
          started_at: startedAt.toISOString(),
          ended_at: endedAt.toISOString(),
        };
        if (isNews) await teller.tellAccounts(client, accountIds, { kind: 'recovered', subject: id, facts });
      }
    });
  }

  /** In one transaction with the mark that it was sent: a process that dies has told all of them, or none. */
  async function tellUsers(model: string, notice: DueNotice): Promise<void> {
    await transaction(pool, async (client) => {
      if (!(await markCause(client, notice))) return;
      const { rows } = await client.query<{ accountId: string }>(
        `SELECT DISTINCT u.account_id AS "accountId" FROM usage_hour u JOIN account a ON a.id = u.account_id
         WHERE u.model = $1 AND u.hour > now() - $2::interval AND a.kind = 'customer' AND a.status = 'active'`,
        [model, usedWithin],
      );
      const accountIds = rows.map(({ accountId }) => accountId);
      if (accountIds.length > 0) await teller.tellAccounts(client, accountIds, notice);
    });
  }

  return { findPriceChanges, findIncidents };
}

/** Causes that concern operators. */
function createBusinessCauses({ pool, teller, formatUsd, upstreamHealth }: CauseDeps) {
  /** Tells operators of transfers that wait for a person. */
  async function findWaitingTransfers(): Promise<void> {
    const { rows } = await pool.query<{ id: string; amountVnd: bigint; reason: string }>(
      `SELECT r.transfer_id AS id, t.amount_vnd AS "amountVnd", r.reason
       FROM transfer_review r JOIN bank_transfer t ON t.id = r.transfer_id
       WHERE r.closed_at IS NULL AND r.created_at > now() - $1::interval
         AND NOT EXISTS (SELECT FROM notice_cause c WHERE c.kind = 'transfer_waiting' AND c.subject = r.transfer_id::text)`,
      [newsFor],
    );
    for (const { id, amountVnd, reason } of rows)
      await tellOnce({
        kind: 'transfer_waiting',
        subject: id,
        facts: { transfer_id: id, amount_vnd: amountVnd.toString(), reason },
      });
    await pool.query(
      `UPDATE notice n SET cleared_at = r.closed_at FROM transfer_review r
       WHERE n.kind = 'transfer_waiting' AND n.cleared_at IS NULL AND n.subject = r.transfer_id::text AND r.closed_at IS NOT NULL`,
    );
  }

  /** Tells operators once for each hour in which answers cost more than could be charged. */
  async function findShortfalls(): Promise<void> {
    // Request ids begin with their time, and a partial index holds the requests with a shortfall.
    const { rows } = await pool.query<{ hour: Date; amount: bigint }>(
      `SELECT date_trunc('hour', created_at) AS hour, least(sum(cost - charged), 9223372036854775807)::bigint AS amount
       FROM ledger_entry WHERE charged < cost AND request_id >= $1::uuid AND created_at > now() - interval '2 hours'
       GROUP BY 1 HAVING sum(cost - charged) > coalesce((SELECT shortfall FROM business_notice_settings), 0)`,
      [firstIdOf(Date.now() - requestsMayTakeMs)],
    );
    for (const { hour, amount } of rows)
      await tellOnce({
        kind: 'shortfall',
        subject: hour.toISOString(),
        facts: { amount_usd: formatUsd(amount), hour: hour.toISOString() },
      });
  }

  /** Tells operators that the margin of 24 hours is below what they chose, and that it no longer is. */
  async function findLowMargin(): Promise<void> {
    const { rows } = await pool.query<{ percent: number | null; minimum: number | null }>(
      `SELECT s.margin_percent AS minimum, (
         SELECT floor(100 * (sum(charged) - sum(unknown_charged) - sum(upstream_cost)) / nullif(sum(charged) - sum(unknown_charged), 0))::int
         FROM margin_hour WHERE hour > now() - interval '24 hours') AS percent
       FROM business_notice_settings s WHERE s.margin_percent IS NOT NULL`,
    );
    const { percent, minimum } = rows[0] ?? { percent: null, minimum: null };
    if (percent !== null && minimum !== null && percent < minimum) {
      const facts: NoticeFacts = { percent: `${percent}`, minimum: `${minimum}` };
      await transaction(pool, (client) => teller.tellOperators(client, { kind: 'margin_low', subject: '', facts }));
      return;
    }
    // Without a chosen margin, and without requests, nothing has recovered.
    const facts = percent === null || minimum === null ? null : { percent: `${percent}`, minimum: `${minimum}` };
    await clear(`kind = 'margin_low'`, [], () => facts);
  }

  /** Clears open notices of operators, and tells them once of each that is over; null: it is not told. */
  async function clear(
    condition: string,
    values: readonly unknown[],
    factsOf: (subject: string) => NoticeFacts | null,
  ): Promise<void> {
    await transaction(pool, async (client) => {
      const { rows } = await client.query<{ id: string; kind: string; subject: string }>(
        `UPDATE notice SET cleared_at = now() WHERE cleared_at IS NULL AND account_id IS NULL AND ${condition}
         RETURNING id, kind, subject`,
        [...values],
      );
      for (const { id, kind, subject } of rows) {
        const facts = factsOf(subject);
        if (facts === null) continue;
        await teller.tellOperators(client, { kind: 'recovered', subject: id, facts: { of: kind, ...facts } });
      }
    });
  }

  /** Tells operators of upstreams that fail, as this process sees them. Every process is to call it. */
  async function findFailingUpstreams(): Promise<void> {
    const failing = upstreamHealth().filter(({ ejected }) => ejected);
    for (const { upstreamId, consecutiveFailures } of failing)
      await transaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `UPDATE notice SET last_seen_at = now() WHERE kind = 'upstream_failing' AND subject = $1 AND cleared_at IS NULL`,
          [upstreamId],
        );
        // The count starts anew when an upstream is ejected.
        const failures = `${Math.max(consecutiveFailures, failuresOfEjected)}`;
        if (rowCount === 0)
          await teller.tellOperators(client, {
            kind: 'upstream_failing',
            subject: upstreamId,
            facts: { upstream: upstreamId, failures },
          });
      });
  }

  async function clearUpstreams(): Promise<void> {
    await clear(`kind = 'upstream_failing' AND last_seen_at < now() - $1::interval`, [upstreamQuiet], (upstream) => ({
      upstream,
    }));
  }

  async function tellOnce(notice: DueNotice): Promise<void> {
    await transaction(pool, async (client) => {
      if (await markCause(client, notice)) await teller.tellOperators(client, notice);
    });
  }

  return { findWaitingTransfers, findShortfalls, findLowMargin, findFailingUpstreams, clearUpstreams };
}

/** What is wrong with the bills of one upstream. */
interface BillNotice {
  kind: 'bill_differs' | 'bill_missing';
  /** Id of the upstream. */
  subject: string;
  facts: NoticeFacts;
  /** What the notice is about: it is sent again when it has a part that the open one does not have. */
  parts: readonly string[];
}

/**
 * Tells operators what is wrong with vendors' bills, given all that is wrong now: an open notice is not repeated unless
 * it has grown, and one whose cause is gone is cleared.
 */
function createBillCauses({ pool, teller }: CauseDeps) {
  return (notices: readonly BillNotice[]): Promise<void> =>
    transaction(pool, async (client) => {
      // Concurrent runs would both find that a notice has grown.
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.bill_notices', 0))`);
      const { rows: open } = await client.query<{ id: string; kind: string; subject: string; facts: NoticeFacts }>(
        `SELECT id, kind, subject, facts FROM notice
         WHERE kind IN ('bill_differs', 'bill_missing') AND cleared_at IS NULL`,
      );
      const news = notices.filter(({ kind, subject, parts }) => {
        const known = open.find((each) => each.kind === kind && each.subject === subject)?.facts.days?.split(', ');
        return known === undefined || parts.some((part) => !known.includes(part));
      });
      const standing = notices.filter((notice) => !news.includes(notice));
      const over = open.filter(
        ({ kind, subject }) => !standing.some((each) => each.kind === kind && each.subject === subject),
      );
      await client.query('UPDATE notice SET cleared_at = now() WHERE id = ANY ($1::uuid[])', [
        over.map(({ id }) => id),
      ]);
      for (const { kind, subject, facts } of news) await teller.tellOperators(client, { kind, subject, facts });
    });
}

interface EndedIncident {
  accountId: string;
  id: string;
  model: string;
  startedAt: Date;
  endedAt: Date;
  isNews: boolean;
}

interface PriceChange {
  id: string;
  model: string;
  validFrom: Date;
  input: bigint;
  output: bigint;
  inputBefore: bigint;
  outputBefore: bigint;
}

/** As many failures in a row eject an upstream. */
const failuresOfEjected = 5;
/** A request that ended within two hours began at most so long ago. */
const requestsMayTakeMs = 4 * 3_600_000;

/** The smallest UUID of version 7 of a moment. */
function firstIdOf(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** False: a notice of the cause was sent already. */
async function markCause(client: ClientBase, { kind, subject }: DueNotice): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO notice_cause (kind, subject) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [kind, subject],
  );
  return rowCount === 1;
}
