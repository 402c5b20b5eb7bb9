import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { createErasure } from '../accounts/erasure.ts';
import { createRetention, type RetentionDays } from '../accounts/retention.ts';
import { createExportLinks, registerExport } from '../pages/account-export.ts';
import type { LinkLimits } from '../pages/link-limits.ts';
import { createErasureLinks } from '../pages/papers/erasure-proof.ts';
import { accountErasedMail, localeOf } from '../people/mails.ts';
import { createThrottle } from '../people/sign-in/throttle.ts';
import { forgetOrders, lockOrders } from '../plans/erased.ts';
import type { Mailer } from '../runtime/mail.ts';
import { createDigest } from '../shared/digest.ts';

/** How long files of mails are kept, where there is no mail server. */
const mailDays = 30;

/** Composes what people may do with their own data, export and erasure, and what is deleted by the clock. */
export function createOwnData(deps: {
  pool: Pool;
  mailer: Pick<Mailer, 'post' | 'forget' | 'prune'>;
  secretKey: Buffer;
  /** Read at each use: operators change it while the service runs. */
  readonly publicUrl: string;
  retention: RetentionDays;
}) {
  const { pool, mailer } = deps;
  const erasureLinks = createErasureLinks(deps);
  const erasure = createErasure({
    pool,
    orders: { lock: lockOrders, forget: forgetOrders },
    forgetMails: (isOver) => mailer.forget(isOver),
    tell: ({ email, locale }, accountId) => {
      const language = localeOf(locale);
      const proof = `${erasureLinks.link(accountId, 'system').url}&lang=${language}`;
      mailer.post(accountErasedMail(email, language, proof));
    },
  });
  const exportLinks = createExportLinks(deps);
  return {
    domains: {
      erasure,
      exportLinks,
      erasureLinks,
      throttle: createThrottle({ pool }),
      attributionDigest: createDigest(deps.secretKey),
    },
    retention: createRetention({ pool, days: deps.retention }),
    jobs: {
      erasures: () => erasure.sweep(),
      mails: () => mailer.prune(new Date(Date.now() - mailDays * 86_400_000)),
    },
    registerPages: (app: FastifyInstance, limits: LinkLimits) =>
      registerExport(app, { pool, links: exportLinks, limits }),
  };
}
