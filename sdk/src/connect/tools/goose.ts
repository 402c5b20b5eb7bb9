import type { Connection } from '../connection.ts';
import { setYamlKeys } from '../edit/lines.ts';
import { file, keyInEnvironment, keyVariable, type Parts, userOnly } from './parts.ts';

/**
 * Goose reads providers from files of their own, and the key from the variable that they name:
 * https://github.com/aaif-goose/goose/blob/main/crates/goose/src/config/declarative_providers.rs
 */
export function goose(parts: Parts): Connection {
  userOnly(parts, 'Goose');
  const provider = {
    name: 'custom_steyg',
    engine: 'openai',
    display_name: 'Steyg',
    description: 'Steyg',
    api_key_env: keyVariable,
    // The whole address of chat completions, as Goose's own definitions have it.
    base_url: `${parts.versionedUrl}/chat/completions`,
    models: parts.chosen.map(({ id, contextWindow }) => ({ name: id, context_limit: contextWindow ?? 128_000 })),
    supports_streaming: true,
    fast_model: parts.models.small,
  };
  const text = `${JSON.stringify(provider, null, 2)}\n`;
  const merge = (existing: string) =>
    setYamlKeys(existing, { GOOSE_PROVIDER: provider.name, GOOSE_MODEL: parts.models.main });
  return {
    tool: 'goose',
    title: 'Goose',
    baseUrl: parts.versionedUrl,
    files: [
      file({ path: '~/.config/goose/custom_providers/custom_steyg.json', holdsKey: false, merge: () => text }),
      file({ path: '~/.config/goose/config.yaml', holdsKey: false, merge }),
    ],
    environment: [keyInEnvironment(parts)],
    commands: [],
    code: [],
    steps: [`Put ${keyVariable} into the profile of your shell, so that every terminal has it, and start Goose again.`],
    notes: [
      'GOOSE_PROVIDER and GOOSE_MODEL in the environment win over the file.',
      'On Windows the file is %APPDATA%\\Block\\goose\\config\\config.yaml.',
    ],
  };
}
