import { orThrow } from '@steyg/sdk';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { estimateTexts } from '../../dashboard/src/language/estimate.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers } from './browser.ts';
import { createPerson, signInOperator } from './people.ts';
import { app, openAs, useService } from './service.ts';

// The playground: conversations that continue, end early, break off or are refused.

// Slow enough to be stopped in the middle: an answer of 4,000 words would take minutes.
useService({ simulator: { tokensPerSecond: 30, firstTokenMs: 0 } });

async function openPlayground(path = '/playground?model=sim-medium', options = {}) {
  const person = await createPerson(app);
  const { secret, key } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'play' } }));
  const watched = await openAs(person, path, options);
  const { page } = watched;
  await page.locator('input[type=password]').fill(secret ?? '');
  await page.locator('.row-form button[type=submit]').click();
  return { ...watched, person, key, last: page.locator('.exchange').last() };
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('.composer textarea').fill(text);
  await page.locator('.composer button[type=submit]').click();
}

const charged = /output tokens · \$0\.0*[1-9]/;

describe('a conversation', () => {
  it('goes on with another model, says which one answered what, and takes along what was said', async () => {
    const { page, last, unexpected } = await openPlayground();
    await say(page, 'First [[say Mango.]]');
    await last.getByText(charged).waitFor();
    await page.getByLabel('Model', { exact: true }).selectOption('sim-small');
    await page.getByRole('radio', { name: 'Chat completions' }).click();
    await say(page, 'Second [[say Papaya.]]');
    await last.locator('.answer', { hasText: 'Papaya.' }).waitFor();
    await last.getByText(charged).waitFor();
    expect(await page.locator('.exchange > .hint:nth-of-type(2)').allInnerTexts()).toEqual([
      'sim-medium · Messages',
      'sim-small · Chat completions',
    ]);
    const sent = JSON.parse(app.simulator.requests().at(-1)?.body.toString('utf8') ?? '{}');
    expect(sent.messages.map(({ role, content }: { role: string; content: unknown }) => [role, content])).toEqual([
      ['user', 'First [[say Mango.]]'],
      ['assistant', 'Mango.'],
      ['user', 'Second [[say Papaya.]]'],
    ]);
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('is stopped by a press, says what that cost, and the second press of a double click stops nothing', async () => {
    const { page, person, last, unexpected } = await openPlayground();
    await page.locator('.composer textarea').fill('[[len 4000]]');
    await page.getByRole('button', { name: 'Send' }).dblclick();
    await last.locator('.answer', { hasText: 'w5 ' }).waitFor();
    // The next question is typed where this one was.
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
    await page.getByRole('button', { name: 'Stop' }).click();
    await last.getByText('stopped', { exact: true }).waitFor();
    await last.getByText(charged).waitFor();
    await page.getByRole('status').filter({ hasText: 'Stopped.' }).waitFor();
    await app.quiet(person.accountId);
    const [entry] = await app.ledger(person.accountId);
    expect(entry?.['outcome']).toBe('client_closed');
    expect(Number(entry?.['output'])).toBeLessThan(4_000);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('that breaks off keeps what had come, with its price, and is asked again of another model', async () => {
    const { page, last, unexpected } = await openPlayground();
    await say(page, '[[cut 12]]');
    await last.getByText('The answer was interrupted.').waitFor();
    expect((await last.locator('.answer').innerText()).length).toBeGreaterThan(5);
    await last.getByText(charged).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('Model', { exact: true }).selectOption('sim-small');
    await last.getByRole('button', { name: 'Try again' }).click();
    await last.getByText('sim-small · Messages').waitFor();
    await last.getByText('The answer was interrupted.').waitFor();
    // In place of the one that failed.
    expect(await page.locator('.exchange').count()).toBe(1);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it.each([
    ['Messages', 'messages'],
    ['Chat completions', 'chat-completions'],
  ])('takes pictures along, over %s, and shows their size in place of their bytes', async (name, protocol) => {
    const { page, last, unexpected } = await openPlayground();
    await page.getByRole('radio', { name }).click();
    const picture = { name: 'dot.png', mimeType: 'image/png', buffer: onePixel };
    const chooser = page.locator('input[type=file]');
    await chooser.setInputFiles([picture, { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('no') }]);
    await page.getByText('note.txt could not be added.').waitFor();
    await page.getByRole('button', { name: 'Remove dot.png' }).click();
    expect(await page.getByText('dot.png').count()).toBe(0);
    await chooser.setInputFiles([picture]);
    await page.getByRole('button', { name: 'Remove dot.png' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await say(page, 'What is this? [[say A dot.]]');
    await last.getByText(charged).waitFor();
    const base64 = onePixel.toString('base64');
    expect(JSON.parse(app.simulator.requests().at(-1)?.body.toString('utf8') ?? '{}').messages).toEqual([
      {
        role: 'user',
        content: [
          protocol === 'messages'
            ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }
            : { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
          { type: 'text', text: 'What is this? [[say A dot.]]' },
        ],
      },
    ]);
    await last.getByText(/Raw request/).click();
    expect(await last.locator('.raw').innerText()).toContain(`… (${base64.length})`);
    expect(await page.content()).not.toContain(base64);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('what a question can cost', () => {
  it.each([
    ['en', 1_280, 'light'],
    ['vi', 390, 'dark'],
  ] as const)(
    'stands below it before it is sent, with what that rests on (%s, %i px)',
    async (locale, width, colorScheme) => {
      const { page, unexpected } = await openPlayground('/playground?model=sim-medium', {
        locale,
        colorScheme,
        viewport: { width, height: 900 },
      });
      const texts = estimateTexts[locale];
      const before = app.simulator.requests().length;
      await page.locator('.composer textarea').fill('x'.repeat(3_000));
      await page.locator('.composer summary').click();
      const estimate = page.locator('.composer .estimate');
      // A token a byte, and the longest answer that is asked for.
      await estimate.getByText(/0[.,]\d/).waitFor();
      const lines = await estimate.locator('li').allInnerTexts();
      expect(lines[0]).toContain(texts.kinds['text']);
      expect(Number(lines[0]?.replace(/\D/g, ''))).toBeGreaterThan(3_000);
      const picture = { name: 'dot.png', mimeType: 'image/png', buffer: onePixel };
      await page.locator('input[type=file]').setInputFiles([picture]);
      await estimate.getByText(texts.window.split('{what}')[1]?.slice(0, 20) ?? '').waitFor();
      expect(app.simulator.requests().length).toBe(before);
      expect(await findBarriers(page)).toEqual([]);
      expect(unexpected()).toEqual([]);
      await page.context().close();
    },
  );
});

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

describe('what is refused', () => {
  it('for want of budget says what is left, and leads to where there is more', async () => {
    const { page, person, last, unexpected } = await openPlayground();
    await endBudget(person);
    await say(page, 'Anything');
    await last.getByText('The budget is used up or has expired.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await last.getByRole('link', { name: 'Top up' }).click();
    await page.getByRole('heading', { name: 'Top up', level: 1 }).waitFor();
    expect(unexpected(/status of 402/)).toEqual([]);
    await page.context().close();
  });

  it('for a key that was deleted asks for another one, and the question is not lost, also in Vietnamese', async () => {
    const { page, person, key, last, unexpected } = await openPlayground('/playground?model=sim-small', {
      locale: 'vi-VN',
    });
    orThrow(await person.steyg.console.keys.deleteKey({ id: key.id }));
    await say(page, 'Có ai không? [[say Có.]]');
    await last.getByText(vi.calls.key).waitFor();
    await last.getByRole('button', { name: vi.playground.otherKey }).click();
    await page.getByRole('button', { name: vi.playground.makeKey }).click();
    await last.getByRole('button', { name: vi.common.retry }).click();
    await last.locator('.answer', { hasText: 'Có.' }).waitFor();
    expect(unexpected(/status of 401/)).toEqual([]);
    await page.context().close();
  });

  it('by the model says so in people’s words, with the id of the request', async () => {
    const { page, last, unexpected } = await openPlayground();
    await say(page, '[[status 500]]');
    await last.getByText('The model failed or is not responding').waitFor();
    await last.getByText(/Request id: [0-9a-f-]{36}/).waitFor();
    expect(await last.locator('.answer').count()).toBe(0);
    expect(unexpected(/status of 502/)).toEqual([]);
    await page.context().close();
  });
});

describe('the key of the tab', () => {
  it('is not there for the next person at the same tab', async () => {
    const { page, person, unexpected } = await openPlayground();
    await page.getByText('Key in use:').waitFor();
    // It stays while its person goes about, and no longer.
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByText('Key in use:').waitFor();
    const next = await createPerson(app);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.getByLabel('E-mail address').fill(next.email);
    await page.getByLabel('Password').fill(next.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByRole('heading', { name: 'Key for this tab' }).waitFor();
    expect(await page.getByText('Key in use:').count()).toBe(0);
    expect(person.email).not.toBe(next.email);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

/** Takes back all that an account was given. */
async function endBudget(person: Awaited<ReturnType<typeof createPerson>>): Promise<void> {
  const budget = await person.steyg.console.ledger.budget();
  const accountId = (await person.steyg.console.people.me())?.accounts[0]?.id ?? '';
  const { operator } = (await signInOperator(app)).steyg.console;
  for (const { id } of budget?.grants ?? []) {
    orThrow(await operator.endGrant({ input: { accountId, grantId: id, reason: 'for a test' } }));
  }
}
