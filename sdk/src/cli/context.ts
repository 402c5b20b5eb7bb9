import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigurationError } from '../errors.ts';

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
}

export interface CommonOptions {
  'base-url'?: string | undefined;
  'key-file'?: string | undefined;
}

export function baseUrlOf(options: CommonOptions, { env }: Context): string {
  const baseUrl = options['base-url'] ?? env['STEYG_BASE_URL'];
  if (!baseUrl) throw new ConfigurationError('Say where the service is: --base-url URL, or STEYG_BASE_URL.');
  return baseUrl;
}

/** From a file or a variable; never from an argument, which every user of the machine could read. */
export async function apiKeyOf(options: CommonOptions, { env, cwd, readInput }: Context): Promise<string | undefined> {
  const path = options['key-file'];
  // An empty variable counts as unset.
  if (path === undefined) return env['STEYG_API_KEY'] || undefined;
  return (await (path === '-' ? readInput() : readFile(resolve(cwd, path), 'utf8'))).trim();
}
