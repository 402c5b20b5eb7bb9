/** The server's English sentences about single inputs, in Vietnamese. */

import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { vi } from '../../dashboard/src/language/vi.ts';
import { meaningOf } from '../../dashboard/src/problems.ts';

/** Where the inputs of customers' forms are checked. */
const sources = globSync([
  'server/shared/{input,plain-text}.ts',
  'server/{accounts,keys,people}/*.ts',
  'server/notices/{channels,endpoints,notices}.ts',
  'server/plans/parties.ts',
  'server/graphql/{accounts,keys,people}/*.ts',
]);

/** Of inputs that a form offers as a choice, so that nobody can mistype them. */
const chosen = /names of events|kinds of notices|a time of day|^must be a time$|The language is/;

const sentences = [
  ...new Set(
    sources
      .flatMap((path) => [
        ...readFileSync(path, 'utf8').matchAll(
          /(?<=['`])(?:must |is too |has more than |Choose at |This is |The (?:token would|password (?:needs|has|is among|must)|name|code must) |An account has at most \$\{max|There is no model |graceSeconds )[^'`\n]*(?=['`])/g,
        ),
      ])
      .map(([sentence]) => sentence.replace('${JSON.stringify(unknown.slice(0, 256))}', '"gpt"'))
      .map((sentence) => sentence.replace(/^The name \$\{problem\}.$/, 'The name must not be empty.'))
      .map((sentence) => sentence.replaceAll(/\$\{[^}]*\}/g, '7')),
  ),
].filter((sentence) => !chosen.test(sentence) && !sentence.startsWith('This is the'));

describe('a refused input', () => {
  test('is found in the sources', () => expect(sentences.length).toBeGreaterThan(25));

  test.each(sentences)('is told in Vietnamese words of its own: %s', (sentence) => {
    const { name, parts } = meaningOf(sentence);
    expect(name).not.toBe('other');
    const needed = [...vi.problems[name].matchAll(/\{(\w+)\}/g)].map(([, part]) => part);
    expect(Object.keys(parts).filter((part) => parts[part] !== undefined)).toEqual(needed);
  });

  test('without a translation is told without any English', () => {
    expect(meaningOf('name must be of another kind.')).toEqual({ name: 'other', parts: {} });
    expect(vi.problems.other).not.toContain('{');
  });
});
