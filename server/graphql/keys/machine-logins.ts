/** Machines that ask for a key (`steyg login`): what waits under a code, and what a person decides. */

import type { MachineLogin } from '../../people/machine-logins.ts';
import type { Throttled } from '../../people/outcomes.ts';
import { accountFor, decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import { DoneType, ok } from '../people/outcomes.ts';
import { me } from '../people/people.ts';
import { ConflictError, InputError, NotAllowedError, NotFoundError, TooManyAttemptsError } from '../types/errors.ts';
import { limitsOf, refuseNewKey, SpendLimitsInput } from './keys.ts';

const MachineLoginType = builder.objectRef<MachineLogin>('MachineLogin').implement({
  description: 'A machine that waits for somebody to give it a key.',
  authScopes: { user: true },
  fields: (t) => ({
    machine: t.exposeString('machine', { description: 'What the machine calls itself. It may lie.' }),
    ipAddress: t.exposeString('ipAddress', { description: 'Where it asks from.' }),
    sameNetwork: t.exposeBoolean('sameNetwork', {
      description: 'Whether that is the network of who asks here. Another one may mean that a stranger sent the code.',
    }),
    askedAt: t.expose('askedAt', { type: 'DateTime', description: 'When it asked.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the code ends.' }),
  }),
});

const notWaiting = 'machine that waits under this code';

function letGuess<Value>(outcome: Value | Throttled): Exclude<Value, Throttled> {
  if (typeof outcome === 'object' && outcome !== null && 'kind' in outcome && outcome.kind === 'throttled')
    throw new TooManyAttemptsError(outcome.retryAfterS);
  return outcome as Exclude<Value, Throttled>;
}

builder.queryField('machineLogin', (t) =>
  t.field({
    type: MachineLoginType,
    description: 'The machine that shows this code. Asking is limited, because codes are short.',
    authScopes: { user: true },
    errors: { types: [NotFoundError, TooManyAttemptsError] },
    args: { code: t.arg.string({ required: true, description: 'The code, in any spelling.' }) },
    resolve: async (_root, { code }, context) => {
      const found = letGuess(await context.domains.people.machineLogins.find(me(context), { code, ip: context.ip }));
      if (found === null) throw new NotFoundError(notWaiting);
      return found;
    },
  }),
);

const ApproveMachineLoginInput = builder.inputType('ApproveMachineLoginInput', {
  fields: (t) => ({
    code: t.string({ required: true, description: 'The code that the machine shows.' }),
    accountId: t.id({ description: 'Whose key; left out: your only or oldest account.' }),
    projectId: t.id({ description: 'The project that it lies in; left out: none.' }),
    name: t.string({ required: true, description: 'What people call the key: the machine’s name.' }),
    limits: t.field({ type: SpendLimitsInput, required: true, description: 'What it may spend.' }),
  }),
});

builder.mutationFields((t) => ({
  approveMachineLogin: t.field({
    type: DoneType,
    description:
      'Gives the machine a key of yours, which it fetches once; the code is used up. A mail says when it has.',
    authScopes: { user: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError, ConflictError, TooManyAttemptsError] },
    args: {
      input: t.arg({ type: ApproveMachineLoginInput, required: true }),
    },
    resolve: async (_root, { input: { code, accountId, projectId, name, limits } }, context) => {
      const outcome = letGuess(
        await context.domains.people.machineLogins.approve(me(context), {
          code,
          accountId: accountFor(context, accountId, 'keys'),
          // An id of something else is as unknown as that of another account's project.
          projectId: projectId ? (decodeUuid('Project', projectId) ?? '') : null,
          name,
          limits: limitsOf(limits, null),
        }),
      );
      if (outcome.kind === 'unknown_code') throw new NotFoundError(notWaiting);
      return outcome.kind === 'approved' ? ok : refuseNewKey(outcome);
    },
  }),
  denyMachineLogin: t.field({
    type: DoneType,
    description: 'Refuses the machine, whose next poll says so. The code is used up.',
    authScopes: { user: true },
    errors: { types: [NotFoundError, TooManyAttemptsError] },
    args: {
      code: t.arg.string({ required: true, description: 'The code that the machine shows.' }),
    },
    resolve: async (_root, { code }, context) => {
      if (!letGuess(await context.domains.people.machineLogins.deny(me(context), code)))
        throw new NotFoundError(notWaiting);
      return ok;
    },
  }),
}));
