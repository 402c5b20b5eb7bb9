import { orThrow } from '@steyg/sdk';
import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { findBarriers, openPage, pressUntil, watch } from './browser.ts';
import { ask, createPerson, settled } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// Loading, empty, failed and changed states: pages keep their data and say what to do.

useService();

/**
 * Holds what the page asks for by this name. `next` resolves to the next request, which is to be answered or let go;
 * `release` lets all go, present and future: the page asks by itself, too, and may have given a held request up.
 */
async function holdOperation(page: Page, name: string) {
  const arrived: Route[] = [];
  let isReleased = false;
  await page.route('**/graphql', async (route) => {
    if (!isReleased && route.request().postData()?.includes(name) === true) arrived.push(route);
    else await route.fallback();
  });
  return {
    async next(): Promise<Route> {
      await expect.poll(() => arrived.length).toBeGreaterThan(0);
      return arrived.shift() as Route;
    },
    async release(): Promise<void> {
      isReleased = true;
      await Promise.all(arrived.splice(0).map((route) => route.continue().catch(() => undefined)));
    },
  };
}

describe('a change that the server refuses', () => {
  it('is shown at once and taken back, with the reason', async () => {
    const owner = await createPerson(app);
    const guest = await createPerson(app);
    orThrow(await owner.steyg.console.keys.createKey({ input: { name: 'shared' } }));
    const mayBe = owner.steyg.console.accounts;
    // The guest may delete keys when the page is loaded, and no more when the button is pressed.
    await app.pool.query(
      `INSERT INTO member (account_id, user_id, role) SELECT $1, id, 'member' FROM app_user WHERE email = $2`,
      [owner.accountId, guest.email],
    );
    await app.pool.query(`DELETE FROM member WHERE account_id = $1`, [guest.accountId]);
    const { page, unexpected } = await openAs(guest, '/keys');
    await page.getByRole('button', { name: 'Delete key “shared”' }).click();
    const member = (await mayBe.listMembers({}))?.find(({ email }) => email === guest.email);
    orThrow(await mayBe.setMemberRole({ id: member?.id ?? '', role: 'VIEWER' }));

    const deletion = await holdOperation(page, 'deleteKey');
    // The list is not there to ask again yet: what comes back was kept.
    const list = await holdOperation(page, 'listKeys');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    const request = await deletion.next();
    // The request is still open, and the key has left the list already.
    await page.getByRole('rowheader', { name: /shared/, includeHidden: true }).waitFor({ state: 'detached' });
    await request.continue();
    const asked = await list.next();
    await page.getByRole('rowheader', { name: /shared/, includeHidden: true }).waitFor();
    await asked.continue().catch(() => undefined);
    await list.release();
    await page.locator('.toast.bad').waitFor();
    expect(await page.locator('.toast.bad').innerText()).not.toBe('');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { rows } = await app.pool.query('SELECT deleted_at FROM api_key WHERE account_id = $1', [owner.accountId]);
    expect(rows).toEqual([{ deleted_at: null }]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('without a network', () => {
  it('the page says so, keeps what it shows, refuses changes at once, and goes on by itself', async () => {
    const person = await createPerson(app);
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'kept' } }));
    const { page, unexpected } = await openAs(person, '/keys');
    const offline = page.getByText('You are offline.');
    await page.context().setOffline(true);
    await offline.waitFor();
    await page.getByRole('rowheader', { name: /kept/ }).waitFor();
    expect(await findBarriers(page)).toEqual([]);

    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('not now');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('not now');

    await page.context().setOffline(false);
    await offline.waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.locator('.secret code').waitFor();
    expect((await ask(app, secret ?? '', 'ping')).status).toBe(200);
    expect(unexpected(/ERR_INTERNET_DISCONNECTED/)).toEqual([]);
    await page.context().close();
  });
});

describe('a session that has ended elsewhere', () => {
  it('leads to the sign-in page, and from there back to where one was', async () => {
    const person = await createPerson(app);
    const { page, unexpected } = await openAs(person, '/keys');
    orThrow(await person.steyg.console.people.signOut());
    await page.getByRole('link', { name: 'Members' }).click();
    await page.waitForURL('**/sign-in?next=*');
    // Nothing of the account is left on the page.
    expect(await page.content()).not.toContain(person.email);
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/members');
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
    expect(unexpected(/status of 401/)).toEqual([]);
    await page.context().close();
  });

  it('shows no data of the previous person to the next one at the same browser', async () => {
    const first = await createPerson(app, { name: 'First Person' });
    const second = await createPerson(app, { name: 'Second Person' });
    orThrow(await first.steyg.console.keys.createKey({ input: { name: 'of the first' } }));
    const { page, unexpected } = await openAs(first, '/keys');
    await page.getByRole('rowheader', { name: /of the first/ }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.getByLabel('E-mail address').fill(second.email);
    await page.getByLabel('Password').fill(second.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('No keys yet.').waitFor();
    expect(await page.content()).not.toContain('of the first');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('two tabs of one browser', () => {
  it('are always of the same person: another sign-in and a sign-out count in both', async () => {
    const first = await createPerson(app, { name: 'First Person' });
    const second = await createPerson(app, { name: 'Second Person' });
    orThrow(await first.steyg.console.keys.createKey({ input: { name: 'of the first' } }));
    const { page, unexpected } = await openAs(first, '/keys');
    await page.getByRole('rowheader', { name: /of the first/ }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('half typed');

    const other = await watch(await page.context().newPage(), app.url);
    await other.page.goto('/');
    await other.page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in?next=*');
    await other.page.getByRole('link', { name: 'Sign in' }).first().click();
    await other.page.getByLabel('E-mail address').fill(second.email);
    await other.page.getByLabel('Password').fill(second.password);
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    // An untouched tab shows the same page for the person who is signed in now.
    await page.getByText('No keys yet.').waitFor();
    await page.getByText('Second Person').waitFor();
    expect(await page.content()).not.toMatch(/of the first|First Person|half typed/);
    expect([...unexpected(), ...other.unexpected()]).toEqual([]);
    await page.context().close();
  });

  it('also when the other one cannot tell: what is read next shows who it is', async () => {
    const first = await createPerson(app, { name: 'First Person' });
    const second = await createPerson(app, { name: 'Second Person' });
    orThrow(await first.steyg.console.keys.createKey({ input: { name: 'of the first' } }));
    const { page, unexpected } = await openAs(first, '/keys');
    await page.getByRole('rowheader', { name: /of the first/ }).waitFor();
    await second.signIn(page.context());
    await page.getByLabel('Show deleted keys').check();
    await page.getByText('Second Person').waitFor();
    await page.getByText('No keys yet.').waitFor();
    expect(await page.content()).not.toMatch(/of the first|First Person/);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('what is not there yet', () => {
  it('is announced as loading, and a failure names its request and can be tried again', async () => {
    const person = await createPerson(app);
    const watched = await openPage(browser, app.url);
    const { page, unexpected } = watched;
    await person.signIn(page.context());
    const list = await holdOperation(page, 'listKeys');
    await page.goto('/keys');
    const first = await list.next();
    await page.locator('main').getByRole('status', { name: 'Loading' }).first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    // What only reads is asked for once more by itself: it has to fail again to be a failure.
    const broken = {
      status: 500,
      contentType: 'application/json',
      headers: { 'x-request-id': '01a1fe05-3fc9-75b1-910b-9198c1ef696d' },
      body: JSON.stringify({
        errors: [{ message: 'Something went wrong.', extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
      }),
    };
    await first.fulfill(broken);
    await (await list.next()).fulfill(broken);
    const failure = page.locator('main').getByRole('alert');
    await failure.getByText('01a1fe05-3fc9-75b1-910b-9198c1ef696d').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await list.release();
    await pressUntil(failure.getByRole('button', { name: 'Try again' }), page.getByText('No keys yet.'));
    expect(unexpected(/status of 500/)).toEqual([]);
    await page.context().close();
  });

  it('leads a new account on: every empty list says what to do next', async () => {
    const person = await createPerson(app);
    const { page, unexpected } = await openAs(person, '/');
    const said: Record<string, string> = {};
    for (const path of ['/', '/keys', '/activity', '/notices']) {
      await page.goto(path);
      await settled(page);
      said[path] = await page.locator('main .empty').first().innerText();
    }
    expect(Object.entries(said).filter(([, text]) => text.length < 20)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('of a long export is shown as progress, and can be called off', async () => {
    const person = await createPerson(app);
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'csv' } }));
    expect((await ask(app, secret ?? '', 'ping')).status).toBe(200);
    await app.quiet(person.accountId);
    const { page, unexpected } = await openAs(person, '/activity');
    const { promise: asked, resolve } = Promise.withResolvers<Route>();
    await page.route('**/downloads/**', (route) => resolve(route));
    await page.getByRole('button', { name: 'Download CSV' }).click();
    await asked;
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('progressbar').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
