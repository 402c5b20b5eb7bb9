import type { Connection } from '../connection.ts';
import { keyInEnvironment, keyVariable, type Parts, userOnly } from './parts.ts';

/** Cline is set up in its own settings page, or by a command that stores the key where it keeps its own. */
export function cline(parts: Parts): Connection {
  userOnly(parts, 'Cline');
  const { main } = parts.models;
  return {
    tool: 'cline',
    title: 'Cline',
    baseUrl: parts.versionedUrl,
    files: [],
    environment: [keyInEnvironment(parts)],
    commands: [`cline auth -p openai-compatible -k "$${keyVariable}" -b '${parts.versionedUrl}' -m '${main}'`],
    code: [],
    steps: [
      'In the editor: open Cline’s settings and choose the API provider "OpenAI Compatible".',
      `Base URL: ${parts.versionedUrl}`,
      'API key: the Steyg key.',
      `Model ID: ${main}`,
      ...(parts.chosen[0]?.contextWindow == null
        ? []
        : [`Under the model's configuration, context window size: ${parts.chosen[0].contextWindow}`]),
    ],
    notes: [
      'Do not choose the provider "Anthropic" with a base address of its own: Cline’s command line refuses that.',
    ],
  };
}
