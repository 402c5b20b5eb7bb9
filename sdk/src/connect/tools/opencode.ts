import type { Connection } from '../connection.ts';
import { setJson } from '../edit/json.ts';
import { file, keyInEnvironment, keyVariable, type Parts } from './parts.ts';

/** opencode takes its own provider through the AI SDK. Its file names the key's variable, so it may be committed. */
export function opencode(parts: Parts): Connection {
  const path = parts.scope === 'user' ? '~/.config/opencode/opencode.json' : 'opencode.json';
  return withProvider(parts, { tool: 'opencode', title: 'opencode', path, schema: 'https://opencode.ai/config.json' });
}

/** Kilo Code's terminal and editors read the same settings under their own name: https://kilo.ai/docs/code-with-ai/platforms/cli */
export function kilo(parts: Parts): Connection {
  const path = parts.scope === 'user' ? '~/.config/kilo/kilo.json' : '.kilo/kilo.json';
  return withProvider(parts, { tool: 'kilo', title: 'Kilo Code', path, schema: 'https://app.kilo.ai/config.json' });
}

function withProvider(
  parts: Parts,
  { tool, title, path, schema }: { tool: 'opencode' | 'kilo'; title: string; path: string; schema: string },
): Connection {
  const models = Object.fromEntries(
    parts.chosen.map(({ id, name, contextWindow, maxOutputTokens }) => [
      id,
      {
        name,
        ...(contextWindow === null || maxOutputTokens === null
          ? {}
          : { limit: { context: contextWindow, output: maxOutputTokens } }),
      },
    ]),
  );
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Steyg',
    options: { baseURL: parts.versionedUrl, apiKey: `{env:${keyVariable}}` },
    models,
  };
  const merge = (existing: string) => {
    let text = existing === '' ? setJson('', ['$schema'], schema) : existing;
    text = setJson(text, ['provider', 'steyg'], provider);
    text = setJson(text, ['model'], `steyg/${parts.models.main}`);
    return setJson(text, ['small_model'], `steyg/${parts.models.small}`);
  };
  return {
    tool,
    title,
    baseUrl: parts.versionedUrl,
    files: [file({ path, others: [`${path}c`], holdsKey: false, merge })],
    environment: [keyInEnvironment(parts)],
    commands: [],
    code: [],
    steps: [`Put ${keyVariable} into the profile of your shell, so that every terminal has it.`],
    notes: [
      `small_model is set on purpose: titles are made with it, and ${title}’s own default is not in the catalog.`,
      `The part before the slash names the provider in ${title}’s picker; the catalog id is sent without it.`,
    ],
  };
}
