/** Probe agents: real processes on "another machine", their tokens, their rounds, and what the status page says of them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Fastify from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { registerAgentRoutes } from '../../server/uptime/agents/agent-routes.ts';
import { createProbeAccount } from '../../server/uptime/probes/round.ts';
import { createUptime, type Uptime, uptimeRatio } from '../../server/uptime/uptime.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';

const root = join(import.meta.dirname, '../..');
let service: TestApp;
let uptime: Uptime;
let model: string;
const agents: ChildProcess[] = [];

beforeAll(async () => {
  service = await startApp();
  uptime = createUptime({ pool: service.pool });
  // One model is enough, and quick.
  await service.pool.query(`UPDATE model SET enabled = (id = (SELECT min(id) FROM model WHERE enabled))`);
  [model = ''] = await uptime.models();
  await service.pool.query(
    'INSERT INTO probe_settings (id, every_minutes, monthly_budget) VALUES (1, 1, 9000000000000000)',
  );
});
afterEach(async () => {
  for (const agent of agents.splice(0)) {
    if (agent.exitCode !== null || agent.signalCode !== null) continue;
    agent.kill('SIGKILL');
    await once(agent, 'exit');
  }
});
afterAll(() => service.close());

/** The operator's command line. */
async function admin(...args: string[]): Promise<{ code: number; agent: { id: string; token: string } }> {
  let text = '';
  const code = await runCommandLine([...args, '--json'], {
    env: { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir },
    out: (line) => {
      text += line;
    },
    err: (line) => {
      text += line;
    },
  });
  return { code, ...JSON.parse(text) };
}

/** An agent; `aged`: it was made an hour ago. */
async function makeAgent(
  name = `hanoi-${randomUUID().slice(0, 8)}`,
  { aged = true }: { aged?: boolean } = {},
): Promise<{ id: string; token: string; name: string }> {
  const { agent } = await admin('probe-agent', 'create', '--name', name, '--region', 'Hanoi, Vietnam');
  const { id, token } = agent;
  if (aged)
    await service.pool.query(`UPDATE probe_agent SET created_at = created_at - interval '1 hour' WHERE id = $1`, [id]);
  return { id, token, name };
}

/** Moves the rounds in an agent's file to so many minutes ago, one after the other, as one with this pace has them. */
async function spread(file: string, minutesAgo: number): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  const over = new Set(lines.map((line) => line.over));
  const rounds = lines.filter(({ round }) => round !== undefined && !over.has(round.id)).slice(-minutesAgo);
  rounds.forEach(({ round }, i) => {
    const startedAt = new Date(Date.now() - (minutesAgo - i) * 60_000).toISOString();
    Object.assign(round, { startedAt, endedAt: startedAt });
    for (const result of round.results) result.startedAt = startedAt;
  });
  await writeFile(
    file,
    [...lines.filter(({ models }) => models), ...rounds].map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  return rounds.map(({ round }) => round.id);
}

interface AgentProcess {
  child: ChildProcess;
  readonly output: string;
  until(isSo: (output: string) => boolean): Promise<void>;
}

/** `npm run probe` as another machine would start it: with an address and a token, and no database. */
function startAgent(token: string, args: string[], baseUrl = service.baseUrl): AgentProcess {
  const child = spawn(
    process.execPath,
    ['server/uptime/probes/command.ts', '--base-url', baseUrl, '--timeout-ms', '5000', ...args],
    {
      cwd: root,
      env: { PATH: process.env['PATH'], STEYG_AGENT_TOKEN: token },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  agents.push(child);
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of waiting) look();
    });
  return {
    child,
    get output() {
      return output;
    },
    until: (isSo) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!isSo(output)) return;
          waiting.delete(look);
          resolve();
        };
        child.once('exit', (code) => reject(new Error(`the agent ended (${code}): ${output}`)));
        waiting.add(look);
        look();
      }),
  };
}

const fileOf = () => join(createDirectory('steyg-agent-'), 'rounds.jsonl');
const roundsOnRecord = async (agentId: string) => {
  const { rows } = await service.pool.query<{ id: string }>(
    'SELECT id FROM probe_round WHERE agent_id = $1 ORDER BY started_at',
    [agentId],
  );
  return rows.map(({ id }) => id);
};
async function eventually<T>(look: () => Promise<T | null | false | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const post = (token: string, body: unknown) =>
  fetch(`${service.baseUrl}/uptime/rounds`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** A round as an agent would report it, `minutesAgo`. */
function roundOf(minutesAgo: number, outcome: 'up' | 'down' | 'no_data', changes: object = {}) {
  const startedAt = new Date(Date.now() - minutesAgo * 60_000).toISOString();
  const result = {
    model,
    protocol: 'messages',
    mode: 'plain',
    startedAt,
    outcome,
    reason: outcome === 'up' ? null : 'no_connection',
    status: outcome === 'up' ? 200 : null,
    latencyMs: outcome === 'up' ? 50 : null,
    timeToFirstByteMs: outcome === 'up' ? 20 : null,
  };
  return { id: randomUUID(), startedAt, endedAt: startedAt, results: [result], ...changes };
}

describe('an agent', () => {
  it('needs its token alone, measures what the service names, and is named on the status page', async () => {
    const { id, token, name } = await makeAgent('ha-noi-1');
    const agent = startAgent(token, ['--file', fileOf(), '--once']);
    const [code] = await once(agent.child, 'exit');
    expect([code, agent.output]).toEqual([0, expect.stringMatching(/^(up .*\n){6}$/)]);
    expect(await roundsOnRecord(id)).toHaveLength(1);
    const status = await (await fetch(`${service.url}/status.json`)).json();
    expect((status as { measured_from: object[] }).measured_from).toEqual([
      expect.objectContaining({ kind: 'agent', name, region: 'Hanoi, Vietnam' }),
    ]);
    for (const lang of ['en', 'vi'])
      expect(await (await fetch(`${service.url}/status?lang=${lang}`)).text()).toContain('ha-noi-1');
    // Its requests are paid for by the account of probes, not by a customer.
    const { rows } = await service.pool.query(
      `SELECT DISTINCT a.kind FROM ledger_entry l JOIN account a ON a.id = l.account_id WHERE l.model = $1`,
      [model],
    );
    expect(rows).toEqual([{ kind: 'probe' }]);
  });

  it('that is killed between disk and delivery delivers after its next start, each round once', async () => {
    const { id, token } = await makeAgent();
    const file = fileOf();
    // Nothing listens there: rounds pile up on disk.
    const nowhere = `http://127.0.0.1:${await freePort()}/api`;
    await writeFile(file, `${JSON.stringify({ models: [model] })}\n`);
    const away = startAgent(token, ['--file', file, '--every-seconds', '0.2'], nowhere);
    await eventually(async () => (await readFile(file, 'utf8')).split('"round"').length > 3);
    away.child.kill('SIGKILL');
    await once(away.child, 'exit');
    const kept = await spread(file, 3);
    expect(kept).toHaveLength(3);
    // The crash may have torn the last line.
    await appendFile(file, '{"round":{"id":"torn');

    const back = startAgent(token, ['--file', file, '--once']);
    await once(back.child, 'exit');
    const recorded = await roundsOnRecord(id);
    expect(recorded.slice(0, kept.length)).toEqual(kept);
    expect(recorded).toHaveLength(kept.length + 1);
    const delivered = await service.pool.query(
      `SELECT outcome, reason, count(*)::int FROM probe_result WHERE agent_id = $1 GROUP BY 1, 2 ORDER BY 1`,
      [id],
    );
    expect(delivered.rows).toEqual([
      { outcome: 'down', reason: 'no_connection', count: kept.length * 6 },
      { outcome: 'up', reason: null, count: 6 },
    ]);

    // As if the answers to its deliveries had been lost: all of them come again.
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/^\{"over".*$/gm, ''));
    const again = startAgent(token, ['--file', file, '--once']);
    await once(again.child, 'exit');
    // Its own next round came before its turn.
    expect(await roundsOnRecord(id)).toEqual(recorded);
    expect(again.output).toContain('came before its turn');
  });

  it('finds the outage of the whole service, which the page then shows as downtime', async () => {
    const observers = [await makeAgent(), await makeAgent()];
    const port = await freePort();
    const env = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` };
    const first = await startApp({ beside: service, env });
    const files = observers.map(() => fileOf());
    const start = (every: string[], baseUrl: string) =>
      observers.map(({ token }, i) => startAgent(token, ['--file', files[i] ?? '', ...every], baseUrl));
    const running = start(['--every-seconds', '0.3'], first.baseUrl);
    for (const agent of running) await agent.until((output) => output.includes('up '));
    await first.close();
    for (const agent of running) {
      await agent.until((output) => output.split('down ').length > 6 * 8);
      agent.child.kill('SIGTERM');
      expect(await once(agent.child, 'exit')).toEqual([0, null]);
    }
    // What was found in seconds, as it is found in minutes.
    await service.pool.query(
      `UPDATE probe_result SET started_at = started_at - interval '5 minutes' WHERE agent_id = ANY ($1)`,
      [observers.map(({ id }) => id)],
    );
    for (const file of files) await spread(file, 4);
    const second = await startApp({ beside: service, env });
    const back = start(['--every-seconds', '60'], second.baseUrl);
    for (const { id } of observers)
      await eventually(async () => {
        const { rows } = await service.pool.query<{ outcomes: string }>(
          `SELECT string_agg(outcome, '' ORDER BY started_at) AS outcomes FROM probe_result WHERE agent_id = $1
           AND protocol = 'messages' AND mode = 'plain'`,
          [id],
        );
        return /(down){4}(up)+$/.test(rows[0]?.outcomes ?? '');
      });
    for (const { child } of back) child.kill('SIGTERM');
    const report = await uptime.report();
    expect(uptimeRatio(report.models[0]?.last24Hours ?? { up: 0, down: 0 })).toBeLessThan(1);
    expect(report.incidents).toContainEqual(expect.objectContaining({ model, impact: 'major', cause: 'service' }));
    const page = await (await fetch(`${second.url}/status?lang=en`)).text();
    expect(page).toContain('The service itself could not be reached');
    await second.close();
  });

  it('without a network of its own has no data, where a control address says so', async () => {
    const { token } = await makeAgent();
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const file = fileOf();
    await writeFile(file, `${JSON.stringify({ models: [model] })}\n`);
    const cut = startAgent(token, ['--file', file, '--once', '--control', nowhere], `${nowhere}/api`);
    expect(await once(cut.child, 'exit')).toEqual([3, null]);
    expect(cut.output).toContain('agent_offline');
    const online = startAgent(token, ['--file', file, '--once', '--control', service.url], `${nowhere}/api`);
    expect(await once(online.child, 'exit')).toEqual([1, null]);
  });
});

describe('something else at the address of the service', () => {
  it.each([
    ['a sign-in page', 200, '<html>Welcome to the hotel</html>'],
    ['JSON of another program', 200, '{}'],
    ['a refusal of another program', 400, '{"message":"no"}'],
  ])('(%s) takes no round away, changes no plan, and does not end the agent', async (_name, status, body) => {
    const { token } = await makeAgent();
    const portal = createServer((request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    await once(portal.listen(0, '127.0.0.1'), 'listening');
    const { port } = portal.address() as AddressInfo;
    const file = fileOf();
    await writeFile(file, `${JSON.stringify({ models: [model] })}\n`);
    const agent = startAgent(token, ['--file', file, '--every-seconds', '0.2'], `http://127.0.0.1:${port}/api`);
    await eventually(async () => (await readFile(file, 'utf8')).split('"round"').length > 3);
    expect(agent.child.exitCode).toBe(null);
    agent.child.kill('SIGKILL');
    await once(agent.child, 'exit');
    portal.closeAllConnections();
    portal.close();
    const kept = await readFile(file, 'utf8');
    expect(kept).not.toContain('{"over"');
    expect(kept.match(/"models":\[[^\]]*\]/g)).toEqual([`"models":["${model}"]`]);
  });
});

describe('strangers', () => {
  it('are told to wait, by network, before their token is looked up; so is everybody under load', async () => {
    let asked = 0;
    let isLate = false;
    const taken = new Map<string, number>();
    const app = Fastify({ trustProxy: true });
    registerAgentRoutes(app, {
      agents: {
        identify: async () => {
          asked += 1;
          return null;
        },
        deliver: () => Promise.reject(new Error('not reached')),
        allowModels: () => Promise.reject(new Error('not reached')),
      },
      plan: async () => [],
      key: () => Promise.reject(new Error('not reached')),
      keyWait: () => null,
      refusal: (ip) => {
        if (isLate) return { status: 503, retryAfterSeconds: 2 };
        taken.set(ip, (taken.get(ip) ?? 0) + 1);
        return (taken.get(ip) ?? 0) > 2 ? { status: 429, retryAfterSeconds: 7 } : null;
      },
    });
    const look = (ip: string) => app.inject({ url: '/api/uptime/plan', headers: { 'x-forwarded-for': ip } });
    const statuses = [];
    for (const ip of ['203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.2']) {
      const { statusCode, headers } = await look(ip);
      statuses.push([statusCode, headers['retry-after']]);
    }
    expect(statuses).toEqual([
      [401, undefined],
      [401, undefined],
      [429, '7'],
      [401, undefined],
    ]);
    isLate = true;
    expect((await look('203.0.113.3')).statusCode).toBe(503);
    expect(asked).toBe(3);
    await app.close();
  });

  it('are limited by the running service', async () => {
    const beside = await startApp({ beside: service });
    const statuses = new Set<number>();
    // What is allowed grows again meanwhile: a slow machine has to ask more often.
    while (!statuses.has(429)) {
      const asked = Array.from({ length: 200 }, async () => (await fetch(`${beside.baseUrl}/uptime/plan`)).status);
      for (const status of await Promise.all(asked)) statuses.add(status);
    }
    expect(statuses).toEqual(new Set([401, 429]));
    await beside.close();
  });
});

describe('tokens of agents', () => {
  it('that are forged, revoked or of another kind are refused, and nothing is recorded', async () => {
    const { id, token } = await makeAgent();
    const { secret: key } = await service.customer();
    const forged = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    for (const wrong of ['', forged, key, token.replace('pa-', 'tk-')])
      expect((await post(wrong, roundOf(1, 'up'))).status).toBe(401);
    expect((await post(token, roundOf(1, 'up'))).status).toBe(200);
    expect((await admin('probe-agent', 'revoke', '--id', id)).code).toBe(0);
    expect((await post(token, roundOf(1, 'up'))).status).toBe(401);
    for (const path of ['plan', 'key'])
      expect(
        (
          await fetch(`${service.baseUrl}/uptime/${path}`, {
            method: path === 'key' ? 'POST' : 'GET',
            headers: { authorization: `Bearer ${token}` },
          })
        ).status,
      ).toBe(401);
    expect(await roundsOnRecord(id)).toHaveLength(1);
    // The token opens nothing else, and is stored nowhere.
    const models = await fetch(`${service.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    expect(models.status).toBe(401);
    const { rows } = await service.pool.query(`SELECT a::text AS row FROM probe_agent a WHERE id = $1`, [id]);
    expect(JSON.stringify(rows)).not.toContain(token.slice(9, 40));
    expect(service.logged.join('\n')).not.toContain(token);
  });
});

describe('the key of an agent', () => {
  it('is one at a time, with limits from the budget, and ends with the agent', async () => {
    const { id, token } = await makeAgent();
    const ask = () =>
      fetch(`${service.baseUrl}/uptime/key`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    const works = async (secret: string) =>
      (await fetch(`${service.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status === 200;
    const keyOf = async () => ((await (await ask()).json()) as { key: string }).key;
    const live = async () => {
      const { rows } = await service.pool.query<{ day: bigint; month: bigint; perMinute: number; models: string[] }>(
        `SELECT k.limit_day AS day, k.limit_month AS month, k.requests_per_minute AS "perMinute", k.models
         FROM api_key k JOIN probe_agent a ON k.name = 'Uptime probes of ' || a.name
         WHERE a.id = $1 AND k.deleted_at IS NULL`,
        [id],
      );
      return rows;
    };
    const first = await keyOf();
    expect(await works(first)).toBe(true);
    const second = await keyOf();
    expect(await eventually(async () => !(await works(first)))).toBe(true);
    expect(await works(second)).toBe(true);
    await Promise.all(Array.from({ length: 4 }, keyOf));
    const [limits, ...others] = await live();
    expect(others).toEqual([]);
    expect(limits?.perMinute).toBe(1_200);
    // The budget of a month is 9,000 USD, and agents in these tests spent some of it.
    expect(limits?.month).toBeGreaterThan(0n);
    expect(limits?.month).toBeLessThanOrEqual(9_000_000_000_000_000n);
    expect(limits?.day).toBeLessThanOrEqual(limits?.month ?? 0n);
    expect(limits?.models).toEqual([model]);

    const last = await keyOf();
    expect((await admin('probe-agent', 'revoke', '--id', id)).code).toBe(0);
    expect(await live()).toEqual([]);
    expect(await eventually(async () => !(await works(last)))).toBe(true);
  });

  it('cannot be asked for without end', async () => {
    const { token } = await makeAgent();
    const statuses = [];
    for (let i = 0; i < 22; i++)
      statuses.push(
        (
          await fetch(`${service.baseUrl}/uptime/key`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}` },
          })
        ).status,
      );
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(statuses.slice(20)).toContain(429);
  });

  it('spends no more than a budget that was lowered leaves', async () => {
    const { id, name } = await makeAgent();
    const terms: object[] = [];
    const account = createProbeAccount({
      accounts: service.accounts,
      keys: {
        create(ask) {
          terms.push(ask.limits);
          return service.keys.create(ask);
        },
        renew: service.keys.renew,
      },
      monthlyBudget: async () => 8_000n,
      granted: async () => 20_000n,
      spent: async () => 5_000n,
    });
    await account.agentKey({ id, name }, [model]);
    await account.key();
    expect(terms).toMatchObject([{ month: 3_000n }, { lifetime: 3_000n }]);
  });
});

describe('a round', () => {
  it('counts once however often it is delivered, and not with another content', async () => {
    const { id, token } = await makeAgent();
    const round = roundOf(2, 'up');
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(token, round)));
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { repeated: boolean }[];
    expect(bodies.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect((await post(token, { ...round, results: roundOf(2, 'down').results })).status).toBe(400);
    const changed = { ...round, results: round.results.map((result) => ({ ...result, latencyMs: 51 })) };
    expect((await post(token, changed)).status).toBe(409);
    const { rows } = await service.pool.query('SELECT count(*)::int AS n FROM probe_result WHERE agent_id = $1', [id]);
    expect(rows).toEqual([{ n: 1 }]);
  });

  it.each([
    ['no JSON', '{', 400],
    ['an unknown member', { ...roundOfShape(), extra: 1 }, 400],
    ['no results', { ...roundOfShape(), results: [] }, 400],
    ['too many results', { ...roundOfShape(), results: Array.from({ length: 1_001 }, () => ({})) }, 400],
    ['a result outside of the round', { ...roundOfShape(), endedAt: '2020-01-01T00:00:00.000Z' }, 400],
    ['content in a reason', { ...roundOfShape({ reason: 'Dear customer', outcome: 'down' }) }, 400],
    ['up for a reason', { ...roundOfShape({ reason: 'timeout' }) }, 400],
    ['a body of a megabyte', { ...roundOfShape(), pad: 'x'.repeat(1_048_576) }, 413],
    ['an age of eleven minutes', roundOfShape({}, 11), 422],
    ['a moment of tomorrow', roundOfShape({}, -1_440), 422],
  ])('with %s is refused', async (_name, body, status) => {
    const { id, token } = await makeAgent();
    expect((await post(token, body)).status).toBe(status);
    expect(await roundsOnRecord(id)).toEqual([]);
  });

  it('of minutes ago is recorded where it belongs, and what two observers found outranks what the service found of itself', async () => {
    const other = await startedModel();
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const own = [9.5, 8.5, 7.5, 6.5, 30].map((minutes) => ({
      model: other,
      protocol: 'messages' as const,
      mode: 'plain' as const,
      startedAt: at(minutes),
      outcome: 'up' as const,
      reason: null,
      status: 200,
      latencyMs: 10,
      timeToFirstByteMs: 5,
    }));
    await uptime.record(own);
    const agents = [await makeAgent(), await makeAgent()];
    for (const minutes of [9, 8, 7, 6])
      for (const { token } of agents) {
        const round = roundOf(minutes, 'down');
        expect(
          (await post(token, { ...round, results: round.results.map((each) => ({ ...each, model: other })) })).status,
        ).toBe(200);
      }
    const report = await uptime.report();
    const found = report.models.find(({ id }) => id === other);
    expect(found?.last24Hours).toMatchObject({ up: 1, down: 8 });
    expect(report.incidents.filter((incident) => incident.model === other)).toMatchObject([{ impact: 'major' }]);
    await service.pool.query('UPDATE model SET enabled = false WHERE id = $1', [other]);
  });

  it('of the past neither ends an incident that began after it nor hides that it goes on', async () => {
    const other = await startedModel();
    const found = (minutes: number, outcome: 'up' | 'down') => {
      const [result] = roundOf(minutes, outcome).results;
      if (result === undefined) throw new Error('a round without a result');
      return {
        ...result,
        model: other,
        startedAt: new Date(result.startedAt),
        protocol: 'messages',
        mode: 'plain',
      } as const;
    };
    const incidents = async () =>
      (await uptime.report()).incidents
        .filter((incident) => incident.model === other)
        .map(({ startedAt, endedAt }) => [Math.round((Date.now() - startedAt.getTime()) / 60_000), endedAt]);
    for (const minutes of [3, 2, 1]) await uptime.record([found(minutes, 'down')]);
    expect(await incidents()).toEqual([[3, null]]);

    const { token } = await makeAgent();
    const deliver = async (minutes: number, outcome: 'up' | 'down') => {
      const round = roundOf(minutes, outcome);
      const results = round.results.map((each) => ({ ...each, model: other }));
      expect((await post(token, { ...round, results })).status).toBe(200);
    };
    for (const minutes of [9, 8]) await deliver(minutes, 'up');
    expect(await incidents()).toEqual([[3, null]]);
    await uptime.record([found(0, 'down')]);
    expect(await incidents()).toEqual([[3, null]]);

    // A row that was ended too early is found by the failures of the same time, and goes on.
    await service.pool.query(`UPDATE incident SET ended_at = started_at WHERE model = $1`, [other]);
    await uptime.record([found(0, 'down')]);
    expect(await incidents()).toEqual([[3, null]]);
    await service.pool.query('UPDATE model SET enabled = false WHERE id = $1', [other]);
  });

  it('of a model that left the catalog is taken, and counts nowhere', async () => {
    const { token } = await makeAgent();
    const round = roundOf(1, 'up');
    const answer = await post(token, {
      ...round,
      results: round.results.map((each) => ({ ...each, model: 'gone-1' })),
    });
    expect([answer.status, await answer.json()]).toEqual([200, { recorded: 0, ignored: 1, repeated: false }]);
  });
});

/** A round of the right shape, whatever the catalog: for what is refused before it is looked up. */
function roundOfShape(changes: object = {}, minutesAgo = 1) {
  const startedAt = new Date(Date.now() - minutesAgo * 60_000).toISOString();
  return {
    id: randomUUID(),
    startedAt,
    endedAt: startedAt,
    results: [
      {
        model: 'any-1',
        protocol: 'messages',
        mode: 'plain',
        startedAt,
        outcome: 'up',
        reason: null,
        status: 200,
        latencyMs: 50,
        timeToFirstByteMs: 20,
        ...changes,
      },
    ],
  };
}

async function startedModel(): Promise<string> {
  const id = `other-${randomUUID().slice(0, 8)}`;
  await service.pool.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ($1, $1, 'f', 1000, 100)`,
    [id],
  );
  return id;
}
