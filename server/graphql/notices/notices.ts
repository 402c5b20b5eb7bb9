import type { NoticeSettings } from '../../notices/notices.ts';
import type { NoticeKind } from '../../notices/rules.ts';
import { accountFor, encodeId } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';

/** Notices: the mails about an account's budget. */

const NoticeKindType = builder.enumType('NoticeKind', {
  description: 'What an account is told.',
  values: {
    BALANCE_LOW: { value: 'balance_low', description: 'The balance is below the chosen figure.' },
    BALANCE_EXHAUSTED: { value: 'balance_exhausted', description: 'Nothing is left.' },
    GRANT_EXPIRING: { value: 'grant_expiring', description: 'Part of the budget expires soon.' },
    TRIAL_ENDING: { value: 'trial_ending', description: 'The trial ends soon.' },
  } satisfies Record<string, { value: NoticeKind; description: string }>,
});

const NoticeType = builder.prismaObject('Notice', {
  description: 'Something that an account was told.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the notice.', resolve: ({ id }) => encodeId('Notice', id) }),
    kind: t.field({
      type: NoticeKindType,
      description: 'What it says.',
      select: { kind: true },
      resolve: ({ kind }) => kind as NoticeKind,
    }),
    facts: t.expose('facts', { type: 'Json', description: 'Its figures, as a webhook carries them.' }),
    mailed: t.boolean({
      description: 'Whether it went out by mail.',
      select: { mail: true },
      resolve: ({ mail }) => mail === 'sent',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it became so.' }),
    clearedAt: t.expose('clearedAt', { type: 'DateTime', nullable: true, description: 'When it was over.' }),
  }),
});

const NoticeSettingsType = builder.objectRef<NoticeSettings>('NoticeSettings').implement({
  description: 'When an account is told.',
  authScopes: { public: true },
  fields: (t) => ({
    lowBalance: t.expose('lowBalance', {
      type: 'UsdAmount',
      description: 'A balance below it is low; zero: never.',
    }),
    mail: t.exposeBoolean('mail', {
      description: 'Whether notices go out by mail. Webhooks hear of them in any case.',
    }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  noticeSettings: t.field({
    type: NoticeSettingsType,
    description: 'When the account is told that budget runs out.',
    select: { id: true },
    resolve: ({ id }, _args, { domains }) => domains.notices.settings(id),
  }),
  notices: t.prismaField({
    type: [NoticeType],
    description: 'What the account was told, the newest first; at most 50.',
    select: { id: true },
    complexity: { field: 1, multiplier: 50 },
    resolve: (query, { id: accountId }, _args, { prisma }) =>
      prisma.notice.findMany({
        ...query,
        where: { accountId },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: 50,
      }),
  }),
}));

const NoticeSettingsInput = builder.inputType('NoticeSettingsInput', {
  description: 'When an account wants to be told.',
  fields: (t) => ({
    accountId: t.id({ description: 'Which account; left out: your only or oldest one.' }),
    lowBalance: t.field({ type: 'UsdAmount', required: true, description: 'A balance below it is low; zero: never.' }),
    mail: t.boolean({ required: true, description: 'Whether notices go out by mail.' }),
  }),
});

builder.mutationFields((t) => ({
  updateNoticeSettings: t.field({
    type: NoticeSettingsType,
    description: 'Chooses when an account is told that budget runs out.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError] },
    args: { input: t.arg({ type: NoticeSettingsInput, required: true, description: 'When to tell.' }) },
    resolve: (_root, { input }, context) =>
      context.domains.notices.saveSettings(accountFor(context, input.accountId, 'billing'), {
        lowBalance: input.lowBalance,
        mail: input.mail,
      }),
  }),
}));
