import { parseArgs } from 'node:util';
import { ConfigurationError, SteygError } from '../errors.ts';
import { connectOptions, runConnect } from './connect.ts';
import type { Context } from './context.ts';
import { doctorOptions, runDoctor } from './doctor.ts';
import { loginOptions, runLogin, runLogout } from './login.ts';
import { runStatus, statusOptions } from './status.ts';

/** The command line `steyg`: reads its arguments and runs its command. */

const help = `steyg: sets up client tools for a Steyg gateway, finds out why one does not work, and says what is left.

  steyg login [TOOL]      a key for this machine, which you approve in a browser; then sets the tool up
      --name NAME         what the key is called; the machine's name otherwise
  steyg logout            ends that key, and forgets it
  steyg connect [TOOL]    the exact settings of a tool
      --model ID          the main model; --large, --medium, --small, --extra-large ID: the aliases
      --project           for this project instead of this person
      --write [--yes]     write the settings files after showing what changes
      --undo              take back what --write wrote last
      --show-key          print the key instead of masking it
  steyg doctor            examines address, key, budget, models, both protocols and streaming
      --no-spend          call no model
  steyg status            what is left, and what today cost
      --line              in a few words, for the status line of a tool; never older than 5 seconds
  For all
      --base-url URL      the address whose path ends in /api (or STEYG_BASE_URL, or that of the last login)
      --key-file PATH     where the API key is, - for standard input (or STEYG_API_KEY, or the last login)
      --json              for programs

doctor exits with 1 when something has to be mended.
`;

/** The whole command line. Expected errors are one line on the error stream and exit code 1. */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  try {
    return await runCommand(argv, context);
  } catch (error) {
    // An error with a code is a wrong argument or an unreadable file; any other is a fault of this program.
    if (!(error instanceof SteygError) && typeof (error as { code?: unknown }).code !== 'string') throw error;
    context.complain(`${(error as Error).message}\n`);
    return 1;
  }
}

async function runCommand(argv: readonly string[], context: Context): Promise<number> {
  const [command, ...args] = argv;
  switch (command) {
    case 'connect': {
      const { values, positionals } = parseArgs({ args, options: connectOptions, allowPositionals: true });
      const [tool, ...others] = positionals;
      if (others.length > 0) throw new ConfigurationError(`One tool at a time: what is ${others.join(' ')}?`);
      return runConnect(tool, values, context);
    }
    case 'login': {
      const { values, positionals } = parseArgs({ args, options: loginOptions, allowPositionals: true });
      const [tool, ...others] = positionals;
      if (others.length > 0) throw new ConfigurationError(`One tool at a time: what is ${others.join(' ')}?`);
      return runLogin(tool, values, context);
    }
    case 'logout':
      parseArgs({ args, options: {} });
      return runLogout(context);
    case 'doctor':
      return runDoctor(parseArgs({ args, options: doctorOptions }).values, context);
    case 'status':
      return runStatus(parseArgs({ args, options: statusOptions }).values, context);
    case undefined:
    case 'help':
    case '--help':
    case '-h':
      context.print(help);
      return 0;
    default:
      context.complain(`There is no command ${command}.\n\n${help}`);
      return 2;
  }
}
