import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createPerson, type Person, signInOperator, siteSettings, transferMoney } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';

/**
 * An erasure beside traffic. Every text that a customer, the programs of a customer, or an operator about a customer can write
 * is a word that nobody else writes; the account is erased at a random moment, while requests run and others still write; then
 * every table and every file is searched for the words.
 */

let app: TestApp;
beforeAll(async () => {
  const port = await freePort();
  app = await startApp({
    env: { ...siteSettings(port), BANK_BIN: '970436', BANK_ACCOUNT: '0011001234567', BANK_NAME: 'TEST' },
    simulator: { tokensPerSecond: 100 },
  });
});
afterAll(() => app.close());

let made = 0;
/** A word that is found nowhere else; the number says which text it was. */
const createWords = () => {
  const names = new Map<string, string>();
  return {
    names,
    word: (what: string): string => {
      made += 1;
      const word = `zq${made.toString(36).padStart(4, '0')}qz`;
      names.set(word, what);
      return word;
    },
  };
};
type Word = ReturnType<typeof createWords>['word'];

const on = 'accountId: $id';
/** What the owner writes before, and some of it again while the account is erased. */
const writers = (word: Word): Record<string, { document: string; variables: Record<string, unknown> }> => ({
  company: {
    document: `mutation ($id: ID!, $name: String!, $address: String!) {
      setCompany(input: { ${on}, company: { name: $name, address: $address } }) { __typename } }`,
    variables: { name: word('company'), address: word('address of the company') },
  },
  key: {
    document: `mutation ($id: ID!, $name: String!, $once: String!) {
      createKey(input: { ${on}, name: $name, idempotencyKey: $once, addresses: ["0.0.0.0/0"] }) { __typename } }`,
    variables: { name: word('key'), once: word('idempotency key of a key') },
  },
  project: {
    document: `mutation ($id: ID!, $name: String!) { createProject(input: { ${on}, name: $name }) { __typename } }`,
    variables: { name: word('project') },
  },
  token: {
    document: `mutation ($id: ID!, $name: String!) {
      createAccessToken(input: { ${on}, name: $name, scopes: [READ] }) { __typename } }`,
    variables: { name: word('access token') },
  },
  channel: {
    document: `mutation ($id: ID!, $name: String!, $target: String!) { createNoticeChannel(input: { ${on}, kind: TELEGRAM,
      name: $name, target: $target, secret: "123456789:AAExampleTokenOfABotThatIsPlayed_0000" }) { __typename } }`,
    variables: { name: word('channel'), target: `@${word('target of a channel')}` },
  },
  webhook: {
    document: `mutation ($id: ID!, $url: String!, $description: String!) {
      createWebhookEndpoint(input: { ${on}, url: $url, description: $description }) { __typename } }`,
    variables: { url: `https://93.184.216.34/${word('address of a webhook')}`, description: word('webhook') },
  },
  invitation: {
    document: `mutation ($id: ID!, $email: String!) {
      inviteMember(input: { ${on}, email: $email, role: VIEWER }) { __typename } }`,
    variables: { email: `${word('invited')}@example.com` },
  },
  gift: {
    document: `mutation ($id: ID!, $to: String!, $once: String!) {
      createOrder(input: { ${on}, planId: "starter", giftTo: $to, idempotencyKey: $once }) { __typename ... on Order { memo priceVnd } } }`,
    variables: { to: `${word('receiver of a gift')}@example.com`, once: word('idempotency key of an order') },
  },
});

/** What operators write about a customer. */
const operatorWriters = (word: Word): Record<string, { document: string; variables: Record<string, unknown> }> => ({
  grant: {
    document: `mutation ($id: ID!, $reason: String!, $once: String!) {
      giveGrant(input: { ${on}, amount: "1", reason: $reason, idempotencyKey: $once }) { __typename } }`,
    variables: { reason: word('reason of a grant'), once: word('idempotency key of a grant') },
  },
  note: {
    document: `mutation ($id: ID!, $text: String!) { addAccountNote(input: { ${on}, text: $text }) { __typename } }`,
    variables: { text: word('note') },
  },
});

/** A stream that says whom it is for, read to its end. */
async function stream(secret: string, word: Word, hundredths: number): Promise<void> {
  const response = await fetch(`${app.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'x-session-id': word('session'),
      'x-steyg-tags': `team=${word('tag')}`,
    },
    body: JSON.stringify({
      model: 'sim-small',
      stream: true,
      user: word('end user'),
      messages: [{ role: 'user', content: `[[len ${hundredths}]] ${word('prompt')}` }],
    }),
  });
  await response.text();
}

/** Every file below a folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

/** Where some of the words are: `table: what`, `file: what`. */
async function search(names: ReadonlyMap<string, string>): Promise<string[]> {
  const { rows: tables } = await app.pool.query<{ place: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS place FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1`,
  );
  const found = new Set<string>();
  const note = (place: string, text: string) => {
    for (const [word] of text.matchAll(/zq[0-9a-z]{4}qz/g))
      if (names.has(word)) found.add(`${place}: ${names.get(word)}`);
  };
  for (const { place } of tables) {
    const { rows } = await app.pool.query<{ text: string }>(
      `SELECT t::text AS text FROM ${place} AS t WHERE t::text ~ 'zq[0-9a-z]{4}qz'`,
    );
    for (const { text } of rows) note(place, text);
  }
  for (const path of filesIn(app.dataDir))
    note(path.slice(app.dataDir.length), `${path} ${readFileSync(path, 'latin1')}`);
  for (const line of app.logged) note('log', line);
  return [...found].sort();
}

/** Signs a customer up whose every text is a word, with a key, an unpaid, a partly paid and a paid order. */
async function createCustomer(word: Word): Promise<{ person: Person; id: string; secret: string }> {
  const person = await createPerson(app, { name: word('name of a person') });
  const id = Buffer.from(`Account:${person.accountId}`).toString('base64');
  const { steyg } = person;
  await steyg.graphql(`mutation ($id: ID!) { setAttributionMode(input: { ${on}, mode: PLAIN }) { __typename } }`, {
    id,
  });
  const answer = (await steyg.graphql(
    `mutation ($id: ID!, $name: String!) { createKey(input: { ${on}, name: $name }) { __typename ... on NewApiKey { secret } } }`,
    { id, name: word('first key') },
  )) as { createKey: { secret: string } };
  for (const paid of [1, 0.5, 0]) {
    const { document, variables } = writers(word)['gift'] ?? { document: '', variables: {} };
    const ordered = (await steyg.graphql(document, { id, ...variables })) as {
      createOrder: { memo: string; priceVnd: string };
    };
    const { memo, priceVnd } = ordered.createOrder;
    if (paid > 0) await transferMoney(app, { amountVnd: Number(priceVnd) * paid, memo });
  }
  return { person, id, secret: answer.createKey.secret };
}

it('leaves no text of the account anywhere but in the books, at whatever moment it comes', async () => {
  const operator = await signInOperator(app);
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        delayMs: fc.nat(400),
        streams: fc.array(fc.integer({ min: 0, max: 80 }), { minLength: 3, maxLength: 6 }),
      }),
      fc.array(fc.nat(500), { minLength: 10, maxLength: 10 }),
      async ({ delayMs, streams }, moments) => {
        const { names, word } = createWords();
        const { person, id, secret } = await createCustomer(word);
        const write = async (steyg: Person['steyg'], of: typeof writers) => {
          for (const [what, { document, variables }] of Object.entries(of(word))) {
            const answer = (await steyg.graphql(document, { id, ...variables })) as Record<
              string,
              { __typename: string }
            >;
            expect([what, ...Object.values(answer).map(({ __typename }) => __typename)].join()).not.toContain('Error');
          }
        };
        await write(person.steyg, writers);
        await write(operator.steyg, operatorWriters);
        await stream(secret, word, 0);
        const before = await search(names);
        // The words arrived: what is not found now cannot be missed afterwards.
        const seen = new Set(before.map((line) => line.replace(/^.*: /, '')));
        expect([...new Set(names.values())].filter((what) => !seen.has(what))).toEqual(['prompt']);

        const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
        const late = [
          ...Object.values(writers(word)).map((writer) => ({ ...writer, steyg: person.steyg })),
          ...Object.values(operatorWriters(word)).map((writer) => ({ ...writer, steyg: operator.steyg })),
        ];
        const under = [
          ...streams.map((hundredths) => stream(secret, word, hundredths)),
          ...late.map(async ({ steyg, document, variables }, index) => {
            await pause(moments[index] ?? 0);
            // Refused or made: whichever came first.
            await steyg.graphql(document, { id, ...variables }).catch(() => undefined);
          }),
        ];
        await pause(delayMs);
        const { email, password } = person;
        expect(
          await person.steyg.graphql(
            `mutation ($id: ID!, $email: String!, $password: String!) {
              eraseAccount(input: { ${on}, email: $email, password: $password }) { __typename } }`,
            { id, email, password },
          ),
        ).toEqual({ eraseAccount: { __typename: 'AccountErased' } });
        await Promise.all(under);
        await app.ledger(person.accountId);
        // What the database has stays in the spool for a second.
        const found = async () =>
          // Receipts of paid orders keep their parties as long as the books.
          (await search(names)).filter((line) => !line.startsWith('public.order_parties: '));
        await vi.waitFor(
          async () => expect((await found()).filter((line) => line.startsWith('/spool'))).toEqual([]),
          5_000,
        );
        expect(await found()).toEqual([]);
      },
    ),
    { numRuns: 4, endOnFailure: true },
  );
}, 120_000);
