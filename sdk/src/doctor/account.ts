import type { Steyg } from '../client.ts';
import { AuthenticationError, PermissionError, RateLimitError, SteygError } from '../errors.ts';
import type { Model, UsageReport } from '../generated/rest.ts';
import { error, type Finding, passed, warning } from './finding.ts';

/** Is the key right, and is there money behind it? */

const keyLength = 'sk-steyg-'.length + 43 + 6;
const makeKey = 'Copy the key again, or make a new one in the console: a key is shown only once.';

/** The key as text. Null when it may be one. */
export function checkKeyText(key: string): Finding | null {
  if (key.trim() !== key || /\s/.test(key)) return error('key', 'The key has spaces or line ends in it.', makeKey);
  if (/^["'].*["']$/.test(key)) return error('key', 'The key has quotes around it.', 'Leave the quotes out.');
  if (key.startsWith('tk-steyg-')) {
    return error(
      'key',
      'This is an access token for the control plane, not an API key.',
      'Use a key that begins with sk-steyg-.',
    );
  }
  if (!key.startsWith('sk-steyg-')) {
    return error('key', 'The key does not begin with sk-steyg-: it belongs to another service.', makeKey);
  }
  if (key.length !== keyLength) {
    return error('key', `The key has ${key.length} characters instead of ${keyLength}.`, makeKey);
  }
  return isIntact(key) ? null : error('key', 'The key has a typing error: its checksum is wrong.', makeKey);
}

/** The last six characters are a CRC-32 of what stands before them, in base 62. */
function isIntact(key: string): boolean {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let stated = 0;
  for (const digit of key.slice(-6)) stated = stated * 62 + alphabet.indexOf(digit);
  return stated === crc32(key.slice(0, -6));
}

function crc32(text: string): number {
  let crc = ~0;
  for (const character of text) {
    crc ^= character.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Asks for the models with the key; the list is null when the key does not open it. */
export async function checkKey(steyg: Steyg): Promise<{ finding: Finding; catalog: Model[] | null }> {
  try {
    const { data } = await steyg.models.list();
    const many = data.length === 1 ? 'one model' : `${data.length} models`;
    if (data.length > 0) return { finding: passed('key', `The key is valid for ${many}.`), catalog: data };
    const remedy = 'Let the key call models, in the console.';
    return { finding: error('key', 'The key is valid, but may not call any model.', remedy), catalog: data };
  } catch (cause) {
    if (cause instanceof AuthenticationError) {
      return { finding: error('key', 'The key is wrong, expired or deleted.', makeKey), catalog: null };
    }
    return { finding: error('key', messageOf(cause), remedyFor(cause)), catalog: null };
  }
}

const lowUsd = 0.5;
const soonMs = 24 * 3_600_000;

/** Is there budget, for how long, and does the key have its own limit? */
export async function checkBudget(steyg: Steyg, now: () => number): Promise<Finding[]> {
  let report: UsageReport;
  try {
    report = await steyg.usage.get();
  } catch (cause) {
    return [error('budget', messageOf(cause), remedyFor(cause))];
  }
  const free = report.balance.freeUsd;
  const topUp = 'Buy budget in the console; the same key goes on working.';
  const ending = report.grants
    .filter(({ expiresAt, freeUsd }) => expiresAt !== null && Number(freeUsd) > 0)
    .map(({ expiresAt }) => Date.parse(expiresAt ?? ''))
    .filter((time) => time - now() < soonMs);
  if (Number(free) === 0) return [error('budget', 'The budget is used up, or has expired.', topUp)];
  return [
    Number(free) < lowUsd
      ? warning('budget', `Only ${free} USD of budget are left.`, topUp)
      : passed('budget', `${free} USD of budget are left.`),
    ...(ending.length === 0
      ? []
      : [warning('budget', `A part of the budget ends on ${new Date(Math.min(...ending)).toISOString()}.`, topUp)]),
    ...(await checkKeyLimit(steyg)),
  ];
}

async function checkKeyLimit(steyg: Steyg): Promise<Finding[]> {
  try {
    const { data } = await steyg.key.get();
    if (data.limit === null || data.limitRemaining === null || data.limitRemaining > 0) return [];
    const remedy = 'Raise the limit of the key in the console, or use another key.';
    return [error('budget', `The key has reached its own limit of ${data.limit} USD.`, remedy)];
  } catch {
    // The balance has been read; that the key cannot be is no fault of the set-up.
    return [];
  }
}

function remedyFor(cause: unknown): string {
  if (cause instanceof PermissionError) return 'Another key would not help: write to the operator of the service.';
  if (cause instanceof RateLimitError) return 'Wait a moment, then run the check again.';
  return 'Mend this first, then run the check again.';
}

export function messageOf(cause: unknown): string {
  return cause instanceof SteygError ? cause.message : String(cause);
}
