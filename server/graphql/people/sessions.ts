import type { SessionView } from '../../people/settings.ts';
import { deviceName } from '../../people/sign-in/device-name.ts';
import { isUuid } from '../../shared/uuid.ts';
import { builder } from '../builder.ts';
import { BusyError, NotFoundError } from '../types/errors.ts';
import { DoneType, ok } from './outcomes.ts';
import { me, ViewerType } from './people.ts';

/** Sessions: the browsers in which a person is signed in. */

export const SessionType = builder.objectRef<SessionView>('Session').implement({
  description: 'A browser that is signed in.',
  authScopes: (session) => ({ self: session.userId }),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'For `revokeSession`.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the browser signed in.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', description: 'About when it was last used.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends without further use.' }),
    ipAddress: t.exposeString('ipAddress', { nullable: true, description: 'Where it signed in from.' }),
    userAgent: t.exposeString('userAgent', { nullable: true, description: 'What the browser calls itself.' }),
    device: t.string({
      nullable: true,
      description: 'A name for the browser, e.g. `Chrome on Windows`; null: it is not known.',
      resolve: ({ userAgent }) => deviceName(userAgent),
    }),
    passkey: t.exposeBoolean('passkey', {
      description: 'Whether it signed in with a passkey, which counts as two factors.',
    }),
    current: t.exposeBoolean('current', { description: 'Whether it is the one that asks.' }),
  }),
});

builder.objectField(ViewerType, 'sessions', (t) =>
  t.field({
    type: [SessionType],
    description:
      'Browsers in which the person is signed in, the 100 that were used last: `revokeOtherSessions` ends all others. Empty for an access token.',
    resolve: (principal, _args, { domains }) =>
      principal.kind === 'user' ? domains.people.settings.listSessions(principal) : [],
  }),
);

builder.mutationField('revokeSession', (t) =>
  t.field({
    type: DoneType,
    description: 'Ends one session of the signed-in person.',
    authScopes: { user: true },
    errors: { types: [NotFoundError] },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, context) => {
      const ended = isUuid(id) && (await context.domains.people.settings.revokeSession(me(context), id));
      if (!ended) throw new NotFoundError('session');
      return { ...ok, id };
    },
  }),
);

const SessionsEndedType = builder.objectRef<{ count: number }>('SessionsEnded').implement({
  description: 'Sessions that were ended.',
  authScopes: { user: true },
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'How many.' }),
    viewer: t.field({
      type: ViewerType,
      description: 'Who asked, to read on in the same operation.',
      resolve: (_ended, _args, context) => me(context),
    }),
  }),
});

builder.mutationFields((t) => ({
  revokeOtherSessions: t.field({
    type: SessionsEndedType,
    description: 'Ends every session of the signed-in person but this one.',
    authScopes: { user: true },
    errors: { types: [BusyError] },
    resolve: async (_root, _args, context) => ({
      count: await context.domains.people.settings.revokeOtherSessions(me(context)),
    }),
  }),
}));
