import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadConfig } from '../../server/runtime/config.ts';

/** `.env.example` is complete, and the server takes it as it stands. */

const file = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
const source = readFileSync(new URL('../../server/runtime/config.ts', import.meta.url), 'utf8');
// Members of types end with a semicolon: they name variables of the schema again.
const declared = [...source.matchAll(/^ {2}([A-Z][A-Z_0-9]+): (?!.*;$)/gm)].map(([, name = '']) => name);
const shown = [...file.matchAll(/^#?([A-Z][A-Z_0-9]+)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }));

it('has every variable that the server reads, once, and no other', () => {
  expect(declared.length).toBeGreaterThan(40);
  expect(shown.map(({ name }) => name).sort()).toEqual([...declared].sort());
});

it('holds no secret, and sets nothing: every line is a comment until somebody removes its sign', () => {
  expect(file.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  const secrets = shown.filter(({ name }) =>
    /(SECRET|SECRET_KEY|KEY_PREVIOUS|API_KEY|CHECKSUM_KEY|TOKEN|PASSWORD)$/.test(name),
  );
  expect(secrets.length).toBeGreaterThan(8);
  expect(secrets.filter(({ value }) => value !== '')).toEqual([]);
});

it('has values that the server takes', () => {
  const given = Object.fromEntries(shown.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]));
  expect(() => loadConfig(given)).not.toThrow();
});
