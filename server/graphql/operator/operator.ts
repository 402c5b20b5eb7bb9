import { isOperator } from '../../people/principal.ts';
import { builder } from '../builder.ts';
import { ViewerType } from '../people/people.ts';

/** The operator's side: accounts, money in and out, what does not add up, who changed what. */

type Operator = Record<string, never>;

/** The root of everything that only operators see; other domain files add their fields to it. */
export const OperatorType = builder.objectRef<Operator>('Operator').implement({
  description: 'What only operators see.',
  authScopes: { operator: true },
});

builder.objectField(ViewerType, 'operator', (t) =>
  t.field({
    type: OperatorType,
    nullable: true,
    description: 'The operator’s side; null for everybody else.',
    resolve: (principal) => (isOperator(principal) ? {} : null),
  }),
);

builder.queryField('operator', (t) =>
  t.field({
    type: OperatorType,
    description: 'The operator’s side.',
    authScopes: { operator: true },
    resolve: () => ({}),
  }),
);
