import type { AuditAction } from '../../shared/audit.ts';
import { isUuid } from '../../shared/uuid.ts';
import { decodeUuid } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { orOther, wordValues } from '../types/enums.ts';
import { besideCursor, cursorRow } from '../types/paging.ts';
import { checkRange } from '../types/ranges.ts';
import { loadActorNames } from './actors.ts';
import { OperatorType } from './operator.ts';

/** The audit log: who changed what. */

const AuditActionType = builder.enumType('AuditAction', {
  description: 'What was done.',
  values: orOther(
    wordValues<AuditAction>({
      'access-token.create': 'An access token was made.',
      'access-token.delete': 'An access token was deleted.',
      'account.add_owner': 'Somebody became the owner of an account.',
      'account.attribution': 'What an account has stored of whom its requests are for.',
      'account.change_address': 'The e-mail address of an account was changed.',
      'account.company': 'The company that an account buys for was changed.',
      'account.create': 'An account was opened.',
      'account.erase': 'An account was erased.',
      'account.limits': 'The limits that an account sets itself were changed.',
      'account.note': 'An operator wrote a note about an account.',
      'account.resume': 'A suspended account was let go on.',
      'account.suspend': 'An account was suspended.',
      'account.view': 'An operator looked at an account as its readers do.',
      'announcement.create': 'Something was announced.',
      'announcement.end': 'An announcement was ended.',
      'announcement.move_end': 'The end of an announcement was moved.',
      'batch.cancel': 'The vendor of a batch was asked to stop it.',
      'bonus.save': 'The steps of bonuses were changed.',
      'books.close': 'A month was closed.',
      'books.import': 'A vendor’s bill was imported.',
      'books.journal_accounts': 'The numbers of accounts of the journal were changed.',
      'books.undo_import': 'A vendor’s file was taken back.',
      'books.rate': 'An exchange rate was set.',
      'books.taxes': 'Tax rates were set.',
      'code.redeem': 'A redemption code was used.',
      'codes.create': 'Redemption codes were made.',
      'codes.revoke': 'Redemption codes were revoked.',
      'grant.add': 'Budget was given by hand.',
      'grant.end': 'A grant was ended.',
      'invitation.create': 'Somebody was invited to an account.',
      'invitation.revoke': 'An invitation was revoked.',
      'invoice.retry': 'An e-invoice was tried again.',
      'key.change': 'An API key was changed.',
      'key.create': 'An API key was made.',
      'key.delete': 'An API key was deleted.',
      'key.revoke': 'An operator deleted a customer’s API key.',
      'key.rotate': 'An API key was replaced by a new one.',
      'ledger.archive': 'A month of the ledger was archived.',
      'ledger.restore': 'An archived month was put back.',
      'member.change': 'The role of a member was changed.',
      'member.join': 'Somebody joined an account.',
      'member.limit': 'The monthly budget of a member was changed.',
      'member.remove': 'A member was removed from an account.',
      'model.change': 'A model of the catalog was changed.',
      'model.create': 'A model was added to the catalog.',
      'model_mismatch.close': 'An answer by another model was dealt with.',
      'notice_channel.change': 'A channel of notices was changed.',
      'notice_channel.create': 'A channel of notices was added.',
      'notice_channel.delete': 'A channel of notices was removed.',
      'notice_settings.change': 'The settings of notices were changed.',
      'operator.change': 'An operator got another role.',
      'operator.create': 'Somebody was made an operator.',
      'operator.remove': 'Somebody is no operator any more.',
      'plan.change': 'A plan was changed.',
      'plan.create': 'A plan was added.',
      'price.add': 'A model got new prices.',
      'probe-agent.create': 'A machine that measures was added.',
      'probe-agent.revoke': 'A machine that measures was revoked.',
      'probing.save': 'The pace or the budget of probes was changed.',
      'project.change': 'A project was changed.',
      'project.create': 'A project was made.',
      'route.change': 'Where a model runs was changed.',
      'refund.create': 'Money goes back to a customer.',
      'refund.pay': 'A transfer was matched to a refund.',
      'refund.undo': 'A refund that was a mistake was undone.',
      'refund.undo_payment': 'The match of a transfer to a refund was taken back.',
      'seller.save': 'The seller that receipts name was changed.',
      'settings.save': 'Settings of the service were changed.',
      'status-update.create': 'Something was said about an incident or an announcement.',
      'top_up.save': 'The terms of free amounts were changed.',
      'transfer.close': 'The review of a transfer was closed.',
      'transfer.credit': 'A transfer was credited to an account without an order.',
      'transfer.match': 'A transfer was matched with an order by hand.',
      'transfer.record': 'A transfer was recorded by hand.',
      'transfer.undo': 'The match of a transfer was undone.',
      'upstream.add_key': 'An upstream got another key.',
      'upstream.change': 'An upstream was changed.',
      'upstream.create': 'An upstream was added.',
      'upstream.delete_key': 'A key of an upstream was deleted.',
      'upstream.set_key': 'An upstream got a key in place of those it had.',
      'webhook.change': 'A webhook endpoint was changed.',
      'webhook.create': 'A webhook endpoint was added.',
      'webhook.delete': 'A webhook endpoint was removed.',
      'webhook.rotate': 'A webhook endpoint got a new secret.',
    }),
  ),
});

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
    action: t.field({
      type: AuditActionType,
      description: 'What was done.',
      select: { action: true },
      resolve: ({ action }) => action as AuditAction,
    }),
    actionName: t.exposeString('action', {
      description:
        'The same in the word that is stored, e.g. `price.add`: it tells apart what is `OTHER` to this version.',
    }),
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
        actionNames: t.arg.stringList({ description: 'Only these, e.g. `price.add`; left out: all.' }),
        from: t.arg({ type: 'DateTime', description: 'From this moment on.' }),
        to: t.arg({ type: 'DateTime', description: 'Before this moment.' }),
      },
      resolve: (query, _operator, { subject, actor, actionNames, from, to, ...page }, { prisma }) => {
        checkRange({ from, to }, 'to');
        const where = {
          ...(typeof subject === 'string' ? { subject: storedSubject(subject) } : {}),
          ...(typeof actor === 'string' ? { actor } : {}),
          ...(actionNames == null ? {} : { action: { in: actionNames } }),
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
