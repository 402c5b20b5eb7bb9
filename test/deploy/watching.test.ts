/** The alert rules and the Grafana dashboard name metrics that a running service has, and labels that those metrics carry. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { nativeCatalog, protocols, send, settled } from '../gateway/support.ts';
import { startApp, type TestApp } from '../support/app.ts';

const deploy = (path: string): string => readFileSync(join(import.meta.dirname, '../../server/deploy', path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string };
}
interface Panel {
  id: number;
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}

const [group] = (parse(deploy('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups;
const rules = group?.rules ?? [];
const { panels } = JSON.parse(deploy('grafana.json')) as { panels: Panel[] };
const targets = panels.flatMap(({ targets: each = [] }) => each);

let app: TestApp;
/** The names of all metrics of a process, as samples have them. */
let help: Set<string>;
/** The labels of each metric that has samples. */
const labels = new Map<string, Set<string>>();

beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  const customer = await app.customer();
  await (
    await send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-chat', stream: true } })
  ).text();
  await settled(app, customer);
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const typed = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));
  help = new Set(typed.flatMap(({ name, type }) => (type === 'histogram' ? [`${name}_bucket`] : [name])));
  for (const [, name = '', within = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = labels.get(name) ?? new Set<string>();
    for (const [, label = ''] of within.matchAll(/(\w+)="/g)) known.add(label);
    labels.set(name, known);
  }
});
afterAll(() => app.close());

/** The metrics of an expression with the labels that it selects or sums by. What Prometheus adds itself is left out. */
function read(expression: string): { metrics: string[]; named: string[] } {
  const metrics = [...expression.matchAll(/\b((?:gateway|gen_ai|process|nodejs)_\w+)\b/g)].map(([, name = '']) => name);
  const selected = [...expression.matchAll(/[{,](\w+)(?:=~|!~|=|!=)/g)].map(([, name = '']) => name);
  const summed = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const added = new Set(['job', 'instance', 'worker', 'le']);
  return { metrics, named: [...selected, ...summed].filter((name) => !added.has(name)) };
}

const expressions = [...rules.map(({ alert, expr }) => [alert, expr]), ...targets.map(({ expr }) => [expr, expr])] as [
  string,
  string,
][];

it.each(expressions)('%s is about metrics that exist', (_name, expression) => {
  const { metrics } = read(expression);
  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter((name) => !help.has(name))).toEqual([]);
});

it.each(expressions)('%s uses labels that the metrics have', (_name, expression) => {
  const { metrics, named } = read(expression);
  // Metrics without a sample yet show their labels with their first one.
  const seen = metrics.filter((name) => (labels.get(name)?.size ?? 0) > 0);
  const has = (label: string): boolean => seen.every((name) => labels.get(name)?.has(label) === true);
  expect(named.filter((label) => !has(label))).toEqual([]);
});

describe('the alert rules', () => {
  it('have names of their own, a severity and a sentence', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.length).toBeGreaterThan(5);
    expect(rules.filter(({ labels: { severity } }) => !['page', 'warning'].includes(severity))).toEqual([]);
    expect(rules.filter(({ annotations }) => annotations.summary.length < 10)).toEqual([]);
  });

  it('name only places of faults that are counted', () => {
    const places = new Set([...readMetrics().matchAll(/^ {2}'(\w+)',$/gm)].map(([, name = '']) => name));
    const named = rules.flatMap(({ expr }) => /where=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect([...places].filter((place) => !named.includes(place))).toEqual([]);
    expect(named.filter((place) => !places.has(place))).toEqual([]);
  });
});

describe('the Grafana dashboard', () => {
  it('has panels with ids of their own that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)}:${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  it('asks for one job everywhere', () => {
    expect(targets.length).toBeGreaterThan(20);
    expect(targets.filter(({ expr }) => !expr.includes('{job="$job"'))).toEqual([]);
  });
});

function readMetrics(): string {
  return readFileSync(join(import.meta.dirname, '../../server/runtime/telemetry/metrics.ts'), 'utf8');
}
