import type { Connection } from '../connection.ts';
import { setJson } from '../edit/json.ts';
import { file, keyInEnvironment, keyVariable, type Parts, userOnly } from './parts.ts';

/** Zed keeps keys in the system's keychain, or reads a variable named after the provider; never in the settings. */
export function zed(parts: Parts): Connection {
  userOnly(parts, 'Zed');
  const provider = {
    api_url: parts.versionedUrl,
    available_models: parts.chosen.map(({ id, name, contextWindow, maxOutputTokens }) => ({
      name: id,
      display_name: name,
      // Zed cannot do without; this is what most models have at least.
      max_tokens: contextWindow ?? 128_000,
      ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
      capabilities: { tools: true, images: false, parallel_tool_calls: true, prompt_cache_key: false },
    })),
  };
  const merge = (existing: string) =>
    setJson(
      setJson(existing, ['language_models', 'openai_compatible', 'steyg'], provider),
      ['agent', 'default_model'],
      { provider: 'steyg', model: parts.models.main },
    );
  return {
    tool: 'zed',
    title: 'Zed',
    baseUrl: parts.versionedUrl,
    files: [file({ path: '~/.config/zed/settings.json', holdsKey: false, merge })],
    environment: [keyInEnvironment(parts)],
    commands: [],
    code: [],
    steps: [
      `Either enter the key in Zed (command "agent: open settings", provider steyg), which keeps it in the system's keychain, or start Zed from a terminal that has ${keyVariable}.`,
    ],
    notes: [
      'Zed names the variable after the provider, so the provider has to be called steyg.',
      'Set images to true for models that take them.',
      'On Windows the file is %APPDATA%\\Zed\\settings.json.',
    ],
  };
}
