import type { ToolName } from '@steyg/sdk/connect';

/** The quick starts: which tool each is about, and the programs of those that no tool's settings cover. */

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
export const guideTools: Readonly<Partial<Record<GuideName, { tool: ToolName; language?: string }>>> = {
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
