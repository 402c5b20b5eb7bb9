import type { Connection } from '../connection.ts';
import { setToml } from '../edit/toml.ts';
import { codexModels } from './codex-models.ts';
import { file, keyInEnvironment, keyVariable, type Parts, userOnly } from './parts.ts';

/** Settings of Codex: a provider, and beside them the list of models that it reads. */

const listName = 'steyg-models.json';

/** Codex speaks the responses protocol alone, and reads the key from an environment variable that its settings name. */
export function codex(parts: Parts): Connection {
  userOnly(parts, 'Codex');
  const [main] = parts.chosen;
  const { bundledModels } = parts;
  const list = bundledModels === undefined ? null : codexModels(bundledModels, parts.all);
  const merge = (existing: string) =>
    setToml(
      existing,
      {
        model: parts.models.main,
        model_provider: 'steyg',
        ...(main?.contextWindow == null ? {} : { model_context_window: main.contextWindow }),
        // Relative to the settings.
        ...(list === null ? {} : { model_catalog_json: listName }),
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
    files: [
      file({ path: '~/.codex/config.toml', holdsKey: false, merge }),
      ...(list === null ? [] : [file({ path: `~/.codex/${listName}`, holdsKey: false, merge: () => list })]),
    ],
    environment: [keyInEnvironment(parts)],
    commands: [],
    code: [],
    steps: [`Put ${keyVariable} into the profile of your shell, so that every terminal has it, and start Codex again.`],
    notes: [
      'Codex needs wire_api = "responses"; other values are refused when it starts.',
      ...(list === null
        ? ['Codex warns that it does not know the model; where it is installed, `steyg connect codex` tells it.']
        : [`Models that the service gets later are listed once \`steyg connect codex --write\` has run again.`]),
      'supports_websockets = true in the provider keeps one connection for a session, on which only what is new is sent.',
      'Codex offers the model a search that its vendor carries out and charges for; where the catalog has no price for it, it is left out.',
      'The provider of models cannot be set for a project, only in the file in your home directory. A profile that names another provider wins over it.',
    ],
  };
}
