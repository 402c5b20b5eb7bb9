/** Signing in with Google and with GitHub, from the button to the account: one mailbox is one person with one trial. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  clients,
  type IdentityVendor,
  type IdentityVendors,
  playIdentityVendors,
  type VendorPerson,
} from './support/identity-vendors.ts';
import {
  type Browser,
  type ControlPlane,
  createControlPlane,
  createPerson,
  publicUrl,
  signIn,
} from './support/server.ts';
import { visitFrom } from './support/visits.ts';

let vendors: IdentityVendors;
let plane: ControlPlane;
let number = 0;
let person: VendorPerson;

beforeAll(async () => {
  vendors = playIdentityVendors();
  plane = await createControlPlane({ signIn: { providers: { ...clients, oidc: null } } });
});
afterAll(async () => {
  vendors.restore();
  await plane.close();
});
beforeEach(() => {
  number += 1;
  vendors.asked.length = 0;
  person = { id: 1_000 + number, name: 'Pat', email: `p${number}@example.com`, verified: true };
});

const both = ['google', 'github'] as const satisfies IdentityVendor[];
// Attempts of one network are limited, and each test is a network.
const visit = (browser: Browser, address: string) => visitFrom(`203.0.113.${number}`, plane, browser, address);
const begin = (browser: Browser, vendor: IdentityVendor) => visit(browser, `/sign-in/with/${vendor}?next=%2Fkeys`);

/** Signs in and returns where the browser ends. */
async function enter(vendor: IdentityVendor, browser: Browser, as = person): Promise<string> {
  return visit(browser, vendors.consent(await begin(browser, vendor), as));
}

const whoAmI = async (browser: Browser) =>
  (await browser.send('{ me { user { id email } accounts { id email } } }')).data?.['me'];

/** Requests for tokens. */
const exchanges = () => vendors.asked.filter((what) => what.startsWith('POST '));

/** The people and trials of a mailbox. */
async function countsOf(email: string): Promise<{ people: number; accounts: number; trials: number }> {
  const { rows } = await plane.database.pool.query(
    `SELECT (SELECT count(*)::int FROM app_user WHERE email = $1) AS people,
            (SELECT count(*)::int FROM account WHERE email = $1) AS accounts,
            (SELECT count(*)::int FROM "grant" g JOIN account a ON a.id = g.account_id WHERE a.email = $1 AND g.kind = 'trial') AS trials`,
    [email],
  );
  return rows[0];
}
const one = { people: 1, accounts: 1, trials: 1 };
const none = { people: 0, accounts: 0, trials: 0 };

describe.each(both)('with %s', (vendor) => {
  it('a confirmed mailbox gets an account with the trial, and comes back to it', async () => {
    const browser = plane.browser();
    expect(await enter(vendor, browser)).toBe(`${publicUrl}/keys`);
    expect(await whoAmI(browser)).toMatchObject({ user: { email: person.email }, accounts: [{ email: person.email }] });
    const again = plane.browser();
    expect(await enter(vendor, again)).toBe(`${publicUrl}/keys`);
    expect(await whoAmI(again)).toEqual(await whoAmI(browser));
    expect(await countsOf(person.email)).toEqual(one);
    const { rows } = await plane.database.pool.query(
      `SELECT i.provider, i.issuer, i.subject, count(c.id)::int AS credentials FROM app_user u
         JOIN user_identity i ON i.user_id = u.id LEFT JOIN user_credential c ON c.user_id = u.id
        WHERE u.email = $1 GROUP BY 1, 2, 3`,
      [person.email],
    );
    const issuer = { google: 'https://accounts.google.com', github: 'https://github.com' }[vendor];
    expect(rows).toEqual([{ provider: vendor, issuer, subject: String(person.id), credentials: 0 }]);
  });

  it('an address that is not confirmed there is refused, whether or not it is known here', async () => {
    const known = await createPerson(plane, person.email);
    const before = await whoAmI(known);
    for (const email of [person.email, `nobody${number}@example.com`]) {
      const browser = plane.browser();
      expect(await enter(vendor, browser, { ...person, email, verified: false })).toContain(
        `${publicUrl}/sign-in?error=`,
      );
      expect(await whoAmI(browser)).toBeNull();
    }
    expect(await countsOf(`nobody${number}@example.com`)).toEqual(none);
    expect(await countsOf(person.email)).toEqual(one);
    expect(await whoAmI(known)).toEqual(before);
  });

  it('an answer with another state is refused, and its code is not even exchanged', async () => {
    const browser = plane.browser();
    const back = new URL(vendors.consent(await begin(browser, vendor), person));
    const states = [`${back.searchParams.get('state')}x`, 'x', ''];
    for (const state of states) {
      back.searchParams.set('state', state);
      expect(await visit(browser, back.href)).toContain('/sign-in?error=');
      expect(await whoAmI(browser)).toBeNull();
    }
    expect(exchanges()).toEqual([]);
    expect(await countsOf(person.email)).toEqual(none);
  });

  it('an answer for another browser is refused', async () => {
    const back = vendors.consent(await begin(plane.browser(), vendor), person);
    const victim = plane.browser();
    expect(await visit(victim, back)).toContain('/sign-in?error=');
    expect(await whoAmI(victim)).toBeNull();
    expect(exchanges()).toEqual([]);
  });

  it('a code works once', async () => {
    const browser = plane.browser();
    const back = vendors.consent(await begin(browser, vendor), person);
    expect(await visit(browser, back)).toBe(`${publicUrl}/keys`);
    const another = plane.browser();
    expect(await visit(another, back)).toContain('/sign-in?error=');
    expect(await whoAmI(another)).toBeNull();
  });
});

describe('an address of GitHub', () => {
  it('that is shown does not count, confirmed or not: the primary one does', async () => {
    for (const verified of [false, true]) {
      const shown = `shown${number}-${verified}@example.com`;
      const browser = plane.browser();
      const as = { ...person, shown, others: [{ email: shown, verified }] };
      expect(await enter('github', browser, as)).toBe(`${publicUrl}/keys`);
      expect(await whoAmI(browser)).toMatchObject({ user: { email: person.email } });
      expect(await countsOf(shown)).toEqual(none);
    }
  });

  it('that is primary and not confirmed is refused, beside a shown one that is', async () => {
    const shown = `shown${number}@example.com`;
    const as = { ...person, verified: false, shown, others: [{ email: shown, verified: true }] };
    expect(await enter('github', plane.browser(), as)).toBe(`${publicUrl}/sign-in?error=unconfirmed`);
    expect(await countsOf(shown)).toEqual(none);
  });

  it('is the primary one where none is shown', async () => {
    const browser = plane.browser();
    await enter('github', browser, { ...person, others: [{ email: `other${number}@example.com`, verified: true }] });
    expect(await whoAmI(browser)).toMatchObject({ user: { email: person.email } });
  });
});

describe('one mailbox', () => {
  it('is one person with one trial by password, Google and GitHub', async () => {
    const browsers = [await createPerson(plane, person.email), plane.browser(), plane.browser()] as const;
    const waits = (vendor: string) => `${publicUrl}/sign-in?link=${vendor}&next=%2Fkeys`;
    expect(await enter('google', browsers[1])).toBe(waits('google'));
    await signIn(browsers[1], person.email);
    expect(await enter('github', browsers[2], { ...person, email: person.email.toUpperCase() })).toBe(waits('github'));
    // The account at Google proves the person as well as the password does.
    expect(await enter('google', browsers[2])).toBe(`${publicUrl}/keys`);
    expect(await enter('github', plane.browser(), { ...person, email: 'another@example.com' })).toBe(
      `${publicUrl}/keys`,
    );
    const [first, ...others] = await Promise.all(browsers.map(whoAmI));
    expect(first).toMatchObject({ user: { email: person.email } });
    for (const other of others) expect(other).toEqual(first);
    expect(await countsOf(person.email)).toEqual(one);
  });

  it('is one person with one trial when it comes by Google and GitHub at the same moment', async () => {
    const browsers = [plane.browser(), plane.browser()] as const;
    await Promise.all([enter('google', browsers[0]), enter('github', browsers[1])]);
    // One of both came first; the other waits for a proof, which the first one is.
    for (const browser of browsers) for (const vendor of both) await enter(vendor, browser);
    for (const browser of browsers) for (const vendor of both) await enter(vendor, browser);
    const [first, second] = await Promise.all(browsers.map(whoAmI));
    expect(first).toMatchObject({ user: { email: person.email } });
    expect(second).toEqual(first);
    expect(await countsOf(person.email)).toEqual(one);
  });
});
