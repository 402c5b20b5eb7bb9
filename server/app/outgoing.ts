/** What leaves the service unasked: notices, webhooks, mails to operators. */

import type { Pool } from 'pg';
import { createMismatchMails } from '../catalog/mismatch-mails.ts';
import type { UpstreamHealth } from '../catalog/upstream-health.ts';
import type { Log } from '../core/log.ts';
import { formatUsd } from '../core/money.ts';
import { createNotices } from '../notices/notices.ts';
import { createWebhooks } from '../notices/webhooks.ts';
import type { Config } from '../runtime/config.ts';
import type { Mailer } from '../runtime/mail.ts';
import { checkBaseUrl, publicLookup } from '../shared/private-addresses.ts';
import type { Seal } from '../shared/seal.ts';

export function createOutgoing(deps: {
  pool: Pool;
  mailer: Pick<Mailer, 'deliver'>;
  seal: Seal;
  config: Pick<Config, 'allowPrivateWebhooks' | 'telegramUrl'>;
  /** Read for each notice: operators change it while the service runs. */
  readonly publicUrl: string;
  upstreamHealth: () => readonly UpstreamHealth[];
  webhooksDue: () => void;
  log: Pick<Log, 'warn'>;
}) {
  const { pool, mailer, seal, config, upstreamHealth, webhooksDue, log } = deps;
  const allowPrivate = config.allowPrivateWebhooks;
  const reach = {
    checkAddress: (url: string) => checkBaseUrl(url, allowPrivate),
    ...(allowPrivate ? {} : { lookup: publicLookup }),
  };
  const webhooks = createWebhooks({ pool, seal, ...reach, onDue: webhooksDue });
  const notices = createNotices({
    pool,
    seal,
    deliverMail: mailer.deliver,
    recordEvent: webhooks.recordEvent,
    messengers: { ...reach, telegramUrl: config.telegramUrl },
    allowAnyHost: allowPrivate,
    formatUsd,
    upstreamHealth,
    get publicUrl() {
      return deps.publicUrl;
    },
    log,
  });
  const mismatchMails = createMismatchMails({
    pool,
    deliverMail: mailer.deliver,
    get booksUrl() {
      return `${deps.publicUrl}/operator/books`;
    },
    log,
  });
  return { webhooks, notices, mismatchMails };
}
