import type { Connection } from '../connection.ts';
import { setJson } from '../edit/json.ts';
import { file, keyInEnvironment, keyVariable, type Parts, userOnly } from './parts.ts';

/**
 * pi reads the key from a variable or asks a command for it:
 * https://github.com/earendil-works/pi/blob/main/packages/coding-agent/docs/models.md
 */
export function pi(parts: Parts): Connection {
  userOnly(parts, 'pi');
  const { keyCommand } = parts;
  const provider = {
    baseUrl: parts.versionedUrl,
    api: 'openai-completions',
    apiKey: keyCommand === undefined ? `$${keyVariable}` : `!${keyCommand}`,
    models: parts.chosen.map(({ id, name, contextWindow, maxOutputTokens, efforts, inputs }) => ({
      id,
      name,
      reasoning: efforts.length > 0,
      input: inputs.filter((input) => input === 'text' || input === 'image'),
      ...(contextWindow === null ? {} : { contextWindow }),
      ...(maxOutputTokens === null ? {} : { maxTokens: maxOutputTokens }),
    })),
  };
  const withDefault = (existing: string) =>
    setJson(setJson(existing, ['defaultProvider'], 'steyg'), ['defaultModel'], parts.models.main);
  return {
    tool: 'pi',
    title: 'pi',
    baseUrl: parts.versionedUrl,
    files: [
      file({
        path: '~/.pi/agent/models.json',
        holdsKey: false,
        merge: (existing) => setJson(existing, ['providers', 'steyg'], provider),
      }),
      file({ path: '~/.pi/agent/settings.json', holdsKey: false, merge: withDefault }),
    ],
    environment: keyCommand === undefined ? [keyInEnvironment(parts)] : [],
    commands: [],
    code: [],
    steps:
      keyCommand === undefined
        ? [`Put ${keyVariable} into the profile of your shell, so that every terminal has it.`]
        : ['Start pi, and choose another model with /model.'],
    notes: [],
  };
}
