/** Notices to accounts and operators: which, when, and how they arrive. */

import type { BusinessSettings, NoticeSettings, SettingsProblem } from '../../notices/notices.ts';
import { accountNotices, businessNotices, type NoticeKind, noticeKinds } from '../../notices/rules.ts';
import { actorOf } from '../../people/principal.ts';
import { accountFor, encodeId } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { storedEnum } from '../types/enums.ts';
import { InputError, NotAllowedError, NotFoundError, refuseInput } from '../types/errors.ts';
import { besideCursor, cursorRow } from '../types/paging.ts';

export const NoticeKindType = storedEnum('NoticeKind', {
  description: 'What a notice to an account, a person or the operators is about.',
  values: {
    BALANCE_LOW: { value: 'balance_low', description: 'The balance is below the chosen figure.' },
    BALANCE_EXHAUSTED: { value: 'balance_exhausted', description: 'Nothing is left.' },
    GRANT_EXPIRING: { value: 'grant_expiring', description: 'Part of the budget expires soon.' },
    TRIAL_ENDING: { value: 'trial_ending', description: 'The trial ends soon.' },
    BURN_RATE: { value: 'burn_rate', description: 'More was spent in a time than chosen.' },
    KEY_LIMIT_NEAR: {
      value: 'key_limit_near',
      description: 'A key, a member, a project or the account is near one of its limits.',
    },
    PRICE_CHANGED: { value: 'price_changed', description: 'The price of a model that the account uses changes.' },
    MODEL_INCIDENT: { value: 'model_incident', description: 'A model that the account uses has an incident.' },
    NEW_SIGN_IN: { value: 'new_sign_in', description: 'Somebody signed in from a browser that was not used before.' },
    SHORTFALL: { value: 'shortfall', description: 'Operators: answers cost more than could be charged.' },
    UPSTREAM_FAILING: { value: 'upstream_failing', description: 'Operators: an upstream fails.' },
    TRANSFER_WAITING: { value: 'transfer_waiting', description: 'Operators: a transfer waits for a person.' },
    RECOVERED: { value: 'recovered', description: 'A state that a notice reported is over.' },
    MARGIN_LOW: { value: 'margin_low', description: 'Operators: the margin of 24 hours is below the chosen one.' },
    BILL_DIFFERS: { value: 'bill_differs', description: 'Operators: a vendor’s bill differs from the ledger.' },
    BILL_MISSING: { value: 'bill_missing', description: 'Operators: a vendor’s bill was not imported.' },
  } satisfies Record<string, { value: NoticeKind; description: string }>,
});

const deliveryStates = {
  PENDING: { value: 'pending', description: 'It will be sent (again).' },
  SENDING: { value: 'sending', description: 'It is being sent.' },
  DELIVERED: { value: 'delivered', description: 'It was accepted.' },
  FAILED: { value: 'failed', description: 'Given up.' },
  UNKNOWN: {
    value: 'unknown',
    description: 'The connection or the process ended while it was sent; it is not repeated.',
  },
} as const;
type DeliveryState = (typeof deliveryStates)[keyof typeof deliveryStates]['value'];
const NoticeDeliveryState = storedEnum('NoticeDeliveryState', {
  description: 'How far a message is.',
  values: deliveryStates,
});

builder.prismaObject('NoticeDelivery', {
  description: 'A notice for one recipient.',
  authScopes: { public: true },
  fields: (t) => ({
    channel: t.string({
      nullable: true,
      description: 'Name of the channel; null: by mail.',
      select: { channel: { select: { name: true } } },
      resolve: ({ channel }) => channel?.name ?? null,
    }),
    state: t.field({
      type: NoticeDeliveryState,
      nullable: true,
      description: 'How far it is.',
      select: { status: true },
      resolve: ({ status }) => status as DeliveryState,
    }),
    held: t.exposeBoolean('held', {
      description: 'Whether it was held back, by quiet hours or for an hour, to come with others in one message.',
    }),
    problem: t.exposeString('problem', { nullable: true, description: 'Why it did not arrive.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is sent next.',
    }),
    deliveredAt: t.expose('deliveredAt', { type: 'DateTime', nullable: true, description: 'When it was accepted.' }),
  }),
});

const NoticeType = builder.prismaObject('Notice', {
  description: 'A notice, sent once.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the notice.', resolve: ({ id }) => encodeId('Notice', id) }),
    kind: t.field({
      type: NoticeKindType,
      nullable: true,
      description: 'What it says.',
      select: { kind: true },
      resolve: ({ kind }) => kind as NoticeKind,
    }),
    facts: t.expose('facts', { type: 'Json', description: 'Its figures, as a webhook carries them.' }),
    mailed: t.boolean({
      description: 'Whether it went out by mail.',
      select: {
        mail: true,
        deliveries: { where: { channelId: null, status: 'delivered' }, select: { id: true }, take: 1 },
      },
      resolve: ({ mail, deliveries }) => mail === 'sent' || deliveries.length > 0,
    }),
    deliveries: t.relation('deliveries', {
      description: 'To whom it was sent, and how far that is.',
      complexity: { field: 1, multiplier: 5 },
      query: { orderBy: [{ createdAt: 'asc' as const }, { id: 'asc' as const }] },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it became so.' }),
    clearedAt: t.expose('clearedAt', { type: 'DateTime', nullable: true, description: 'When it was over.' }),
  }),
});

const quiet = {
  quietFrom: 'Minute of the day from which nothing is sent, e.g. 1320 for 22:00; null: at no time.',
  quietTo: 'Minute of the day from which it is sent again, as one summary.',
  timeZone: 'Zone of the quiet hours, e.g. `Asia/Ho_Chi_Minh`.',
};
const mutedText = 'Kinds that are not wanted.';

const NoticeSettingsType = builder.objectRef<NoticeSettings>('NoticeSettings').implement({
  description: 'What an account gets notices of.',
  authScopes: { public: true },
  fields: (t) => ({
    lowBalance: t.expose('lowBalance', {
      type: 'UsdAmount',
      description: 'A balance below it is low; zero: never.',
    }),
    mail: t.exposeBoolean('mail', {
      description: 'Whether notices go out by mail. Webhooks hear of them in any case.',
    }),
    burnAmount: t.expose('burnAmount', {
      type: 'UsdAmount',
      description: 'Sends a notice when more than this is spent within `burnMinutes`; zero: never.',
    }),
    burnMinutes: t.exposeInt('burnMinutes', { description: 'The time of the burn rate, in minutes.' }),
    keyPercent: t.exposeInt('keyPercent', {
      description:
        'Sends a notice when a limit of a key, a member, a project or the account is used to this percentage; zero: never.',
    }),
    muted: t.field({
      type: [NoticeKindType],
      description: mutedText,
      resolve: ({ muted }) => accountNotices.filter((kind) => muted.includes(kind)),
    }),
    quietFrom: t.exposeInt('quietFrom', { nullable: true, description: quiet.quietFrom }),
    quietTo: t.exposeInt('quietTo', { nullable: true, description: quiet.quietTo }),
    timeZone: t.exposeString('timeZone', { description: quiet.timeZone }),
  }),
});

const billTexts = {
  billPercent: 'Sends a notice when a vendor’s bill differs from the ledger by more than this: 1 to 100 percent.',
  billDays: 'Sends a notice when a vendor’s bill is still missing this many days after a day with usage: 1 to 45.',
};

const BusinessNoticeSettingsType = builder.objectRef<BusinessSettings>('BusinessNoticeSettings').implement({
  description: 'Which notices of the business operators get.',
  authScopes: { operator: true },
  fields: (t) => ({
    mail: t.exposeBoolean('mail', { description: 'Whether operators get mails.' }),
    muted: t.field({
      type: [NoticeKindType],
      description: mutedText,
      resolve: ({ muted }) => businessNotices.filter((kind) => muted.includes(kind)),
    }),
    shortfall: t.expose('shortfall', {
      type: 'UsdAmount',
      description: 'Sends a notice when the shortfall of an hour is larger.',
    }),
    marginPercent: t.exposeInt('marginPercent', {
      nullable: true,
      description: 'Sends a notice when the margin of 24 hours is lower; null: never.',
    }),
    billPercent: t.exposeInt('billPercent', { description: billTexts.billPercent }),
    billDays: t.exposeInt('billDays', { description: billTexts.billDays }),
    quietFrom: t.exposeInt('quietFrom', { nullable: true, description: quiet.quietFrom }),
    quietTo: t.exposeInt('quietTo', { nullable: true, description: quiet.quietTo }),
    timeZone: t.exposeString('timeZone', { description: quiet.timeZone }),
  }),
});

/** The enum has no value for kinds of a newer version. */
const known = { kind: { in: [...noticeKinds] } };
const newestFirst = { orderBy: [{ createdAt: 'desc' as const }, { id: 'desc' as const }] };

const toldToOperators = { accountId: null, userId: null, ...known };

const noticeEdge = builder.edgeObject({ type: NoticeType, name: 'NoticeEdge' });
const noticePage = [
  builder.connectionObject({ type: NoticeType, name: 'NoticeConnection' }, noticeEdge),
  noticeEdge,
] as const;

builder.prismaObjectFields(AccountType, (t) => ({
  noticeSettings: t.field({
    type: NoticeSettingsType,
    description: 'What the account gets notices of, and when.',
    select: { id: true },
    resolve: ({ id }, _args, { domains }) => domains.notices.settings(id),
  }),
  notices: t.prismaConnection(
    {
      type: NoticeType,
      cursor: 'id',
      description: 'Notices of the account, newest first.',
      resolve: (query, { id: accountId }, page, { prisma }) =>
        prisma.notice.findMany({
          ...query,
          where: besideCursor({ accountId, ...known }, cursorRow(page)),
          ...newestFirst,
        }),
    },
    ...noticePage,
  ),
}));

builder.objectFields(OperatorType, (t) => ({
  notices: t.prismaConnection(
    {
      type: NoticeType,
      cursor: 'id',
      description: 'Notices of the business, newest first.',
      resolve: (query, _operator, page, { prisma }) =>
        prisma.notice.findMany({ ...query, where: besideCursor(toldToOperators, cursorRow(page)), ...newestFirst }),
    },
    ...noticePage,
  ),
  noticeSettings: t.field({
    type: BusinessNoticeSettingsType,
    description: 'Which notices of the business operators get.',
    resolve: (_operator, _args, { domains }) => domains.notices.businessSettings(),
  }),
}));

const NoticeSettingsInput = builder.inputType('NoticeSettingsInput', {
  description: 'Which notices an account gets, and when; what is left out stays.',
  fields: (t) => ({
    accountId: t.id({ description: 'Which account; left out: your only or oldest one.' }),
    lowBalance: t.field({ type: 'UsdAmount', required: true, description: 'A balance below it is low; zero: never.' }),
    mail: t.boolean({ required: true, description: 'Whether notices go out by mail.' }),
    burnAmount: t.field({
      type: 'UsdAmount',
      description: 'Sends a notice when more than this is spent within `burnMinutes`; zero: never.',
    }),
    burnMinutes: t.int({ description: 'The time of the burn rate: 1 to 1440 minutes.' }),
    keyPercent: t.int({
      description:
        'Sends a notice when a limit of a key, a member, a project or the account is used to this percentage; zero: never.',
    }),
    muted: t.field({ type: [NoticeKindType], description: mutedText }),
    quietFrom: t.int({ description: quiet.quietFrom }),
    quietTo: t.int({ description: quiet.quietTo }),
    timeZone: t.string({ description: quiet.timeZone }),
  }),
});

const BusinessNoticeSettingsInput = builder.inputType('BusinessNoticeSettingsInput', {
  description: 'Which notices of the business operators get; what is left out stays.',
  fields: (t) => ({
    mail: t.boolean({ description: 'Whether operators get mails.' }),
    muted: t.field({ type: [NoticeKindType], description: mutedText }),
    shortfall: t.field({ type: 'UsdAmount', description: 'Sends a notice when the shortfall of an hour is larger.' }),
    marginPercent: t.int({ description: 'Sends a notice when the margin of 24 hours is lower; null: never.' }),
    billPercent: t.int({ description: billTexts.billPercent }),
    billDays: t.int({ description: billTexts.billDays }),
    quietFrom: t.int({ description: quiet.quietFrom }),
    quietTo: t.int({ description: quiet.quietTo }),
    timeZone: t.string({ description: quiet.timeZone }),
  }),
});

/** What was given: null empties a value that may be empty, and is otherwise as good as left out. */
function wanted<Input extends object>(input: Input): Partial<Input> {
  const mayBeEmpty = new Set(['quietFrom', 'quietTo', 'marginPercent']);
  const given = Object.entries(input).filter(
    ([name, value]) => value != null || (value === null && mayBeEmpty.has(name)),
  );
  return Object.fromEntries(given) as Partial<Input>;
}

function settled<Settings extends object>(outcome: Settings | SettingsProblem): Settings {
  return 'kind' in outcome ? refuseInput(outcome) : outcome;
}

builder.mutationFields((t) => ({
  updateNoticeSettings: t.field({
    type: NoticeSettingsType,
    description: 'Chooses what an account gets notices of, and when.',
    authScopes: { billing: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError] },
    args: { input: t.arg({ type: NoticeSettingsInput, required: true }) },
    resolve: async (_root, { input: { accountId, ...input } }, context) =>
      settled(
        await context.domains.notices.saveSettings(
          accountFor(context, accountId, 'billing'),
          wanted(input) as Partial<NoticeSettings>,
        ),
      ),
  }),
  updateBusinessNoticeSettings: t.field({
    type: BusinessNoticeSettingsType,
    description: 'Chooses which notices of the business operators get.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: BusinessNoticeSettingsInput, required: true }) },
    resolve: async (_root, { input }, { domains, principal }) =>
      settled(
        await domains.notices.saveBusinessSettings(wanted(input) as Partial<BusinessSettings>, actorOf(principal)),
      ),
  }),
}));
