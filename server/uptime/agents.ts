import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../runtime/http.ts';
import { appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, shownText } from '../shared/input.ts';
import { isUuid } from '../shared/uuid.ts';
import { recordProbes } from './recording.ts';
import { maxRoundAgeMs, maxRoundAheadMs, type Round, type RoundProblem, readRound } from './round-format.ts';

/** Probe agents: machines elsewhere that measure the service, each with a token, and the rounds that they deliver. */

export interface ProbeAgent {
  id: string;
  name: string;
  /** Where it stands, as people read it. */
  region: string;
  last4: string;
  createdBy: string;
  createdAt: Date;
  /** When it last asked or delivered something; null: never. */
  lastSeenAt: Date | null;
  /** When its last probe on record was sent; null: none. */
  measuredAt: Date | null;
  revokedAt: Date | null;
}

/** What makes tokens and reads them: a digest is stored, never a token. */
export interface AgentTokens {
  create(): { secret: string; hash: Buffer; last4: string };
  /** The digest of a well-formed token, else null. */
  parse(secret: string): { hash: Buffer } | null;
}

export interface NewAgent {
  name: string;
  region: string;
}

export type CreateAgentOutcome = { kind: 'created'; agent: ProbeAgent; secret: string } | InvalidInput<keyof NewAgent>;

export type DeliverOutcome =
  /** `ignored`: probes of models that are not in the catalog. */
  | { kind: 'recorded'; recorded: number; ignored: number }
  /** Delivered before: nothing is recorded again. */
  | { kind: 'repeated' }
  | RoundProblem
  /** Delivered before with another content. */
  | { kind: 'differs' };

export interface ProbeAgents {
  create(input: NewAgent, actor: string): Promise<CreateAgentOutcome>;
  /** Every agent that is not revoked, and those revoked lately; the oldest first. */
  list(): Promise<ProbeAgent[]>;
  /**
   * Makes a key the one key of an agent: the key before it is deleted. False when the agent was revoked meanwhile: then
   * the given key is deleted.
   */
  adoptKey(agentId: string, keyId: string): Promise<boolean>;
  /** Its key is refused from then on too. Null when there is no such agent, or it is revoked already. */
  revoke(id: string, actor: string): Promise<ProbeAgent | null>;
  /** The agent of a token; null when the token is forged or revoked. */
  identify(secret: string): Promise<ProbeAgent | null>;
  /** Records a round once, however often it is delivered. `body` is unchecked. */
  deliver(agent: Pick<ProbeAgent, 'id'>, body: unknown): Promise<DeliverOutcome>;
}

const columns = `id, name, region, last4, created_by AS "createdBy", created_at AS "createdAt",
  last_seen_at AS "lastSeenAt", measured_at AS "measuredAt", revoked_at AS "revokedAt"`;

const agentShape: z.ZodType<NewAgent> = z.object({ name: shownText(60), region: shownText(60) });

export function createProbeAgents({ pool, tokens }: { pool: Pool; tokens: AgentTokens }): ProbeAgents {
  return {
    async create(input, actor) {
      const problem = checkInput(agentShape, input);
      if (problem !== null) return problem;
      const { secret, hash, last4 } = tokens.create();
      return repeatedTransaction(pool, async (client): Promise<CreateAgentOutcome> => {
        const { rows } = await client.query<ProbeAgent>(
          `INSERT INTO probe_agent (id, name, region, hash, last4, created_by) VALUES ($1, $2, $3, $4, $5, $6)
           RETURNING ${columns}`,
          [uuidv7(), input.name, input.region, hash, last4, actor],
        );
        const [agent] = rows;
        if (agent === undefined) throw new Error('an agent that was just written is missing');
        const subject = `probe-agent:${agent.id}`;
        const after = { name: input.name, region: input.region };
        await appendAudit(client, { actor, action: 'probe-agent.create', subject, after });
        return { kind: 'created', agent, secret };
      });
    },

    async list() {
      const { rows } = await pool.query<ProbeAgent>(
        `SELECT ${columns} FROM probe_agent WHERE revoked_at IS NULL OR revoked_at > now() - interval '90 days'
         ORDER BY id LIMIT 500`,
      );
      return rows;
    },

    async revoke(id, actor) {
      if (!isUuid(id)) return null;
      return repeatedTransaction(pool, async (client) => {
        const { rows } = await client.query<ProbeAgent>(
          `UPDATE probe_agent SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING ${columns}`,
          [id],
        );
        const [agent] = rows;
        if (agent === undefined) return null;
        await appendAudit(client, { actor, action: 'probe-agent.revoke', subject: `probe-agent:${id}` });
        await deleteKeyOf(client, id, actor);
        return agent;
      });
    },

    adoptKey(agentId, keyId) {
      return repeatedTransaction(pool, async (client) => {
        // Locked: of two keys that are made at the same time, the later one stays.
        const { rows } = await client.query<{ isLive: boolean }>(
          'SELECT revoked_at IS NULL AS "isLive" FROM probe_agent WHERE id = $1 FOR UPDATE',
          [agentId],
        );
        const isLive = rows[0]?.isLive === true;
        if (isLive) await deleteKeyOf(client, agentId, 'system');
        await client.query('UPDATE probe_agent SET key_id = $2 WHERE id = $1', [agentId, keyId]);
        if (!isLive) await deleteKeyOf(client, agentId, 'system');
        return isLive;
      });
    },

    async identify(secret) {
      const parsed = tokens.parse(secret);
      if (parsed === null) return null;
      const { rows } = await pool.query<ProbeAgent & { stale: boolean }>(
        `SELECT ${columns}, coalesce(last_seen_at < now() - interval '1 minute', true) AS stale
         FROM probe_agent WHERE hash = $1 AND revoked_at IS NULL`,
        [parsed.hash],
      );
      const [row] = rows;
      if (row === undefined) return null;
      const { stale, ...agent } = row;
      if (stale) await pool.query('UPDATE probe_agent SET last_seen_at = now() WHERE id = $1', [agent.id]);
      return agent;
    },

    async deliver({ id: agentId }, body) {
      const read = readRound(body, Date.now());
      if ('kind' in read) return read;
      return repeatedTransaction(pool, (client) => recordRound(client, agentId, read.round));
    },
  };
}

/** Deletes the key that an agent has, if any. */
async function deleteKeyOf(client: ClientBase, agentId: string, actor: string): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE api_key k SET deleted_at = now() FROM probe_agent a
     WHERE a.id = $1 AND k.id = a.key_id AND k.deleted_at IS NULL RETURNING k.id`,
    [agentId],
  );
  for (const { id } of rows) await appendAudit(client, { actor, action: 'key.delete', subject: `key:${id}` });
}

async function recordRound(
  client: Parameters<typeof recordProbes>[0],
  agentId: string,
  round: Round,
): Promise<DeliverOutcome> {
  const digest = createHash('sha256').update(JSON.stringify(round)).digest();
  const { rowCount } = await client.query(
    `INSERT INTO probe_round (agent_id, id, started_at, digest) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [agentId, round.id, round.startedAt, digest],
  );
  if (rowCount === 0) {
    const { rows } = await client.query<{ same: boolean }>(
      'SELECT digest = $3 AS same FROM probe_round WHERE agent_id = $1 AND id = $2',
      [agentId, round.id, digest],
    );
    return rows[0]?.same === false ? { kind: 'differs' } : { kind: 'repeated' };
  }
  const { rows } = await client.query<{ id: string }>('SELECT id FROM model WHERE enabled AND id = ANY ($1::text[])', [
    round.results.map(({ model }) => model),
  ]);
  const known = new Set(rows.map(({ id }) => id));
  const results = round.results.filter(({ model }) => known.has(model));
  if (results.length > 0) {
    await recordProbes(client, results, agentId);
    const last = new Date(Math.max(...results.map(({ startedAt }) => startedAt.getTime())));
    await client.query('UPDATE probe_agent SET measured_at = greatest(measured_at, $2) WHERE id = $1', [agentId, last]);
  }
  return { kind: 'recorded', recorded: results.length, ignored: round.results.length - results.length };
}

/** Round ids are remembered for longer than a round is accepted. */
export async function pruneRounds(pool: Pool): Promise<void> {
  const keptMs = 2 * (maxRoundAgeMs + maxRoundAheadMs);
  await pool.query(`DELETE FROM probe_round WHERE received_at < now() - $1 * interval '1 millisecond'`, [keptMs]);
}
