import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { createErasure } from '../accounts/erasure.ts';
import { createRetention, type RetentionDays } from '../accounts/retention.ts';
import { createExportLinks, registerExport } from '../graphql/pages/account-export.ts';
import type { LinkLimits } from '../graphql/pages/link-limits.ts';
import { accountErasedMail, localeOf } from '../people/mails.ts';
import { createThrottle } from '../people/throttle.ts';
import type { Mailer } from '../runtime/mail.ts';
import { createDigest } from '../shared/digest.ts';

/** Composes what people may do with their own data, export and erasure, and what is deleted by the clock. */
export function createOwnData(deps: {
  pool: Pool;
  mailer: Pick<Mailer, 'post'>;
  secretKey: Buffer;
  publicUrl: string;
  retention: RetentionDays;
}) {
  const { pool, mailer, secretKey, publicUrl } = deps;
  const erasure = createErasure({
    pool,
    tell: ({ email, locale }) => mailer.post(accountErasedMail(email, localeOf(locale), publicUrl)),
  });
  const exportLinks = createExportLinks({ secretKey, publicUrl });
  return {
    domains: {
      erasure,
      exportLinks,
      throttle: createThrottle({ pool }),
      attributionDigest: createDigest(secretKey),
    },
    retention: createRetention({ pool, days: deps.retention }),
    registerPages: (app: FastifyInstance, limits: LinkLimits) =>
      registerExport(app, { pool, links: exportLinks, limits }),
  };
}
