/** Channels of notices: conversations of chat programs, of an account and of the business. */

import type { CreateChannelOutcome, NoticeChannel } from '../../notices/channels.ts';
import type { ChannelKind } from '../../notices/messengers.ts';
import { accountNotices, businessNotices, type NoticeKind } from '../../notices/rules.ts';
import { accountsWith, actorOf } from '../../people/principal.ts';
import { accountFor, decodeUuid, encodeId, requireAbility } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { LanguageType } from '../people/enums.ts';
import { storedEnum } from '../types/enums.ts';
import {
  ConflictError,
  InputError,
  NotAllowedError,
  NotFoundError,
  refuseInput,
  TooManyAttemptsError,
} from '../types/errors.ts';
import { NoticeKindType } from './notices.ts';

const ChannelKindType = storedEnum('NoticeChannelKind', {
  description: 'What a channel leads to.',
  values: {
    TELEGRAM: { value: 'telegram', description: 'A chat, by a bot of your own.' },
    SLACK: { value: 'slack', description: 'A channel, by an incoming webhook.' },
    DISCORD: { value: 'discord', description: 'A channel, by a webhook.' },
    ZALO: { value: 'zalo', description: 'A user, by your Official Account.' },
    WEBHOOK: {
      value: 'webhook',
      description: 'A program of the operator’s: signed POST requests (Standard Webhooks).',
    },
  } satisfies Record<string, { value: ChannelKind; description: string }>,
});

const secretText =
  'Telegram: the token of the bot. Slack, Discord, webhook: the address. Zalo: a refresh token. Write-only.';
const targetText = 'Telegram: id of the chat or `@channel`. Zalo: id of the user. Otherwise empty.';
const kindsText = 'What is sent there; empty: everything.';

const ChannelType = builder.objectRef<NoticeChannel>('NoticeChannel').implement({
  description: 'Where notices are sent, beside mail and webhooks.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the channel.', resolve: ({ id }) => encodeId('NoticeChannel', id) }),
    kind: t.expose('kind', { type: ChannelKindType, nullable: true, description: 'What it leads to.' }),
    name: t.exposeString('name', { description: 'What people call it.' }),
    target: t.exposeString('target', { description: `${targetText} Of a webhook: its host.` }),
    language: t.field({
      type: LanguageType,
      nullable: true,
      description: 'Language of the messages.',
      resolve: ({ locale }) => locale,
    }),
    kinds: t.field({
      type: [NoticeKindType],
      description: kindsText,
      resolve: ({ kinds }): NoticeKind[] =>
        [...accountNotices, ...businessNotices].filter((kind) => kinds.includes(kind)),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether anything is sent there.' }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why the last message did not arrive; null: it did.',
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a message last arrived.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  noticeChannels: t.field({
    type: [ChannelType],
    description: 'Where notices of the account are sent, beside mail and webhooks.',
    select: { id: true },
    complexity: { field: 1, multiplier: 10 },
    resolve: ({ id }, _args, { domains }) => domains.notices.channels.list(id),
  }),
}));

builder.objectField(OperatorType, 'noticeChannels', (t) =>
  t.field({
    type: [ChannelType],
    description: 'Where notices of the business are sent, beside mail.',
    complexity: { field: 1, multiplier: 10 },
    resolve: (_operator, _args, { domains }) => domains.notices.channels.list(null),
  }),
);

const CreateChannelInput = builder.inputType('CreateNoticeChannelInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'Whose; left out: your only or oldest account. Not for the business.' }),
    kind: t.field({ type: ChannelKindType, required: true, description: 'What it leads to.' }),
    name: t.string({ required: true, description: 'What people call it.' }),
    secret: t.string({ required: true, description: secretText }),
    target: t.string({ description: targetText }),
    language: t.field({ type: LanguageType, description: 'Language of the messages; left out: `EN`.' }),
    kinds: t.field({ type: [NoticeKindType], description: kindsText }),
    zaloAppId: t.string({ description: 'Zalo: id of the application that the Official Account permitted.' }),
    zaloAppSecret: t.string({ description: 'Zalo: secret of that application. Write-only.' }),
  }),
});

const UpdateChannelInput = builder.inputType('UpdateNoticeChannelInput', {
  description: 'What is to change about a channel; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which channel.' }),
    name: t.string({ description: 'What people call it.' }),
    secret: t.string({ description: secretText }),
    target: t.string({ description: targetText }),
    language: t.field({ type: LanguageType, description: 'Language of the messages.' }),
    kinds: t.field({ type: [NoticeKindType], description: kindsText }),
    enabled: t.boolean({ description: 'Whether anything is sent there.' }),
    zaloAppId: t.string({ description: 'Zalo: id of the application.' }),
    zaloAppSecret: t.string({ description: 'Zalo: secret of the application. Write-only.' }),
  }),
});

type Created = Extract<CreateChannelOutcome, { kind: 'created' }>;
const CreatedChannelType = builder.objectRef<Created>('CreatedNoticeChannel').implement({
  description: 'A new channel.',
  authScopes: { billing: true },
  fields: (t) => ({
    channel: t.expose('channel', { type: ChannelType, description: 'The channel.' }),
    signing: t.exposeString('signing', {
      nullable: true,
      description: 'Of webhooks: the secret that signs what is sent (`whsec_…`): shown this once.',
    }),
  }),
});

type CreateInput = typeof CreateChannelInput.$inferInput;
type UpdateInput = typeof UpdateChannelInput.$inferInput;

/** The account's channel that the principal may change, with the actor. */
async function ownedChannel(
  context: GraphqlContext,
  id: string,
): Promise<{ accountId: string; id: string; actor: string }> {
  const channelId = decodeUuid('NoticeChannel', id);
  const channel = channelId === null ? null : await context.domains.notices.channels.findAny(channelId);
  const accountId = channel?.accountId ?? null;
  if (channel === null || accountId === null || !accountsWith(context.principal, 'read').includes(accountId))
    throw new NotFoundError('channel');
  requireAbility(context, accountId, 'billing');
  return { accountId, id: channel.id, actor: actorOf(context.principal) };
}

async function businessChannel(
  context: GraphqlContext,
  id: string,
): Promise<{ accountId: null; id: string; actor: string }> {
  const channelId = decodeUuid('NoticeChannel', id);
  const channel = channelId === null ? null : await context.domains.notices.channels.findAny(channelId);
  if (channel === null || channel.accountId !== null) throw new NotFoundError('channel');
  return { accountId: null, id: channel.id, actor: actorOf(context.principal) };
}

type Owned = { accountId: string | null; id: string; actor: string };

async function create(context: GraphqlContext, accountId: string | null, input: CreateInput): Promise<Created> {
  const outcome = await context.domains.notices.channels.create({
    accountId,
    actor: actorOf(context.principal),
    kind: input.kind,
    name: input.name,
    secret: input.secret.trim(),
    target: input.target?.trim() ?? '',
    locale: input.language ?? 'en',
    kinds: input.kinds ?? [],
    zaloAppId: input.zaloAppId?.trim() ?? '',
    zaloAppSecret: input.zaloAppSecret?.trim() ?? '',
  });
  if (outcome.kind === 'invalid') return refuseInput(outcome);
  if (outcome.kind === 'too_many_channels')
    throw new ConflictError(`There are at most ${outcome.limit} channels.`, 'TOO_MANY_CHANNELS');
  return outcome;
}

async function update(
  context: GraphqlContext,
  owned: Owned,
  { id: _id, language: locale, ...input }: UpdateInput,
): Promise<NoticeChannel> {
  const given = Object.fromEntries(Object.entries({ ...input, locale }).filter(([, value]) => value != null));
  const outcome = await context.domains.notices.channels.change({ ...owned, ...given });
  if (outcome.kind === 'invalid') return refuseInput(outcome);
  if (outcome.kind === 'unknown_channel') throw new NotFoundError('channel');
  return outcome.channel;
}

async function remove(context: GraphqlContext, owned: Owned): Promise<NoticeChannel> {
  const removed = await context.domains.notices.channels.remove(owned);
  if (removed === null) throw new NotFoundError('channel');
  return removed;
}

async function tryOut(context: GraphqlContext, owned: Owned): Promise<NoticeChannel> {
  const { notices } = context.domains;
  const sent = await notices.testChannel(owned);
  if (sent === null) throw new ConflictError('This channel is switched off.', 'CHANNEL_CLOSED');
  if (sent.kind === 'throttled') throw new TooManyAttemptsError(sent.retryAfterS);
  const channel = await notices.channels.findAny(owned.id);
  if (channel === null) throw new NotFoundError('channel');
  return channel;
}

const writes = [InputError, NotFoundError, NotAllowedError, ConflictError];
const tries = [NotFoundError, NotAllowedError, ConflictError, TooManyAttemptsError];
const tryText = 'Sends a message to a channel now. `problem` says why it did not arrive. At most one in five seconds.';

builder.mutationFields((t) => ({
  createNoticeChannel: t.field({
    type: CreatedChannelType,
    description: 'Adds a channel for the notices of an account. Its secret is sealed and never shown.',
    authScopes: { billing: true },
    errors: { types: writes },
    args: { input: t.arg({ type: CreateChannelInput, required: true }) },
    resolve: (_root, { input }, context) => create(context, accountFor(context, input.accountId, 'billing'), input),
  }),
  updateNoticeChannel: t.field({
    type: ChannelType,
    description: 'Changes a channel of an account, or switches it on or off.',
    authScopes: { billing: true },
    errors: { types: writes },
    args: { input: t.arg({ type: UpdateChannelInput, required: true }) },
    resolve: async (_root, { input }, context) => update(context, await ownedChannel(context, input.id), input),
  }),
  deleteNoticeChannel: t.field({
    type: ChannelType,
    description: 'Removes a channel of an account with its secret.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError] },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => remove(context, await ownedChannel(context, id)),
  }),
  testNoticeChannel: t.field({
    type: ChannelType,
    description: tryText,
    authScopes: { billing: true },
    errors: { types: tries },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => tryOut(context, await ownedChannel(context, id)),
  }),
  createBusinessChannel: t.field({
    type: CreatedChannelType,
    description: 'Adds a channel for the notices of the business. Its secret is sealed and never shown.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: { input: t.arg({ type: CreateChannelInput, required: true }) },
    resolve: (_root, { input }, context) => create(context, null, input),
  }),
  updateBusinessChannel: t.field({
    type: ChannelType,
    description: 'Changes a channel of the business, or switches it on or off.',
    authScopes: { trustedOperator: true },
    errors: { types: writes },
    args: { input: t.arg({ type: UpdateChannelInput, required: true }) },
    resolve: async (_root, { input }, context) => update(context, await businessChannel(context, input.id), input),
  }),
  deleteBusinessChannel: t.field({
    type: ChannelType,
    description: 'Removes a channel of the business with its secret.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, NotAllowedError] },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => remove(context, await businessChannel(context, id)),
  }),
  testBusinessChannel: t.field({
    type: ChannelType,
    description: tryText,
    authScopes: { trustedOperator: true },
    errors: { types: tries },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => tryOut(context, await businessChannel(context, id)),
  }),
}));
