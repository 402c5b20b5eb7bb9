import { createHash, randomBytes } from 'node:crypto';
import type { BetterAuthOptions } from 'better-auth';
import { type PrismaConfig, prismaAdapter } from 'better-auth/adapters/prisma';
import type { PrismaClient } from '../../database/generated/prisma/client.ts';

/**
 * better-auth stores session tokens in plain text, which a reader of the table could use. This adapter stores digests
 * instead: 256-bit tokens go into the cookie, only their SHA-256 into the table.
 */

type CreateAdapter = ReturnType<typeof prismaAdapter>;
type Adapter = ReturnType<CreateAdapter>;
type Where = NonNullable<Parameters<Adapter['findOne']>[0]['where']>;

const tokenField = 'token';

const isSession = (model: string): boolean => model === 'session';

/** The value in the table for a token. */
export function sessionDigest(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function digestWhere<W extends Where | undefined>(where: W): W {
  return where?.map((clause) => {
    if (clause.field !== tokenField) return clause;
    const { value } = clause;
    const digested = Array.isArray(value)
      ? value.map((item) => sessionDigest(String(item)))
      : sessionDigest(String(value));
    return { ...clause, value: digested };
  }) as W;
}

/** The token that a condition names exactly; the row that matches is returned with it instead of the digest. */
function tokenOf(where: Where | undefined): string | undefined {
  const clause = where?.find(({ field, operator }) => field === tokenField && (operator ?? 'eq') === 'eq');
  return typeof clause?.value === 'string' ? clause.value : undefined;
}

function withToken<T>(row: T, token: string | undefined): T {
  return row !== null && typeof row === 'object' && token !== undefined ? { ...row, [tokenField]: token } : row;
}

const narrow = <P extends { model: string; where?: Where | undefined }>(parameters: P): P =>
  isSession(parameters.model) ? { ...parameters, where: digestWhere(parameters.where) } : parameters;

function wrap<A extends Pick<Adapter, 'create' | 'findOne' | 'findMany' | 'update' | 'updateMany' | 'delete'>>(
  adapter: A,
): A {
  const wrapped: Record<string, unknown> = { ...adapter };
  wrapped['create'] = async (parameters: { model: string; data: Record<string, unknown> }) => {
    if (!isSession(parameters.model)) return adapter.create(parameters);
    const token = randomBytes(32).toString('base64url');
    const row = await adapter.create({
      ...parameters,
      data: { ...parameters.data, [tokenField]: sessionDigest(token) },
    });
    return withToken(row, token);
  };
  wrapped['findOne'] = async (parameters: { model: string; where: Where }) =>
    withToken(
      await adapter.findOne(narrow(parameters)),
      isSession(parameters.model) ? tokenOf(parameters.where) : undefined,
    );
  wrapped['update'] = async (parameters: { model: string; where: Where; update: Record<string, unknown> }) =>
    withToken(
      await adapter.update(narrow(parameters)),
      isSession(parameters.model) ? tokenOf(parameters.where) : undefined,
    );
  // Listed sessions carry digests, which open nothing.
  for (const name of [
    'findMany',
    'updateMany',
    'delete',
    'deleteMany',
    'count',
    'consumeOne',
    'incrementOne',
  ] as const) {
    const method = (adapter as Record<string, unknown>)[name] as ((parameters: unknown) => unknown) | undefined;
    if (method === undefined) continue;
    wrapped[name] = (parameters: { model: string; where?: Where }) => method(narrow(parameters));
  }
  return wrapped as A;
}

/** Prisma's adapter for better-auth with session tokens digested. */
export function hashedSessionAdapter(prisma: PrismaClient, config: PrismaConfig): CreateAdapter {
  const createAdapter = prismaAdapter(prisma, config);
  return (options: BetterAuthOptions) => {
    const adapter = createAdapter(options);
    const wrapped = wrap(adapter);
    wrapped.transaction = (work) => adapter.transaction((inner) => work(wrap(inner as Adapter)));
    return wrapped;
  };
}
