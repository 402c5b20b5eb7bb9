/** `steyg status`: what is left and what today cost, for people and for the status lines of their tools. */

import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Steyg } from '../client.ts';
import { ConfigurationError } from '../errors.ts';
import { apiKeyOf, baseUrlOf, type CommonOptions, type Context } from './context.ts';

export const statusOptions = {
  'base-url': { type: 'string' },
  'key-file': { type: 'string' },
  line: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export interface StatusOptions extends CommonOptions {
  line?: boolean | undefined;
  json?: boolean | undefined;
}

/** Amounts in USD. */
interface Status {
  /** What the account can still spend. */
  balance: number;
  /** What the key's own limit leaves of it; null: it has none. */
  limitLeft: number | null;
  /** When that limit begins anew: `daily`, `weekly`, `monthly`; null: never. */
  limitReset: string | null;
  /** What the key has spent today. */
  today: number;
}

/** How old it may be: a status line is drawn anew with every word of an answer. */
const maxAgeMs = 5_000;
/** A tool waits for its status line. */
const lineTimeoutMs = 3_000;

/** Prints it; the exit code. A status line never fails: its tool would show nothing, or an error. */
export async function runStatus(options: StatusOptions, context: Context): Promise<number> {
  if (options.line !== true) {
    const status = await readStatus(options, context);
    context.print(options.json === true ? `${JSON.stringify(status)}\n` : sentences(status));
    return 0;
  }
  try {
    const { today, ...left } = await readStatus(options, context, lineTimeoutMs);
    context.print(`${usd(leftOf(left))} left, ${usd(today)} today\n`);
  } catch (error) {
    context.print(`Steyg: ${error instanceof ConfigurationError ? 'not set up' : 'no answer'}\n`);
  }
  return 0;
}

function sentences(status: Status): string {
  const { balance, limitLeft, limitReset, today } = status;
  const period = limitReset === null ? '' : ` (${limitReset})`;
  return [
    `Left        ${usd(leftOf(status))}`,
    ...(limitLeft === null ? [] : [`  account   ${usd(balance)}`, `  this key  ${usd(limitLeft)}${period}`]),
    `Today       ${usd(today)} by this key`,
    '',
  ].join('\n');
}

const leftOf = ({ balance, limitLeft }: Pick<Status, 'balance' | 'limitLeft'>): number =>
  Math.min(balance, limitLeft ?? Number.POSITIVE_INFINITY);

/** Cents, and more digits of what is less than one. */
const usd = (amount: number): string => `${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)} USD`;

async function readStatus(options: StatusOptions, context: Context, timeoutMs?: number): Promise<Status> {
  const baseUrl = baseUrlOf(options, context);
  const apiKey = await apiKeyOf(options, context);
  if (apiKey === undefined) throw new ConfigurationError('Say whose: STEYG_API_KEY, or --key-file PATH.');
  const cache = cachePath(baseUrl, apiKey, context);
  const recent = await readRecent(cache);
  if (recent !== null) return recent;
  const steyg = new Steyg({ baseUrl, apiKey, ...(timeoutMs === undefined ? {} : { timeoutMs, maxRetries: 0 }) });
  const [{ data: key }, { data: credits }] = await Promise.all([steyg.key.get(), steyg.credits.get()]);
  const status = {
    balance: Math.max(0, credits.totalCredits - credits.totalUsage),
    limitLeft: key.limitRemaining,
    limitReset: key.limitReset,
    today: key.usageDaily,
  };
  await keepRecent(cache, status).catch(() => undefined);
  return status;
}

/** Named after the key, which is not in it. */
function cachePath(baseUrl: string, apiKey: string, { home, env }: Context): string {
  const name = createHash('sha256').update(`${baseUrl} ${apiKey}`).digest('hex').slice(0, 16);
  return join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'steyg', `status-${name}.json`);
}

async function readRecent(path: string): Promise<Status | null> {
  try {
    const age = Date.now() - (await stat(path)).mtimeMs;
    return age >= 0 && age < maxAgeMs ? (JSON.parse(await readFile(path, 'utf8')) as Status) : null;
  } catch {
    return null;
  }
}

async function keepRecent(path: string, status: Status): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, JSON.stringify(status), { mode: 0o600 });
  await rename(draft, path);
}
