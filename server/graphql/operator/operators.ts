import { actorOf } from '../../people/principal.ts';
import { builder } from '../builder.ts';
import { requirePresence } from '../people/outcomes.ts';
import { UserType } from '../people/people.ts';
import { ConflictError, NotAllowedError, NotFoundError } from '../types/errors.ts';
import { OperatorType } from './operator.ts';

/** The operators of the service. */

builder.objectField(OperatorType, 'operators', (t) =>
  t.prismaField({
    type: [UserType],
    description: 'The people who operate the service, the oldest first; at most 200.',
    resolve: (query, _operator, _args, { prisma }) =>
      prisma.user.findMany({
        ...query,
        where: { operator: true },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take: 200,
      }),
  }),
);

const SetOperatorInput = builder.inputType('SetOperatorInput', {
  description: 'What `setOperator` takes.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The address that the person signs in with.' }),
    operator: t.boolean({ required: true, description: 'Whether the person is to be an operator.' }),
  }),
});

builder.mutationField('setOperator', (t) =>
  t.prismaField({
    type: UserType,
    description:
      'Makes a person who has signed up an operator, or takes that away. Only a person does, who signed in with two factors in the last 10 minutes; no token.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError, NotAllowedError] },
    args: { input: t.arg({ type: SetOperatorInput, required: true, description: 'Everything that it is given.' }) },
    resolve: async (query, _root, { input: { email, operator } }, context) => {
      const { domains, prisma, principal } = context;
      await requirePresence(context);
      const outcome = await domains.people.setOperator({ email, operator, actor: actorOf(principal) });
      if (outcome.kind === 'unknown_person') throw new NotFoundError('person');
      if (outcome.kind === 'last_operator') throw new ConflictError('The service needs an operator.', 'LAST_OPERATOR');
      return prisma.user.findUniqueOrThrow({ ...query, where: { id: outcome.userId } });
    },
  }),
);
