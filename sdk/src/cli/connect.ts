/** `steyg connect`: prints or writes the settings of a client tool. */

import { spawnSync } from 'node:child_process';
import { Steyg } from '../client.ts';
import {
  type CatalogModel,
  type Connection,
  chooseModels,
  connect,
  type ModelChoice,
  type ToolName,
  tools,
} from '../connect/index.ts';
import { maskKeys, renderConnection, secretsOf, shellWord } from '../connect/render.ts';
import { ConfigurationError } from '../errors.ts';
import { backupPath, keep, undoWrite } from './backups.ts';
import { apiKeyOf, baseUrlOf, type CommonOptions, type Context, loginKeyOf } from './context.ts';
import { keyPath } from './credentials.ts';
import { diff } from './diff.ts';
import { gitEnvironment, plan, refuseCommittedKey, write } from './files.ts';

export const connectOptions = {
  'base-url': { type: 'string' },
  'key-file': { type: 'string' },
  model: { type: 'string' },
  large: { type: 'string' },
  medium: { type: 'string' },
  small: { type: 'string' },
  'extra-large': { type: 'string' },
  project: { type: 'boolean' },
  write: { type: 'boolean' },
  undo: { type: 'boolean' },
  yes: { type: 'boolean' },
  'show-key': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export interface ConnectOptions extends CommonOptions {
  model?: string | undefined;
  large?: string | undefined;
  medium?: string | undefined;
  small?: string | undefined;
  'extra-large'?: string | undefined;
  project?: boolean | undefined;
  write?: boolean | undefined;
  undo?: boolean | undefined;
  yes?: boolean | undefined;
  'show-key'?: boolean | undefined;
  json?: boolean | undefined;
}

/** Prints the settings of a tool, or writes them after showing what would change. The exit code. */
export async function runConnect(tool: string | undefined, options: ConnectOptions, context: Context): Promise<number> {
  if (tool === undefined) {
    context.print(`Tools: ${tools.join(', ')}\n`);
    return 0;
  }
  const scope = options.project === true ? 'project' : 'user';
  if (options.undo === true) {
    if (!(tools as readonly string[]).includes(tool))
      throw new ConfigurationError(`${tool} is none of ${tools.join(', ')}.`);
    const paths = await undoWrite(backupPath(tool, scope, context));
    context.print(`As before:\n${paths.map((path) => `  ${path}\n`).join('')}`);
    return 0;
  }
  const baseUrl = baseUrlOf(options, context);
  const apiKey = await apiKeyOf(options, context);
  const catalog = apiKey === undefined ? undefined : (await new Steyg({ baseUrl, apiKey }).models.list()).data;
  const connection = connect({
    tool: tool as ToolName,
    baseUrl,
    apiKey,
    models: choose(options, catalog),
    catalog,
    bundledModels: tool === 'codex' && catalog !== undefined ? modelsOfCodex(context) : undefined,
    scope,
    ...commandsOf(apiKey, options, context),
  });
  if (options.write === true) {
    const backup = backupPath(tool, scope, context);
    return writeFiles(connection, { options, context, hasKey: apiKey !== undefined, backup });
  }
  if (options.json === true) {
    const text = JSON.stringify(connection, null, 2);
    context.print(`${options['show-key'] === true ? text : maskKeys(text, secretsOf(connection))}\n`);
  } else {
    context.print(renderConnection(connection, { showKey: options['show-key'] === true }));
  }
  return 0;
}

/** Commands in place of the key, where it is that of the login: logging in again or out then changes no other file. */
function commandsOf(apiKey: string | undefined, options: ConnectOptions, context: Context) {
  const isOfLogin = apiKey !== undefined && apiKey === loginKeyOf(options, context);
  // Windows has no /bin/sh that a tool could be sure of.
  if (!isOfLogin || process.platform === 'win32') return {};
  return {
    keyCommand: `cat ${shellWord(keyPath(context))}`,
    ...(context.program === undefined ? {} : { statusCommand: `${context.program} status --line` }),
  };
}

/** What the installed Codex says of its own models; undefined: it is not installed, or too old to say it. */
function modelsOfCodex({ env }: Context): string | undefined {
  const { status, stdout } = spawnSync('codex', ['debug', 'models', '--bundled'], {
    env: { ...gitEnvironment(env), ...(env['CODEX_HOME'] === undefined ? {} : { CODEX_HOME: env['CODEX_HOME'] }) },
    encoding: 'utf8',
    maxBuffer: 16 * 1_048_576,
    timeout: 20_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 && stdout.includes('"base_instructions"') ? stdout : undefined;
}

function choose(options: ConnectOptions, catalog: readonly CatalogModel[] | undefined): ModelChoice {
  const { model, large, medium, small } = options;
  const usual = catalog === undefined ? undefined : chooseModels(catalog);
  const main = model ?? usual?.main;
  if (main === undefined) {
    throw new ConfigurationError('Say which model: --model ID; or set STEYG_API_KEY, and the catalog is asked.');
  }
  // A main model alone is used for every part.
  const others = model === undefined ? usual : undefined;
  return {
    main,
    large: large ?? others?.large,
    medium: medium ?? others?.medium,
    small: small ?? others?.small,
    extraLarge: options['extra-large'],
  };
}

async function writeFiles(
  connection: Connection,
  { options, context, hasKey, backup }: { options: ConnectOptions; context: Context; hasKey: boolean; backup: string },
): Promise<number> {
  const { files, title } = connection;
  if (files.length === 0) throw new ConfigurationError(`${title} has no settings file to write; leave --write out.`);
  if (!hasKey && files.some(({ holdsKey }) => holdsKey)) {
    throw new ConfigurationError('The key belongs into a file: set STEYG_API_KEY, or give --key-file PATH.');
  }
  const planned = await Promise.all(files.map((file) => plan(file, context)));
  planned.forEach(refuseCommittedKey);
  const secrets = secretsOf(connection);
  const changes = planned.filter(({ before, after }) => before !== after);
  for (const { path, before, after } of planned) {
    const change = maskKeys(diff(before, after), secrets);
    context.print(`${path}\n${change === '' ? '  is as it should be\n' : change}\n`);
  }
  if (changes.length > 0 && options.yes !== true && (await context.confirm?.('Write this?')) !== true) {
    // Without a terminal to ask, the answer is no refusal.
    context.print(context.confirm === null ? 'Nothing was written: say --yes.\n' : 'Nothing was written.\n');
    return context.confirm === null ? 1 : 0;
  }
  if (changes.length > 0) await keep(backup, changes);
  for (const change of changes) await write(change);
  context.print(renderConnection({ ...connection, files: [] }));
  return 0;
}
