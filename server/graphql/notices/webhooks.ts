import type { WebhookEvent } from '../../notices/endpoints.ts';
import type { WebhookDelivery } from '../../notices/webhooks.ts';
import { accountsWith, actorOf, isOperator } from '../../people/principal.ts';
import { accountFor, decodeUuid, encodeId, requireAbility } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { storedEnum, wordValues } from '../types/enums.ts';
import {
  ConflictError,
  InputError,
  NotAllowedError,
  NotFoundError,
  refuseInput,
  TooManyAttemptsError,
} from '../types/errors.ts';
import { cursorRow } from '../types/paging.ts';

/** Webhooks: signed events for customers' programs, with retries. */

const DeliveryStatus = storedEnum('WebhookDeliveryStatus', {
  description: 'How far a delivery is.',
  values: {
    PENDING: { value: 'pending', description: 'It will be tried (again).' },
    DELIVERED: { value: 'delivered', description: 'The endpoint answered with 2xx.' },
    FAILED: { value: 'failed', description: 'Given up.' },
  } satisfies Record<string, { value: WebhookDelivery['status']; description: string }>,
});

const WebhookEventType = storedEnum('WebhookEvent', {
  description: 'What webhooks tell of, with what bodies have as `type`.',
  values: wordValues<WebhookEvent>({
    'balance.low': '`balance.low`: the budget went below the threshold.',
    'balance.exhausted': '`balance.exhausted`: nothing is left of the budget.',
    'grant.expiring': '`grant.expiring`: budget ends soon.',
    'trial.ending': '`trial.ending`: the budget of the trial is nearly used.',
    'spend.burn_rate': '`spend.burn_rate`: more is spent in a while than is wanted.',
    'key.limit_near': '`key.limit_near`: a limit of a key, a member, a project or the account is nearly reached.',
    'price.changed': '`price.changed`: the price of a model that the account uses changes.',
    'model.incident': '`model.incident`: a model that the account uses fails, or is back.',
    'sign_in.new': '`sign_in.new`: somebody signed in from a new device.',
    'order.partial': '`order.partial`: a part of an order’s price has arrived.',
    'order.paid': '`order.paid`: an order was paid.',
    'webhook.test': '`webhook.test`: a test.',
  }),
});

builder.prismaObject('WebhookAttempt', {
  description: 'One try to deliver.',
  authScopes: { public: true },
  fields: (t) => ({
    status: t.exposeInt('status', { nullable: true, description: 'Status of the answer; null: none came.' }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why it did not count, e.g. `timeout`, `address_refused`, `status_500`; null: it did.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it ended.' }),
  }),
});

const DeliveryType = builder.prismaObject('WebhookDelivery', {
  description: 'One event for one endpoint.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the delivery.', resolve: ({ id }) => encodeId('WebhookDelivery', id) }),
    eventId: t.exposeString('eventId', {
      description: 'Id of the event: `webhook-id`, the same for every delivery of it.',
    }),
    event: t.field({
      type: WebhookEventType,
      nullable: true,
      description: 'What it tells of.',
      select: { event: true },
      resolve: ({ event }) => event as WebhookEvent,
    }),
    body: t.exposeString('body', { description: 'Exactly what is signed and sent.' }),
    status: t.field({
      type: DeliveryStatus,
      nullable: true,
      description: 'How far it is.',
      select: { status: true },
      resolve: ({ status }) => status as WebhookDelivery['status'],
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null: not any more.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was written down.' }),
    deliveredAt: t.expose('deliveredAt', { type: 'DateTime', nullable: true, description: 'When it arrived.' }),
    attempts: t.relation('log', {
      description: 'What was tried, the oldest first.',
      complexity: { field: 1, multiplier: 2 },
      query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
    }),
  }),
});

const EndpointType = builder.prismaNode('WebhookEndpoint', {
  id: { field: 'id' },
  description: 'Where an account’s own programs hear of events: signed POST requests (Standard Webhooks).',
  findUnique: (id, { principal }) => ({
    id,
    deletedAt: null,
    ...(isOperator(principal) ? {} : { accountId: { in: accountsWith(principal, 'read') } }),
  }),
  // The sealed secret stays in the database: only the columns that a query asks for are read.
  select: { id: true, accountId: true },
  authScopes: (endpoint) => ({ account: endpoint.accountId }),
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where to.' }),
    description: t.exposeString('description', { description: 'What people call it.' }),
    events: t.field({
      type: [WebhookEventType],
      description: 'What it hears of; empty: everything.',
      select: { events: true },
      resolve: ({ events }) => events as WebhookEvent[],
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether anything is sent there.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    deliveries: t.relatedConnection(
      'deliveries',
      {
        cursor: 'id',
        description: 'What was, is and will be sent there, newest first.',
        query: (page) => {
          const row = cursorRow(page);
          return {
            // A delivery to another endpoint is as invalid a cursor of this list as an unknown one.
            ...(row === null ? {} : { where: { endpoint: { deliveries: { some: { id: row } } } } }),
            orderBy: { id: 'desc' as const },
          };
        },
      },
      { name: 'WebhookDeliveryConnection' },
      { name: 'WebhookDeliveryEdge' },
    ),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  webhookEndpoints: t.prismaField({
    type: [EndpointType],
    description: 'Where the account’s own programs hear of events.',
    select: { id: true },
    complexity: { field: 1, multiplier: 3 },
    resolve: (query, { id }, _args, { prisma }) =>
      prisma.webhookEndpoint.findMany({ ...query, where: { accountId: id, deletedAt: null }, orderBy: { id: 'asc' } }),
  }),
}));

const CreateWebhookInput = builder.inputType('CreateWebhookEndpointInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'Whose; left out: your only or oldest account.' }),
    url: t.string({ required: true, description: 'A public https address.' }),
    description: t.string({ description: 'What people call it.' }),
    events: t.field({
      type: [WebhookEventType],
      description: 'What it is to hear of; left out or empty: everything.',
    }),
  }),
});

const UpdateWebhookInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'What is to change about an endpoint; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which endpoint.' }),
    url: t.string({ description: 'A public https address.' }),
    description: t.string({ description: 'What people call it.' }),
    events: t.field({ type: [WebhookEventType], description: 'What it is to hear of; empty: everything.' }),
    enabled: t.boolean({ description: 'Whether anything is sent there.' }),
  }),
});

interface EndpointWithSecret {
  endpoint: { id: string };
  secret: string;
}

const EndpointWithSecretType = builder.objectRef<EndpointWithSecret>('WebhookEndpointWithSecret').implement({
  description: 'An endpoint with the secret that signs what is sent there.',
  authScopes: { billing: true },
  fields: (t) => ({
    endpoint: t.prismaField({
      type: EndpointType,
      description: 'The endpoint.',
      resolve: (query, { endpoint: { id } }, _args, { prisma }) =>
        prisma.webhookEndpoint.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    secret: t.exposeString('secret', { description: 'The signing secret (`whsec_…`): shown this once.' }),
  }),
});

const writes = [InputError, NotFoundError, NotAllowedError, ConflictError];

/** An endpoint that the principal may change, with the actor. */
async function endpointFor(
  context: GraphqlContext,
  id: string,
): Promise<{ accountId: string; id: string; actor: string }> {
  const endpointId = decodeUuid('WebhookEndpoint', id);
  const endpoint = endpointId === null ? null : await context.domains.webhooks.findAny(endpointId);
  if (endpoint === null || !accountsWith(context.principal, 'read').includes(endpoint.accountId))
    throw new NotFoundError('webhook endpoint');
  requireAbility(context, endpoint.accountId, 'billing');
  return { accountId: endpoint.accountId, id: endpoint.id, actor: actorOf(context.principal) };
}

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.field({
    type: EndpointWithSecretType,
    description: 'Adds an endpoint for events. The secret is shown this once.',
    authScopes: { billing: true },
    errors: { types: writes },
    args: { input: t.arg({ type: CreateWebhookInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const outcome = await context.domains.webhooks.create({
        accountId: accountFor(context, input.accountId, 'billing'),
        actor: actorOf(context.principal),
        url: input.url,
        ...(input.description == null ? {} : { description: input.description }),
        ...(input.events == null ? {} : { events: input.events }),
      });
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      if (outcome.kind === 'too_many_endpoints')
        throw new ConflictError(`An account has at most ${outcome.limit} webhook endpoints.`, 'TOO_MANY_ENDPOINTS');
      return outcome;
    },
  }),
  updateWebhookEndpoint: t.prismaField({
    type: EndpointType,
    description: 'Changes an endpoint, or switches it on or off.',
    authScopes: { billing: true },
    errors: { types: writes },
    args: { input: t.arg({ type: UpdateWebhookInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const { url, description, events, enabled } = input;
      const outcome = await context.domains.webhooks.change({
        ...(await endpointFor(context, input.id)),
        ...(url == null ? {} : { url }),
        ...(description == null ? {} : { description }),
        ...(events == null ? {} : { events }),
        ...(enabled == null ? {} : { enabled }),
      });
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      if (outcome.kind === 'unknown_endpoint') throw new NotFoundError('webhook endpoint');
      return context.prisma.webhookEndpoint.findUniqueOrThrow({ ...query, where: { id: outcome.endpoint.id } });
    },
  }),
  rotateWebhookSecret: t.field({
    type: EndpointWithSecretType,
    description: 'Gives an endpoint a new secret, which signs everything from now on.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError] },
    args: {
      id: t.arg.id({ required: true }),
    },
    resolve: async (_root, { id }, context) => {
      const outcome = await context.domains.webhooks.rotateSecret(await endpointFor(context, id));
      if (outcome.kind === 'unknown_endpoint') throw new NotFoundError('webhook endpoint');
      return outcome;
    },
  }),
  deleteWebhookEndpoint: t.prismaField({
    type: EndpointType,
    description: 'Removes an endpoint; what was still to be sent there is not.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError] },
    args: {
      id: t.arg.id({ required: true }),
    },
    resolve: async (query, _root, { id }, context) => {
      const removed = await context.domains.webhooks.remove(await endpointFor(context, id));
      if (removed === null) throw new NotFoundError('webhook endpoint');
      return context.prisma.webhookEndpoint.findUniqueOrThrow({ ...query, where: { id: removed.id } });
    },
  }),
  sendTestWebhook: t.prismaField({
    type: DeliveryType,
    description: 'Sends the event `webhook.test` to an endpoint. At most 10 tests and replays a minute for an account.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError, ConflictError, TooManyAttemptsError] },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (query, _root, { id }, context) => {
      const delivery = await context.domains.webhooks.sendTest(await endpointFor(context, id));
      if (delivery === null) throw new ConflictError('This endpoint is switched off.', 'ENDPOINT_CLOSED');
      if ('kind' in delivery) throw new TooManyAttemptsError(delivery.retryAfterS);
      return context.prisma.webhookDelivery.findUniqueOrThrow({ ...query, where: { id: delivery.id } });
    },
  }),
  replayWebhookDelivery: t.prismaField({
    type: DeliveryType,
    description:
      'Sends an event again, with the same id and the same body. At most 10 tests and replays a minute for an account.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError, ConflictError, TooManyAttemptsError] },
    args: {
      id: t.arg.id({ required: true }),
    },
    resolve: async (query, _root, { id }, context) => {
      const deliveryId = decodeUuid('WebhookDelivery', id);
      const accountId = deliveryId === null ? null : await context.domains.webhooks.accountOfDelivery(deliveryId);
      if (deliveryId === null || accountId === null || !accountsWith(context.principal, 'read').includes(accountId))
        throw new NotFoundError('delivery');
      requireAbility(context, accountId, 'billing');
      const outcome = await context.domains.webhooks.replay({ accountId, deliveryId });
      if (outcome.kind === 'unknown_delivery') throw new NotFoundError('delivery');
      if (outcome.kind === 'endpoint_closed')
        throw new ConflictError('This endpoint is gone or switched off.', 'ENDPOINT_CLOSED');
      if (outcome.kind === 'throttled') throw new TooManyAttemptsError(outcome.retryAfterS);
      return context.prisma.webhookDelivery.findUniqueOrThrow({ ...query, where: { id: outcome.delivery.id } });
    },
  }),
}));
