import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { batchTexts } from '../../dashboard/src/language/batches.ts';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, overflow } from './browser.ts';
import { createPerson } from './people.ts';
import { app, openAs, useService } from './service.ts';

// The page of batches: how far each is, what it holds and came to, and canceling one.

useService({
  simulator: { holdBatches: true },
  env: { BATCH_POLL_MS: '300' },
  catalog: (simulatorUrl) => `upstreams:
  - { id: claude, protocol: messages, profile: anthropic, baseUrl: "${simulatorUrl}", apiKey: vendor-key }
models:
  - { id: big, displayName: Big, family: tests, contextWindow: 200000, maxOutputTokens: 4000, prices: { input: "2000", cacheHit: "200", output: "8000" }, routes: [{ upstream: claude, model: vendor-big }] }`,
});

const create = async (secret: string, names: readonly string[]): Promise<string> => {
  const answer = await fetch(`${app.baseUrl}/v1/messages/batches`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify({
      requests: names.map((custom_id) => ({
        custom_id,
        params: {
          model: 'big',
          max_tokens: 10,
          messages: [{ role: 'user', content: '[[usage {"input_tokens":10,"output_tokens":1}]]' }],
        },
      })),
    }),
  });
  const made = (await answer.json()) as { id: string };
  expect([answer.status, made]).toEqual([200, expect.objectContaining({ type: 'message_batch' })]);
  return made.id;
};

describe.each([
  ['en', en],
  ['vi', vi],
] as const)('in %s', (locale, t) => {
  const texts = batchTexts[locale];

  it('shows what runs and what it may cost, cancels it, and what an ended one came to', async () => {
    const person = await createPerson(app, { locale });
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'nightly' } }));
    const options = { locale: locale === 'vi' ? 'vi-VN' : 'en-US' };
    const { page, unexpected } = await openAs(person, '/', options);
    await page.getByRole('link', { name: t.nav.batches, exact: true }).first().click();
    await page.getByText(texts.empty).waitFor();

    const first = await create(secret, ['a', 'b', 'c']);
    await app.simulator.batches.run();
    // 3 x (10 x 1000 + 1 x 4000) USD a million.
    const ended = page.getByRole('row', { name: first });
    await ended
      .getByText('0.042', { exact: false })
      .or(ended.getByText('0,042', { exact: false }))
      .first()
      .waitFor();
    await ended.getByText(texts.states.ENDED).waitFor();
    await ended.getByText(fill(texts.done, { n: '3', of: '3' })).waitFor();

    const second = await create(secret, ['a', 'b']);
    const running = page.getByRole('row', { name: second });
    await running.getByText(texts.states.IN_PROGRESS).waitFor();
    await running.getByText(fill(texts.done, { n: '0', of: '2' })).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await running.getByRole('button', { name: fill(texts.cancelWhat, { name: second }) }).click();
    await page.getByRole('dialog').getByRole('button', { name: texts.cancel }).click();
    await page.getByText(texts.canceled).waitFor();
    await app.simulator.batches.run();
    await running.getByText(texts.states.ENDED).waitFor();
    await running.getByText(fill(texts.notRun, { n: '2' }), { exact: false }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
