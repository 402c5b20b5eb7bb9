/** Configuration: every variable, its default, and all problems at once. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../server/runtime/config.ts';

/** The address that links, cookies and refusals carry. */

describe('the address people see', () => {
  it.each([
    [{}, 'http://127.0.0.1:8787'],
    [{ HOST: 'localhost', PORT: '80' }, 'http://localhost'],
    [{ HOST: '0.0.0.0' }, 'http://127.0.0.1:8787'],
    [{ HOST: '::' }, 'http://localhost:8787'],
    [{ HOST: '::1', PORT: '1234' }, 'http://[::1]:1234'],
    [{ HOST: '::1', PUBLIC_URL: 'https://steyg.example/' }, 'https://steyg.example'],
    [{ PUBLIC_URL: 'HTTPS://Steyg.Example:443//' }, 'https://steyg.example'],
    [{ PUBLIC_URL: 'https://example.com/steyg/' }, 'https://example.com/steyg'],
  ])('%o: %s', (env, expected) => {
    expect(loadConfig(env).publicUrl).toBe(expected);
  });

  it.each([
    { HOST: '999.1.1.1' },
    { HOST: 'a b' },
    { HOST: 'a/b' },
    { PUBLIC_URL: 'https://user:password@steyg.example' },
    { PUBLIC_URL: 'https://steyg.example/?a=b' },
    { PUBLIC_URL: 'https://steyg.example/#a' },
    { PUBLIC_URL: 'ftp://steyg.example' },
  ])('%o is a problem, named once', (env) => {
    const problems = problemsOf(env);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${Object.keys(env)[0]}: must be an `));
    expect(problems[0]).not.toContain('password');
  });
});

it.each([
  ['WORKERS', '0', /from 1 to 64/],
  ['WORKERS', 'many', /from 1 to 64/],
  ['DRAIN_MS', '-1', /milliseconds from 0 to 86400000/],
  ['KEEPALIVE_MS', '1.5', /milliseconds from 1 to 86400000/],
])('%s=%s says what it takes', (name, value, sentence) => {
  expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(sentence)]);
});

describe('CONFIGURATION.md', () => {
  const source = readFileSync(new URL('../../server/runtime/config.ts', import.meta.url), 'utf8');
  const declared = [...source.matchAll(/^ {2}([A-Z][A-Z_0-9]+): (.*)$/gm)].map(([, name = '', rule = '']) => ({
    name,
    rule,
  }));
  const readme = readFileSync(new URL('../../server/CONFIGURATION.md', import.meta.url), 'utf8');
  const section = readme.slice(readme.indexOf('## Variables'), readme.indexOf('## Catalog file'));
  /** Name and default of each variable; a name that begins with dots ends one that stands before it. */
  const listed = new Map(
    section
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => {
        const [names = '', defaults = ''] = line.slice(2).split(' | ');
        const given = defaults.split(', ');
        return [...names.matchAll(/`([^`]+)`/g)].map(([, name = ''], index): [string, string] => [
          name.startsWith('…') ? `MAX_CONCURRENT${name.slice(1)}` : name,
          given[index] ?? '',
        ]);
      }),
  );

  it('lists every variable that is read', () => {
    expect(declared.length).toBeGreaterThan(40);
    // In the text of another one's row.
    const elsewhere = [
      'NODE_ENV',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'DEEPSEEK_API_KEY',
      'OPENROUTER_API_KEY',
      'GEMINI_API_KEY',
    ];
    for (const name of elsewhere) expect(section).toContain(name);
    expect(declared.map(({ name }) => name).filter((name) => !listed.has(name) && !elsewhere.includes(name))).toEqual(
      [],
    );
    const known = new Set(declared.map(({ name }) => name));
    expect([...listed.keys()].filter((name) => !known.has(name))).toEqual([]);
  });

  it('knows the numbers that hold when nothing is set', () => {
    const numbers = declared.flatMap(({ name, rule }) => {
      const number = /^(?:milliseconds|count)\(([\d_]+)|\.default\(([\d_]+)\)/.exec(rule);
      return number === null ? [] : [[name, String(number[1] ?? number[2]).replaceAll('_', '')] as const];
    });
    expect(numbers.length).toBeGreaterThan(12);
    const none = numbers.filter(([name]) => name !== 'SIMULATOR_PORT');
    expect(none.filter(([name, number]) => listed.get(name) !== `\`${number}\``)).toEqual([]);
  });
});

it('texts script the bytes of simulated answers in development, and in production only where it is set', () => {
  const production = { NODE_ENV: 'production', SECRET_KEY: Buffer.alloc(32, 1).toString('base64') };
  expect(loadConfig({}).simulator.raw).toBe(true);
  expect(loadConfig({ SIMULATOR_RAW: '0' }).simulator.raw).toBe(false);
  expect(loadConfig(production).simulator.raw).toBe(false);
  expect(loadConfig({ ...production, SIMULATOR_RAW: '1' }).simulator.raw).toBe(true);
});

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
