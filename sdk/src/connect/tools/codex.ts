import type { Connection } from '../connection.ts';
import { setToml } from '../edit/toml.ts';
import { file, keyInEnvironment, keyVariable, type Parts, userOnly } from './parts.ts';

/** Codex speaks the responses protocol alone, and reads the key from an environment variable that it is told of. */
export function codex(parts: Parts): Connection {
  userOnly(parts, 'Codex');
  const [main] = parts.chosen;
  const merge = (existing: string) =>
    setToml(
      existing,
      {
        model: parts.models.main,
        model_provider: 'steyg',
        ...(main?.contextWindow == null ? {} : { model_context_window: main.contextWindow }),
        web_search: 'disabled',
      },
      {
        name: 'model_providers.steyg',
        values: { name: 'Steyg', base_url: parts.versionedUrl, env_key: keyVariable, wire_api: 'responses' },
      },
    );
  return {
    tool: 'codex',
    title: 'Codex',
    baseUrl: parts.versionedUrl,
    files: [file({ path: '~/.codex/config.toml', holdsKey: false, merge })],
    environment: [keyInEnvironment(parts)],
    commands: [],
    code: [],
    steps: [`Put ${keyVariable} into the profile of your shell, so that every terminal has it, and start Codex again.`],
    notes: [
      'Codex needs wire_api = "responses"; other values are refused when it starts.',
      'web_search is off on purpose: Codex would offer the model a search that its vendor carries out and charges for; where the catalog has no price for it, that is refused.',
      'The provider of models cannot be set for a project, only in the file in your home directory. A profile that names another provider wins over it.',
    ],
  };
}
