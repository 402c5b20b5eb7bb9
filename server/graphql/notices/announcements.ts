import { actorOf } from '../../people/principal.ts';
import type { Announcement } from '../../uptime/announcements.ts';
import { decodeUuid, encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import { storedEnum } from '../types/enums.ts';
import { InputError, NotFoundError, refuseInput } from '../types/errors.ts';
import { StatusUpdateType } from '../uptime/status-updates.ts';

/** Announcements: the operator's messages on the status page. */

const AnnouncementKindType = storedEnum('AnnouncementKind', {
  description: 'What an announcement is about.',
  values: {
    INFO: { value: 'info', description: 'Something to know.' },
    MAINTENANCE: { value: 'maintenance', description: 'Planned work.' },
    INCIDENT: { value: 'incident', description: 'Something that is wrong.' },
  } satisfies Record<string, { value: Announcement['kind']; description: string }>,
});

export const AnnouncementType = builder.objectRef<Announcement>('Announcement').implement({
  description: 'What the operator tells everybody.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the announcement.', resolve: ({ id }) => encodeId('Announcement', id) }),
    kind: t.expose('kind', { type: AnnouncementKindType, nullable: true, description: 'What it is about.' }),
    title: t.exposeString('title', { description: 'In one line, in English.' }),
    titleVi: t.exposeString('titleVi', { nullable: true, description: 'In one line, in Vietnamese.' }),
    body: t.exposeString('body', { description: 'Plain text with line breaks, in English.' }),
    bodyVi: t.exposeString('bodyVi', { nullable: true, description: 'Plain text with line breaks, in Vietnamese.' }),
    modelIds: t.exposeStringList('models', { description: 'Catalog ids that it is about; empty: the whole service.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'When it begins.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: not known yet.' }),
    updates: t.expose('updates', { type: [StatusUpdateType], description: 'What was said since, the oldest first.' }),
  }),
});

const AnnounceInput = builder.inputType('AnnounceInput', {
  description: 'What to tell everybody. Texts are plain: they are shown as they are.',
  fields: (t) => ({
    kind: t.field({ type: AnnouncementKindType, required: true, description: 'What it is about.' }),
    title: t.string({ required: true, description: 'In one line, in English.' }),
    titleVi: t.string({ description: 'In one line, in Vietnamese.' }),
    body: t.string({ required: true, description: 'In English; line breaks make paragraphs.' }),
    bodyVi: t.string({ description: 'In Vietnamese.' }),
    modelIds: t.stringList({ description: 'Catalog ids that it is about; left out: the whole service.' }),
    startsAt: t.field({ type: 'DateTime', description: 'When it begins; left out: now.' }),
    endsAt: t.field({ type: 'DateTime', description: 'When it ends; left out: not known yet.' }),
  }),
});

const EndAnnouncementInput = builder.inputType('EndAnnouncementInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which announcement.' }),
    endsAt: t.field({ type: 'DateTime', description: 'When it ends; left out: now.' }),
  }),
});

builder.mutationFields((t) => ({
  announce: t.field({
    type: AnnouncementType,
    description: 'Tells everybody something on the status page.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: AnnounceInput, required: true }) },
    resolve: async (_root, { input }, { domains, principal }) => {
      const outcome = await domains.uptime.announce({
        kind: input.kind,
        title: input.title,
        titleVi: input.titleVi ?? null,
        body: input.body,
        bodyVi: input.bodyVi ?? null,
        models: input.modelIds ?? [],
        startsAt: input.startsAt ?? new Date(),
        endsAt: input.endsAt ?? null,
        actor: actorOf(principal),
      });
      if (outcome.kind === 'announced') return outcome.announcement;
      return refuseInput(outcome, { models: 'modelIds' });
    },
  }),
  endAnnouncement: t.field({
    type: AnnouncementType,
    description:
      'Ends an announcement now, or says when it ends: maintenance that takes longer, or less time, than announced.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: EndAnnouncementInput, required: true }) },
    resolve: async (_root, { input: { id, endsAt } }, { domains, principal }) => {
      if (endsAt && endsAt <= new Date())
        throw new InputError([{ path: ['input', 'endsAt'], message: 'must be in the future' }]);
      const announcementId = decodeUuid('Announcement', id);
      const ended =
        announcementId === null
          ? null
          : await domains.uptime.endAnnouncement({
              id: announcementId,
              actor: actorOf(principal),
              ...(endsAt ? { endsAt } : {}),
            });
      if (ended === null) throw new NotFoundError('announcement');
      return ended;
    },
  }),
}));
