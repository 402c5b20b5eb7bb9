import { actorOf } from '../../people/principal.ts';
import type { KeysetRange } from '../../shared/keyset.ts';
import { decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { ApiKeyType } from '../keys/keys.ts';
import { keysetPage, pageFields, type Report, reportEdge } from '../reports.ts';
import { badInput, InputError, NotFoundError, refuseInput } from '../types/errors.ts';
import { loadActorNames } from './actors.ts';
import { OperatorType } from './operator.ts';

/** What happened to a customer, for operators: orders, grants, keys, alerts, changes and notes in one list. */

interface TimelineEvent {
  /** Tells it from others of the same moment. */
  id: string;
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

/** Each part is read by its own index, newest first, so a long history costs no more than a short one. */
const eventsSql = [
  `SELECT id, created_at AS at, 'opened' AS kind, email AS subject, NULL::text AS text, NULL::text AS actor, NULL::bigint AS usd, NULL::bigint AS vnd FROM account WHERE id = $1`,
  `SELECT id, created_at, 'ordered', memo, plan_name, NULL::text, budget, price_vnd FROM purchase_order WHERE account_id = $1`,
  `SELECT id, paid_at, 'paid', memo, plan_name, NULL::text, budget, price_vnd FROM purchase_order WHERE account_id = $1 AND paid_at IS NOT NULL`,
  `SELECT id, created_at, 'granted', kind, reason, NULL::text, amount, NULL::bigint FROM "grant" WHERE account_id = $1`,
  `SELECT id, created_at, 'key_created', name || ' …' || last4, NULL::text, NULL::text, NULL::bigint, NULL::bigint FROM api_key WHERE account_id = $1`,
  `SELECT id, deleted_at, 'key_deleted', name || ' …' || last4,
     (SELECT after->>'reason' FROM audit_entry WHERE subject = 'key:' || api_key.id AND action = 'key.revoke' LIMIT 1),
     NULL::text, NULL::bigint, NULL::bigint FROM api_key WHERE account_id = $1 AND deleted_at IS NOT NULL`,
  `SELECT id, created_at, 'alerted', kind, NULL::text, NULL::text, NULL::bigint, NULL::bigint FROM notice WHERE account_id = $1`,
  `SELECT id, created_at, CASE action WHEN 'account.suspend' THEN 'suspended' WHEN 'account.resume' THEN 'resumed'
     WHEN 'account.note' THEN 'noted' ELSE 'changed' END,
     action, coalesce(after->>'text', after->>'reason'), actor, NULL::bigint, NULL::bigint
   FROM audit_entry WHERE subject = 'account:' || $1::text AND action NOT IN ('account.create', 'account.add_owner', 'grant.add')`,
]
  .map(
    (part) =>
      // A row can be two events: its id alone does not tell them apart.
      `(SELECT md5(kind || id)::uuid, at, kind, subject, text, actor, usd, vnd
        FROM (${part}) AS part (id, at, kind, subject, text, actor, usd, vnd)
        WHERE $2::timestamptz IS NULL OR (at <= $2 AND (at, md5(kind || id)::uuid) < ($2, $4::uuid))
        ORDER BY 2 DESC, 1 DESC LIMIT $3)`,
  )
  .join(' UNION ALL ');

async function readTimeline(
  db: GraphqlContext['db'],
  accountId: string,
  { after, limit }: KeysetRange,
): Promise<TimelineEvent[]> {
  const { rows } = await db.query(
    `SELECT id, at, kind, subject, text, actor, usd::text, vnd::text
     FROM (${eventsSql}) AS events (id, at, kind, subject, text, actor, usd, vnd) ORDER BY at DESC, id DESC LIMIT $3`,
    [accountId, after?.at ?? null, limit, after?.ids[0] ?? null],
  );
  const amount = (text: string | null) => (text === null ? null : BigInt(text));
  return rows.map((row) => ({ ...row, usd: amount(row.usd), vnd: amount(row.vnd) }));
}

const timelineEdge = reportEdge('TimelineEventEdge', TimelineEventType);
const TimelinePageType = builder.objectRef<Report<TimelineEvent>>('TimelineEventConnection').implement({
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: TimelineEventType, edge: timelineEdge }),
});

builder.objectField(OperatorType, 'timeline', (t) =>
  t.field({
    type: TimelinePageType,
    description: 'What happened to an account, newest first.',
    complexity: { field: 100, multiplier: 1 },
    args: {
      accountId: t.arg.id({ required: true, description: 'Which account.' }),
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
    },
    resolve: (_operator, { accountId: globalId, ...page }, { db }) => {
      const accountId = decodeUuid('Account', globalId);
      return keysetPage<TimelineEvent>(page, { ids: 1, keyOf: ({ at, id }) => ({ at, ids: [id] }) }, async (range) =>
        accountId === null ? [] : readTimeline(db, accountId, range),
      );
    },
  }),
);

const AddAccountNoteInput = builder.inputType('AddAccountNoteInput', {
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'About which account.' }),
    text: t.string({ required: true, description: 'At most 2,000 characters.' }),
  }),
});

const RevokeKeyInput = builder.inputType('RevokeKeyInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which key.' }),
    reason: t.string({ required: true, description: 'Why; the audit log and the timeline show it.' }),
  }),
});

builder.mutationFields((t) => ({
  addAccountNote: t.prismaField({
    type: 'Account',
    description:
      'Writes a note about a customer into the timeline, which only operators see. It cannot be changed or removed.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: AddAccountNoteInput, required: true }) },
    resolve: async (query, _root, { input: { accountId: globalId, text } }, { domains, prisma, principal }) => {
      const accountId = decodeUuid('Account', globalId);
      if (accountId === null) throw new NotFoundError('account');
      const outcome = await domains.accounts.note({ accountId, text, actor: actorOf(principal) });
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      return prisma.account.findUniqueOrThrow({ ...query, where: { id: accountId } });
    },
  }),
  revokeKey: t.prismaField({
    type: ApiKeyType,
    description: 'Deletes a customer’s key, e.g. one that leaked: from the very next request on it opens nothing.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: RevokeKeyInput, required: true }) },
    resolve: async (query, _root, { input: { id: globalId, reason } }, { domains, prisma, principal }) => {
      const id = decodeUuid('ApiKey', globalId);
      const key = id === null ? null : await prisma.apiKey.findFirst({ where: { id, deletedAt: null } });
      if (key === null) throw new NotFoundError('key');
      if (reason.trim() === '') throw badInput('input.reason', 'A reason is needed.');
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
