import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepParts, keptBuilds } from '../../dashboard/build.ts';
import { createDirectory } from '../support/directory.ts';

// Whoever has an older page open still gets its parts after a new build.

let root: string;

beforeAll(() => {
  root = createDirectory('steyg-parts-');
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A build of one part that all have and one of its own. */
function build(number: number): string {
  const site = join(root, String(number));
  mkdirSync(join(site, 'assets'), { recursive: true });
  writeFileSync(join(site, 'assets', 'same.js'), 'same');
  writeFileSync(join(site, 'assets', `own-${number}.js`), `of build ${number}`);
  return site;
}

describe('a build', () => {
  it('keeps the parts of those before it, and not for ever', async () => {
    const last = keptBuilds + 1;
    await keepParts(join(root, 'nothing'), build(0));
    for (let number = 1; number <= last; number += 1) await keepParts(join(root, String(number - 1)), build(number));
    const assets = join(root, String(last), 'assets');
    const own = Array.from({ length: keptBuilds }, (_, index) => `own-${last - index}.js`);
    expect(readdirSync(assets).sort()).toEqual(['same.js', ...own].sort());
    expect(readFileSync(join(assets, `own-${last - 1}.js`), 'utf8')).toBe(`of build ${last - 1}`);
  });
});
