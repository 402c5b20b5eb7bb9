import { actorOf } from '../../people/principal.ts';
import { builder } from '../builder.ts';
import { ConflictError, NotFoundError } from '../errors.ts';
import { UserType } from '../people/people.ts';
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

builder.mutationField('setOperator', (t) =>
  t.prismaField({
    type: UserType,
    description:
      'Makes a person who has signed up an operator, or takes that away. What moves money asks them for a one-time code.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError] },
    args: {
      email: t.arg.string({ required: true, description: 'The address that the person signs in with.' }),
      operator: t.arg.boolean({ required: true, description: 'Whether the person is to be an operator.' }),
    },
    resolve: async (query, _root, { email, operator }, { domains, prisma, principal }) => {
      const outcome = await domains.people.setOperator({ email, operator, actor: actorOf(principal) });
      if (outcome.kind === 'unknown_person') throw new NotFoundError('person');
      if (outcome.kind === 'last_operator') throw new ConflictError('The service needs an operator.', 'LAST_OPERATOR');
      return prisma.user.findUniqueOrThrow({ ...query, where: { id: outcome.userId } });
    },
  }),
);
