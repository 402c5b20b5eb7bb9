/** One scale of sizes, weights and colours for all pages: the dashboard's and those that the server makes. */

import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pageStyle } from '../../server/shared/page.ts';

const root = new URL('../..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const css = read('dashboard/src/style.css');

/** What a style says of itself: `--name: value;`, whitespace and leading zeros left out. */
function tokensOf(style: string): Map<string, string> {
  const [, body = ''] = /:root\s*\{([^}]*)\}/.exec(style.replaceAll(/\/\*[\s\S]*?\*\//g, '')) ?? [];
  return new Map(
    [...body.matchAll(/(--[\w-]+)\s*:\s*([^;]+)(?:;|$)/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\s+/g, '').replaceAll(/(?<![\d.])0(?=\.)/g, ''),
    ]),
  );
}

const ours = tokensOf(css);
const theirs = tokensOf(pageStyle);

/** Sizes and weights that no token gives; faces are loaded by their weight, and an amount shrinks to its tile. */
function strays(style: string): string[] {
  const plain = style
    .replaceAll(/@font-face\s*\{[^}]*\}/g, '')
    .replaceAll('min(1em, 100cqi / (var(--length) * 0.7))', 'inherit');
  const declared = plain.matchAll(/(?<![\w-])font(?:-size|-weight)?\s*:\s*([^;}]+)/g);
  return [...declared]
    .filter(([, value = '']) => !/^(inherit|var\(--(type|weight)-)/.test(value.trim()))
    .map(([all]) => all);
}

describe('the scale of sizes and weights', () => {
  it('is all that a style of the dashboard uses', () => {
    expect(strays(css)).toEqual([]);
    expect([...ours.keys()].filter((name) => name.startsWith('--type-')).length).toBeLessThan(10);
  });

  it('is all that a style of the server’s pages uses', () => {
    const makers = globSync('server/**/*.ts', { cwd: root }).filter(
      (path) => path === 'server/shared/public-page.ts' || read(path).includes('createPublicPages('),
    );
    expect(makers.length).toBeGreaterThan(4);
    expect(strays(pageStyle)).toEqual([]);
    for (const path of makers) {
      const styles = [...read(path).matchAll(/[sS]tyle = `\n([\s\S]*?)`;/g)].map(([, style = '']) => style);
      expect(styles.length).toBeGreaterThan(0);
      expect({ path, strays: styles.flatMap(strays) }).toEqual({ path, strays: [] });
    }
  });

  it('notices a size of its own', () => {
    expect(strays('a{font-size:1.05rem;font-weight:650}b{font:600 1rem/1 serif}')).toHaveLength(3);
  });

  it('is the same in both, as are the colours that both have', () => {
    const both = [...theirs.keys()].filter((name) => ours.has(name));
    expect(both.length).toBeGreaterThan(20);
    expect(both).toContain('--link');
    for (const name of both) expect([name, theirs.get(name)]).toEqual([name, ours.get(name)]);
  });
});

/** The relative luminance of WCAG 2.2. */
function luminance(colour: string): number {
  const long = colour.length === 4 ? colour.replaceAll(/[\da-f]/g, '$&$&') : colour;
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(long.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string, theme: 0 | 1): number {
  const [a = 0, b = 0] = [one, other].map((name) =>
    luminance(/^light-dark\((#[\da-f]+),(#[\da-f]+)\)$/.exec(ours.get(name) ?? '')?.[theme + 1] ?? ''),
  );
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** As text, by WCAG 2.2 AA. */
const least = 4.5;

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('in %s', (_name, theme) => {
  it.each([
    ['--link', ['--page', '--card', '--sunken', '--link-soft']],
    ['--link-strong', ['--page', '--card', '--sunken', '--link-soft']],
    ['--on-link', ['--link']],
    ['--accent', ['--page', '--card']],
    ['--accent-strong', ['--accent-soft']],
    ['--on-accent', ['--accent', '--accent-strong']],
    ['--text', ['--page', '--card', '--sunken', '--accent-soft', '--link-soft']],
    ['--quiet', ['--page', '--card', '--sunken']],
  ])('%s can be read on what it stands on', (text, grounds) => {
    for (const ground of grounds) expect([ground, contrast(text, ground, theme) >= least]).toEqual([ground, true]);
  });

  it('the two accents are told apart by more than their hue: each from the page, by 3 to 1', () => {
    for (const series of ['--series-0', '--series-2']) expect(contrast(series, '--card', theme)).toBeGreaterThan(3);
  });
});
