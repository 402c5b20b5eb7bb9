/** The quick starts: which tool each is about, and the programs of those that no tool's settings cover. */

import { type CatalogModel, type Connection, connect, type ModelChoice, type ToolName } from '@steyg/sdk/connect';

export const guideNames = [
  'curl',
  'python',
  'typescript',
  'claude-code',
  'codex',
  'cline',
  'opencode',
  'cursor',
  'aider',
  'sdk',
  'graphql',
] as const;
export type GuideName = (typeof guideNames)[number];

/** The tool whose settings a guide shows, and the language of its programs where there are several. */
const guideTools: Readonly<Partial<Record<GuideName, { tool: ToolName; language?: string }>>> = {
  curl: { tool: 'curl' },
  python: { tool: 'openai-sdk', language: 'python' },
  typescript: { tool: 'openai-sdk', language: 'ts' },
  'claude-code': { tool: 'claude-code' },
  codex: { tool: 'codex' },
  cline: { tool: 'cline' },
  opencode: { tool: 'opencode' },
  cursor: { tool: 'cursor' },
  aider: { tool: 'aider' },
};

/** The settings and programs that a guide shows; null: the guide has its own programs. */
export function guideConnection(
  guide: GuideName,
  { origin, models, catalog }: { origin: string; models: ModelChoice; catalog: readonly CatalogModel[] },
): Connection | null {
  const of = guideTools[guide];
  if (of === undefined) return null;
  const connection = connect({ tool: of.tool, models, catalog, baseUrl: `${origin}/api` });
  const code = connection.code.filter(({ language }) => of.language === undefined || language === of.language);
  // The package of another language is not installed by npm.
  const commands = of.language === 'python' ? ['pip install openai'] : connection.commands;
  return { ...connection, code, commands };
}

/** What an integrator asks first: the budget that is left, and the last charges. */
export const guideQuery = `query {
  account {
    name
    budget { free held }
    ledger(first: 5) {
      edges { node { requestId model charged createdAt } }
    }
  }
}`;

/** The same as a command. */
export const graphqlCommand = (origin: string): string =>
  [
    'export STEYG_ACCESS_TOKEN=YOUR_ACCESS_TOKEN',
    `curl ${origin}/graphql \\`,
    '  -H "authorization: Bearer $STEYG_ACCESS_TOKEN" \\',
    '  -H "content-type: application/json" \\',
    `  -d '${JSON.stringify({ query: guideQuery.replaceAll(/\s+/g, ' ') })}'`,
  ].join('\n');

/** A program on the SDK: a model call with its cost, and the budget that is left. */
export const sdkProgram = (origin: string, model: string): string =>
  [
    `import { Steyg } from '@steyg/sdk';`,
    '',
    'const steyg = new Steyg({',
    `  baseUrl: '${origin}/api',`,
    `  apiKey: process.env['STEYG_API_KEY'],`,
    `  accessToken: process.env['STEYG_ACCESS_TOKEN'],`,
    '});',
    'const answer = await steyg.chat.completions.create({',
    `  model: '${model}',`,
    `  messages: [{ role: 'user', content: 'Say hello' }],`,
    '});',
    'console.log(answer.choices[0]?.message.content, answer.steyg.costUsd);',
    '',
    'const budget = await steyg.console.ledger.budget();',
    'console.log(budget?.free);',
  ].join('\n');

/**
 * A status line for Claude Code that shows what its session has cost: its id comes as JSON on standard input
 * (https://code.claude.com/docs/en/statusline), and each of its requests carries the same id in a header.
 */
export const statusLineScript = (origin: string): string =>
  [
    '#!/bin/sh',
    `session=$(tr -d '\\n' | sed 's/.*"session_id" *: *"\\([^"]*\\)".*/\\1/')`,
    'cost=$(curl -sf --max-time 2 -G \\',
    `  "\${ANTHROPIC_BASE_URL:-${origin}/api}/v1/usage" \\`,
    '  --data-urlencode "session=$session" \\',
    '  -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" |',
    `  grep -o '"cost_usd":"[^"]*"' | head -n 1 | cut -d '"' -f 4)`,
    'echo "${cost:-?} USD"',
  ].join('\n');

/** The files of the status line. */
export const statusLineFiles = { script: '~/.claude/steyg-status.sh', settings: '~/.claude/settings.json' } as const;

/** What Claude Code's settings say of it. */
export const statusLineSettings = JSON.stringify(
  { statusLine: { type: 'command', command: `sh ${statusLineFiles.script}` } },
  null,
  2,
);
