/**
 * Finds out why a set-up does not work: from the form of the address to the buffering of streams, each finding with what
 * is wrong and how to mend it.
 *
 * @packageDocumentation
 */

import { Steyg } from '../client.ts';
import { chooseModels } from '../connect/choose.ts';
import type { ModelChoice } from '../connect/connection.ts';
import { SteygError } from '../errors.ts';
import { checkNames } from '../internal/names.ts';
import { formatPico, parseDecimal } from '../internal/usd.ts';
import type { Fetch } from '../options.ts';
import { checkBudget, checkKey, checkKeyText } from './account.ts';
import { checkAddress, checkClock, probeAddress } from './address.ts';
import { checkChat, checkMessages, checkStreaming } from './calls.ts';
import { checkEnvironment, checkModels } from './environment.ts';
import { type CheckName, type Diagnosis, error, type Finding, skipped } from './finding.ts';

export type { CheckName, Diagnosis, Finding } from './finding.ts';

/** What is to be examined. */
export interface DoctorRequest {
  /** The base address as it is configured, right or wrong. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** The models that are going to be asked for. */
  models?: Partial<ModelChoice> | undefined;
  /** Environment variables that client tools would see; left out, none is looked at. */
  environment?: Record<string, string | undefined> | undefined;
  /** The `env` block of a settings file, which wins over the environment. */
  settings?: Record<string, string | undefined> | undefined;
  /** The messages client is signed in to its vendor's account too. Default: false. */
  signedIn?: boolean | undefined;
  /** False: no model is called, so nothing is spent. Default: true (three tiny requests to the smallest model). */
  spend?: boolean | undefined;
  /** In place of the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Milliseconds for each request. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** Milliseconds since 1970, in place of the system's clock. */
  now?: (() => number) | undefined;
}

const requestMembers: readonly (keyof DoctorRequest)[] = [
  'baseUrl',
  'apiKey',
  'models',
  'environment',
  'settings',
  'signedIn',
  'spend',
  'fetch',
  'timeoutMs',
  'now',
];

/**
 * Examines a set-up. What fails is a finding; only a member that a request does not have is a `ConfigurationError`.
 *
 * @example
 * ```ts
 * const { healthy, findings } = await doctor({ baseUrl: 'https://steyg.example/api', apiKey });
 * for (const { level, message, remedy } of findings) console.log(level, message, remedy ?? '');
 * process.exitCode = healthy ? 0 : 1;
 * ```
 */
export async function doctor(request: DoctorRequest): Promise<Diagnosis> {
  checkNames('member of the request', request, requestMembers);
  const findings: Finding[] = [];
  const costs: string[] = [];
  try {
    await examine(request, findings, costs);
  } catch (cause) {
    // Answers of another service can be of any shape, and what fails over them says nothing to people.
    const message = `What answers there is not understood${cause instanceof SteygError ? `: ${cause.message}` : '.'}`;
    findings.push(error('reachability', message, 'Compare the address with the one that the console shows.'));
  }
  return {
    healthy: findings.every(({ level }) => level !== 'error'),
    findings,
    costUsd: costs.length === 0 ? null : formatPico(costs.reduce((sum, cost) => sum + parseDecimal(cost, 12), 0n)),
  };
}

async function examine(request: DoctorRequest, findings: Finding[], costs: string[]): Promise<void> {
  const { now = Date.now, timeoutMs = 30_000, spend = true } = request;
  const call = request.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const fetch: Fetch = (url, init) => call(url, { signal: AbortSignal.timeout(timeoutMs), ...init });

  const address = checkAddress(request.baseUrl);
  findings.push(...address.findings);
  if (address.baseUrl === null) return skip(findings, 'There is no address to ask.', afterAddress);

  const probed = await probeAddress(address.baseUrl, { fetch, now, environment: request.environment ?? {} });
  findings.push(...probed.findings);
  if (probed.baseUrl === null) return skip(findings, 'The service cannot be reached.', afterReachability);
  const { baseUrl } = probed;
  findings.push(checkClock(probed.skewMs));

  const { apiKey } = request;
  const unreadable = apiKey === undefined ? noKey : checkKeyText(apiKey);
  if (apiKey === undefined || unreadable !== null) {
    findings.push(unreadable ?? noKey);
    return skip(findings, 'There is no usable key.', afterKey);
  }
  const steyg = new Steyg({ baseUrl, apiKey, fetch: call, timeoutMs, maxRetries: 0 });
  const key = await checkKey(steyg);
  findings.push(key.finding);
  if (key.catalog === null || key.catalog.length === 0) return skip(findings, 'The key opens no model.', afterKey);
  const { catalog } = key;

  const budget = await checkBudget(steyg, now);
  findings.push(...budget, ...checkModels({ ...request.models }, catalog));
  if (request.environment !== undefined || request.settings !== undefined) {
    const { environment = {}, settings = {}, signedIn = false } = request;
    findings.push(...checkEnvironment({ baseUrl, environment, settings, catalog, apiKey, signedIn }));
  }
  if (!spend) return skip(findings, 'Nothing was to be spent.', calls);
  if (budget.some(({ level }) => level === 'error')) return skip(findings, 'There is no budget for a request.', calls);

  const model = request.models?.small ?? request.models?.main ?? chooseModels(catalog).small ?? '';
  for (const result of [
    await checkMessages(steyg, model),
    await checkChat(steyg, model),
    await checkStreaming({ steyg, baseUrl, apiKey, model, fetch, now }),
  ]) {
    findings.push(result.finding);
    if (result.costUsd !== null) costs.push(result.costUsd);
  }
}

const noKey = error(
  'key',
  'No API key was given.',
  'Make one in the console and set STEYG_API_KEY to it in the process that runs the client.',
);
const calls: CheckName[] = ['messages', 'chat completions', 'streaming'];
const afterKey: CheckName[] = ['budget', 'models', ...calls];
const afterReachability: CheckName[] = ['clock', 'key', ...afterKey];
const afterAddress: CheckName[] = ['reachability', ...afterReachability];

function skip(findings: Finding[], reason: string, checks: readonly CheckName[]): void {
  findings.push(...checks.map((check) => skipped(check, reason)));
}
