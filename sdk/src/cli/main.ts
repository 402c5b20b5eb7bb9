/** The program `steyg`: arguments, streams and exit code of the process. */

import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { shellWord } from '../connect/render.ts';
import { run } from './run.ts';

async function ask(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  print: (line) => void process.stdout.write(line),
  complain: (line) => void process.stderr.write(line),
  readInput: () => text(process.stdin),
  confirm: process.stdin.isTTY ? ask : null,
  program: [process.execPath, process.argv[1] ?? ''].map(shellWord).join(' '),
});
