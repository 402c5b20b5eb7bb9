import type { Accounts } from '../accounts/accounts.ts';
import type { MismatchMails } from '../catalog/mismatch-mails.ts';
import type { Keys } from '../keys/keys.ts';
import type { Notices } from '../notices/notices.ts';
import type { Webhooks } from '../notices/webhooks.ts';
import type { People } from '../people/people.ts';
import type { Orders } from '../plans/orders.ts';
import { reconcile, type TransferSource } from '../plans/reconciliation.ts';
import type { Transfers } from '../plans/transfers.ts';
import { createJobs, type JobLog, type Jobs } from '../runtime/jobs.ts';
import { createProbeAccount, createProbeRound } from '../uptime/round.ts';
import type { Uptime } from '../uptime/uptime.ts';

/** What happens by the clock, put together: which job runs when, and what wakes it sooner. */
export interface ScheduleParts {
  databaseUrl: string;
  /** The address people see, without a trailing slash: probes go there. */
  publicUrl: string;
  /** False: models are not probed, because somebody counts what reaches the simulator. */
  probing: boolean;
  accounts: Accounts;
  keys: Keys;
  orders: Pick<Orders, 'expire'>;
  transfers: Pick<Transfers, 'receive'>;
  /** Where to ask for transfers that a webhook lost; null: nowhere. */
  transferSource: TransferSource | null;
  uptime: Uptime;
  notices: Pick<Notices, 'check' | 'sendMails'>;
  mismatchMails: MismatchMails;
  webhooks: Pick<Webhooks, 'deliverDue' | 'prune'>;
  people: Pick<People, 'sweep'>;
  log: JobLog;
}

export interface Schedule extends Pick<Jobs, 'start' | 'close'> {
  /** Tells that something is to be delivered: soon, instead of within a minute. */
  webhooksDue(): void;
}

/** Longer than any outage that a webhook's retries do not outlast by themselves. */
const reconciliationWindowMs = 48 * 3_600_000;

/** Events are written down in transactions that are still open when this hears of them. */
const settleMs = 250;

export function createSchedule(parts: ScheduleParts): Schedule {
  const {
    databaseUrl,
    publicUrl,
    probing,
    accounts,
    keys,
    orders,
    transfers,
    transferSource,
    uptime,
    notices,
    mismatchMails,
    webhooks,
    people,
    log,
  } = parts;
  const probeRound = createProbeRound({
    uptime,
    account: createProbeAccount({ accounts, keys }),
    baseUrl: `${publicUrl}/api`,
  });
  const jobs = createJobs({
    databaseUrl,
    log,
    jobs: [
      ...(probing ? [{ name: 'probes', cron: '*/5 * * * *', run: probeRound }] : []),
      { name: 'orders', cron: '* * * * *', run: orders.expire },
      {
        name: 'reconciliation',
        cron: '*/10 * * * *',
        run: async () => {
          if (transferSource !== null)
            await reconcile({ source: transferSource, transfers, windowMs: reconciliationWindowMs });
        },
      },
      {
        name: 'notices',
        cron: '*/5 * * * *',
        run: async () => {
          await notices.check();
          await notices.sendMails();
        },
      },
      // An alarm is not late by more than a minute, and there are not more mails than one a minute.
      { name: 'alarms', cron: '* * * * *', run: mismatchMails.sendMails },
      { name: 'webhooks', cron: '* * * * *', run: webhooks.deliverDue },
      { name: 'people', cron: '23 * * * *', run: people.sweep },
      {
        name: 'prune',
        cron: '17 3 * * *',
        run: async () => {
          await uptime.prune();
          await webhooks.prune();
        },
      },
    ],
  });

  let waking: NodeJS.Timeout | null = null;
  return {
    async start() {
      await jobs.start();
      // A catalog that was never probed should not stay without data until the clock says so.
      if (probing) await jobs.trigger('probes');
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
