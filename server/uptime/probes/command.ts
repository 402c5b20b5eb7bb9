import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { runAgent } from '../agents/agent.ts';
import { openRoundFile, RoundFileInUse } from '../agents/round-file.ts';
import { type ProbeProtocol, type ProbeResult, probeProtocols } from './probe.ts';
import { probeAll } from './prober.ts';

/**
 * `STEYG_API_KEY=sk-… npm run probe -- --base-url https://host/api`: the scheduler's probes, from any machine and without a
 * database. Prints a line for each probe, with `--json` a JSON object on each line. Exit code 0 when at least one probe
 * was up and none down, 1 when a probe was down or the models could not be read, 2 for wrong arguments, and 3 when
 * nothing was measured: a wrong key or an empty budget must not pass for good health.
 *
 * With an agent's token it is an agent: it goes on until it is stopped, at the service's pace, and reports its rounds. Neither
 * key nor token is an argument: every user of the machine sees those.
 */

const usage = `usage: npm run probe -- --base-url https://host/api --key-file PATH [--models a,b] [--protocols ${probeProtocols.join(',')}] [--timeout-ms 30000] [--json]
       npm run probe -- --base-url https://host/api --token-file PATH [--file ~/.steyg-probe/rounds.jsonl] [--control https://...]
                        [--every-seconds N] [--once] [--key-file PATH] [--protocols ...] [--timeout-ms ...] [--json]

The second form is an agent: it measures at the service's pace until it is stopped, keeps its rounds in a file while the
service is away, and delivers them in order. The operator makes its token (admin -- probe-agent create). --control names an
address that is up as good as always (it may be given several times): when neither the service nor any of them answers,
the agent itself is offline, and has no data. A path of - is the standard
input. STEYG_API_KEY and STEYG_AGENT_TOKEN stand in for --key-file and --token-file.

exit codes: 0 all up, 1 something down, 2 wrong options, 3 nothing measured (key, budget, limits or model ids are in the way)`;

const maxTimeoutMs = 600_000;

export interface Output {
  out: (line: string) => void;
  error: (line: string) => void;
}

/** Runs the command and returns its exit code. The key may also come from the environment (`STEYG_API_KEY`). */
export async function runProbeCommand(args: string[], environment: NodeJS.ProcessEnv, output: Output): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    output.out(usage);
    return 0;
  }
  const options = readOptions(args, environment);
  if (typeof options === 'string') {
    output.error(`${options}\n${usage}`);
    return 2;
  }
  if (options.agent !== null) return runAsAgent(options, options.agent, output);
  const { baseUrl, protocols, timeoutMs, json } = options;
  const apiKey = options.apiKey ?? '';
  const fail = (code: string, message: string) =>
    json ? output.out(JSON.stringify({ error: { code, message } })) : output.error(message);
  const listed = options.models === null ? await listModels(options) : { models: options.models };
  if ('problem' in listed) {
    const check = 'check the address (it ends in /api) and the key';
    fail('models_unreadable', `The model list could not be read (${listed.problem}): ${check}.`);
    return 1;
  }
  const results = await probeAll({
    baseUrl,
    apiKey,
    models: listed.models,
    protocols,
    timeoutMs,
    onResult: (result) => output.out(json ? JSON.stringify(result) : line(result)),
  });
  const code = exitCode(results);
  if (code !== 3) return code;
  const reasons = [...new Set(results.map(({ reason }) => reason))].join(', ');
  fail('nothing_measured', `Nothing was measured (${reasons === '' ? 'the key may call no model' : reasons}).`);
  return 3;
}

function exitCode(results: readonly ProbeResult[]): number {
  if (results.some(({ outcome }) => outcome === 'down')) return 1;
  return results.some(({ outcome }) => outcome === 'up') ? 0 : 3;
}

/** Runs until SIGINT or SIGTERM; rounds that were not delivered stay in the file. */
async function runAsAgent(options: CommandOptions, agent: AgentCommandOptions, output: Output): Promise<number> {
  const { baseUrl, apiKey, timeoutMs, json } = options;
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const rounds = await openRoundFile(agent.file);
    try {
      const last = await runAgent({
        ...agent,
        baseUrl,
        apiKey,
        rounds,
        timeoutMs,
        protocols: options.namesProtocols ? options.protocols : null,
        signal: stopping.signal,
        onResult: (result) => output.out(json ? JSON.stringify(result) : line(result)),
        onNews: (text) => (json ? output.out(JSON.stringify({ news: text })) : output.error(text)),
      });
      return agent.once ? exitCode(last) : 0;
    } finally {
      await rounds.close();
    }
  } catch (error) {
    if (!(error instanceof RoundFileInUse)) throw error;
    output.error(error.message);
    return 2;
  } finally {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
  }
}

interface AgentCommandOptions {
  token: string;
  file: string;
  controls: string[];
  everyMs: number | null;
  once: boolean;
}

interface CommandOptions {
  baseUrl: string;
  /** Null: an agent gets one from the service. */
  apiKey: string | null;
  /** Null: probes once. */
  agent: AgentCommandOptions | null;
  namesProtocols: boolean;
  models: string[] | null;
  protocols: ProbeProtocol[];
  timeoutMs: number;
  json: boolean;
}

/** The secret in a file, or on the standard input. */
function secretIn(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readFileSync(path === '-' ? 0 : path, 'utf8').trim();
}

function readOptions(args: string[], environment: NodeJS.ProcessEnv): CommandOptions | string {
  let values: {
    'base-url'?: string;
    'key-file'?: string;
    models?: string;
    protocols?: string;
    'timeout-ms'?: string;
    json?: boolean;
    'token-file'?: string;
    file?: string;
    control?: string[];
    'every-seconds'?: string;
    once?: boolean;
  };
  try {
    values = parseArgs({
      args,
      options: {
        'base-url': { type: 'string' },
        'key-file': { type: 'string' },
        models: { type: 'string' },
        protocols: { type: 'string' },
        'timeout-ms': { type: 'string' },
        json: { type: 'boolean' },
        'token-file': { type: 'string' },
        file: { type: 'string' },
        control: { type: 'string', multiple: true },
        'every-seconds': { type: 'string' },
        once: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : 'The arguments could not be read.';
  }
  const baseUrl = values['base-url']?.replace(/\/+$/, '');
  let apiKey: string | undefined;
  let token: string | undefined;
  try {
    apiKey = secretIn(values['key-file']) ?? environment['STEYG_API_KEY'];
    token = secretIn(values['token-file']) ?? environment['STEYG_AGENT_TOKEN'];
  } catch {
    return 'The file of --key-file or --token-file cannot be read.';
  }
  if (baseUrl === undefined || !URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl))
    return '--base-url is missing or not an http(s) address.';
  if (apiKey === '' || (apiKey === undefined && token === undefined)) return '--key-file is missing.';
  // Other characters could not be sent in a header, which would look like a server that is down.
  for (const [name, secret] of [
    ['The key', apiKey],
    ['The token', token],
  ])
    if (secret !== undefined && !/^[\x21-\x7e]+$/.test(secret))
      return `${name} has blanks, line ends or other characters in it that no key has.`;
  const models = list(values.models);
  if (models?.length === 0) return '--models names none.';
  const protocols = list(values.protocols) ?? [...probeProtocols];
  if (protocols.length === 0 || !protocols.every(isProtocol))
    return '--protocols names one that does not exist, or none.';
  const timeoutMs = Number(values['timeout-ms'] ?? 30_000);
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs)
    return `--timeout-ms is not a number of milliseconds from 1 to ${maxTimeoutMs}.`;
  const agent = token === undefined ? null : readAgentOptions(values, token);
  if (typeof agent === 'string') return agent;
  return {
    baseUrl,
    apiKey: apiKey ?? null,
    agent,
    models,
    protocols,
    namesProtocols: values.protocols !== undefined,
    timeoutMs,
    json: values.json === true,
  };
}

function readAgentOptions(
  values: { file?: string; control?: string[]; 'every-seconds'?: string; once?: boolean; models?: string },
  token: string,
): AgentCommandOptions | string {
  if (values.models !== undefined) return '--models is for a single round: the service tells an agent what to measure.';
  const controls = values.control ?? [];
  if (!controls.every((address) => URL.canParse(address) && /^https?:/i.test(address)))
    return '--control is not an http(s) address.';
  const seconds = Number(values['every-seconds'] ?? 1);
  if (!(seconds > 0 && seconds <= 86_400)) return '--every-seconds is not a number of seconds from 0 to 86400.';
  return {
    token,
    file: values.file ?? join(homedir(), '.steyg-probe', 'rounds.jsonl'),
    controls,
    everyMs: values['every-seconds'] === undefined ? null : seconds * 1_000,
    once: values.once === true,
  };
}

function list(value: string | undefined): string[] | null {
  return value === undefined ? null : value.split(',').filter((item) => item !== '');
}

function isProtocol(name: string): name is ProbeProtocol {
  return (probeProtocols as readonly string[]).includes(name);
}

async function listModels({
  baseUrl,
  apiKey,
  timeoutMs,
}: CommandOptions): Promise<{ models: string[] } | { problem: string }> {
  try {
    const { statusCode, body } = await request(`${baseUrl}/v1/models`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = await body.text();
    if (statusCode !== 200) return { problem: `status ${statusCode}` };
    const models = modelIds(answer);
    return models === null ? { problem: 'no list of models' } : { models };
  } catch (error) {
    const { name = 'unknown', code } = error as { name?: string; code?: unknown };
    return { problem: typeof code === 'string' ? code : name };
  }
}

function modelIds(answer: string): string[] | null {
  try {
    const { data } = JSON.parse(answer) as { data?: { id?: unknown }[] };
    return Array.isArray(data) ? data.map(({ id }) => id).filter((id) => typeof id === 'string') : null;
  } catch {
    return null;
  }
}

function line({ model, protocol, mode, outcome, reason, latencyMs, timeToFirstByteMs }: ProbeResult): string {
  const times = latencyMs === null ? '' : ` first byte ${timeToFirstByteMs} ms, whole ${latencyMs} ms`;
  return `${outcome.padEnd(7)} ${model} ${protocol} ${mode}${reason === null ? '' : ` (${reason})`}${times}`;
}

if (import.meta.main)
  process.exitCode = await runProbeCommand(process.argv.slice(2), process.env, {
    out: (text) => void process.stdout.write(`${text}\n`),
    error: (text) => void process.stderr.write(`${text}\n`),
  });
