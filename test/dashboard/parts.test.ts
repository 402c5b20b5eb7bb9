import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepParts, keptBuilds, putInPlace } from '../../dashboard/build.ts';
import { createDirectory } from '../support/directory.ts';

// Pages of an older build still find their parts after a new build.

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

describe('a finished build', () => {
  /** One that was made from these sources. */
  function made(place: string, name: string, digest: string): string {
    const path = join(root, place, name);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'digest'), digest);
    writeFileSync(join(path, 'made-by'), name);
    return path;
  }

  it('takes the place of one from other sources', async () => {
    const site = made('other', 'site', 'old sources');
    await putInPlace(made('other', 'next-1', 'new sources'), site);
    expect(readFileSync(join(site, 'made-by'), 'utf8')).toBe('next-1');
    expect(readdirSync(join(root, 'other'))).toEqual(['site']);
  });

  it('goes when one from the same sources is there, which stays: a page may be open from it', async () => {
    const site = made('same', 'site', 'sources');
    const { ino } = statSync(site);
    await putInPlace(made('same', 'next-1', 'sources'), site);
    expect(statSync(site).ino).toBe(ino);
    expect(readdirSync(join(root, 'same'))).toEqual(['site']);
  });

  it.each(['nothing', 'an older one'])('and others of the same moment agree on one, where %s was', async (before) => {
    for (let round = 0; round < 50; round += 1) {
      const folder = `moment ${before} ${round}`;
      const site = join(root, folder, 'site');
      if (before !== 'nothing') made(folder, 'site', 'old sources');
      const builds = ['next-1', 'next-2', 'next-3'].map((name) => made(folder, name, 'sources'));
      await Promise.all(builds.map((next) => putInPlace(next, site)));
      expect(readFileSync(join(site, 'digest'), 'utf8')).toBe('sources');
      expect(readdirSync(join(root, folder))).toEqual(['site']);
    }
  });
});
