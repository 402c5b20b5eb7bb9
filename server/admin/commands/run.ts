import type { Config } from '../../runtime/config.ts';
import { type Command, CommandError, type CommandResult, Given } from './command.ts';

/** The environment and outputs of one call of the command line. */
export interface Terminal {
  env: Record<string, string | undefined>;
  out(text: string): void;
  err(text: string): void;
}

/**
 * Runs one command and returns the process's exit code: 0, or 1 with the error printed. Loads only the modules that the
 * command needs, because scripts call it often.
 */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const json = args.includes('--json');
  try {
    const words = args.filter((word) => !word.startsWith('-'));
    const commands = await commandsOf(words[0]);
    const asksForHelp = args.includes('--help') || args.includes('-h');
    const command = find(commands, words);
    if (asksForHelp || args.length === 0) {
      terminal.out(command === null ? help(commands, words[0]) : helpOn(command));
      return 0;
    }
    if (command === null)
      throw new CommandError('usage', `There is no command "${words.slice(0, 2).join(' ')}"; try --help`);
    const result = await runCommand(command, parse(command, args), terminal);
    terminal.out(json ? toJson(result.json) : (result.text ?? listing(result.json)));
    return 0;
  } catch (error) {
    const { code, message, details } = explain(error);
    if (json) terminal.out(toJson({ error: { code, message, ...details } }));
    else terminal.err([message, ...(details['broken'] === undefined ? [] : [listing(details)])].join('\n'));
    return 1;
  }
}

function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? member.toString() : member));
}

/** The commands by their first word: only the files of the word that is asked for are loaded, because scripts call often. */
const files: readonly { words: string; commands(): Promise<readonly Command[]> }[] = [
  { words: 'account grant', commands: async () => (await import('./accounts.ts')).accountCommands },
  { words: 'key', commands: async () => (await import('./keys.ts')).keyCommands },
  { words: 'account member project', commands: async () => (await import('./limits.ts')).limitCommands },
  { words: 'budget ledger invariants', commands: async () => (await import('./money.ts')).moneyCommands },
  { words: 'code', commands: async () => (await import('./codes.ts')).codeCommands },
  { words: 'ledger', commands: async () => (await import('./archive.ts')).archiveCommands },
  { words: 'token operator', commands: async () => (await import('./people.ts')).peopleCommands },
  { words: 'catalog', commands: async () => (await import('./catalog.ts')).catalogCommands },
  { words: 'probe-agent', commands: async () => (await import('./uptime.ts')).uptimeCommands },
  { words: 'migrate', commands: async () => (await import('./database.ts')).databaseCommands },
  { words: 'books', commands: async () => (await import('./books.ts')).booksCommands },
  { words: 'refund', commands: async () => (await import('./refunds.ts')).refundCommands },
  { words: 'doctor', commands: async () => (await import('./doctor.ts')).doctorCommands },
];

/** The commands that begin with a word; all of them where there is no such word. */
async function commandsOf(first = ''): Promise<readonly Command[]> {
  const named = files.filter(({ words }) => words.split(' ').includes(first));
  const parts = await Promise.all((named.length === 0 ? files : named).map(({ commands }) => commands()));
  return parts.flat();
}

/** The command that matches the most leading words. */
function find(commands: readonly Command[], words: readonly string[]): Command | null {
  const named = commands.filter(({ name }) => {
    const parts = name.split(' ');
    return parts.every((part, index) => words[index] === part);
  });
  return named.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
}

/** What a usage names: `FILE --upstream U [--add]` is a word, an option with a value and one without. */
function argumentsIn(usage: string): { words: number; options: ReadonlyMap<string, 'text' | 'flag'> } {
  const parts = usage === '' ? [] : usage.split(' ');
  const first = parts.findIndex((part) => /^[[(]*--/.test(part));
  const options = usage.matchAll(/--([a-z-]+)( [^\s[\]()|-][^\s]*)?/g);
  return {
    words: first < 0 ? parts.length : first,
    options: new Map([...options].map(([, name = '', value]) => [name, value === undefined ? 'flag' : 'text'])),
  };
}

function parse(command: Command, args: readonly string[]): Given {
  const expected = argumentsIn(command.usage);
  const values = new Map<string, string | true>();
  const words: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (!arg.startsWith('--')) {
      words.push(arg);
      continue;
    }
    const [, name = '', attached] = /^--([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === 'json') continue;
    const kind = expected.options.get(name);
    if (kind === undefined) throw new CommandError('usage', `${command.name} has no option --${name}; try --help`);
    if (values.has(name)) throw new CommandError('usage', `--${name} is given twice`);
    if (kind === 'flag' && attached !== undefined) throw new CommandError('usage', `--${name} takes no value`);
    // A token that looks like an option is one; a value that begins with dashes must be attached: `--name=--value`.
    const value =
      kind === 'flag' ? true : (attached ?? (rest[0]?.startsWith('--') === true ? undefined : rest.shift()));
    if (value === undefined) throw new CommandError('usage', `--${name} needs a value`);
    values.set(name, value);
  }
  const own = words.slice(command.name.split(' ').length);
  if (own.length !== expected.words) {
    throw new CommandError('usage', `usage: ${command.name} ${command.usage}`.trimEnd());
  }
  return new Given(values, own);
}

async function runCommand(command: Command, given: Given, { env }: Terminal): Promise<CommandResult> {
  const { loadConfig } = await import('../../runtime/config.ts');
  const config = loadConfig(env);
  if ('runAlone' in command) return command.runAlone({ config }, given);
  const database = await openDatabase(config);
  try {
    return await command.run(
      {
        config,
        databaseUrl: database.url,
        pool: database.pool,
        secretKey: async () => {
          const { readSecretKey } = await import('../secret-key.ts');
          return config.secretKey ?? readSecretKey(config.dataDir);
        },
      },
      given,
    );
  } finally {
    await database.close();
  }
}

/** The server's database: the configured one, or the embedded one, which is started if it is not running. */
async function openDatabase({ databaseUrl, databaseDirectUrl, dataDir }: Config) {
  const { openPool } = await import('../../database/pool.ts');
  const quiet = { info: () => {}, warn: () => {} };
  const embedded = databaseUrl === null ? await useEmbedded(dataDir, quiet) : null;
  const url = databaseDirectUrl ?? databaseUrl ?? embedded?.url ?? '';
  const pool = openPool({ url, name: 'admin', max: 1, log: quiet });
  return {
    url,
    pool,
    async close() {
      await pool.end();
      await embedded?.release();
    },
  };
}

/** The embedded database has no other administrator, so it is migrated as the server would do it. */
async function useEmbedded(dataDir: string, log: { info(): void; warn(): void }) {
  const [{ useEmbeddedPostgres }, { migrate }, { findDataDirProblem }] = await Promise.all([
    import('../../database/embedded.ts'),
    import('../../database/migrate.ts'),
    import('../data-dir.ts'),
  ]);
  const problem = await findDataDirProblem(dataDir);
  if (problem !== null) throw new CommandError('invalid_environment', problem);
  const embedded = await useEmbeddedPostgres({ dataDir, log });
  try {
    await migrate({ url: embedded.url });
    return embedded;
  } catch (error) {
    await embedded.release();
    throw error;
  }
}

interface Explanation {
  code: string;
  message: string;
  details: Readonly<Record<string, unknown>>;
}

/** The error for the operator: in their words where they can solve it, else the program's own. */
function explain(error: unknown): Explanation {
  if (error instanceof CommandError) return { code: error.code, message: error.message, details: error.details };
  const { name = '', message = String(error), code } = error as Partial<Error> & { code?: unknown };
  const details = {};
  if (name === 'ConfigError') return { code: 'invalid_environment', message, details };
  if (name === 'SecretKeyError') return { code: 'secret_key_unusable', message, details };
  if (name === 'MigrationRefused') return { code: 'migration_refused', message, details };
  if (name === 'DistributionRefused') {
    const { inTheWay } = error as { inTheWay?: readonly string[] };
    return { code: 'not_distributable', message, details: { inTheWay } };
  }
  if (name === 'EngineRefused') return { code: 'database_refused', message, details };
  // PostgreSQL: no such table, no such column.
  if (code === '42P01' || code === '42703') {
    return {
      code: 'not_migrated',
      message: 'The database is not up to date: run `migrate`, or start the server',
      details,
    };
  }
  if (typeof code === 'string' && /^(ECONN|ENOTFOUND|ENOENT|ETIMEDOUT|EAI_AGAIN|28|3D000|57P03)/.test(code)) {
    return { code: 'database_unreachable', message: `The database cannot be reached (${code})`, details };
  }
  if (/timeout|terminated/i.test(message)) {
    return { code: 'database_unreachable', message: 'The database does not answer', details };
  }
  return { code: 'internal', message, details };
}

function help(commands: readonly Command[], first: string | undefined): string {
  const shown = commands.filter(({ name }) => name.split(' ')[0] === first);
  const list = (shown.length > 0 ? shown : commands).map(
    ({ name, usage, summary }) => `  ${`${name} ${usage}`.trimEnd()}\n      ${summary}`,
  );
  return [
    'usage: npm run --silent admin -- <command> [--json]',
    '',
    ...list,
    '',
    'Works on the database of the server: DATABASE_URL, or the embedded one in DATA_DIR.',
  ].join('\n');
}

function helpOn({ name, usage, summary }: Command): string {
  return `usage: npm run --silent admin -- ${`${name} ${usage}`.trimEnd()} [--json]\n\n  ${summary}`;
}

/** Names and values, one a line; nested members are named by their path. */
function listing(value: Readonly<Record<string, unknown>>): string {
  const lines = flatten(value, '');
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n');
}

function flatten(value: unknown, path: string): [string, string][] {
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    const members = Object.entries(value);
    const plain = Array.isArray(value) && value.every((item) => typeof item !== 'object');
    if (!plain) return members.flatMap(([name, member]) => flatten(member, path === '' ? name : `${path}.${name}`));
    return [[path, value.length === 0 ? '-' : value.join(', ')]];
  }
  return [[path, value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"', '')]];
}
