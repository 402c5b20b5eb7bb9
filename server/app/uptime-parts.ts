import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Accounts } from '../accounts/accounts.ts';
import type { Log } from '../core/log.ts';
import type { Keys } from '../keys/keys.ts';
import { createSecret, parseAgentToken } from '../keys/secret.ts';
import { networkOf } from '../people/sign-in/throttle.ts';
import { describeError } from '../runtime/http.ts';
import { createRates } from '../shared/rates.ts';
import { type AgentRefusal, registerAgentRoutes } from '../uptime/agents/agent-routes.ts';
import { createProbeAgents } from '../uptime/agents/agents.ts';
import { createPresence } from '../uptime/presence.ts';
import { createProbing } from '../uptime/probes/probing.ts';
import { createProbeAccount, grantedFor, spentBy } from '../uptime/probes/round.ts';
import { createUptime } from '../uptime/uptime.ts';

/** Requests of one network to the endpoints of agents: a backlog of rounds arrives in a few minutes. */
const agentRate = { burst: 300, perSecond: 20 };
/** Keys of one agent: it needs one a day, and one at each start. */
const agentKeyRate = { burst: 20, perSecond: 1 / 30 };
const lateRetryAfterSeconds = 2;

/** The parts that measure uptime, put together: the report, the pace, agents, who pays, and when the service was away. */
export function createUptimeParts({
  pool,
  accounts,
  keys,
  isLate,
  probes,
  log,
}: {
  pool: Pool;
  accounts: Accounts;
  keys: Keys;
  /** Whether load is shed now. */
  isLate: () => boolean;
  /** Whether the service probes its own models. */
  probes: boolean;
  log: Log;
}) {
  const uptime = createUptime({ pool });
  const probing = createProbing({ pool, serviceProbes: probes });
  const probeAgents = createProbeAgents({
    pool,
    tokens: { create: () => createSecret('agent'), parse: parseAgentToken },
  });
  const probeAccount = createProbeAccount({
    accounts,
    keys,
    monthlyBudget: async () => (await probing.settings()).monthlyBudget,
    granted: grantedFor(pool),
    spent: spentBy(pool),
    keyOf: probeAgents.keyOf,
    adoptKey: probeAgents.adoptKey,
  });
  const presence = createPresence({
    pool,
    onFailure: (error) => log.warn(describeError(error), 'the service could not note that it is alive'),
  });
  const networks = createRates(agentRate);
  const keyRates = createRates(agentKeyRate);
  const refusal = (ip: string): AgentRefusal | null => {
    if (isLate()) return { status: 503, retryAfterSeconds: lateRetryAfterSeconds };
    const wait = networks.take(networkOf(ip));
    return wait === null ? null : { status: 429, retryAfterSeconds: wait };
  };
  const keyWait = (agent: { id: string }) => keyRates.take(agent.id);
  return {
    domains: { uptime, probing, probeAgents },
    rounds: { uptime, probing, probeAccount },
    presence,
    registerRoutes(app: FastifyInstance): void {
      registerAgentRoutes(app, {
        agents: probeAgents,
        plan: probing.decide,
        key: async (agent) =>
          probeAccount.agentKey(
            agent,
            (await probing.decide()).map(({ model }) => model),
          ),
        refusal,
        keyWait,
      });
    },
  };
}
