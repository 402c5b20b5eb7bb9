import type { Connection } from '../connection.ts';
import { getJson, setJson } from '../edit/json.ts';
import { setEnvironment } from '../edit/lines.ts';
import { file, keyVariable, type Parts } from './parts.ts';

/** Qwen Code lists models under the protocol they speak; keys are never in that file, only their variables' names. */
export function qwenCode(parts: Parts): Connection {
  // Its picker also shows its own models, so ours carry the prefix that the gateway takes off again.
  const entries = parts.chosen.map(({ id, name }) => ({
    id: `steyg/${id}`,
    name: `Steyg: ${name}`,
    baseUrl: parts.versionedUrl,
    envKey: keyVariable,
  }));
  const merge = (existing: string) => {
    const present = getJson(existing, ['modelProviders', 'openai']);
    const others = (Array.isArray(present) ? (present as { envKey?: unknown }[]) : []).filter(
      ({ envKey }) => envKey !== keyVariable,
    );
    let text = setJson(existing, ['modelProviders', 'openai'], [...others, ...entries]);
    text = setJson(text, ['security', 'auth', 'selectedType'], 'openai');
    return setJson(text, ['model', 'name'], `steyg/${parts.models.main}`);
  };
  const folder = parts.scope === 'user' ? '~/.qwen' : '.qwen';
  return {
    tool: 'qwen-code',
    title: 'Qwen Code',
    baseUrl: parts.versionedUrl,
    files: [
      file({ path: `${folder}/settings.json`, holdsKey: false, merge }),
      file({
        path: `${folder}/.env`,
        holdsKey: true,
        merge: (existing) => setEnvironment(existing, { [keyVariable]: parts.apiKey }),
      }),
    ],
    environment: [{ name: keyVariable, value: parts.apiKey, secret: true }],
    commands: [],
    code: [],
    steps: [`Choose the model with /model; ${keyVariable} comes from ${folder}/.env or from the shell.`],
    notes: [
      'The ids carry the prefix steyg/, so that they do not collide with the models that Qwen Code brings along.',
      ...(parts.scope === 'project' ? ['.qwen/.env holds the key and must be git-ignored.'] : []),
    ],
  };
}
