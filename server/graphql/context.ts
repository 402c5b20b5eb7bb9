import type { Pool } from 'pg';
import type { PrismaClient } from '../database/generated/prisma/client.ts';
import type { Principal } from '../people/principal.ts';
import type { Domains } from './domains.ts';
import type { Work } from './slices.ts';

/** What one operation is executed with; resolvers have no other access to the service. */
export interface GraphqlContext {
  /** The id that answers, logs and masked errors share. */
  requestId: string;
  /** The client's address as the server saw it; for throttling and the list of sessions. */
  ip: string;
  userAgent: string;
  /** The request's `Cookie` header; only the identity mutations look at it. */
  cookie: string | null;
  principal: Principal;
  /** Cookies that the answer sets, as better-auth wrote them. */
  setCookies: string[];
  prisma: PrismaClient;
  /** For the queries that domains write by hand. BIGINT arrives as `bigint`. */
  db: Pool;
  domains: Domains;
  /** The address people see, without a trailing slash. */
  publicUrl: string;
  /** Ends when the client has gone. */
  signal: AbortSignal;
  /** What the operation has cost so far. */
  work: Work;
}
