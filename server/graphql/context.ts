import type { Pool } from 'pg';
import type { PrismaClient } from '../database/generated/prisma/client.ts';
import type { HistoryReader } from '../database/replica.ts';
import type { ControlPrincipal } from '../people/principal.ts';
import type { AccountTurns } from '../shared/account-turns.ts';
import type { Domains } from './domains.ts';
import type { Work } from './guard/work.ts';

/** The context of one operation; resolvers have no other access to the service. */
export interface GraphqlContext {
  /** The id that answers, logs and masked errors share. */
  requestId: string;
  /** The client's address as the server saw it; for throttling and the list of sessions. */
  ip: string;
  userAgent: string;
  /** The request's `Cookie` header; only the identity mutations read it. */
  cookie: string | null;
  principal: ControlPrincipal;
  /** Cookies of the answer, as better-auth wrote them. */
  setCookies: string[];
  prisma: PrismaClient;
  /** For the queries that domains write by hand. BIGINT arrives as `bigint`. */
  db: Pool;
  /** For pages and sums of what was: possibly of a replica, whose age the answer states. Never for money, keys or settings. */
  history: HistoryReader;
  domains: Domains;
  /** The public address, without a trailing slash. */
  publicUrl: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** LoopTurns of reads that add up many rows. */
  reports: AccountTurns;
  /** The cost of the operation so far. */
  work: Work;
}
