import { parseArgs } from 'node:util';
import { request } from 'undici';
import { type ProbeProtocol, type ProbeResult, probeProtocols } from './probe.ts';
import { probeAll } from './prober.ts';

/**
 * `npm run probe -- --base-url https://host/api --key sk-…`: the same probes as the scheduler's, from any machine and
 * without a database. Prints a line for each probe (`--json`: one JSON object) and ends with 1 when one was down.
 */

const usage = `usage: npm run probe -- --base-url https://host/api --key sk-... [--models a,b] [--protocols ${probeProtocols.join(',')}] [--timeout-ms 30000] [--json]`;

export interface Output {
  out: (line: string) => void;
  error: (line: string) => void;
}

/** Runs the command and returns its exit code. The key may also come from the environment (`STEYG_API_KEY`). */
export async function runProbeCommand(args: string[], environment: NodeJS.ProcessEnv, output: Output): Promise<number> {
  const options = readOptions(args, environment);
  if (typeof options === 'string') {
    output.error(`${options}\n${usage}`);
    return 2;
  }
  const { baseUrl, apiKey, protocols, timeoutMs, json } = options;
  const models = options.models ?? (await listModels(baseUrl, apiKey));
  if (models === null) {
    output.error('The model list could not be read: check the address (it ends in /api) and the key.');
    return 1;
  }
  const results = await probeAll({
    baseUrl,
    apiKey,
    models,
    protocols,
    timeoutMs,
    onResult: (result) => output.out(json ? JSON.stringify(result) : line(result)),
  });
  return results.some(({ outcome }) => outcome === 'down') ? 1 : 0;
}

interface CommandOptions {
  baseUrl: string;
  apiKey: string;
  models: string[] | null;
  protocols: ProbeProtocol[];
  timeoutMs: number;
  json: boolean;
}

function readOptions(args: string[], environment: NodeJS.ProcessEnv): CommandOptions | string {
  let values: {
    'base-url'?: string;
    key?: string;
    models?: string;
    protocols?: string;
    'timeout-ms'?: string;
    json?: boolean;
  };
  try {
    values = parseArgs({
      args,
      options: {
        'base-url': { type: 'string' },
        key: { type: 'string' },
        models: { type: 'string' },
        protocols: { type: 'string' },
        'timeout-ms': { type: 'string' },
        json: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : 'The arguments could not be read.';
  }
  const baseUrl = values['base-url']?.replace(/\/+$/, '');
  const apiKey = values.key ?? environment['STEYG_API_KEY'];
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return '--base-url is missing or not an address.';
  if (apiKey === undefined || apiKey === '') return '--key is missing.';
  const protocols = list(values.protocols) ?? [...probeProtocols];
  const timeoutMs = Number(values['timeout-ms'] ?? 30_000);
  if (!protocols.every(isProtocol)) return '--protocols names one that does not exist.';
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1) return '--timeout-ms is not a number of milliseconds.';
  return { baseUrl, apiKey, models: list(values.models), protocols, timeoutMs, json: values.json === true };
}

function list(value: string | undefined): string[] | null {
  return value === undefined ? null : value.split(',').filter((item) => item !== '');
}

function isProtocol(name: string): name is ProbeProtocol {
  return (probeProtocols as readonly string[]).includes(name);
}

async function listModels(baseUrl: string, apiKey: string): Promise<string[] | null> {
  try {
    const response = await request(`${baseUrl}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
    const body = (await response.body.json()) as { data?: { id?: unknown }[] };
    if (response.statusCode !== 200 || !Array.isArray(body.data)) return null;
    return body.data.map(({ id }) => id).filter((id) => typeof id === 'string');
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
