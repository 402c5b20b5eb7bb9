import type { Connection } from '../connection.ts';
import { setJson } from '../edit/json.ts';
import { file, keyInEnvironment, keyVariable, type Parts } from './parts.ts';

/** Crush expands variables in its settings, so they may be committed: https://github.com/charmbracelet/crush#custom-providers */
export function crush(parts: Parts): Connection {
  const provider = {
    name: 'Steyg',
    type: 'openai-compat',
    base_url: parts.versionedUrl,
    api_key: `$${keyVariable}`,
    models: parts.chosen.map(({ id, name, contextWindow, maxOutputTokens, inputs }) => ({
      id,
      name,
      // Crush cannot do without: what most models have at least.
      context_window: contextWindow ?? 128_000,
      default_max_tokens: maxOutputTokens ?? 8_192,
      supports_attachments: inputs.includes('image'),
    })),
  };
  const merge = (existing: string) => {
    const text = existing === '' ? setJson('', ['$schema'], 'https://charm.land/crush.json') : existing;
    const sized = (size: 'large' | 'small', model: string) => (before: string) =>
      setJson(before, ['models', size], { provider: 'steyg', model });
    return [sized('large', parts.models.main), sized('small', parts.models.small)].reduce(
      (done, edit) => edit(done),
      setJson(text, ['providers', 'steyg'], provider),
    );
  };
  const path = parts.scope === 'user' ? '~/.config/crush/crush.json' : 'crush.json';
  return {
    tool: 'crush',
    title: 'Crush',
    baseUrl: parts.versionedUrl,
    files: [file({ path, others: parts.scope === 'user' ? [] : ['.crush.json'], holdsKey: false, merge })],
    environment: [keyInEnvironment(parts)],
    commands: [],
    code: [],
    steps: [`Put ${keyVariable} into the profile of your shell, so that every terminal has it, and start Crush again.`],
    notes: [
      'A model that was chosen in Crush itself is kept elsewhere, and wins over the settings.',
      'On Windows the file is %LOCALAPPDATA%\\crush\\crush.json.',
    ],
  };
}
