/** `steyg doctor`: examines the set-up of this machine. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { getJson } from '../connect/edit/json.ts';
import type { Finding } from '../doctor/finding.ts';
import { doctor } from '../doctor/index.ts';
import { apiKeyOf, baseUrlOf, type CommonOptions, type Context } from './context.ts';
import { locate } from './files.ts';

export const doctorOptions = {
  'base-url': { type: 'string' },
  'key-file': { type: 'string' },
  model: { type: 'string' },
  large: { type: 'string' },
  medium: { type: 'string' },
  small: { type: 'string' },
  'no-spend': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export interface DoctorOptions extends CommonOptions {
  model?: string | undefined;
  large?: string | undefined;
  medium?: string | undefined;
  small?: string | undefined;
  'no-spend'?: boolean | undefined;
  json?: boolean | undefined;
}

/** Examines the set-up of this machine. The exit code is 1 when there is an error. */
export async function runDoctor(options: DoctorOptions, context: Context): Promise<number> {
  const { model, large, medium, small } = options;
  const diagnosis = await doctor({
    baseUrl: baseUrlOf(options, context),
    apiKey: await apiKeyOf(options, context),
    models: { main: model, large, medium, small } as Partial<Record<string, string>>,
    environment: context.env,
    settings: await readSettings(context),
    signedIn: existsSync(locate('~/.claude/.credentials.json', context)),
    spend: options['no-spend'] !== true,
  });
  if (options.json === true) context.print(`${JSON.stringify(diagnosis, null, 2)}\n`);
  else {
    context.print(diagnosis.findings.map(line).join(''));
    if (diagnosis.costUsd !== null) context.print(`\nThe test requests cost ${diagnosis.costUsd} USD.\n`);
  }
  return diagnosis.healthy ? 0 : 1;
}

const marks = { ok: '✓', warning: '!', error: '✗', skipped: '–' };

function line({ check, level, message, remedy }: Finding): string {
  return `${marks[level]} ${check}: ${message}\n${remedy === null ? '' : `    → ${remedy}\n`}`;
}

/** The settings of Claude Code that override the environment: the person's file, then the project's two. */
async function readSettings(context: Context): Promise<Record<string, string>> {
  const files = ['~/.claude/settings.json', '.claude/settings.json', '.claude/settings.local.json'];
  const blocks = await Promise.all(
    files.map(async (path) => {
      try {
        return getJson(await readFile(locate(path, context), 'utf8'), ['env']) as Record<string, string> | undefined;
      } catch {
        // Absent, or not readable as JSON: then the tool does not read it either.
        return undefined;
      }
    }),
  );
  return Object.assign({}, ...blocks) as Record<string, string>;
}
