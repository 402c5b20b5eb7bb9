import { orThrow } from '@steyg/sdk';
import { beforeAll, expect, it } from 'vitest';
import { openPage } from '../browser/browser.ts';
import { createPerson, haveAsked, type Person, settled } from '../browser/people.ts';
import { app, browser, useService } from '../browser/service.ts';
import { countBytes, readVitals, recordVitals, slowDown, type Vitals } from '../browser/vitals.ts';

// What a phone's first visit to five pages takes, as Lighthouse measures it: `npm run vitals`. The table is printed.

useService();

const visits = 3;

let person: Person;
beforeAll(async () => {
  person = await createPerson(app, { locale: 'vi' });
  const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
  await haveAsked(app, secret ?? '', 'ping');
  await app.quiet(person.accountId);
  // The first visitor of a page is not to wait until the server has rendered it once.
  const home = async () => (await fetch(app.url, { headers: { 'accept-language': 'vi' } })).text();
  while (!(await home()).includes('id="served"')) await new Promise((next) => setTimeout(next, 200));
});

type Figures = Omit<Vitals, 'moved'> & { bytes: number };
const print = (line: string): void => void process.stdout.write(`${line}\n`);
beforeAll(() => {
  print(
    `\nMedians of ${visits} first visits of a phone: 1.6 Mbit/s, 150 ms there and back, the machine’s own speed.\n`,
  );
  print('| Page | FCP ms | LCP ms | CLS | TBT ms | kB |\n| --- | ---: | ---: | ---: | ---: | ---: |');
});

async function visit(path: string, who: Person | null): Promise<Figures> {
  const { page } = await openPage(browser, app.url, {
    locale: 'vi-VN',
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  await who?.signIn(page.context());
  await recordVitals(page);
  await slowDown(page);
  const bytes = await countBytes(page);
  await page.goto(path);
  if (path !== '/pricing') await settled(page);
  await page.waitForLoadState('networkidle');
  await expect.poll(async () => (await readVitals(page)).fcpMs).not.toBeNull();
  const { moved: _moved, ...vitals } = await readVitals(page);
  await page.context().close();
  return { ...vitals, bytes: bytes() };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

it.each([
  ['Landing page', '/', false],
  ['Prices', '/pricing', false],
  ['Sign-up', '/sign-up', false],
  ['Overview', '/', true],
  ['Top-up', '/topup', true],
] as const)('%s', async (name, path, isSignedIn) => {
  const all: Figures[] = [];
  for (let count = 0; count < visits; count += 1) all.push(await visit(path, isSignedIn ? person : null));
  const of = (read: (figures: Figures) => number | null) => median(all.map((each) => read(each) ?? Number.NaN));
  const [fcp, lcp, tbt] = [of(({ fcpMs }) => fcpMs), of(({ lcpMs }) => lcpMs), of(({ tbtMs }) => tbtMs)].map(
    Math.round,
  );
  const cls = of((each) => each.cls);
  print(
    `| ${name} \`${path}\` | ${fcp} | ${lcp} | ${cls.toFixed(3)} | ${tbt} | ${Math.round(of(({ bytes }) => bytes) / 1_000)} |`,
  );
  expect(fcp).toBeGreaterThan(0);
  expect(cls).toBeLessThan(0.1);
});
