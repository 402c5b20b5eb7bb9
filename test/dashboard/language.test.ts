import { chooseModels, tools } from '@steyg/sdk/connect';
import { describe, expect, it } from 'vitest';
import { connectionOf } from '../../dashboard/src/connection.ts';
import { adviceIn } from '../../dashboard/src/language/advice.ts';
import { en } from '../../dashboard/src/language/en.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { operatorVi } from '../../dashboard/src/language/operator-vi.ts';
import { vi } from '../../dashboard/src/language/vi.ts';

// Both languages have the same texts, with the same placeholders.

type Leaves = Map<string, string>;

function leavesOf(value: unknown, path = '', found: Leaves = new Map()): Leaves {
  if (typeof value === 'string') found.set(path, value);
  else for (const [name, inner] of Object.entries(value as object)) leavesOf(inner, `${path}.${name}`, found);
  return found;
}

const placesOf = (text: string) =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([place]) => place).toSorted((a, b) => a.localeCompare(b));

describe('the languages', () => {
  const english = leavesOf({ ...en, operator: operatorEn });
  const vietnamese = leavesOf({ ...vi, operator: operatorVi });

  it('have the same texts', () => {
    expect([...vietnamese.keys()].sort()).toEqual([...english.keys()].sort());
  });

  it('put the same values into them', () => {
    const placesIn = (leaves: Leaves) => Object.fromEntries([...leaves].map(([path, text]) => [path, placesOf(text)]));
    expect(placesIn(vietnamese)).toEqual(placesIn(english));
  });

  it('leave no text empty, and none with blanks around it', () => {
    const careless = [...english, ...vietnamese].filter(([, text]) => text === '' || text.trim() !== text);
    expect(careless).toEqual([]);
  });
});

describe('settings of a tool', () => {
  const request = { models: { main: 'a-model' }, baseUrl: 'https://steyg.example/api' };

  it('are a person’s where the tool has none for a project, regardless of the choice for another tool', () => {
    expect(connectionOf({ ...request, tool: 'codex', scope: 'project' })).toMatchObject({
      connection: { title: 'Codex' },
      forProjects: false,
    });
    expect(connectionOf({ ...request, tool: 'claude-code', scope: 'project' }).forProjects).toBe(true);
  });

  it('are still refused for an address that cannot be right', () => {
    expect(() => connectionOf({ ...request, tool: 'codex', baseUrl: 'nowhere' })).toThrow('http(s) address');
  });
});

describe('advice on tools', () => {
  const catalog = ['sim-large', 'sim-medium', 'sim-small'].map((id, index) => ({
    id,
    displayName: id,
    contextLength: 200_000,
    maxOutputTokens: 16_000,
    priceUsdPerMillion: { output: String(15 - index) },
  }));
  const sentences = tools.flatMap((tool) =>
    (['user', 'project'] as const).flatMap((scope) =>
      ['https://steyg.example/api', 'http://127.0.0.1:8787/api'].flatMap((baseUrl) => {
        const { connection } = connectionOf({ tool, scope, models: chooseModels(catalog), catalog, baseUrl });
        return [...connection.steps, ...connection.notes];
      }),
    ),
  );

  // Values alone, which are the same in both languages.
  const isValue = (sentence: string) =>
    /^(Base URL|Model ID|Add model): \S+(, \S+)*$|^Open Cursor Settings/.test(sentence);

  it('is in Vietnamese for every tool', () => {
    expect(sentences.length).toBeGreaterThan(30);
    const foreign = sentences.filter((sentence) => !isValue(sentence) && adviceIn('vi', sentence) === sentence);
    expect(foreign).toEqual([]);
  });

  it('keeps the words that people type', () => {
    const typed = (sentence: string) => sentence.match(/[A-Z]+_[A-Z_]+|\S*\/api\S*|\.\w+\/[\w.]+\w/g) ?? [];
    const lost = sentences.flatMap((sentence) =>
      typed(sentence).filter((word) => !adviceIn('vi', sentence).includes(word)),
    );
    expect(lost).toEqual([]);
  });

  it('stays as it is in English', () => {
    for (const sentence of sentences) expect(adviceIn('en', sentence)).toBe(sentence);
  });
});
