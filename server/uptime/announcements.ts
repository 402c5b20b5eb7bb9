import type { Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { type AuditFacts, appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, invalidInput, shownText } from '../shared/input.ts';
import { textProblem } from '../shared/plain-text.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { addUpdate, bodyText, listUpdates, type NewStatusUpdate, type StatusUpdate } from './updates.ts';

/** The operator's announcements: information, maintenance windows, incidents in a person's words. */

export interface Announcement {
  id: string;
  kind: 'info' | 'maintenance' | 'incident';
  title: string;
  titleVi: string | null;
  body: string;
  bodyVi: string | null;
  /** Catalog ids; empty: the whole service. */
  models: string[];
  startsAt: Date;
  endsAt: Date | null;
  createdBy: string;
  createdAt: Date;
  /** What was said since, the oldest first. */
  updates: StatusUpdate[];
}

type AnnouncementRow = Omit<Announcement, 'updates'>;
export type NewAnnouncement = Omit<AnnouncementRow, 'id' | 'createdBy' | 'createdAt'>;

export type AnnounceOutcome = { kind: 'announced'; announcement: Announcement } | InvalidInput<keyof NewAnnouncement>;

const announcementColumns = `id, kind, title, title_vi AS "titleVi", body, body_vi AS "bodyVi", models,
  starts_at AS "startsAt", ends_at AS "endsAt", created_by AS "createdBy", created_at AS "createdAt"`;

/** Operators' announcements. Every change is audited. */
export function announcementWriters(pool: Pool) {
  /** Publishes an announcement. Texts are plain: they are shown as they are. */
  async function announce(input: NewAnnouncement & { actor: string }): Promise<AnnounceOutcome> {
    const problem = checkInput(announcementShape, input);
    if (problem !== null) return problem;
    return repeatedTransaction(pool, async (client): Promise<AnnounceOutcome> => {
      const { rows: unknown } = await client.query<{ id: string }>(
        'SELECT id FROM unnest($1::text[]) AS named (id) WHERE NOT EXISTS (SELECT FROM model WHERE model.id = named.id) LIMIT 1',
        [input.models],
      );
      if (unknown.length > 0) return invalidInput('models', 'must be catalog ids');
      const { rows } = await client.query<AnnouncementRow>(
        `INSERT INTO announcement (id, kind, title, title_vi, body, body_vi, models, starts_at, ends_at, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING ${announcementColumns}`,
        [
          uuidv7(),
          input.kind,
          input.title,
          input.titleVi,
          input.body,
          input.bodyVi,
          input.models,
          input.startsAt,
          input.endsAt,
          input.actor,
        ],
      );
      const [announcement] = rows;
      if (announcement === undefined) throw new Error('an announcement that was just written is missing');
      await appendAudit(client, {
        actor: input.actor,
        action: 'announcement.create',
        subject: `announcement:${announcement.id}`,
        after: facts(announcement),
      });
      return { kind: 'announced', announcement: { ...announcement, updates: [] } };
    });
  }

  /**
   * Ends an announcement now, or sets when it ends; null when there is none that could still be ended, and
   * when the moment is past or before its beginning.
   */
  async function endAnnouncement(input: { id: string; actor: string; endsAt?: Date }): Promise<Announcement | null> {
    if (!isUuid(input.id)) return null;
    return repeatedTransaction(pool, async (client): Promise<Announcement | null> => {
      // An announcement that has not begun is cancelled.
      const { rows } = await client.query<AnnouncementRow>(
        `UPDATE announcement SET ends_at = coalesce($2::timestamptz, greatest(starts_at, now()))
         WHERE id = $1 AND ${notOver} AND ($2::timestamptz IS NULL OR $2 > greatest(starts_at, now()))
         RETURNING ${announcementColumns}`,
        [input.id, input.endsAt ?? null],
      );
      const [announcement] = rows;
      if (announcement === undefined) return null;
      await appendAudit(client, {
        actor: input.actor,
        action: input.endsAt === undefined ? 'announcement.end' : 'announcement.move_end',
        subject: `announcement:${input.id}`,
        after: facts(announcement),
      });
      const updates = await listUpdates(client, [announcement.id]);
      return { ...announcement, updates: updates.get(announcement.id) ?? [] };
    });
  }

  return {
    announce,
    endAnnouncement,
    addUpdate: (input: NewStatusUpdate & { actor: string }) => addUpdate(pool, input),
  };
}

/** A cancelled announcement ends at its beginning. */
const notOver = '(ends_at IS NULL OR ends_at > greatest(now(), starts_at))';

export async function currentAnnouncements(pool: Pool): Promise<AnnouncementRow[]> {
  const { rows } = await pool.query<AnnouncementRow>(
    `SELECT ${announcementColumns} FROM announcement WHERE ${notOver} ORDER BY starts_at DESC, id LIMIT 50`,
  );
  return rows;
}

export async function endedAnnouncements(pool: Pool, days: number): Promise<AnnouncementRow[]> {
  const { rows } = await pool.query<AnnouncementRow>(
    `SELECT ${announcementColumns} FROM announcement
     WHERE ends_at <= now() AND ends_at > starts_at AND ends_at > now() - make_interval(days => $1)
     ORDER BY ends_at DESC, id LIMIT 50`,
    [days],
  );
  return rows;
}

const announcementShape: z.ZodType<NewAnnouncement> = z
  .object({
    kind: z.enum(['info', 'maintenance', 'incident']),
    title: shownText(200),
    titleVi: shownText(200).nullable(),
    body: bodyText,
    bodyVi: bodyText.nullable(),
    models: z
      .array(z.string())
      .refine(
        (models) => models.length <= 500 && models.every((model) => textProblem(model, 256) === null),
        'must be catalog ids',
      ),
    startsAt: z.date(),
    endsAt: z.date().nullable(),
    actor: z.string(),
  })
  .refine(({ startsAt, endsAt }) => endsAt === null || endsAt > startsAt, {
    path: ['endsAt'],
    message: 'must be after the beginning',
    // Reported together with the other problems.
    when: () => true,
  });

function facts({ kind, title, body, models, startsAt, endsAt }: AnnouncementRow): AuditFacts {
  return { kind, title, body, models, startsAt, endsAt };
}
