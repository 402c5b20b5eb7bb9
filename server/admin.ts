import { runCommandLine } from './admin/commands/run.ts';

/** The operator's command line: `npm run --silent admin -- <command> [--json]`. */
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
});
