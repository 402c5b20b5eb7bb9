import { actorOf } from '../../people/principal.ts';
import type { StatusUpdate, UpdateState } from '../../uptime/updates.ts';
import { decodeUuid, encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import { storedEnum } from '../types/enums.ts';
import { badInput, InputError, NotFoundError, refuseInput } from '../types/errors.ts';

/** Updates: what an operator says in the course of an incident or of maintenance. */

const UpdateStateType = storedEnum('StatusUpdateState', {
  description: 'How far an incident, or maintenance, has come.',
  values: {
    INVESTIGATING: { value: 'investigating', description: 'Of an incident: its cause is looked for.' },
    IDENTIFIED: { value: 'identified', description: 'Of an incident: its cause is known.' },
    MONITORING: { value: 'monitoring', description: 'Of an incident: it is mended, and watched.' },
    RESOLVED: { value: 'resolved', description: 'Of an incident: it is over. Ends an announced one.' },
    IN_PROGRESS: { value: 'in_progress', description: 'Of maintenance: it is under way.' },
    VERIFYING: { value: 'verifying', description: 'Of maintenance: its result is checked.' },
    COMPLETED: { value: 'completed', description: 'Of maintenance: it is over, and its window with it.' },
  } satisfies Record<string, { value: UpdateState; description: string }>,
});

export const StatusUpdateType = builder.objectRef<StatusUpdate>('StatusUpdate').implement({
  description: 'What an operator said in the course of an incident or of maintenance.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the update.', resolve: ({ id }) => encodeId('StatusUpdate', id) }),
    state: t.expose('state', { type: UpdateStateType, nullable: true, description: 'How far it had come.' }),
    body: t.exposeString('body', { description: 'Plain text with line breaks, in English.' }),
    bodyVi: t.exposeString('bodyVi', { nullable: true, description: 'Plain text with line breaks, in Vietnamese.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was said.' }),
  }),
});

const AddStatusUpdateInput = builder.inputType('AddStatusUpdateInput', {
  description: 'What to say. Either `incidentId` or `announcementId` is given.',
  fields: (t) => ({
    incidentId: t.id({ description: 'The measured incident that it is about.' }),
    announcementId: t.id({ description: 'The announcement that it is about.' }),
    state: t.field({ type: UpdateStateType, required: true, description: 'How far it has come.' }),
    body: t.string({ required: true, description: 'In English; line breaks make paragraphs.' }),
    bodyVi: t.string({ description: 'In Vietnamese.' }),
  }),
});

builder.mutationField('addStatusUpdate', (t) =>
  t.field({
    type: StatusUpdateType,
    description:
      'Says something in the course of an incident or of maintenance. A measured incident ends when probes say so; an announcement ends with RESOLVED or COMPLETED.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: AddStatusUpdateInput, required: true }) },
    resolve: async (_root, { input }, { domains, principal }) => {
      const { incidentId, announcementId, state, body } = input;
      if ((incidentId == null) === (announcementId == null))
        throw badInput(['input', 'incidentId'], 'Give either incidentId or announcementId.');
      const subject =
        incidentId == null
          ? { announcementId: decodeUuid('Announcement', announcementId ?? '') ?? '' }
          : { incidentId: decodeUuid('Incident', incidentId) ?? '' };
      const outcome = await domains.uptime.addUpdate({
        subject,
        state,
        body,
        bodyVi: input.bodyVi ?? null,
        actor: actorOf(principal),
      });
      if (outcome.kind === 'added') return outcome.update;
      if (outcome.kind === 'unknown_subject') throw new NotFoundError('incident or announcement');
      return refuseInput(outcome);
    },
  }),
);
