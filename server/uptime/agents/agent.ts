import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { z } from 'zod';
import { uuidv7 } from '../../shared/uuid.ts';
import { type ProbeProtocol, type ProbeResult, probeProtocols } from '../probes/probe.ts';
import { probeAll } from '../probes/prober.ts';
import type { AgentPlan } from './agent-routes.ts';
import type { RoundFile, StoredRound } from './round-file.ts';

/**
 * A probe agent: measures the service from another machine, keeps its rounds on disk, and delivers them in their order
 * as soon as the service takes them. It goes on while the service is away: that is what it is for.
 */

export interface AgentOptions {
  /** The public API root, as customers write it. */
  baseUrl: string;
  /** The agent's token. */
  token: string;
  /** A key to measure with; null: the service gives one. */
  apiKey: string | null;
  rounds: RoundFile;
  protocols: readonly ProbeProtocol[] | null;
  timeoutMs: number;
  /** Between two probes of a model, instead of the service's pace; null: as the service says. */
  everyMs: number | null;
  /**
   * Addresses that are up as good as always. When nothing of the service can be reached, and none of them either, the
   * agent itself is cut off, and has no data.
   */
  controls: readonly string[];
  /** One round and one delivery, then the end. */
  once: boolean;
  signal: AbortSignal;
  onResult: (result: ProbeResult) => void;
  /** News for the operator of the agent, in a sentence. */
  onNews: (text: string) => void;
}

/** Between two looks at what is due, and two tries to deliver. */
const tickMs = 15_000;
const planMs = 60_000;
const deliverTimeoutMs = 20_000;
const defaultEveryMs = 5 * 60_000;
/** Models in one round: when all of its probes wait for their time-out, it is still young enough to be accepted. */
const modelsPerRound = 5;
const clockToleranceMs = 60_000;

/** Runs until `signal` aborts it. Resolves to the results of its last round. */
export async function runAgent(options: AgentOptions): Promise<ProbeResult[]> {
  const { rounds, protocols, everyMs, once, signal, onNews } = options;
  const service = createService(options);
  const probedAt = new Map<string, number>();
  let plan: AgentPlan | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let last: ProbeResult[] = [];

  while (!signal.aborted) {
    if (performance.now() - askedAt >= Math.min(planMs, everyMs ?? planMs)) {
      askedAt = performance.now();
      plan = (await service.plan()) ?? plan;
      if (plan !== null) await kept(rounds.rememberModels(plan.models.map(({ id }) => id)), onNews);
    }
    const paces = new Map(plan?.models.map(({ id, every_seconds: seconds }) => [id, seconds * 1_000]));
    const due = rounds.models.filter((model) => {
      const at = probedAt.get(model);
      return at === undefined || performance.now() - at >= (everyMs ?? paces.get(model) ?? defaultEveryMs);
    });
    for (let i = 0; i < due.length && !signal.aborted; i += modelsPerRound) {
      const models = due.slice(i, i + modelsPerRound);
      for (const model of models) probedAt.set(model, performance.now());
      const round = await measure(options, models, {
        apiKey: await service.key(),
        protocols: protocols ?? probeProtocols,
      });
      if (round === null) break;
      last = round.results as ProbeResult[];
      // A key that is refused, or does not open the models that are probed by now.
      if (last.some(({ status }) => status === 401 || status === 403)) service.forgetKey();
      await keep(rounds, round, onNews);
      await service.deliver();
    }
    if (due.length === 0) await service.deliver();
    if (once) break;
    const soonest = Math.min(
      tickMs,
      ...[...probedAt.values()].map((at) => at + (everyMs ?? tickMs) - performance.now()),
    );
    await delay(Math.max(50, soonest), undefined, { signal }).catch(() => undefined);
  }
  return last;
}

/** Probes some models; null when it was aborted, because an aborted probe says nothing. */
async function measure(
  { baseUrl, timeoutMs, controls, signal, onResult }: AgentOptions,
  models: readonly string[],
  { apiKey, protocols }: { apiKey: string; protocols: readonly ProbeProtocol[] },
): Promise<StoredRound | null> {
  const startedAt = new Date();
  let results: ProbeResult[];
  try {
    results = await probeAll({ baseUrl, apiKey, models, protocols, timeoutMs, signal });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
  const nothingReached = results.every(({ status }) => status === null);
  if (nothingReached && controls.length > 0 && !(await reachesAny(controls, timeoutMs)))
    results = results.map((result) => ({ ...result, outcome: 'no_data', reason: 'agent_offline' }));
  for (const result of results) onResult(result);
  return { id: uuidv7(), startedAt: startedAt.toISOString(), endedAt: new Date().toISOString(), results };
}

async function reachesAny(addresses: readonly string[], timeoutMs: number): Promise<boolean> {
  const answers = await Promise.all(
    addresses.map(async (address) => {
      try {
        const { body } = await request(address, { method: 'HEAD', signal: AbortSignal.timeout(timeoutMs) });
        await body.dump();
        return true;
      } catch {
        return false;
      }
    }),
  );
  return answers.includes(true);
}

async function keep(rounds: RoundFile, round: StoredRound, onNews: AgentOptions['onNews']): Promise<void> {
  try {
    const dropped = await rounds.add(round);
    if (dropped > 0)
      onNews(`${dropped} old rounds were dropped: the service takes none that is older than 10 minutes.`);
  } catch (error) {
    onNews(unwritable(error));
  }
}

/** A full disk does not stop the measuring. */
async function kept(writing: Promise<void>, onNews: AgentOptions['onNews']): Promise<void> {
  try {
    await writing;
  } catch (error) {
    onNews(unwritable(error));
  }
}

function unwritable(error: unknown): string {
  return `The file of rounds cannot be written (${codeOf(error)}): they are kept in memory alone.`;
}

/** The service as an agent talks to it. Nothing of it throws: the service may be away at any moment. */
function createService({ baseUrl, token, apiKey, rounds, signal, onNews }: AgentOptions) {
  let key: string | null = null;
  let said = '';
  /** Says something when it is news, not every time. */
  const say = (text: string) => {
    if (text !== said && text !== '') onNews(text);
    said = text;
  };

  async function call(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<{ status: number; answer: unknown }> {
    const response = await request(`${baseUrl}/uptime/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(deliverTimeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, answer: parse(text) };
  }

  async function ask<T>(method: 'GET' | 'POST', path: string, shape: z.ZodType<T>): Promise<T | null> {
    try {
      const { status, answer } = await call(method, path);
      const read = shape.safeParse(answer);
      if (status === 200 && read.success) return read.data;
      say(status === 200 ? foreign : status === 401 ? refused : `The service answers ${status}.`);
    } catch (error) {
      say(`The service cannot be reached (${codeOf(error)}); rounds are kept.`);
    }
    return null;
  }

  return {
    async plan(): Promise<AgentPlan | null> {
      const plan = await ask('GET', 'plan', planShape);
      if (plan === null) return null;
      const aheadMs = Date.now() - Date.parse(plan.now);
      if (Math.abs(aheadMs) > clockToleranceMs)
        say(`The clock of this machine is ${Math.round(aheadMs / 1_000)} s ahead.`);
      return plan;
    },

    /** Without a key the service can still be found away: that needs none. */
    async key(): Promise<string> {
      if (apiKey !== null) return apiKey;
      if (key === null) {
        key = (await ask('POST', 'key', keyShape))?.key ?? null;
      }
      return key ?? 'none';
    },

    forgetKey(): void {
      key = null;
    },

    /** Delivers what waits, the oldest first, until something stands in the way. */
    async deliver(): Promise<void> {
      for (const round of rounds.pending) {
        if (signal.aborted) return;
        try {
          const { status, answer } = await call('POST', 'rounds', round);
          const refusal = refusalShape.safeParse(answer);
          if (status === 200 && deliveredShape.safeParse(answer).success) say('');
          else if (refusedForGood.has(status) && refusal.success)
            onNews(`The round of ${round.startedAt} was refused (${status}): ${refusal.data.error.message}`);
          else {
            const isForeign = status === 200 || refusedForGood.has(status);
            say(isForeign ? foreign : status === 401 ? refused : `The service answers ${status}.`);
            return;
          }
        } catch (error) {
          say(`The service cannot be reached (${codeOf(error)}); rounds are kept.`);
          return;
        }
        await kept(rounds.remove(round.id), onNews);
      }
    },
  };
}

/** What the endpoints answer. Anything else comes from something between, such as the sign-in page of a network. */
const planShape: z.ZodType<AgentPlan> = z.object({
  now: z.iso.datetime(),
  agent: z.object({ name: z.string(), region: z.string() }),
  protocols: z.array(z.enum(probeProtocols)),
  models: z.array(z.object({ id: z.string().regex(/^[\x21-\x7e]{1,256}$/), every_seconds: z.number().positive() })),
});
const keyShape = z.object({ key: z.string().regex(/^[\x21-\x7e]{1,200}$/) });
const deliveredShape = z.object({
  recorded: z.int().nonnegative(),
  ignored: z.int().nonnegative(),
  repeated: z.boolean(),
});
const refusalShape = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

const foreign = 'Something else than the service answers at its address; rounds are kept.';
const refused = 'The token was refused: it was revoked, or is another service’s. Rounds are kept.';

/** The same round would be refused again. */
const refusedForGood: ReadonlySet<number> = new Set([400, 409, 413, 422]);

function codeOf(error: unknown): string {
  const { code, name = 'unknown' } = error as { code?: unknown; name?: string };
  return typeof code === 'string' ? code : name;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
