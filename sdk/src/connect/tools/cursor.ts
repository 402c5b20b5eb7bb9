import type { Connection } from '../connection.ts';
import { type Parts, userOnly } from './parts.ts';

/** Cursor is set up by hand, and calls from its own servers. */
export function cursor(parts: Parts): Connection {
  userOnly(parts, 'Cursor');
  const { hostname } = new URL(parts.baseUrl);
  const isPrivate = /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(hostname);
  return {
    tool: 'cursor',
    title: 'Cursor',
    baseUrl: parts.versionedUrl,
    files: [],
    environment: [],
    commands: [],
    code: [],
    steps: [
      'Open Cursor Settings, Models.',
      'API Keys, OpenAI API Key: the Steyg key.',
      `Override OpenAI Base URL: on, ${parts.versionedUrl}`,
      `Add model: ${parts.chosen.map(({ id }) => `steyg/${id}`).join(', ')}`,
      'Switch off the models that are not of Steyg while the override is on, and press Verify.',
    ],
    notes: [
      'The prefix steyg/ keeps the ids apart from Cursor’s own: it sends names it knows to their vendors, whatever the override says. The gateway takes the prefix off.',
      'The override holds for every model of the OpenAI kind at once; tab completion stays with Cursor’s own models.',
      'Cursor’s servers make the calls, so the address has to be reachable from the internet.',
      ...(isPrivate ? [`${hostname} is not: Cursor cannot reach it.`] : []),
    ],
  };
}
