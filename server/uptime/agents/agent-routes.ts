import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestLog } from '../../runtime/http.ts';
import { probeProtocols } from '../probes/probe.ts';
import type { ProbeAgent, ProbeAgents } from './agents.ts';
import { maxRoundBytes } from './round-format.ts';

/**
 * The endpoints of probe agents, below the API root: `GET uptime/plan` (what to measure, and how often),
 * `POST uptime/key` (a key to measure with), `POST uptime/rounds` (what was measured). Each takes the agent's token as
 * `Authorization: Bearer`.
 */

export interface AgentRoutesDeps {
  agents: Pick<ProbeAgents, 'identify' | 'deliver' | 'allowModels'>;
  /** The models to probe, and how often each, in minutes. */
  plan: () => Promise<readonly { model: string; minutes: number }[]>;
  /** A fresh secret for the agent's key of the probe account; null: there is nothing to measure. */
  key: (agent: ProbeAgent) => Promise<{ secret: string; expiresAt: Date } | null>;
  /** Seconds until an agent may ask for another key; null: it may now. */
  keyWait: (agent: ProbeAgent) => number | null;
  /** Whether a request from an address is served now, before anything is asked of the database; null: it is. */
  refusal: (ip: string) => AgentRefusal | null;
}

/** Too many requests from a network (429), or of all together (503). */
export interface AgentRefusal {
  status: 429 | 503;
  retryAfterSeconds: number;
}

/** What `GET uptime/plan` answers. */
export interface AgentPlan {
  now: string;
  agent: { name: string; region: string };
  protocols: readonly string[];
  models: { id: string; every_seconds: number }[];
}

export function registerAgentRoutes(
  app: FastifyInstance,
  { agents, plan, key, keyWait, refusal }: AgentRoutesDeps,
): void {
  void app.register(async (scope) => {
    const known = new WeakMap<FastifyRequest, ProbeAgent>();
    // Before the body is read: a stranger sends none.
    scope.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      const refused = refusal(request.ip);
      if (refused !== null) {
        void reply.header('retry-after', String(refused.retryAfterSeconds));
        return fail(reply, refused.status, 'too_many_requests', 'Too many requests at this moment.');
      }
      const [, token = ''] = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(request.headers.authorization ?? '') ?? [];
      const agent = await agents.identify(token);
      if (agent === null) return fail(reply, 401, 'unauthorized', noToken);
      known.set(request, agent);
    });
    scope.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500;
      if (status < 500) return fail(reply, status, 'bad_request', 'The body is no JSON, or too large.');
      requestLog(request).warn({ name: (error as Error).name }, 'a probe agent could not be served');
      return fail(reply, 503, 'unavailable', 'The service cannot take this at the moment.');
    });
    const agentOf = (request: FastifyRequest): ProbeAgent => {
      const agent = known.get(request);
      if (agent === undefined) throw new Error('a request of an agent was not identified');
      return agent;
    };

    scope.get('/api/uptime/plan', async (request): Promise<AgentPlan> => {
      const { id, name, region } = agentOf(request);
      const models = await plan();
      await agents.allowModels(
        id,
        models.map(({ model }) => model),
      );
      return {
        now: new Date().toISOString(),
        agent: { name, region },
        protocols: probeProtocols,
        models: models.map(({ model, minutes }) => ({ id: model, every_seconds: minutes * 60 })),
      };
    });

    scope.post('/api/uptime/key', async (request, reply) => {
      const agent = agentOf(request);
      const wait = keyWait(agent);
      if (wait !== null) {
        void reply.header('retry-after', String(wait));
        return fail(reply, 429, 'too_many_requests', 'The agent asked for too many keys.');
      }
      const made = await key(agent);
      if (made === null) return fail(reply, 409, 'nothing_to_measure', 'No model is probed at the moment.');
      return { key: made.secret, expires_at: made.expiresAt.toISOString() };
    });

    scope.post('/api/uptime/rounds', { bodyLimit: maxRoundBytes }, async (request, reply) => {
      const outcome = await agents.deliver(agentOf(request), request.body);
      switch (outcome.kind) {
        case 'recorded':
          return { recorded: outcome.recorded, ignored: outcome.ignored, repeated: false };
        case 'repeated':
          return { recorded: 0, ignored: 0, repeated: true };
        case 'malformed':
          return fail(reply, 400, 'malformed_round', outcome.problems.join('; '));
        case 'out_of_time':
          return fail(reply, 422, 'round_out_of_time', outcome.message);
        case 'too_soon':
          return fail(reply, 422, 'round_too_soon', 'The round came before its turn: measure as the plan says.');
        case 'revoked':
          return fail(reply, 401, 'unauthorized', noToken);
        case 'differs':
          return fail(reply, 409, 'round_differs', 'A round with this id was delivered before, with another content.');
      }
    });
  });
}

const noToken = 'This is no token of a probe agent.';

function fail(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return reply.code(status).send({ error: { code, message } });
}
