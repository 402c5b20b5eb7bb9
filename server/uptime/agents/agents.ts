import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../../database/lane.ts';
import { appendAudit } from '../../shared/audit.ts';
import { checkInput, type InvalidInput, shownText } from '../../shared/input.ts';
import { isUuid, uuidv7 } from '../../shared/uuid.ts';
import type { ProbeResult } from '../probes/probe.ts';
import { defaultPaceMinutes } from '../probes/probing.ts';
import { recordProbes, type Withdrawn, withdrawProbes } from '../recording.ts';
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

/** A revoked agent, and what was taken back of it. */
export type RevokedAgent = ProbeAgent & { withdrawn: Withdrawn };

export type CreateAgentOutcome = { kind: 'created'; agent: ProbeAgent; secret: string } | InvalidInput<keyof NewAgent>;

export type DeliverOutcome =
  /** `ignored`: probes of models that are not probed, and those that came before their turn. */
  | { kind: 'recorded'; recorded: number; ignored: number }
  /** All of its probes came before their turn: nothing is recorded. */
  | { kind: 'too_soon' }
  /** The agent was revoked meanwhile. */
  | { kind: 'revoked' }
  /** Delivered before: nothing is recorded again. */
  | { kind: 'repeated' }
  | RoundProblem
  /** Delivered before with another content. */
  | { kind: 'differs' };

export interface ProbeAgents {
  create(input: NewAgent, actor: string): Promise<CreateAgentOutcome>;
  /** Every agent that is not revoked, and those revoked lately; the oldest first. */
  list(): Promise<ProbeAgent[]>;
  /** The id of the key that an agent has; null: none that is not deleted. */
  keyOf(agentId: string): Promise<string | null>;
  /**
   * Makes a key the one key of an agent that has none. False when it was revoked, or has got another meanwhile: then the
   * given key is deleted.
   */
  adoptKey(agentId: string, keyId: string): Promise<boolean>;
  /** Lets the key of an agent call these models and no others; with none, the key ends. */
  allowModels(agentId: string, models: readonly string[]): Promise<void>;
  /**
   * Its key is refused from then on too, and what it found is taken back from every public figure unless it is to be
   * kept. Null when there is no such agent, or it is revoked already.
   */
  revoke(id: string, ask: { actor: string; keepResults?: boolean }): Promise<RevokedAgent | null>;
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

    async revoke(id, { actor, keepResults = false }) {
      if (!isUuid(id)) return null;
      return repeatedTransaction(pool, async (client) => {
        const { rows } = await client.query<ProbeAgent>(
          `UPDATE probe_agent SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING ${columns}`,
          [id],
        );
        const [agent] = rows;
        if (agent === undefined) return null;
        const withdrawn = keepResults ? { results: 0, incidents: 0 } : await withdrawProbes(client, id);
        const subject = `probe-agent:${id}`;
        await appendAudit(client, {
          actor,
          action: 'probe-agent.revoke',
          subject,
          after: { keepResults, ...withdrawn },
        });
        await deleteKeyOf(client, id, actor);
        return { ...agent, withdrawn };
      });
    },

    async keyOf(agentId) {
      const { rows } = await pool.query<{ id: string }>(
        `SELECT k.id FROM probe_agent a JOIN api_key k ON k.id = a.key_id AND k.deleted_at IS NULL WHERE a.id = $1`,
        [agentId],
      );
      return rows[0]?.id ?? null;
    },

    adoptKey(agentId, keyId) {
      return repeatedTransaction(pool, async (client) => {
        // Locked: of two keys that are made at the same time, the earlier one stays.
        const { rows } = await client.query<{ isFree: boolean }>(
          `SELECT revoked_at IS NULL
                  AND NOT EXISTS (SELECT FROM api_key k WHERE k.id = a.key_id AND k.deleted_at IS NULL) AS "isFree"
           FROM probe_agent a WHERE id = $1 FOR UPDATE`,
          [agentId],
        );
        const isFree = rows[0]?.isFree === true;
        if (isFree) await client.query('UPDATE probe_agent SET key_id = $2 WHERE id = $1', [agentId, keyId]);
        else await deleteKey(client, keyId, 'system');
        return isFree;
      });
    },

    async allowModels(agentId, models) {
      if (models.length === 0) return repeatedTransaction(pool, (client) => deleteKeyOf(client, agentId, 'system'));
      await pool.query(
        `UPDATE api_key k SET models = $2 FROM probe_agent a
         WHERE a.id = $1 AND k.id = a.key_id AND k.deleted_at IS NULL AND k.models <> $2::text[]`,
        [agentId, models],
      );
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
  const { rows } = await client.query<{ keyId: string | null }>(
    'SELECT key_id AS "keyId" FROM probe_agent WHERE id = $1',
    [agentId],
  );
  const keyId = rows[0]?.keyId ?? null;
  if (keyId !== null) await deleteKey(client, keyId, actor);
}

async function deleteKey(client: ClientBase, keyId: string, actor: string): Promise<void> {
  const { rowCount } = await client.query(
    'UPDATE api_key SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL',
    [keyId],
  );
  if (rowCount !== 0) await appendAudit(client, { actor, action: 'key.delete', subject: `key:${keyId}` });
}

async function recordRound(
  client: Parameters<typeof recordProbes>[0],
  agentId: string,
  round: Round,
): Promise<DeliverOutcome> {
  // Locked: rounds of an agent are recorded one after the other, and none after its revocation.
  const { rows: live } = await client.query<{ createdAt: Date }>(
    'SELECT created_at AS "createdAt" FROM probe_agent WHERE id = $1 AND revoked_at IS NULL FOR UPDATE',
    [agentId],
  );
  const [agent] = live;
  if (agent === undefined) return { kind: 'revoked' };
  if (round.startedAt < agent.createdAt)
    return { kind: 'out_of_time', message: 'The round began before the agent was made.' };
  const digest = createHash('sha256').update(JSON.stringify(round)).digest();
  const { rows: before } = await client.query<{ same: boolean }>(
    'SELECT digest = $3 AS same FROM probe_round WHERE agent_id = $1 AND id = $2',
    [agentId, round.id, digest],
  );
  if (before[0] !== undefined) return { kind: before[0].same ? 'repeated' : 'differs' };
  const { probed, results } = await inTurn(client, agentId, round.results);
  if (probed > 0 && results.length === 0) return { kind: 'too_soon' };
  await client.query('INSERT INTO probe_round (agent_id, id, started_at, digest) VALUES ($1, $2, $3, $4)', [
    agentId,
    round.id,
    round.startedAt,
    digest,
  ]);
  if (results.length > 0) {
    await recordProbes(client, results, agentId);
    const last = new Date(Math.max(...results.map(({ startedAt }) => startedAt.getTime())));
    await client.query('UPDATE probe_agent SET measured_at = greatest(measured_at, $2) WHERE id = $1', [agentId, last]);
  }
  return { kind: 'recorded', recorded: results.length, ignored: round.results.length - results.length };
}

/**
 * The probes whose turn it was: of a model that is probed, and at least half of its pace away from the agent's other ones
 * of the same way. The other half is for queues and restarts. `probed` counts those of models that are probed.
 */
async function inTurn(client: ClientBase, agentId: string, found: readonly ProbeResult[]) {
  const { rows: models } = await client.query<{ id: string; minutes: number }>(
    `SELECT m.id, coalesce(p.effective_minutes, p.every_minutes, s.every_minutes, $2) AS minutes
     FROM model m LEFT JOIN model_probing p ON p.model = m.id LEFT JOIN probe_settings s ON true
     WHERE m.enabled AND m.kind <> 'image' AND m.id = ANY ($1::text[])`,
    [found.map(({ model }) => model), defaultPaceMinutes],
  );
  const gaps = new Map(models.filter(({ minutes }) => minutes > 0).map(({ id, minutes }) => [id, minutes * 30_000]));
  const probes = found
    .filter(({ model }) => gaps.has(model))
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  if (probes.length === 0) return { probed: 0, results: [] };
  const moments = probes.map(({ startedAt }) => startedAt.getTime());
  const longest = Math.max(0, ...gaps.values());
  const { rows } = await client.query<Pick<ProbeResult, 'model' | 'protocol' | 'mode' | 'startedAt'>>(
    `SELECT model, protocol, mode, started_at AS "startedAt" FROM probe_result
     WHERE agent_id = $1 AND model = ANY ($2::text[]) AND started_at BETWEEN $3 AND $4`,
    [agentId, [...gaps.keys()], new Date(Math.min(...moments) - longest), new Date(Math.max(...moments) + longest)],
  );
  const wayOf = ({ model, protocol, mode }: (typeof rows)[number]) => `${protocol}/${mode}/${model}`;
  const taken = Map.groupBy(rows, wayOf);
  const results = probes.filter((probe) => {
    const before = taken.get(wayOf(probe)) ?? [];
    const gap = gaps.get(probe.model) ?? 0;
    if (before.some(({ startedAt }) => Math.abs(startedAt.getTime() - probe.startedAt.getTime()) < gap)) return false;
    taken.set(wayOf(probe), [...before, probe]);
    return true;
  });
  return { probed: probes.length, results };
}

/** Round ids are remembered for longer than a round is accepted. */
export async function pruneRounds(pool: Pool): Promise<void> {
  const keptMs = 2 * (maxRoundAgeMs + maxRoundAheadMs);
  await pool.query(`DELETE FROM probe_round WHERE received_at < now() - $1 * interval '1 millisecond'`, [keptMs]);
}
