import type { Connection, SettingsFile } from '../connection.ts';
import { setEnvironment, setYamlKeys } from '../edit/lines.ts';
import { file, type Parts } from './parts.ts';

/** Aider reaches OpenAI-compatible services through names that begin with `openai/`, which is not sent. */
export function aider(parts: Parts): Connection {
  const { apiKey, models, versionedUrl, scope } = parts;
  const settings = {
    'openai-api-base': versionedUrl,
    model: `openai/${models.main}`,
    'editor-model': `openai/${models.medium}`,
    'weak-model': `openai/${models.small}`,
  };
  const files: SettingsFile[] =
    scope === 'user'
      ? [
          file({
            path: '~/.aider.conf.yml',
            holdsKey: true,
            merge: (existing) => setYamlKeys(existing, { ...settings, 'openai-api-key': apiKey }),
          }),
        ]
      : [
          file({ path: '.aider.conf.yml', holdsKey: false, merge: (existing) => setYamlKeys(existing, settings) }),
          file({
            path: '.env',
            holdsKey: true,
            merge: (existing) => setEnvironment(existing, { OPENAI_API_KEY: apiKey }),
          }),
        ];
  return {
    tool: 'aider',
    title: 'Aider',
    baseUrl: versionedUrl,
    files,
    environment: [
      { name: 'OPENAI_API_BASE', value: versionedUrl, secret: false },
      { name: 'OPENAI_API_KEY', value: apiKey, secret: true },
    ],
    commands: [`aider --model 'openai/${models.main}' --weak-model 'openai/${models.small}'`],
    code: [],
    steps: [],
    notes: [
      'The weak model is set on purpose: commit messages and summaries are made with it.',
      'Warnings that a model is unknown are about Aider’s own price list and do no harm.',
      ...(scope === 'project' ? ['.aider.conf.yml may be committed; .env holds the key and must be git-ignored.'] : []),
    ],
  };
}
