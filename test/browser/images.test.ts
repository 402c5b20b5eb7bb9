import { orThrow } from '@steyg/sdk';
import { expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { imageTexts } from '../../dashboard/src/language/images.ts';
import { findBarriers } from './browser.ts';
import { createPerson } from './people.ts';
import { app, openAs, useService } from './service.ts';

// The playground's images: asked for, shown, and what they cost.

useService({
  catalog: (url) => `upstreams:
  - { id: simulator, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${url}/v1" }
models:
  - { id: sim-medium, displayName: Talker, family: tests, contextWindow: 100000, maxOutputTokens: 8000, prices: { input: "1", cacheHit: "0", output: "1" }, routes: [{ upstream: simulator, model: talker }] }
  - { id: painter, displayName: Painter, family: tests, kind: image, contextWindow: 100000, maxOutputTokens: 8000, prices: { input: "0", cacheHit: "0", output: "0", images: { each: [{ quality: low, size: "1024x1024", price: "0.011" }, { price: "0.167" }] } }, routes: [{ upstream: simulator, model: gpt-image-2 }] }`,
});

it('two images are made, shown and charged, and the most that they can cost is said before', async () => {
  const texts = imageTexts.en;
  const person = await createPerson(app);
  const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'play' } }));
  const { page, unexpected } = await openAs(person, '/playground');
  await page.locator('input[type=password]').fill(secret ?? '');
  await page.locator('.row-form button[type=submit]').click();
  await page.getByRole('radio', { name: texts.images }).click();
  await page.getByLabel(texts.prompt).fill('An owl.');
  await page.getByText('At most $0.011.').waitFor();
  await page.getByLabel(texts.number).selectOption('2');
  await page.getByText('At most $0.022.').waitFor();
  await page.getByRole('button', { name: texts.make }).click();
  await page.getByText('This cost $0.022.').waitFor();
  const widths = await page
    .locator('.chat .pictures img')
    .evaluateAll((images) => images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth));
  expect(widths).toEqual([1, 1]);
  expect(await findBarriers(page)).toEqual([]);
  // The other half of the page is there as before.
  await page.getByRole('radio', { name: texts.conversation }).click();
  await page.getByRole('textbox', { name: en.playground.message }).waitFor();
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
