import type { Connection } from '../connection.ts';
import { type Parts, userOnly } from './parts.ts';

/**
 * VS Code's chat takes custom endpoints of all three protocols since 1.122:
 * https://code.visualstudio.com/docs/copilot/customization/language-models
 */
export function vscode(parts: Parts): Connection {
  userOnly(parts, 'VS Code');
  const models = parts.chosen.map(({ id, name, contextWindow, maxOutputTokens, inputs }) => ({
    id,
    name,
    url: `${parts.versionedUrl}/chat/completions`,
    apiType: 'chat-completions',
    toolCalling: true,
    vision: inputs.includes('image'),
    // The two are added up: what the answer may take is no room for the prompt.
    ...(contextWindow === null
      ? {}
      : { maxInputTokens: contextWindow - Math.min(maxOutputTokens ?? 0, Math.floor(contextWindow / 2)) }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    streaming: true,
  }));
  return {
    tool: 'vscode',
    title: 'VS Code',
    baseUrl: parts.versionedUrl,
    files: [],
    environment: [],
    commands: [],
    code: [{ language: 'json', text: `"models": ${JSON.stringify(models, null, 2)}` }],
    steps: [
      'Open the command palette and run "Chat: Manage Language Models", then Add Models, Custom Endpoint.',
      'Group name: Steyg. API key: the Steyg key; VS Code keeps it in its own secret store.',
      'VS Code opens chatLanguageModels.json: put these models into the group, save, and choose one in the model picker of the chat.',
    ],
    notes: [
      'Custom endpoints need VS Code 1.122 or newer, with GitHub Copilot Chat switched on.',
      'Each model names its whole address and the protocol that it is called by; the gateway takes all three at the same key.',
    ],
  };
}
