import type { Connection } from '../connection.ts';
import { setJson } from '../edit/json.ts';
import { file, keyInEnvironment, keyVariable, type Parts } from './parts.ts';

/** opencode takes a provider of its own through the AI SDK. Its file names the key's variable, so it may be committed. */
export function opencode(parts: Parts): Connection {
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
    let text = existing === '' ? setJson('', ['$schema'], 'https://opencode.ai/config.json') : existing;
    text = setJson(text, ['provider', 'steyg'], provider);
    text = setJson(text, ['model'], `steyg/${parts.models.main}`);
    return setJson(text, ['small_model'], `steyg/${parts.models.small}`);
  };
  const path = parts.scope === 'user' ? '~/.config/opencode/opencode.json' : 'opencode.json';
  return {
    tool: 'opencode',
    title: 'opencode',
    baseUrl: parts.versionedUrl,
    files: [file({ path, others: [`${path}c`], holdsKey: false, merge })],
    environment: [keyInEnvironment(parts)],
    commands: [],
    code: [],
    steps: [`Put ${keyVariable} into the profile of your shell, so that every terminal has it.`],
    notes: [
      'small_model is set on purpose: titles are made with it, and opencode’s own default is not in the catalog.',
      'The part before the slash names the provider in opencode’s picker; the catalog id is sent without it.',
    ],
  };
}
