import type { ModelMismatch } from '../../catalog/model-mismatches.ts';
import { actorOf } from '../../people/principal.ts';
import { decodeUuid, encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { pageFields, pageFromStart, type Report, reportEdge } from '../reports.ts';
import { ConflictError, NotFoundError } from '../types/errors.ts';

/** Upstreams that answered with another model than the requested one, as operators see and close them. */

const ModelMismatchType = builder.objectRef<ModelMismatch>('ModelMismatch').implement({
  description: 'An upstream that says it ran another model than it was asked for: one for each name that it reports.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.id({ description: 'Which one.', resolve: ({ id }) => encodeId('ModelMismatch', id) }),
    model: t.exposeString('model', { description: 'Catalog id.' }),
    upstream: t.exposeString('upstream', { description: 'Where it ran.' }),
    asked: t.exposeString('asked', { description: 'What the upstream was asked for.' }),
    reported: t.exposeString('reported', {
      description:
        'What it says it ran. `(no name)`: something that cannot be the name of a model and is not kept; `(other names)`: more names than are told apart.',
    }),
    count: t.expose('count', { type: 'BigInt', description: 'Answers that said so.' }),
    lastRequestId: t.exposeString('lastRequestId', { description: 'The last request that was answered so.' }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When it was seen for the first time.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When it was seen the last time.' }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When an operator closed it; null: it is open.',
    }),
    closedBy: t.exposeString('closedBy', { nullable: true, description: 'Who closed it, as in the audit log.' }),
  }),
});

const mismatchEdge = reportEdge('ModelMismatchEdge', ModelMismatchType);
const ModelMismatchPageType = builder.objectRef<Report<ModelMismatch>>('ModelMismatchConnection').implement({
  authScopes: { operator: true },
  fields: (t) =>
    pageFields(t, {
      row: ModelMismatchType,
      edge: mismatchEdge,
    }),
});

const openText = 'Only those that are open, or only those that are closed.';

builder.objectFields(OperatorType, (t) => ({
  modelMismatches: t.field({
    type: ModelMismatchPageType,
    description: 'Upstreams that answered with another model: open ones first, then those that were seen last.',
    args: {
      open: t.arg.boolean({ description: openText }),
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
    },
    resolve: (_operator, { open, ...page }, { domains }) =>
      pageFromStart(page, (limit) => domains.modelMismatches.list({ open: open ?? null, limit })),
  }),
}));

builder.mutationField('closeModelMismatch', (t) =>
  t.field({
    type: ModelMismatchType,
    description: 'Says that a mismatch is dealt with. When it is seen again, it is open again and operators are told.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError] },
    args: {
      id: t.arg.id({ required: true }),
    },
    resolve: async (_root, args, { domains, principal }) => {
      const id = decodeUuid('ModelMismatch', args.id);
      if (id === null) throw new NotFoundError('mismatch');
      const outcome = await domains.modelMismatches.closeMismatch({ id, actor: actorOf(principal) });
      switch (outcome.kind) {
        case 'unknown':
          throw new NotFoundError('mismatch');
        case 'closed_before':
          throw new ConflictError('This mismatch is closed already.', 'ALREADY_CLOSED');
        case 'closed':
          return outcome.mismatch;
      }
    },
  }),
);
