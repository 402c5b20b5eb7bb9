import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Drives load with `wrk`, which needs a tenth of the processor time of a driver in Node: on two cores a driver that is
 * busy itself makes every subject look slow and all of them alike.
 */
export interface Load {
  url: string;
  path: string;
  headers: Record<string, string>;
  /** API keys to take turns with, one request each: many accounts at once. */
  keys?: readonly string[];
  body: string | Buffer;
  /** Connections, each with one request in flight: a closed loop. */
  connections: number;
  seconds: number;
}

export interface Driven {
  requests: number;
  perSecond: number;
  /** Milliseconds from the request to the last byte of its answer. */
  p50: number;
  p95: number;
  p99: number;
  /** Answers with a status above 399, broken connections and time-outs. */
  errors: number;
}

const run = promisify(execFile);

/** True when `name` can be run. Installs the Debian package of the same purpose when it is missing and may be. */
export function hasTool(name: string, packageName: string): boolean {
  if (answersTo(name)) return true;
  try {
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', packageName], { stdio: 'ignore' });
  } catch {
    // Without the right to install packages, or without a distribution that has them.
  }
  return answersTo(name);
}

function answersTo(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export async function drive(load: Load, directory: string): Promise<Driven> {
  const body = join(directory, 'wrk-body');
  const script = join(directory, 'wrk.lua');
  writeFileSync(body, load.body);
  writeFileSync(script, luaOf(load, body));
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${load.connections}`,
    `-d${load.seconds}s`,
    '--timeout',
    '30s',
    '-s',
    script,
    load.url + load.path,
  ]);
  const figures = /^STEYG (\{.*\})$/m.exec(stdout)?.[1];
  if (figures === undefined) throw new Error(`wrk said nothing that can be read: ${stdout}`);
  const { requests, microseconds, p50, p95, p99, errors } = JSON.parse(figures) as Record<string, number>;
  const answered = (requests ?? 0) - (errors ?? 0);
  return {
    requests: answered,
    perSecond: answered / ((microseconds ?? 1) / 1e6),
    p50: (p50 ?? 0) / 1_000,
    p95: (p95 ?? 0) / 1_000,
    p99: (p99 ?? 0) / 1_000,
    errors: errors ?? 0,
  };
}

/** Requests are formatted once: a script that builds each anew would be most of what the driver does. */
function luaOf({ headers, keys }: Load, bodyFile: string): string {
  const all = { 'content-type': 'application/json', ...headers };
  const fields = Object.entries(all).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  const turns = `
local keys = {${(keys ?? []).map((key) => JSON.stringify(key)).join(',')}}
local formatted, turn = {}, 0
function init()
  for i, key in ipairs(keys) do
    wrk.headers['authorization'] = 'Bearer ' .. key
    formatted[i] = wrk.format()
  end
end
function request()
  turn = turn % #formatted + 1
  return formatted[turn]
end`;
  return `
local file = io.open(${JSON.stringify(bodyFile)}, 'rb')
wrk.method = 'POST'
wrk.body = file:read('*a')
file:close()
${fields.join('\n')}
${keys === undefined ? '' : turns}
function done(summary, latency)
  local e = summary.errors
  print(string.format('STEYG {"requests":%d,"microseconds":%d,"p50":%d,"p95":%d,"p99":%d,"errors":%d}', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(95), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}
