import { isUuid } from '../../shared/uuid.ts';
import { decodeUuid } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { besideCursor, cursorRow } from '../types/paging.ts';
import { checkRange } from '../types/ranges.ts';
import { loadActorNames } from './actors.ts';
import { OperatorType } from './operator.ts';

/** The audit log: who changed what. */

/** The id in `account:<id>`. */
function accountIdOf(subject: string): string | null {
  const id = /^account:(.+)$/.exec(subject)?.[1] ?? '';
  return isUuid(id) ? id : null;
}

/** Subjects hold the ids of rows; clients know an account by its global id. */
function storedSubject(subject: string): string {
  const id = decodeUuid('Account', /^account:(.+)$/.exec(subject)?.[1] ?? '');
  return id === null ? subject : `account:${id}`;
}

const AuditEntryType = builder.prismaObject('AuditEntry', {
  description: 'Something that was changed. Never rewritten, and without secrets.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Which entry.' }),
    actor: t.exposeString('actor', {
      description: 'Who: `user:<id>`, `token:<id>`, `key:<id>`, `command-line` or `system`.',
    }),
    actorName: t.loadable({
      type: 'String',
      nullable: true,
      description: 'The e-mail address of that person, or the name of that token or key; null: none of these, or gone.',
      load: loadActorNames,
      resolve: ({ actor }) => actor,
    }),
    // A text: entries outlive the versions that wrote them, and keep their words.
    action: t.exposeString('action', { description: 'What was done, as domain and verb, e.g. `price.add`.' }),
    subject: t.exposeString('subject', { description: 'To what, e.g. `model:big-1`.' }),
    account: t.loadable({
      type: AccountType,
      nullable: true,
      description: 'The account that was changed; null: something else, or it is gone.',
      load: loadAccounts,
      resolve: ({ subject }) => accountIdOf(subject),
    }),
    before: t.expose('before', { type: 'Json', nullable: true, description: 'How it was.' }),
    after: t.expose('after', { type: 'Json', nullable: true, description: 'How it is.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
});

builder.objectFields(OperatorType, (t) => ({
  auditLog: t.prismaConnection(
    {
      type: AuditEntryType,
      cursor: 'id',
      description: 'What was changed, newest first.',
      args: {
        subject: t.arg.string({ description: 'Only changes of this, e.g. `model:big-1`, or `account:` and its id.' }),
        actor: t.arg.string({ description: 'Only changes by this actor.' }),
        actions: t.arg.stringList({ description: 'Only these, e.g. `price.add`; left out: all.' }),
        from: t.arg({ type: 'DateTime', description: 'From this moment on.' }),
        to: t.arg({ type: 'DateTime', description: 'Before this moment.' }),
      },
      resolve: (query, _operator, { subject, actor, actions, from, to, ...page }, { prisma }) => {
        checkRange({ from, to }, 'to');
        const where = {
          ...(typeof subject === 'string' ? { subject: storedSubject(subject) } : {}),
          ...(typeof actor === 'string' ? { actor } : {}),
          ...(actions == null ? {} : { action: { in: actions } }),
          createdAt: { ...(from ? { gte: from } : {}), ...(to ? { lt: to } : {}) },
        };
        return prisma.auditEntry.findMany({
          ...query,
          where: besideCursor(where, cursorRow(page)),
          orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        });
      },
    },
    { name: 'AuditEntryConnection' },
    { name: 'AuditEntryEdge' },
  ),
}));
