import type { BatchForm, BatchState, HeldBatch } from '../../billing/vendor-batches.ts';
import { abilitiesOn, actorOf, isOperator } from '../../people/principal.ts';
import { isUuid } from '../../shared/uuid.ts';
import { decodeId, requireAbility } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { ApiKeyType, loadKeys } from '../keys/keys.ts';
import { storedEnum, wordValues } from '../types/enums.ts';
import { ConflictError, InputError, NotAllowedError, NotFoundError } from '../types/errors.ts';
import { forwardPage, pageSize } from '../types/paging.ts';

/** Batches: how far each is, what it holds and what it came to. */

const BatchFormType = storedEnum('BatchForm', {
  description: 'Whose words a batch was asked for in.',
  values: wordValues<BatchForm>({
    messages: 'As Anthropic has it: `/v1/messages/batches`.',
    openai: 'As OpenAI has it: `/v1/batches` with a file of lines.',
  }),
});

const BatchStateType = storedEnum('BatchState', {
  description: 'How far a batch is.',
  values: wordValues<BatchState>({
    preparing: 'Its money is held, and the vendor has not confirmed it yet.',
    in_progress: 'The vendor runs it.',
    canceling: 'The vendor was asked to stop it.',
    ended: 'The vendor has ended it; its lines are charged as their results are read.',
    failed: 'The vendor never ran it, and nothing is charged.',
  }),
});

export const BatchType = builder.objectRef<HeldBatch>('Batch');

builder.node(BatchType, {
  name: 'Batch',
  description:
    'Many requests at once, answered by the vendor within a day at the batch prices. Each line that was answered has an entry in the ledger. Nothing of what was said is kept.',
  id: { resolve: ({ accountId, id }) => `${accountId}/${id}` },
  loadOne: async (given, { principal, domains }) => {
    const [accountId = '', id = ''] = given.split('/');
    const visible = isOperator(principal) || abilitiesOn(principal, accountId).has('read');
    return visible && isUuid(accountId) && isUuid(id) ? domains.batches.find(accountId, id) : null;
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'vendorId' in value && 'bound' in value,
  authScopes: ({ accountId }) => ({ account: accountId }),
  fields: (t) => ({
    name: t.string({
      description: 'Its id at the model endpoints, such as `msgbatch_…` or `batch_…`.',
      resolve: (batch, _args, { domains }) => domains.batches.nameOf(batch),
    }),
    form: t.expose('form', { type: BatchFormType, nullable: true, description: 'Whose words it was asked for in.' }),
    endpoint: t.exposeString('endpoint', { description: 'What answers its lines, such as `/v1/messages`.' }),
    state: t.expose('state', { type: BatchStateType, nullable: true, description: 'How far it is.' }),
    models: t.field({
      type: ['String'],
      description: 'Catalog ids of its models.',
      resolve: ({ models }) => models.map(({ model }) => model),
    }),
    key: t.loadable({
      type: ApiKeyType,
      nullable: true,
      description: 'The key that it came with.',
      load: loadKeys,
      resolve: ({ keyId }) => keyId,
    }),
    lines: t.exposeInt('lines', { description: 'How many requests it has.' }),
    succeeded: t.exposeInt('succeeded', {
      description: 'Lines that were answered, as the vendor counts. Some vendors count only at the end.',
    }),
    errored: t.exposeInt('errored', { description: 'Lines that failed, which cost nothing.' }),
    canceled: t.exposeInt('canceled', { description: 'Lines that were canceled before they ran, which cost nothing.' }),
    expired: t.exposeInt('expired', { description: 'Lines that the vendor did not get to, which cost nothing.' }),
    bound: t.expose('bound', {
      type: 'UsdAmount',
      description: 'The most that it can cost: what was held when it was accepted.',
    }),
    held: t.expose('held', { type: 'UsdAmount', description: 'What is held for it now.' }),
    charged: t.expose('charged', {
      type: 'UsdAmount',
      nullable: true,
      description: 'What its lines came to; null: it is not settled yet, or was settled before this was counted.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the vendor ends it at the latest; null: it does not say.',
    }),
    cancelAt: t.expose('cancelAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its cancellation was asked for; null: it was not.',
    }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When the vendor ended it.' }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When all of its lines were settled, and nothing was held any more.',
    }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  batches: t.connection(
    {
      type: BatchType,
      description: 'Batches, the newest first. Deleted ones are left out.',
      select: { id: true },
      complexity: (args) => ({ field: 20 + pageSize(args), multiplier: pageSize(args) }),
      resolve: ({ id }, args, { domains }) => forwardPage(args, (page) => domains.batches.list(id, page)),
    },
    { name: 'BatchConnection' },
    { name: 'BatchEdge' },
  ),
}));

builder.mutationField('cancelBatch', (t) =>
  t.field({
    type: BatchType,
    description:
      'Asks the vendor to stop a batch. What it answered before is charged; what is held for the rest is free again when the batch has ended. A batch that has ended stays as it is.',
    authScopes: { keys: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError, ConflictError] },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id: given }, context) => {
      const [accountId = '', id = ''] = decodeId('Batch', given)?.split('/') ?? [];
      const visible = abilitiesOn(context.principal, accountId).has('read') && isUuid(id);
      const batch = visible ? await context.domains.batches.find(accountId, id) : null;
      if (batch === null) throw new NotFoundError('batch');
      requireAbility(context, accountId, 'keys');
      const canceled = await context.domains.batches.cancel(batch, actorOf(context.principal));
      if (canceled === 'not_confirmed')
        throw new ConflictError(
          'The vendor has not confirmed this batch yet: try again in a moment.',
          'BATCH_UNCONFIRMED',
        );
      if (canceled === 'unreachable')
        throw new ConflictError('The vendor cannot be reached at the moment: try again later.', 'VENDOR_UNREACHABLE');
      return canceled;
    },
  }),
);
