import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/prisma/client.ts';
import { type DatabaseLog, openPool } from './pool.ts';

/**
 * The control plane's Prisma client. It has its own connections, so that a slow page never delays the money lane.
 * `$disconnect()` closes them. Money is never moved through it.
 */
export function createPrisma(options: {
  url: string;
  isShared?: boolean;
  max: number;
  log: DatabaseLog;
}): PrismaClient {
  const pool = openPool({ ...options, name: 'prisma', settings: { statement_timeout: '10s', lock_timeout: '5s' } });
  return new PrismaClient({
    adapter: new PrismaPg(pool, { disposeExternalPool: true }),
    // The other formats quote the call with its arguments, including names and addresses.
    errorFormat: 'minimal',
  });
}
