#!/usr/bin/env node
import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { SteygError } from '../errors.ts';
import { connectOptions, runConnect } from './connect.ts';
import type { Context } from './context.ts';
import { doctorOptions, runDoctor } from './doctor.ts';

const help = `steyg: sets up client tools for a Steyg gateway, and finds out why one does not work.

  steyg connect [TOOL]    the exact settings of a tool
      --model ID          the main model; --large, --medium, --small, --extra-large ID: the aliases
      --project           for this project instead of this person
      --write [--yes]     write the settings files after showing what changes
      --show-key          print the key instead of masking it
  steyg doctor            examines address, key, budget, models, both protocols and streaming
      --no-spend          call no model
  For both
      --base-url URL      the address whose path ends in /api (or STEYG_BASE_URL)
      --key-file PATH     where the API key is, - for standard input (or STEYG_API_KEY)
      --json              for programs

doctor exits with 1 when something has to be mended.
`;

async function run(argv: readonly string[], context: Context): Promise<number> {
  const [command, ...args] = argv;
  switch (command) {
    case 'connect': {
      const { values, positionals } = parseArgs({ args, options: connectOptions, allowPositionals: true });
      return runConnect(positionals[0], values, context);
    }
    case 'doctor':
      return runDoctor(parseArgs({ args, options: doctorOptions }).values, context);
    case undefined:
    case 'help':
    case '--help':
    case '-h':
      context.print(help);
      return 0;
    default:
      context.print(help);
      return 2;
  }
}

async function ask(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

try {
  process.exitCode = await run(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    print: (text) => void process.stdout.write(text),
    confirm: process.stdin.isTTY ? ask : null,
  });
} catch (error) {
  // What has a code is a wrong argument or a file that cannot be read; anything else is a fault of this program.
  if (!(error instanceof SteygError) && typeof (error as { code?: unknown }).code !== 'string') throw error;
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
