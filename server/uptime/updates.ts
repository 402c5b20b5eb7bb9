import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, invalidInput } from '../shared/input.ts';
import { textProblem } from '../shared/plain-text.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';

/** What a person says in the course of an incident or a maintenance window. */

export const incidentStates = ['investigating', 'identified', 'monitoring', 'resolved'] as const;
export const maintenanceStates = ['in_progress', 'verifying', 'completed'] as const;
export type UpdateState = (typeof incidentStates)[number] | (typeof maintenanceStates)[number];

export interface StatusUpdate {
  id: string;
  state: UpdateState;
  /** Plain text in English. */
  body: string;
  bodyVi: string | null;
  createdAt: Date;
}

export interface NewStatusUpdate {
  /** What it is about: a measured incident, or an announcement. */
  subject: { incidentId: string } | { announcementId: string };
  state: UpdateState;
  body: string;
  bodyVi: string | null;
}

export type AddUpdateOutcome =
  | { kind: 'added'; update: StatusUpdate }
  | { kind: 'unknown_subject' }
  | InvalidInput<'state' | 'body' | 'bodyVi'>;

const maxBodyCharacters = 5_000;

/** Line breaks are allowed, and no other invisible character. */
export const bodyText = z.string().superRefine((text, context) => {
  const message = textProblem(text.replaceAll('\n', ' ').trim(), maxBodyCharacters);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

const updateColumns = `id, state, body, body_vi AS "bodyVi", created_at AS "createdAt"`;
const maxUpdates = 100;
const shape = z.object({
  state: z.enum([...incidentStates, ...maintenanceStates]),
  body: bodyText,
  bodyVi: bodyText.nullable(),
});

/**
 * Adds an update. An announcement whose update says `resolved` or `completed` ends with it; a measured incident ends when
 * probes say so, whatever a person says.
 */
export async function addUpdate(pool: Pool, input: NewStatusUpdate & { actor: string }): Promise<AddUpdateOutcome> {
  const { subject, state, body, bodyVi, actor } = input;
  const problem = checkInput<Pick<NewStatusUpdate, 'state' | 'body' | 'bodyVi'>>(shape, { state, body, bodyVi });
  if (problem !== null) return problem;
  const incidentId = 'incidentId' in subject ? subject.incidentId : null;
  const announcementId = 'announcementId' in subject ? subject.announcementId : null;
  if (!isUuid(incidentId ?? announcementId ?? '')) return { kind: 'unknown_subject' };
  return repeatedTransaction(pool, async (client): Promise<AddUpdateOutcome> => {
    const { rows: subjects } = await client.query<{ kind: string; updates: number }>(
      `SELECT kind, (SELECT count(*)::int FROM status_update u WHERE u.incident_id = $1 OR u.announcement_id = $2) AS updates
       FROM (SELECT 'incident' AS kind FROM incident WHERE id = $1
             UNION ALL SELECT kind FROM announcement WHERE id = $2) AS subject`,
      [incidentId, announcementId],
    );
    const [about] = subjects;
    if (about === undefined) return { kind: 'unknown_subject' };
    const states: readonly string[] = about.kind === 'maintenance' ? maintenanceStates : incidentStates;
    if (!states.includes(state)) return invalidInput('state', `must be one of ${states.join(', ')}`);
    if (about.updates >= maxUpdates) return invalidInput('body', `must not be the update after ${maxUpdates} others`);
    const { rows } = await client.query<StatusUpdate>(
      `INSERT INTO status_update (id, incident_id, announcement_id, state, body, body_vi, created_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${updateColumns}`,
      [uuidv7(), incidentId, announcementId, state, body, bodyVi, actor],
    );
    const [update] = rows;
    if (update === undefined) throw new Error('an update that was just written is missing');
    if (announcementId !== null && (state === 'resolved' || state === 'completed'))
      await client.query(
        `UPDATE announcement SET ends_at = greatest(starts_at, now())
         WHERE id = $1 AND (ends_at IS NULL OR ends_at > now())`,
        [announcementId],
      );
    await appendAudit(client, {
      actor,
      action: 'status-update.create',
      subject: incidentId === null ? `announcement:${announcementId}` : `incident:${incidentId}`,
      after: { state, body, bodyVi },
    });
    return { kind: 'added', update };
  });
}

/** The updates of some incidents or announcements, the oldest first, by the id of what they are about. */
export async function listUpdates(
  db: Pool | ClientBase,
  subjects: readonly string[],
): Promise<Map<string, StatusUpdate[]>> {
  if (subjects.length === 0) return new Map();
  const { rows } = await db.query<StatusUpdate & { subject: string }>(
    `SELECT coalesce(incident_id, announcement_id) AS subject, ${updateColumns} FROM status_update
     WHERE incident_id = ANY ($1::uuid[]) OR announcement_id = ANY ($1::uuid[]) ORDER BY created_at, id`,
    [subjects],
  );
  const found = new Map<string, StatusUpdate[]>();
  for (const { subject, ...update } of rows) found.set(subject, [...(found.get(subject) ?? []), update]);
  return found;
}

/** The same things with their updates. */
export async function withUpdates<Subject extends { id: string }>(
  pool: Pool,
  subjects: readonly Subject[],
): Promise<(Subject & { updates: StatusUpdate[] })[]> {
  const found = await listUpdates(
    pool,
    subjects.map(({ id }) => id),
  );
  return subjects.map((subject) => ({ ...subject, updates: found.get(subject.id) ?? [] }));
}
