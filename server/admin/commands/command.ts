import type { Pool } from 'pg';
import { type Account, createAccounts } from '../../accounts/accounts.ts';
import { parseUsd } from '../../core/money.ts';
import type { Config } from '../../runtime/config.ts';
import { parseMoment } from '../../shared/moment.ts';

/** The input and output of every command of the operator's command line. */
export type Command = DatabaseCommand | LoneCommand;

interface DatabaseCommand extends CommandFacts {
  run(surroundings: Surroundings, given: Given): Promise<CommandResult>;
}

/** A command without the database, which is neither started nor reached. */
interface LoneCommand extends CommandFacts {
  runAlone(surroundings: Pick<Surroundings, 'config'>, given: Given): Promise<CommandResult>;
}

interface CommandFacts {
  /** The command's words, e.g. `account create`. */
  name: string;
  /** The arguments after the words, which are read by it: `FILE --upstream U [--add]`. */
  usage: string;
  summary: string;
}

export interface Surroundings {
  config: Config;
  databaseUrl: string;
  pool: Pool;
  /** The server's secret key, made on first use. */
  secretKey: () => Promise<Buffer>;
}

/** The output: as JSON, or as `text` where that reads better for people than a list of names and values. */
export interface CommandResult {
  json: Readonly<Record<string, unknown>>;
  text?: string;
}

/** An error that an operator can solve. `details` are further members of the error object. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** A hundred years: a larger number of days is a typing error. */
const maxDays = 36_500;

/** The options and arguments of one call. */
export class Given {
  readonly words: readonly string[];
  readonly #values: ReadonlyMap<string, string | true>;

  constructor(values: ReadonlyMap<string, string | true>, words: readonly string[]) {
    this.#values = values;
    this.words = words;
  }

  flag(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new CommandError('usage', `--${name} is missing`);
    return value;
  }

  whole(name: string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new CommandError('invalid_input', `--${name} must be a whole number from ${least} to ${most}`);
  }

  /** A duration in days, perhaps fractional; zero expires at once. */
  days(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,5}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    if (value <= maxDays) return value;
    throw new CommandError('invalid_input', `--${name} must be a number of days from 0 to ${maxDays}`);
  }

  /** A moment: an ISO date, which begins in UTC, or a date and time with its zone. */
  moment(name: string): Date | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const moment = parseMoment(text);
    if (moment !== null) return moment;
    throw new CommandError('invalid_input', `--${name} must be a time such as 2026-12-31 or 2026-12-31T18:00:00Z`);
  }

  list(name: string): string[] | undefined {
    const items = this.text(name)?.split(',');
    return items?.map((item) => item.trim()).filter((item) => item !== '');
  }
}

/** An amount in USD as pico-USD. */
export function usd(given: Given, name: string): bigint | undefined {
  const text = given.text(name);
  if (text === undefined) return undefined;
  const amount = parseUsd(text);
  if (amount !== null) return amount;
  throw new CommandError('invalid_input', `--${name} must be an amount in USD such as 5 or 0.25`);
}

/** The account that `--account` names by e-mail address or id. */
export async function accountOf({ pool }: Surroundings, given: Given): Promise<Account> {
  const named = given.required('account');
  const account = await createAccounts({ pool }).find(named);
  if (account === null) throw new CommandError('unknown_account', `There is no account ${named}`);
  return account;
}

/** The problem of a field that a domain found, as a sentence. */
export function invalidField({ field, message }: { field: string; message: string }): CommandError {
  return new CommandError('invalid_input', `${field} ${message}`);
}
