import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, shownText } from '../shared/input.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { readProjectLimits, type SharedLimits, sharedLimitsShape, writeProjectLimits } from './shared-limits.ts';

/** Projects: the places of an account's keys, each with a budget and its own report. */

export interface Project {
  id: string;
  accountId: string;
  name: string;
  createdAt: Date;
  /** It takes no keys any more; null: it does. */
  archivedAt: Date | null;
}

export type ProjectProblem =
  /** Another project in use has this name. */
  { kind: 'name_taken' } | InvalidInput<'name' | 'limits'>;

export type CreateProjectOutcome =
  | { kind: 'created'; project: Project }
  | { kind: 'unknown_account' }
  | { kind: 'too_many'; limit: number }
  | ProjectProblem;

export type ChangeProjectOutcome =
  | { kind: 'changed'; project: Project }
  | { kind: 'unknown_project' }
  /** Keys that are not deleted lie in it: they would go on without being seen. */
  | { kind: 'has_keys'; keys: number }
  | ProjectProblem;

export interface Projects {
  create(ask: { accountId: string; name: string; limits?: SharedLimits; actor: string }): Promise<CreateProjectOutcome>;
  /** Changes what is given only. An archived project keeps its report, and can be taken into use again. */
  change(ask: {
    accountId: string;
    id: string;
    actor: string;
    name?: string;
    /** They count from the very next request on; running requests finish. */
    limits?: SharedLimits;
    archived?: boolean;
  }): Promise<ChangeProjectOutcome>;
  /** By name; archived ones only when asked for. */
  list(accountId: string, options?: { archived?: boolean }): Promise<Project[]>;
}

const maxProjects = 200;

const shape: z.ZodType<{ name: string; limits: SharedLimits }> = z.object({
  name: shownText(100),
  limits: sharedLimitsShape,
});
const noLimits: SharedLimits = { month: null, lifetime: null };

const columns = `id, account_id AS "accountId", name, created_at AS "createdAt", archived_at AS "archivedAt"`;

export function createProjects({ pool }: { pool: Pool }): Projects {
  return {
    create: (ask) => repeatedTransaction(pool, (client) => createProject(client, ask)),
    change: (ask) => repeatedTransaction(pool, (client) => changeProject(client, ask)),
    async list(accountId, { archived = false } = {}) {
      if (!isUuid(accountId)) return [];
      const { rows } = await pool.query<Project>(
        `SELECT ${columns} FROM project WHERE account_id = $1 AND ($2 OR archived_at IS NULL)
         ORDER BY archived_at NULLS FIRST, lower(name), id`,
        [accountId, archived],
      );
      return rows;
    },
  };
}

async function createProject(
  client: ClientBase,
  { accountId, name, actor, limits = noLimits }: Parameters<Projects['create']>[0],
): Promise<CreateProjectOutcome> {
  const problem = checkInput(shape, { name, limits });
  if (problem !== null) return problem;
  if (!(await lockAccount(client, accountId))) return { kind: 'unknown_account' };
  const { rows: counted } = await client.query<{ many: boolean }>(
    'SELECT count(*) >= $2 AS many FROM project WHERE account_id = $1',
    [accountId, maxProjects],
  );
  if (counted[0]?.many === true) return { kind: 'too_many', limit: maxProjects };
  if (await isTaken(client, { accountId, name, besides: null })) return { kind: 'name_taken' };
  const { rows } = await client.query<Project>(
    `INSERT INTO project (id, account_id, name) VALUES ($1, $2, $3) RETURNING ${columns}`,
    [uuidv7(), accountId, name],
  );
  const project = only(rows);
  await writeProjectLimits(client, { accountId, id: project.id, ...limits });
  const after = facts(project, limits);
  await appendAudit(client, { actor, action: 'project.create', subject: `project:${project.id}`, after });
  return { kind: 'created', project };
}

async function changeProject(
  client: ClientBase,
  ask: Parameters<Projects['change']>[0],
): Promise<ChangeProjectOutcome> {
  const { accountId, id, actor } = ask;
  if (!isUuid(id) || !(await lockAccount(client, accountId))) return { kind: 'unknown_project' };
  const { rows } = await client.query<Project>(
    `SELECT ${columns} FROM project WHERE id = $1 AND account_id = $2 FOR NO KEY UPDATE`,
    [id, accountId],
  );
  const [before] = rows;
  if (before === undefined) return { kind: 'unknown_project' };
  const name = ask.name ?? before.name;
  const archived = ask.archived ?? before.archivedAt !== null;
  const limitsBefore = await readProjectLimits(client, { accountId, id });
  const limits = ask.limits ?? limitsBefore;
  const problem = checkInput(shape, { name, limits });
  if (problem !== null) return problem;
  if (!archived && (await isTaken(client, { accountId, name, besides: id }))) return { kind: 'name_taken' };
  const keys = archived && before.archivedAt === null ? await keysIn(client, id) : 0;
  if (keys > 0) return { kind: 'has_keys', keys };
  const { rows: written } = await client.query<Project>(
    `UPDATE project SET name = $2, archived_at = CASE WHEN $3 THEN coalesce(archived_at, now()) END WHERE id = $1
     RETURNING ${columns}`,
    [id, name, archived],
  );
  const project = only(written);
  if (ask.limits !== undefined) await writeProjectLimits(client, { accountId, id, ...limits });
  await appendAudit(client, {
    actor,
    action: 'project.change',
    subject: `project:${id}`,
    before: facts(before, limitsBefore),
    after: facts(project, limits),
  });
  return { kind: 'changed', project };
}

/** Changes of an account's projects are made one after the other. */
async function lockAccount(client: ClientBase, accountId: string): Promise<boolean> {
  if (!isUuid(accountId)) return false;
  const { rowCount } = await client.query('SELECT FROM account WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE', [
    accountId,
  ]);
  return rowCount === 1;
}

async function isTaken(
  client: ClientBase,
  { accountId, name, besides }: { accountId: string; name: string; besides: string | null },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM project WHERE account_id = $1 AND lower(name) = lower($2) AND archived_at IS NULL
       AND id IS DISTINCT FROM $3::uuid`,
    [accountId, name, besides],
  );
  return rowCount !== 0;
}

async function keysIn(client: ClientBase, projectId: string): Promise<number> {
  const { rows } = await client.query<{ keys: number }>(
    `SELECT count(*)::integer AS keys FROM api_key WHERE project_id = $1 AND deleted_at IS NULL
       AND (expires_at IS NULL OR expires_at > now())`,
    [projectId],
  );
  return rows[0]?.keys ?? 0;
}

function facts({ accountId, name, archivedAt }: Project, limits: SharedLimits) {
  return { accountId, name, archivedAt, limits: { ...limits } };
}

function only(rows: readonly Project[]): Project {
  const [row] = rows;
  if (row === undefined) throw new Error('a project that was just written is missing');
  return row;
}
