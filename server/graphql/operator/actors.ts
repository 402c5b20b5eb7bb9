import type { GraphqlContext } from '../context.ts';

/** Who is behind the actors of the audit log, so that operators read addresses instead of ids. */

const idOf = (kind: string, actor: string): string[] =>
  actor.startsWith(`${kind}:`) ? [actor.slice(kind.length + 1)] : [];

/**
 * The e-mail address of a person (`user:<id>`), the name of an access token (`token:<id>`) or of a key
 * (`key:<id>`); null for what is none of these, and for those that are gone.
 */
export async function loadActorNames(actors: string[], { prisma }: GraphqlContext): Promise<(string | null)[]> {
  const userIds = actors.flatMap((actor) => idOf('user', actor));
  const tokenIds = actors.flatMap((actor) => idOf('token', actor));
  const keyIds = actors.flatMap((actor) => idOf('key', actor));
  const [users, tokens, keys] = await Promise.all([
    userIds.length === 0
      ? []
      : prisma.user.findMany({ where: { id: { in: userIds } }, select: { id: true, email: true } }),
    tokenIds.length === 0
      ? []
      : prisma.accessToken.findMany({ where: { id: { in: tokenIds } }, select: { id: true, name: true } }),
    keyIds.length === 0
      ? []
      : prisma.apiKey.findMany({ where: { id: { in: keyIds } }, select: { id: true, name: true } }),
  ]);
  const names = new Map<string, string>([
    ...users.map(({ id, email }): [string, string] => [`user:${id}`, email]),
    ...tokens.map(({ id, name }): [string, string] => [`token:${id}`, name]),
    ...keys.map(({ id, name }): [string, string] => [`key:${id}`, name]),
  ]);
  return actors.map((actor) => names.get(actor) ?? null);
}
