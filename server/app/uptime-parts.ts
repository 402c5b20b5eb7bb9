import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Accounts } from '../accounts/accounts.ts';
import type { Keys } from '../keys/keys.ts';
import { createSecret, parseAgentToken } from '../keys/secret.ts';
import { describeError } from '../runtime/http.ts';
import { registerAgentRoutes } from '../uptime/agent-routes.ts';
import { createProbeAgents } from '../uptime/agents.ts';
import { createPresence } from '../uptime/presence.ts';
import { createProbing } from '../uptime/probing.ts';
import { createProbeAccount, grantedFor } from '../uptime/round.ts';
import { createUptime } from '../uptime/uptime.ts';

/** The parts that measure uptime, put together: the report, the pace, agents, who pays, and when the service was away. */
export function createUptimeParts({
  pool,
  accounts,
  keys,
  log,
}: {
  pool: Pool;
  accounts: Accounts;
  keys: Keys;
  log: Logger;
}) {
  const uptime = createUptime({ pool });
  const probing = createProbing({ pool });
  const probeAgents = createProbeAgents({
    pool,
    tokens: { create: () => createSecret('agent'), parse: parseAgentToken },
  });
  const probeAccount = createProbeAccount({
    accounts,
    keys,
    monthlyBudget: async () => (await probing.settings()).monthlyBudget,
    granted: grantedFor(pool),
  });
  const presence = createPresence({
    pool,
    onFailure: (error) => log.warn(describeError(error), 'the service could not note that it is alive'),
  });
  return {
    domains: { uptime, probing, probeAgents },
    rounds: { uptime, probing, probeAccount },
    presence,
    registerRoutes(app: FastifyInstance): void {
      registerAgentRoutes(app, { agents: probeAgents, plan: probing.decide, key: probeAccount.agentKey });
    },
  };
}
