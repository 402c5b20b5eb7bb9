import type { Connection } from '../connection.ts';
import { setEnvironment, setYamlItems } from '../edit/lines.ts';
import { file, keyVariable, type Parts, userOnly } from './parts.ts';

/** Continue reads a YAML file; the key stands in an environment file beside it. */
export function continueDev(parts: Parts): Connection {
  userOnly(parts, 'Continue');
  const items = parts.chosen.flatMap(({ id, name, contextWindow, maxOutputTokens }) => [
    `- name: ${JSON.stringify(`Steyg: ${name}`)}`,
    '  provider: openai',
    `  model: ${JSON.stringify(id)}`,
    `  apiBase: ${JSON.stringify(`${parts.versionedUrl}/`)}`,
    `  apiKey: \${{ secrets.${keyVariable} }}`,
    `  roles: [${id === parts.models.main ? 'chat, edit, apply' : 'chat'}]`,
    ...(contextWindow === null || maxOutputTokens === null
      ? []
      : ['  defaultCompletionOptions:', `    contextLength: ${contextWindow}`, `    maxTokens: ${maxOutputTokens}`]),
  ]);
  const head = 'name: Steyg\nversion: 1.0.0\nschema: v1\n';
  return {
    tool: 'continue',
    title: 'Continue',
    baseUrl: `${parts.versionedUrl}/`,
    files: [
      file({
        path: '~/.continue/config.yaml',
        holdsKey: false,
        merge: (existing) => setYamlItems(existing === '' ? head : existing, 'models', items),
      }),
      file({
        path: '~/.continue/.env',
        holdsKey: true,
        merge: (existing) => setEnvironment(existing, { [keyVariable]: parts.apiKey }),
      }),
    ],
    environment: [],
    commands: [],
    code: [],
    steps: ['Choose the model in Continue’s picker; it reads the file again when it is saved.'],
    notes: ['A config.json beside config.yaml is ignored.'],
  };
}
