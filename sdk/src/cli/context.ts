import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import { readCredentials } from './credentials.ts';

/** The environment of the commands: streams, prompts, files, variables. */
export interface Context {
  env: Record<string, string | undefined>;
  cwd: string;
  home: string;
  print: (text: string) => void;
  /** To the error stream. */
  complain: (text: string) => void;
  /** Everything on standard input. */
  readInput: () => Promise<string>;
  /** Asks a yes-or-no question; null without a terminal. */
  confirm: ((question: string) => Promise<boolean>) | null;
  /** The words of a shell that run this program; absent: unknown. */
  program?: string;
}

export interface CommonOptions {
  'base-url'?: string | undefined;
  'key-file'?: string | undefined;
}

export function baseUrlOf(options: CommonOptions, context: Context): string {
  const baseUrl = givenAddress(options, context) ?? readCredentials(context)?.baseUrl;
  if (!baseUrl) throw new ConfigurationError('Say where the service is: --base-url URL, or STEYG_BASE_URL.');
  return baseUrl;
}

/** An empty variable counts as unset. */
const givenAddress = (options: CommonOptions, { env }: Context): string | undefined =>
  options['base-url'] ?? (env['STEYG_BASE_URL'] || undefined);

/** From a file, a variable or the last login; never from an argument, which every user of the machine could read. */
export async function apiKeyOf(options: CommonOptions, context: Context): Promise<string | undefined> {
  const { env, cwd, readInput } = context;
  const path = options['key-file'];
  if (path === undefined) return env['STEYG_API_KEY'] || loginKeyOf(options, context);
  return (await (path === '-' ? readInput() : readFile(resolve(cwd, path), 'utf8'))).trim();
}

/** The key of the last login, for the service that gave it alone. */
export function loginKeyOf(options: CommonOptions, context: Context): string | undefined {
  const kept = readCredentials(context);
  const given = givenAddress(options, context);
  return given === undefined || given.replace(/\/+$/, '') === kept?.baseUrl ? kept?.apiKey : undefined;
}
