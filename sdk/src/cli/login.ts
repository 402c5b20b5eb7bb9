/** `steyg login` and `steyg logout`: a key for this machine, which a person approves in a browser (RFC 8628). */

import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigurationError } from '../errors.ts';
import { apiRoot } from '../internal/address.ts';
import { type ConnectOptions, connectOptions, runConnect } from './connect.ts';
import { baseUrlOf, type Context } from './context.ts';
import {
  type Credentials,
  environmentPath,
  forgetCredentials,
  keepCredentials,
  readCredentials,
} from './credentials.ts';

const {
  project: _project,
  undo: _undo,
  json: _json,
  'key-file': _keyFile,
  'show-key': _show,
  ...others
} = connectOptions;
export const loginOptions = { ...others, name: { type: 'string' } } as const;

export interface LoginOptions extends Omit<ConnectOptions, 'project' | 'undo' | 'json' | 'key-file' | 'show-key'> {
  name?: string | undefined;
}

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
/** RFC 8628, section 3.5: what an answer without an interval means, and what `slow_down` adds. */
const usualIntervalS = 5;
const longerByS = 5;
const timeoutMs = 30_000;

type Fields = Record<string, unknown>;

interface Answer {
  status: number;
  fields: Fields;
}

/** Gets a key and keeps it; with a tool, goes on to connect it. The exit code. */
export async function runLogin(tool: string | undefined, options: LoginOptions, context: Context): Promise<number> {
  const baseUrl = apiRoot(baseUrlOf(options, context));
  const before = readCredentials(context);
  const apiKey = await ask(baseUrl, options.name ?? hostname(), context);
  if (apiKey === null) return 1;
  await keepCredentials({ baseUrl, apiKey }, context);
  // Nobody would use the key of the login before any more, and nobody would miss it on the page of keys.
  if (before !== null) await revoke(before).catch(() => null);
  context.print(
    `Signed in. The key is in ${environmentPath(context)}, for you alone; the commands of steyg find it there.\n`,
  );
  if (tool === undefined) {
    context.print(`For a tool:   steyg connect TOOL --write\nFor a shell:  . ${environmentPath(context)}\n`);
    return 0;
  }
  return runConnect(tool, { ...options, 'base-url': baseUrl, write: true }, context);
}

/** Ends the key at the server, and forgets it here. The exit code. */
export async function runLogout(context: Context): Promise<number> {
  const kept = readCredentials(context);
  if (kept === null) {
    await forgetCredentials(context);
    context.print('Nobody is signed in here.\n');
    return 0;
  }
  const { status, fields } = await revoke(kept);
  // 401: it was deleted before, on the page of keys for example.
  if (status !== 200 && status !== 401)
    throw new ConfigurationError(
      `The service did not end the key, so it stays here: ${sentenceOf(fields, status)} On the page API keys it can be deleted at any time.`,
    );
  await forgetCredentials(context);
  context.print(
    'Signed out: the key has ended, and its files are gone. What tools were told of it: steyg connect TOOL --undo.\n',
  );
  return 0;
}

async function ask(baseUrl: string, machine: string, context: Context): Promise<string | null> {
  const { status, fields } = await post(`${baseUrl}/device/code`, { machine, client_id: 'steyg' });
  const [device, code, page, whole] = [
    fields['device_code'],
    fields['user_code'],
    fields['verification_uri'],
    fields['verification_uri_complete'],
  ].map((value) => (typeof value === 'string' ? value : ''));
  if (status !== 200 || !device || !code || !page)
    throw new ConfigurationError(
      status === 404
        ? `${baseUrl} offers no sign-in of machines: is this the address of the service, and is it up to date?`
        : `${baseUrl} gave no code: ${sentenceOf(fields, status)}`,
    );
  const lifetimeS = numberOf(fields['expires_in']) ?? 600;
  context.print(
    `Open ${plain(whole || page)}\nand compare the code:  ${plain(code)}\n\nIt waits for ${Math.round(lifetimeS / 60)} minutes. Nobody else should see the code.\n`,
  );
  let intervalS = numberOf(fields['interval']) ?? usualIntervalS;
  const endMs = performance.now() + lifetimeS * 1_000;
  while (performance.now() < endMs) {
    await delay(intervalS * 1_000);
    const answer = await post(`${baseUrl}/device/token`, {
      grant_type: grantType,
      device_code: device,
      client_id: 'steyg',
    }).catch((error: unknown) => {
      // The network may come back: RFC 8628 wants a slower pace meanwhile.
      if (error instanceof ConfigurationError) return null;
      throw error;
    });
    const error = answer?.fields['error'];
    const key = answer?.fields['access_token'];
    if (answer?.status === 200 && typeof key === 'string' && /^[\w-]+$/.test(key)) return key;
    if (answer === null || answer.status >= 500 || answer.status === 429 || error === 'slow_down')
      intervalS += longerByS;
    else if (error !== 'authorization_pending') {
      context.complain(`No key: ${sentenceOf(answer.fields, answer.status)}\n`);
      return null;
    }
  }
  context.complain('No key: nobody approved in time.\n');
  return null;
}

const revoke = ({ baseUrl, apiKey }: Credentials): Promise<Answer> =>
  post(`${baseUrl}/device/revoke`, {}, { authorization: `Bearer ${apiKey}` });

/** Throws a `ConfigurationError` where nothing answers. A redirection is none: the key must not follow it. */
async function post(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields).toString(),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body: unknown = await answer.json().catch(() => null);
    return { status: answer.status, fields: typeof body === 'object' && body !== null ? (body as Fields) : {} };
  } catch {
    throw new ConfigurationError(`${new URL(url).origin} does not answer.`);
  }
}

function sentenceOf(fields: Fields, status: number): string {
  const said = fields['error_description'] ?? fields['error'];
  return typeof said === 'string' ? plain(said) : `HTTP ${status}.`;
}

/** What a server says goes to a terminal: without control characters, which could rewrite what stands there. */
const plain = (text: string): string => text.replaceAll(/\p{C}/gu, '').slice(0, 500);

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(value, 3_600) : undefined;
