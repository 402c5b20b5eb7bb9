import { builder } from '../builder.ts';
import {
  BusyError,
  ConflictError,
  EmailNotVerifiedError,
  type ExpectedError,
  InputError,
  type InputProblem,
  InvalidCredentialsError,
  InvalidTokenError,
  NotAllowedError,
  NotFoundError,
  RequestRefusedError,
  TooManyAttemptsError,
} from './errors.ts';

/** Expected errors in the schema: members of result unions, all with `code` and `message`. */

export const ErrorInterface = builder.interfaceRef<ExpectedError>('Error').implement({
  description: 'What every expected error has. `code` is for programs and stays the same; `message` is for people.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'What went wrong, for programs.' }),
    message: t.exposeString('message', { description: 'What went wrong and what to do, for people.' }),
    requestId: t.string({
      description: 'The id of the request, as the answer has it in `x-request-id`.',
      resolve: (_error, _args, { requestId }) => requestId,
    }),
  }),
});

const InputProblemType = builder.objectRef<InputProblem>('InputProblem').implement({
  description: 'One argument that cannot be used.',
  authScopes: { public: true },
  fields: (t) => ({
    path: t.exposeStringList('path', { description: 'Where the argument stands, from the outside in.' }),
    message: t.exposeString('message', { description: 'What is wrong with it.' }),
  }),
});

builder.objectType(InputError, {
  name: 'InputError',
  description: 'Something in the arguments cannot be used. Nothing was changed.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
  fields: (t) => ({
    problems: t.field({
      type: [InputProblemType],
      description: 'Every problem at once.',
      resolve: (error) => error.problems,
    }),
  }),
});

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  description: 'There is nothing with this id that you may see.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
});

builder.objectType(NotAllowedError, {
  name: 'NotAllowedError',
  description: 'You see the object but may not do this to it.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
});

builder.objectType(ConflictError, {
  name: 'ConflictError',
  description: 'The object is not in a state in which this can be done.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
});

builder.objectType(TooManyAttemptsError, {
  name: 'TooManyAttemptsError',
  description: 'Too many attempts in a short time.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', { description: 'When another attempt can be made.' }),
  }),
});

builder.objectType(InvalidCredentialsError, {
  name: 'InvalidCredentialsError',
  description: 'Address and password, the one-time code, or the passkey did not match.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
});

builder.objectType(EmailNotVerifiedError, {
  name: 'EmailNotVerifiedError',
  description: 'The password was right, but the e-mail address has not been confirmed.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
});

builder.objectType(InvalidTokenError, {
  name: 'InvalidTokenError',
  description: 'The link or code of a mail is unknown, used or too old.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
});

builder.objectType(BusyError, {
  name: 'BusyError',
  description: 'The server has more of this work than it can do at once.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', { description: 'When another attempt makes sense.' }),
  }),
});

builder.objectType(RequestRefusedError, {
  name: 'RequestRefusedError',
  description: 'The request would be refused, for the reason that its own answer would give.',
  authScopes: { public: true },
  interfaces: [ErrorInterface],
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'The `code` of the answer, e.g. `model_not_found`.' }),
    param: t.exposeString('param', {
      nullable: true,
      description: 'The member of the body that is wrong, as the answer names it; null: none.',
    }),
    status: t.exposeInt('status', { description: 'The HTTP status of the answer.' }),
  }),
});
