import { actorOf, type OperatorRole, operatorRoleOf, operatorRoles } from '../../people/principal.ts';
import { builder } from '../builder.ts';
import { mutationsOf } from '../guard/operator-roles.ts';
import { requirePresence } from '../people/outcomes.ts';
import { UserType } from '../people/people.ts';
import { storedEnum } from '../types/enums.ts';
import { ConflictError, NotAllowedError, NotFoundError } from '../types/errors.ts';
import { OperatorType } from './operator.ts';

/** The operators of the service, and what each is trusted with. */

const OperatorRoleType = storedEnum('OperatorRole', {
  description: 'What an operator is trusted with.',
  values: {
    OWNER: { value: 'owner', description: 'Everything: models, prices, settings, other operators.' },
    FINANCE: { value: 'finance', description: 'Money and papers: grants, orders, transfers, refunds, books.' },
    SUPPORT: { value: 'support', description: 'Sees what customers see and explains it; moves no money.' },
  } satisfies Record<string, { value: OperatorRole; description: string }>,
});

function roleOf({ operator, operatorRole }: { operator: boolean; operatorRole: string | null }): OperatorRole | null {
  if (operator) return 'owner';
  return operatorRoles.find((role) => role === operatorRole) ?? null;
}

builder.objectField(OperatorType, 'operators', (t) =>
  t.prismaField({
    type: [UserType],
    description: 'The people who operate the service, the oldest first; at most 200.',
    resolve: (query, _operator, _args, { prisma }) =>
      prisma.user.findMany({
        ...query,
        where: { OR: [{ operator: true }, { operatorRole: { not: null } }] },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take: 200,
      }),
  }),
);

builder.prismaObjectFields(UserType, (t) => ({
  operator: t.boolean({
    description: 'Whether the person operates this service.',
    select: { operator: true, operatorRole: true },
    resolve: (person) => roleOf(person) !== null,
  }),
  operatorRole: t.field({
    type: OperatorRoleType,
    nullable: true,
    description: 'What the person is trusted with as an operator; null: no operator.',
    select: { operator: true, operatorRole: true },
    resolve: roleOf,
  }),
}));

builder.objectField(OperatorType, 'role', (t) =>
  t.field({
    type: OperatorRoleType,
    nullable: true,
    description: 'The role of the operator who asks.',
    resolve: (_operator, _args, { principal }) => operatorRoleOf(principal) ?? 'support',
  }),
);

builder.objectField(OperatorType, 'allowedMutations', (t) =>
  t.stringList({
    description: 'The mutations for operators that this role may use, by name: what to offer, and what not.',
    resolve: (_operator, _args, { principal }) => mutationsOf(operatorRoleOf(principal) ?? 'support'),
  }),
);

const SetOperatorInput = builder.inputType('SetOperatorInput', {
  fields: (t) => ({
    email: t.string({ required: true, description: 'The address that the person signs in with.' }),
    operator: t.boolean({ required: true, description: 'Whether the person is to be an operator.' }),
    role: t.field({
      type: OperatorRoleType,
      description: 'What the person is to be trusted with; left out: everything (`OWNER`).',
    }),
  }),
});

builder.mutationField('setOperator', (t) =>
  t.prismaField({
    type: UserType,
    description:
      'Makes a person who has signed up an operator, changes their role, or takes that away. Only a person does, who signed in with two factors in the last 10 minutes; no token. There is always an owner.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError, NotAllowedError] },
    args: { input: t.arg({ type: SetOperatorInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const { domains, prisma, principal } = context;
      await requirePresence(context);
      const outcome = await domains.people.setOperator({
        email: input.email,
        role: input.operator ? (input.role ?? 'owner') : null,
        actor: actorOf(principal),
      });
      if (outcome.kind === 'unknown_person') throw new NotFoundError('person');
      if (outcome.kind === 'last_operator')
        throw new ConflictError('The service needs an owner: make somebody else one first.', 'LAST_OPERATOR');
      return prisma.user.findUniqueOrThrow({ ...query, where: { id: outcome.userId } });
    },
  }),
);
