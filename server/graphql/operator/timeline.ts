import { actorOf } from '../../people/principal.ts';
import { decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { badInput, InputError, NotFoundError, refuseInput } from '../errors.ts';
import { ApiKeyType } from '../keys/keys.ts';
import { pageFields, pageFromStart, pageTexts, type Report, reportEdge } from '../reports.ts';
import { loadActorNames } from './actors.ts';
import { OperatorType } from './operator.ts';

/** What happened to a customer, for operators: orders, grants, keys, alerts, changes and notes in one list. */

interface TimelineEvent {
  at: Date;
  kind: keyof typeof kinds;
  subject: string;
  text: string | null;
  actor: string | null;
  usd: bigint | null;
  vnd: bigint | null;
}

const kinds = {
  opened: 'The account was opened.',
  ordered: 'A plan was ordered.',
  paid: 'An order was paid.',
  granted: 'Budget was given.',
  key_created: 'An API key was created.',
  key_deleted: 'An API key was deleted.',
  alerted: 'The account was alerted, e.g. to an incident of a model that it uses.',
  suspended: 'The account was suspended.',
  resumed: 'The account was let go on.',
  noted: 'An operator wrote a note.',
  changed: 'Something else of the account was changed.',
} as const;

const TimelineKind = builder.enumType('TimelineKind', {
  description: 'What happened.',
  values: Object.fromEntries(
    Object.entries(kinds).map(([value, description]) => [value.toUpperCase(), { value, description }]),
  ) as Record<string, { value: TimelineEvent['kind']; description: string }>,
});

const TimelineEventType = builder.objectRef<TimelineEvent>('TimelineEvent').implement({
  description: 'Something that happened to an account.',
  authScopes: { operator: true },
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    kind: t.expose('kind', { type: TimelineKind, description: 'What happened.' }),
    subject: t.exposeString('subject', {
      description: 'To what: an address, a memo code, a name, a kind of grant or alert, or an action.',
    }),
    text: t.exposeString('text', { nullable: true, description: 'The note, or the reason that was given.' }),
    actor: t.exposeString('actor', { nullable: true, description: 'Who did it, where that is known.' }),
    actorName: t.loadable({
      type: 'String',
      nullable: true,
      description: 'The e-mail address of that person, or the name of that token; null: neither, or gone.',
      load: loadActorNames,
      resolve: ({ actor }) => actor,
    }),
    usd: t.expose('usd', { type: 'UsdAmount', nullable: true, description: 'Budget that it moved.' }),
    vnd: t.expose('vnd', { type: 'VndAmount', nullable: true, description: 'VND that it is about.' }),
  }),
});

const maxEvents = 200;

/** Each part is read by an index of its own, newest first, so a long history costs no more than a short one. */
const eventsSql = [
  `SELECT created_at AS at, 'opened' AS kind, email AS subject, NULL::text AS text, NULL::text AS actor, NULL::bigint AS usd, NULL::bigint AS vnd FROM account WHERE id = $1`,
  `SELECT created_at, 'ordered', memo, plan_name, NULL::text, budget, price_vnd FROM purchase_order WHERE account_id = $1`,
  `SELECT paid_at, 'paid', memo, plan_name, NULL::text, budget, price_vnd FROM purchase_order WHERE account_id = $1 AND paid_at IS NOT NULL`,
  `SELECT created_at, 'granted', kind, reason, NULL::text, amount, NULL::bigint FROM "grant" WHERE account_id = $1`,
  `SELECT created_at, 'key_created', name || ' …' || last4, NULL::text, NULL::text, NULL::bigint, NULL::bigint FROM api_key WHERE account_id = $1`,
  `SELECT deleted_at, 'key_deleted', name || ' …' || last4,
     (SELECT after->>'reason' FROM audit_entry WHERE subject = 'key:' || api_key.id AND action = 'key.revoke' LIMIT 1),
     NULL::text, NULL::bigint, NULL::bigint FROM api_key WHERE account_id = $1 AND deleted_at IS NOT NULL`,
  `SELECT created_at, 'alerted', kind, NULL::text, NULL::text, NULL::bigint, NULL::bigint FROM notice WHERE account_id = $1`,
  `SELECT created_at, CASE action WHEN 'account.suspend' THEN 'suspended' WHEN 'account.resume' THEN 'resumed'
     WHEN 'account.note' THEN 'noted' ELSE 'changed' END,
     action, coalesce(after->>'text', after->>'reason'), actor, NULL::bigint, NULL::bigint
   FROM audit_entry WHERE subject = 'account:' || $1::text AND action NOT IN ('account.create', 'account.add_owner', 'grant.add')`,
]
  .map(
    (part) =>
      `(SELECT * FROM (${part}) AS part (at, kind, subject, text, actor, usd, vnd) WHERE $2::timestamptz IS NULL OR at < $2 ORDER BY at DESC LIMIT $3)`,
  )
  .join(' UNION ALL ');

async function readTimeline(
  db: GraphqlContext['db'],
  accountId: string,
  { before, first }: { before: Date | null; first: number },
): Promise<TimelineEvent[]> {
  const { rows } = await db.query(
    `SELECT at, kind, subject, text, actor, usd::text, vnd::text FROM (${eventsSql}) AS events (at, kind, subject, text, actor, usd, vnd)
     ORDER BY at DESC, kind LIMIT $3`,
    [accountId, before, first],
  );
  const amount = (text: string | null) => (text === null ? null : BigInt(text));
  return rows.map((row) => ({ ...row, usd: amount(row.usd), vnd: amount(row.vnd) }));
}

const timelineEdge = reportEdge('TimelinePageEdge', TimelineEventType);
const TimelinePageType = builder.objectRef<Report<TimelineEvent>>('TimelinePage').implement({
  description: 'What happened to an account.',
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: TimelineEventType, edge: timelineEdge, order: 'Newest first.' }),
});

builder.objectField(OperatorType, 'timelinePage', (t) =>
  t.field({
    type: TimelinePageType,
    description: 'What happened to an account, newest first.',
    complexity: { field: 100, multiplier: 1 },
    args: {
      accountId: t.arg.id({ required: true, description: 'Which account.' }),
      first: t.arg.int({ defaultValue: 50, description: pageTexts.first }),
      after: t.arg.string({ description: pageTexts.after }),
    },
    resolve: (_operator, { accountId: globalId, ...page }, { db }) => {
      const accountId = decodeUuid('Account', globalId);
      return pageFromStart(page, async (limit) =>
        accountId === null ? [] : readTimeline(db, accountId, { before: null, first: limit }),
      );
    },
  }),
);

builder.objectField(OperatorType, 'timeline', (t) =>
  t.field({
    type: [TimelineEventType],
    description: 'What happened to an account, newest first.',
    deprecationReason: 'Use `timelinePage`.',
    complexity: { field: 100, multiplier: 50 },
    args: {
      accountId: t.arg.id({ required: true, description: 'Which account.' }),
      before: t.arg({ type: 'DateTime', description: 'Only what happened before this moment.' }),
      first: t.arg.int({ defaultValue: 50, description: `How many, at most ${maxEvents}.` }),
    },
    resolve: async (_operator, { accountId: globalId, before, first }, { db }) => {
      const accountId = decodeUuid('Account', globalId);
      const count = first ?? 50;
      if (count < 1 || count > maxEvents) throw badInput('first', `first must be between 1 and ${maxEvents}.`);
      return accountId === null ? [] : readTimeline(db, accountId, { before: before ?? null, first: count });
    },
  }),
);

const NoteType = builder.objectRef<{ text: string }>('AccountNote').implement({
  description: 'A note that was written. The timeline of its account has it from now on.',
  authScopes: { operator: true },
  fields: (t) => ({ text: t.exposeString('text', { description: 'What was noted.' }) }),
});

builder.mutationFields((t) => ({
  addAccountNote: t.field({
    type: NoteType,
    description: 'Writes a note about a customer, which only operators see. It cannot be changed or removed.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: {
      accountId: t.arg.id({ required: true, description: 'About which account.' }),
      text: t.arg.string({ required: true, description: 'At most 2,000 characters.' }),
    },
    resolve: async (_root, { accountId: globalId, text }, { domains, principal }) => {
      const accountId = decodeUuid('Account', globalId);
      if (accountId === null) throw new NotFoundError('account');
      const outcome = await domains.accounts.note({ accountId, text, actor: actorOf(principal) });
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      return { text: outcome.text };
    },
  }),
  revokeKey: t.prismaField({
    type: ApiKeyType,
    description: 'Deletes a customer’s key, e.g. one that leaked: from the very next request on it opens nothing.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: {
      id: t.arg.id({ required: true, description: 'Which key.' }),
      reason: t.arg.string({ required: true, description: 'Why; the audit log and the timeline show it.' }),
    },
    resolve: async (query, _root, { id: globalId, reason }, { domains, prisma, principal }) => {
      const id = decodeUuid('ApiKey', globalId);
      const key = id === null ? null : await prisma.apiKey.findFirst({ where: { id, deletedAt: null } });
      if (key === null) throw new NotFoundError('key');
      if (reason.trim() === '') throw badInput('reason', 'A reason is needed.');
      const ask = {
        accountId: key.accountId,
        id: key.id,
        actor: actorOf(principal),
        reason: reason.trim().slice(0, 500),
      };
      const outcome = await domains.keys.delete(ask);
      if (outcome.kind === 'unknown_key') throw new NotFoundError('key');
      return prisma.apiKey.findUniqueOrThrow({ ...query, where: { id: key.id } });
    },
  }),
}));
