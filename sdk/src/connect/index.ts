/**
 * The exact settings of the known client tools: pure functions from a base address, a key and a choice of models to
 * files, variables, commands and words.
 *
 * @packageDocumentation
 */

import { ConfigurationError } from '../errors.ts';
import { checkNames, question } from '../internal/names.ts';
import type { Connection, ConnectRequest, ToolName } from './connection.ts';
import { aider } from './tools/aider.ts';
import { claudeCode } from './tools/claude-code.ts';
import { cline } from './tools/cline.ts';
import { aiSdk, anthropicSdk, curl, langchain, openaiSdk } from './tools/code.ts';
import { codex } from './tools/codex.ts';
import { continueDev } from './tools/continue.ts';
import { copilotCli } from './tools/copilot-cli.ts';
import { crush } from './tools/crush.ts';
import { cursor } from './tools/cursor.ts';
import { goose } from './tools/goose.ts';
import { kilo, opencode } from './tools/opencode.ts';
import { type Parts, partsOf } from './tools/parts.ts';
import { pi } from './tools/pi.ts';
import { qwenCode } from './tools/qwen-code.ts';
import { vscode } from './tools/vscode.ts';
import { zed } from './tools/zed.ts';

export { chooseModels } from './choose.ts';
export type * from './connection.ts';
export { renderConnection } from './render.ts';

const makers: Record<ToolName, (parts: Parts) => Connection> = {
  'claude-code': claudeCode,
  codex,
  opencode,
  cline,
  'qwen-code': qwenCode,
  cursor,
  vscode,
  continue: continueDev,
  zed,
  kilo,
  crush,
  goose,
  pi,
  'copilot-cli': copilotCli,
  aider,
  langchain,
  'ai-sdk': aiSdk,
  'openai-sdk': openaiSdk,
  'anthropic-sdk': anthropicSdk,
  curl,
};

const requestMembers: readonly (keyof ConnectRequest)[] = [
  'tool',
  'baseUrl',
  'apiKey',
  'models',
  'catalog',
  'bundledModels',
  'keyCommand',
  'statusCommand',
  'scope',
];

/**
 * The names of the tools whose settings are known.
 *
 * @example
 * ```ts
 * console.log(tools.join(', '));
 * ```
 */
export const tools = Object.keys(makers) as readonly ToolName[];

/**
 * What connects a tool to the gateway. Throws a `ConfigurationError` for an address that cannot be right, a model that
 * the catalog does not have, a scope that the tool does not know, or a member that a request does not have.
 *
 * @example
 * ```ts
 * const catalog = (await steyg.models.list()).data;
 * const { files, notes } = connect({
 *   tool: 'claude-code',
 *   baseUrl: 'https://steyg.example/api',
 *   apiKey,
 *   models: { main: 'sim-large', large: 'sim-large', medium: 'sim-medium', small: 'sim-small' },
 *   catalog,
 * });
 * console.log(files[0]?.path, files[0]?.content, notes);
 * ```
 */
export function connect(request: ConnectRequest): Connection {
  checkNames('member of the request', request, requestMembers);
  const make = Object.hasOwn(makers, request.tool) ? makers[request.tool] : undefined;
  if (make === undefined) {
    throw new ConfigurationError(
      `${request.tool} is no known tool; these are: ${tools.join(', ')}.${question(request.tool, tools)}`,
    );
  }
  return make(partsOf(request));
}
