/** The entry for a public board of gateways agrees with the server: its settings, its catalog, its addresses and its key. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseCatalogFile } from '../../server/admin/catalog-file.ts';
import { isOfDataPlane } from '../../server/gateway/entrance/addresses.ts';
import { parseKey } from '../../server/keys/secret.ts';
import { loadConfig } from '../../server/runtime/config.ts';

const root = join(import.meta.dirname, '../..');
const board = (file: string): string => readFileSync(join(root, 'server/deploy/board', file), 'utf8');
/** As the board fills its templates in: `{NAME}`, and double braces for single ones. */
const filled = (text: string): string =>
  text
    .replaceAll(
      /(?<!\{)\{(MOCK_PORT|GW_PORT|NCORE|GW_DIR)\}/g,
      (_all, name: string) => ({ GW_DIR: '/board', NCORE: '4' })[name] ?? '8000',
    )
    .replaceAll('{{', '{')
    .replaceAll('}}', '}');
const lines = (file: string): string[] =>
  board(file)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
const definition = JSON.parse(board('definition.json')) as {
  auth: string;
  path: string;
  port: number;
  model: string;
  egress: string[];
  egress_models: Record<string, string>;
  cell_paths: Record<string, string>;
  matrix: string[];
  launch: { args: string[]; build: string };
  config_files: { template: string; output: string }[];
};
const settings = Object.fromEntries(
  lines('env').map((line) => [line.slice(0, line.indexOf('=')), filled(line.slice(line.indexOf('=') + 1))]),
);

it('its settings are settings of the server', () => {
  const config = loadConfig(settings);
  expect(config).toMatchObject({
    port: 8_000,
    workers: 4,
    catalogFile: `/board/${definition.config_files[0]?.output}`,
  });
  const known = new Set(
    [...readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name),
  );
  expect(Object.keys(settings).filter((name) => !known.has(name))).toEqual([]);
});

it('its catalog has the declared models, and prices for them: nothing is served for free', () => {
  const { template = '' } = definition.config_files[0] ?? {};
  const { models } = parseCatalogFile(template, filled(board(template)), loadConfig(settings));
  expect(models.map(({ model }) => model.id).toSorted()).toEqual(Object.values(definition.egress_models).toSorted());
  expect(
    JSON.stringify(
      models.map(({ prices }) => prices),
      (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
    ),
  ).not.toContain('"0"');
  expect(definition.egress).toEqual(Object.keys(definition.egress_models));
});

it('its addresses and its key are such as the server takes', () => {
  expect(Object.values(definition.cell_paths).filter((path) => !isOfDataPlane(path))).toEqual([]);
  expect(Object.keys(definition.cell_paths)).toHaveLength(definition.matrix.join('').replaceAll('0', '').length);
  expect(parseKey(definition.auth)).not.toBeNull();
});

it('every setting and command has a reason, and no reason is left over', () => {
  const reasons = lines('why').map((line) => /^(\S+) +(boot|upstream|ingress|bind)\b/.exec(line)?.[1] ?? line);
  const said = [...Object.keys(settings), ...lines('commands'), board('catalog.yaml.tmpl')];
  expect(Object.keys(settings).filter((name) => !reasons.includes(name))).toEqual([]);
  expect(reasons.filter((reason) => !said.some((text) => text.includes(reason)))).toEqual([]);
});

it('what it starts exists', () => {
  const started = [...definition.launch.args, ...lines('commands')].flatMap(
    (text) => text.match(/(?:server|test)\/[\w/-]+\.ts/g) ?? [],
  );
  expect(started.length).toBeGreaterThan(1);
  expect(started.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(existsSync(join(root, 'server/deploy/board', definition.launch.build))).toBe(true);
});
