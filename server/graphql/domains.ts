import type { Accounts } from '../accounts/accounts.ts';
import type { Keys } from '../keys/keys.ts';
import type { People } from '../people/people.ts';
import type { LedgerDownloads } from './downloads.ts';

/**
 * The domains that resolvers call, handed over by `app.ts`. A resolver reads through Prisma or a domain's query and
 * changes things through a domain's function, never by itself.
 */
export interface Domains {
  people: People;
  accounts: Accounts;
  keys: Keys;
  downloads: LedgerDownloads;
}
