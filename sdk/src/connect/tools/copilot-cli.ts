import type { Connection } from '../connection.ts';
import { type Parts, userOnly } from './parts.ts';

/**
 * GitHub Copilot CLI takes a provider from the environment alone:
 * https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/use-byok-models
 */
export function copilotCli(parts: Parts): Connection {
  userOnly(parts, 'GitHub Copilot CLI');
  return {
    tool: 'copilot-cli',
    title: 'GitHub Copilot CLI',
    baseUrl: parts.versionedUrl,
    files: [],
    environment: [
      { name: 'COPILOT_PROVIDER_BASE_URL', value: parts.versionedUrl, secret: false },
      { name: 'COPILOT_PROVIDER_API_KEY', value: parts.apiKey, secret: true },
      { name: 'COPILOT_MODEL', value: parts.models.main, secret: false },
    ],
    commands: ['copilot'],
    code: [],
    steps: ['Put the three variables into the profile of your shell, so that every terminal has them.'],
    notes: ['COPILOT_OFFLINE=true keeps it from asking GitHub for anything else.'],
  };
}
