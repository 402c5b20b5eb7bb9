import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { agents } from '../clients/agents.ts';
import { connectionOf } from '../clients/readme.ts';

/** The README names every tested coding agent that it has settings for; the others have a recipe beside their test. */

const section = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  .split(/^## /m)
  .find((part) => part.startsWith('Connect your tools\n'));

const isInReadme = ({ recipe }: (typeof agents)[number]): boolean => recipe === undefined;

it.each(agents.filter(isInReadme))(
  'README.md says how $name is connected, and which version of it was seen to work',
  (agent) => {
    const { shell, files } = connectionOf(agent.name);
    expect(shell + [...files.values()].join('')).toContain('http://127.0.0.1:8787/api');
    expect(section?.replaceAll(/\s+/g, ' ')).toContain(`${agent.name} ${agent.version}`);
  },
);

it.each(agents.filter((agent) => !isInReadme(agent)))(
  '$name has a recipe with the address that people replace',
  (agent) => {
    const { shell = '', files = new Map<string, string>() } = agent.recipe ?? {};
    expect(shell + [...files.values()].join('')).toContain('http://127.0.0.1:8787/api');
    expect(agent.version).toMatch(/^\d+\.\d+\.\d+$/);
  },
);
