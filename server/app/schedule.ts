import type { Retention } from '../accounts/retention.ts';
import type { Books } from '../books/books.ts';
import type { MismatchMails } from '../catalog/mismatch-mails.ts';
import { connecting } from '../database/address.ts';
import { connections } from '../database/connections.ts';
import type { Notices } from '../notices/notices.ts';
import type { Webhooks } from '../notices/webhooks.ts';
import type { People } from '../people/people.ts';
import { reconcile, type TransferSource } from '../plans/bank/reconciliation.ts';
import type { Transfers } from '../plans/bank/transfers.ts';
import { createJobs, type JobLog, type Jobs } from '../runtime/jobs.ts';
import type { Probing } from '../uptime/probes/probing.ts';
import { createProbeRound, type ProbeAccount } from '../uptime/probes/round.ts';
import type { Uptime } from '../uptime/uptime.ts';
import { reconcileBills } from './bill-alarms.ts';
import type { Sales } from './sales.ts';

/** The schedule: which job runs when, and what triggers it early. */
export interface ScheduleParts {
  databaseUrl: string;
  /** The public address, without a trailing slash: probes go there. Read for each round. */
  readonly publicUrl: string;
  /** Whether the service probes its own models. */
  probes: boolean;
  /** Which models are due. */
  probing: Pick<Probing, 'due'>;
  /** The account that pays for probes. */
  probeAccount: ProbeAccount;
  sales: Sales['jobs'];
  books: Pick<Books, 'examineBills'>;
  retention: Pick<Retention, 'apply'>;
  /** What was written beside an erasure, and files of old mails. */
  ownData: { erasures: () => Promise<unknown>; mails: () => Promise<void> };
  transfers: Pick<Transfers, 'receive'>;
  /** Where transfers that a webhook lost are queried; null: nowhere. */
  transferSource: TransferSource | null;
  uptime: Uptime;
  notices: Pick<Notices, 'check' | 'deliverDue' | 'prune' | 'tellBills'>;
  mismatchMails: MismatchMails;
  webhooks: Pick<Webhooks, 'deliverDue' | 'prune'>;
  readonly people: Pick<People, 'sweep'>;
  log: JobLog;
}

export interface Schedule extends Pick<Jobs, 'start' | 'close'> {
  /** Triggers deliveries at once, instead of within a minute. */
  webhooksDue(): void;
}

/** Longer than any outage that webhooks' own retries do not cover. */
const reconciliationWindowMs = 48 * 3_600_000;

/** The trigger arrives while the transaction that writes the events is still open. */
const settleMs = 250;

export function createSchedule(parts: ScheduleParts): Schedule {
  const {
    databaseUrl,
    probes,
    probing,
    probeAccount,
    sales,
    books,
    retention,
    ownData,
    transfers,
    uptime,
    notices,
    mismatchMails,
    webhooks,
    log,
  } = parts;
  const probeRound = createProbeRound({
    uptime,
    account: probeAccount,
    get baseUrl() {
      return `${parts.publicUrl}/api`;
    },
    due: probing.due,
  });
  const { connectionString, stream } = connecting(databaseUrl);
  const jobs = createJobs({
    databaseUrl: connectionString,
    ...(stream === undefined ? {} : { stream }),
    max: connections.jobs,
    log,
    jobs: [
      // Each model has its own pace: a round probes those that are due.
      ...(probes ? [{ name: 'probes', cron: '* * * * *', run: probeRound }] : []),
      { name: 'orders', cron: '* * * * *', run: sales.orders },
      { name: 'order-mails', cron: '* * * * *', run: sales.orderMails },
      { name: 'invoices', cron: '* * * * *', run: sales.invoices },
      {
        name: 'reconciliation',
        cron: '*/10 * * * *',
        run: async () => {
          const source = parts.transferSource;
          if (source !== null) await reconcile({ source, transfers, windowMs: reconciliationWindowMs });
        },
      },
      {
        name: 'notices',
        cron: '*/5 * * * *',
        // What the watch of each process missed, e.g. while the database was away.
        run: async (signal) => {
          await notices.check();
          await notices.deliverDue(signal);
        },
      },
      // Alarms are at most a minute late, and there is at most one mail a minute.
      { name: 'alarms', cron: '* * * * *', run: mismatchMails.sendMails },
      // A vendor's day ends at midnight UTC, and its figures follow hours later.
      { name: 'bills', cron: '41 3 * * *', run: () => reconcileBills({ books, notices }) },
      { name: 'webhooks', cron: '* * * * *', run: webhooks.deliverDue },
      { name: 'erasures', cron: '*/10 * * * *', run: ownData.erasures },
      { name: 'people', cron: '23 * * * *', run: () => parts.people.sweep() },
      {
        name: 'prune',
        cron: '17 3 * * *',
        run: async () => {
          await uptime.prune();
          await webhooks.prune();
          await notices.prune();
          await retention.apply();
          await ownData.mails();
        },
      },
    ],
  });

  let waking: NodeJS.Timeout | null = null;
  return {
    async start() {
      await jobs.start();
      // A catalog that was never probed should not wait for the next tick.
      if (probes) await jobs.trigger('probes');
    },
    async close() {
      if (waking !== null) clearTimeout(waking);
      await jobs.close();
    },
    webhooksDue() {
      waking ??= setTimeout(() => {
        waking = null;
        jobs.trigger('webhooks').catch(() => undefined);
      }, settleMs);
    },
  };
}
