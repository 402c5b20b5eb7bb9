import type { People } from '../people/people.ts';

/**
 * The domains that resolvers call, handed over by `app.ts`. A resolver reads through Prisma or a domain's query and
 * changes things through a domain's function, never by itself.
 */
export interface Domains {
  people: People;
}
