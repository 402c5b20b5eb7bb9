import { expect, it } from 'vitest';
import { changeAnswers, openPage } from './browser.ts';
import { createPerson } from './people.ts';
import { app, browser, useService } from './service.ts';

// What a page says when its history came from a replica.

useService();

it.each([
  ['en', 'History on this page is at most 12 s old.'],
  ['vi', 'Lịch sử trên trang này chậm tối đa 12 giây.'],
] as const)('a page of history says how old it may be, the next page does not: %s', async (locale, words) => {
  const person = await createPerson(app, { locale });
  const { page, unexpected } = await openPage(browser, app.url, { locale });
  await person.signIn(page.context());
  // As the server answers what it read from a replica.
  await changeAnswers(page, (text) => {
    const answer = JSON.parse(text) as { data?: object };
    const isHistory = JSON.stringify(answer.data ?? {}).includes('"usage"');
    const extensions = { history: { source: 'replica', maxAgeSeconds: 12 } };
    return isHistory ? JSON.stringify({ ...answer, extensions }) : text;
  });
  await page.goto('/activity');
  await page.getByText(words).waitFor();
  await page.goto('/keys');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.getByText(words).count()).toBe(0);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
