/** The commands for probe agents. */

import { createSecret, parseAgentToken } from '../../keys/secret.ts';
import { commandLine } from '../../shared/audit.ts';
import { createProbeAgents, type ProbeAgent } from '../../uptime/agents/agents.ts';
import { type Command, CommandError, invalidField, type Surroundings } from './command.ts';

function agentsOf({ pool }: Surroundings) {
  return createProbeAgents({ pool, tokens: { create: () => createSecret('agent'), parse: parseAgentToken } });
}

function shown({ id, name, region, last4, createdAt, lastSeenAt, measuredAt, revokedAt }: ProbeAgent) {
  return { id, name, region, last4, createdAt, lastSeenAt, measuredAt, revokedAt };
}

export const uptimeCommands: readonly Command[] = [
  {
    name: 'probe-agent create',
    usage: '--name N --region R',
    summary: 'let a machine elsewhere measure uptime; its token is shown this once',
    async run(surroundings, given) {
      const agents = agentsOf(surroundings);
      const input = { name: given.required('name'), region: given.required('region') };
      const outcome = await agents.create(input, commandLine);
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      return { json: { agent: { ...shown(outcome.agent), token: outcome.secret } } };
    },
  },
  {
    name: 'probe-agent list',
    usage: '',
    summary: 'the machines that measure uptime, and when each was last heard of',
    async run(surroundings) {
      const agents = agentsOf(surroundings);
      return { json: { agents: (await agents.list()).map(shown) } };
    },
  },
  {
    name: 'probe-agent revoke',
    usage: '--id ID [--keep-results]',
    summary: 'refuse the token of an agent, and take back what it found unless it is to be kept',
    async run(surroundings, given) {
      const id = given.required('id');
      const agents = agentsOf(surroundings);
      const keepResults = given.flag('keep-results');
      const revoked = await agents.revoke(id, { actor: commandLine, keepResults });
      if (revoked === null) throw new CommandError('unknown_agent', `There is no agent ${id} with a token`);
      return { json: { agent: shown(revoked), withdrawn: revoked.withdrawn } };
    },
  },
];
