import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../server/config.ts';

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

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
