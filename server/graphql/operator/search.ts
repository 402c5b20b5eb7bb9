import { archivedForOperators, archivedMonthOf } from '../../billing/archive/archived-months.ts';
import { type FoundRequest, findAnywhere, findRecentlySettled } from '../../billing/reads/find-request.ts';
import { isUuid } from '../../shared/uuid.ts';
import { encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { containing, writtenVnd } from '../types/containing.ts';
import { OperatorType } from './operator.ts';

/** One search over everything that an operator looks for: by name, address, code, amount, key or request id. */

interface Hit {
  kind: 'account' | 'order' | 'transfer' | 'key' | 'model' | 'request';
  /** Node id; of a request its own id. */
  id: string;
  title: string;
  detail: string;
  /** Node id of the account that it belongs to. */
  accountId: string | null;
}

const perKind = 5;
const maxTextLength = 200;
const minTextLength = 2;
/** Smaller numbers are rather parts of a name or a code. */
const minAmountVnd = 1_000n;

const HitKind = builder.enumType('SearchHitKind', {
  description: 'What was found.',
  values: {
    ACCOUNT: { value: 'account', description: 'A customer.' },
    ORDER: { value: 'order', description: 'An order.' },
    TRANSFER: { value: 'transfer', description: 'A bank transfer.' },
    KEY: { value: 'key', description: 'An API key.' },
    MODEL: { value: 'model', description: 'A model of the catalog.' },
    REQUEST: { value: 'request', description: 'A finished request.' },
  } satisfies Record<string, { value: Hit['kind']; description: string }>,
});

const HitType = builder.objectRef<Hit>('SearchHit').implement({
  description: 'Something that a search found.',
  authScopes: { operator: true },
  fields: (t) => ({
    kind: t.expose('kind', { type: HitKind, description: 'What it is.' }),
    id: t.exposeID('id', { description: 'Its id; of a request, the request id.' }),
    title: t.exposeString('title', { description: 'What it is called.' }),
    detail: t.exposeString('detail', { description: 'What else tells it from others.' }),
    accountId: t.exposeID('accountId', { nullable: true, description: 'The account that it belongs to.' }),
  }),
});

/** The hits of each kind, newest first. Text of fewer than two characters finds nothing. */
async function search({ prisma, db }: GraphqlContext, asked: string): Promise<Hit[]> {
  const text = asked.trim().slice(0, maxTextLength);
  if (text.length < minTextLength) return [];
  const contains = containing(text);
  const written = writtenVnd(text);
  const amount = written !== null && written >= minAmountVnd ? written : null;
  const newest = { take: perKind, orderBy: { createdAt: 'desc' as const } };
  const account = { account: { select: { name: true, email: true } } };
  const [accounts, orders, transfers, keys, models, requests] = await Promise.all([
    prisma.account.findMany({
      ...newest,
      where: { OR: [{ name: contains }, { email: contains }, ...(isUuid(text) ? [{ id: text }] : [])] },
    }),
    prisma.order.findMany({
      ...newest,
      include: account,
      where: { OR: [{ memo: contains }, ...(amount === null ? [] : [{ priceVnd: amount }])] },
    }),
    prisma.bankTransfer.findMany({
      ...newest,
      where: {
        OR: [{ memo: contains }, { bankReference: contains }, ...(amount === null ? [] : [{ amountVnd: amount }])],
      },
    }),
    prisma.apiKey.findMany({
      ...newest,
      include: account,
      where: { OR: [{ name: contains }, { last4: text.slice(-4) }, ...(isUuid(text) ? [{ id: text }] : [])] },
    }),
    prisma.model.findMany({
      take: perKind,
      orderBy: { id: 'asc' },
      where: { OR: [{ id: contains }, { displayName: contains }] },
    }),
    isUuid(text) ? findRequest(db, text) : null,
  ]);
  const hits = [
    ...accounts.map(({ id, name, email }): Hit => {
      const node = encodeId('Account', id);
      return { kind: 'account', id: node, title: name, detail: email, accountId: node };
    }),
    ...orders.map(
      ({ id, memo, priceVnd, accountId, account: { email } }): Hit => ({
        kind: 'order',
        id: encodeId('Order', id),
        title: memo,
        detail: `${priceVnd} VND · ${email}`,
        accountId: encodeId('Account', accountId),
      }),
    ),
    ...transfers.map(
      ({ id, memo, amountVnd, bankReference }): Hit => ({
        kind: 'transfer',
        id: encodeId('BankTransfer', id),
        title: memo === '' ? (bankReference ?? '–') : memo,
        detail: `${amountVnd} VND`,
        accountId: null,
      }),
    ),
    ...keys.map(
      ({ id, name, last4, accountId, account: { email } }): Hit => ({
        kind: 'key',
        id: encodeId('ApiKey', id),
        title: name,
        detail: `…${last4} · ${email}`,
        accountId: encodeId('Account', accountId),
      }),
    ),
    ...models.map(
      ({ id, displayName }): Hit => ({
        kind: 'model',
        id: encodeId('CatalogEntry', id),
        title: id,
        detail: displayName,
        accountId: null,
      }),
    ),
    ...(requests === null ? [] : [requests]),
  ];
  if (hits.length > 0 || !isUuid(text)) return hits;
  // Nothing else has this id: a request whose settlement was late, or nothing at all.
  const found = await findAnywhere(db, text);
  return found === null ? [] : [requestHit(text, found)];
}

async function findRequest(db: GraphqlContext['db'], requestId: string): Promise<Hit | null> {
  const found = await findRecentlySettled(db, requestId);
  if (found !== null) return requestHit(requestId, found);
  const archived = await archivedMonthOf(db, requestId);
  if (archived === null) return null;
  return { kind: 'request', id: requestId, title: requestId, detail: archivedForOperators(archived), accountId: null };
}

function requestHit(requestId: string, { accountId, model }: FoundRequest): Hit {
  return { kind: 'request', id: requestId, title: requestId, detail: model, accountId: encodeId('Account', accountId) };
}

builder.objectField(OperatorType, 'search', (t) =>
  t.field({
    type: [HitType],
    description: 'Customers, orders, transfers, keys, models and requests that a text may mean; a few of each.',
    complexity: { field: 60, multiplier: 1 },
    args: { text: t.arg.string({ required: true, description: 'A name, address, memo code, amount, or id.' }) },
    resolve: (_operator, { text }, context) => search(context, text),
  }),
);
