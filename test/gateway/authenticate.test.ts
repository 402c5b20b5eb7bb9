import { describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../server/gateway/entrance/authenticate.ts';
import type { Principal } from '../../server/keys/keyring.ts';
import { createSecret, parseKey } from '../../server/keys/secret.ts';

/** What a wrong credential costs, and which of two credentials counts. */

const principal: Principal = {
  accountId: 'account',
  keyId: 'key',
  projectId: null,
  models: null,
  suspended: false,
  probes: false,
  trial: false,
  requestsPerMinute: null,
  tokensPerMinute: null,
  maxConcurrent: null,
  mayCallFrom: null,
  attribution: 'digests',
  account: null,
};

/** A keyring that knows one key and counts how often it is asked. */
function setUp() {
  const { secret } = createSecret('key');
  const known = parseKey(secret)?.hash.toString('hex');
  const asked = { find: 0, findNow: 0 };
  const look = async (hash: Buffer) => (hash.toString('hex') === known ? principal : null);
  const authenticator = createAuthenticator({
    keyring: {
      find(hash) {
        asked.find += 1;
        return look(hash);
      },
      findNow(hash) {
        asked.findNow += 1;
        return look(hash);
      },
      findById: async () => principal,
      drop() {},
    },
  });
  return { secret, asked, authenticator };
}

const unknown = createSecret('key').secret;
const token = createSecret('token').secret;

describe('the database is not asked for', () => {
  it.each([
    ['nothing', {}],
    ['an empty header', { authorization: '' }],
    ['a bearer without a key', { authorization: 'Bearer ' }],
    ['garbage', { authorization: 'Bearer garbage' }],
    ['a key of another service', { authorization: `Bearer sk-${'a'.repeat(48)}` }],
    [
      'a slip in the key',
      { authorization: `Bearer ${unknown.slice(0, 20)}${swapped(unknown[20])}${unknown.slice(21)}` },
    ],
    ['a slip in its checksum', { 'x-api-key': unknown.slice(0, -1) + swapped(unknown.at(-1)) }],
    ['a key in other case', { authorization: `Bearer ${unknown.toUpperCase()}` }],
    ['a key that was cut off', { authorization: `Bearer ${unknown.slice(0, -1)}` }],
    ['two keys in one', { authorization: `Bearer ${unknown}${unknown}` }],
    ['a token of the control plane', { authorization: `Bearer ${token}` }],
    ['another scheme', { authorization: `Basic ${unknown}` }],
    ['a key without a scheme', { authorization: unknown }],
  ])('%s', async (_what, headers) => {
    const { authenticator, asked } = setUp();
    expect(await authenticator.authenticate(headers)).toBeNull();
    expect(await authenticator.authenticateNow(headers)).toBeNull();
    expect(asked).toEqual({ find: 0, findNow: 0 });
  });

  it('a wrong key that comes again and again, until some key changes', async () => {
    const { authenticator, asked } = setUp();
    const headers = { authorization: `Bearer ${unknown}` };
    for (let i = 0; i < 100; i += 1) {
      expect(await authenticator.authenticate(headers)).toBeNull();
      expect(await authenticator.authenticateNow(headers)).toBeNull();
    }
    expect(asked).toEqual({ find: 1, findNow: 0 });
    authenticator.drop();
    expect(await authenticator.authenticateNow(headers)).toBeNull();
    expect(asked).toEqual({ find: 1, findNow: 1 });
  });
});

it('a lookup that began before the keys changed is not remembered: the key may be valid by now', async () => {
  const { secret } = createSecret('key');
  const answers = [Promise.withResolvers<Principal | null>(), Promise.withResolvers<Principal | null>()];
  let asked = 0;
  const find = async (): Promise<Principal | null> => (await answers[asked++]?.promise) ?? null;
  const authenticator = createAuthenticator({
    keyring: { find, findNow: find, findById: find, drop() {} },
  });
  const headers = { authorization: `Bearer ${secret}` };
  const early = authenticator.authenticate(headers);
  // The key is made now; the notice of it arrives before the early lookup's answer.
  authenticator.drop();
  answers[0]?.resolve(null);
  expect(await early).toBeNull();
  answers[1]?.resolve(principal);
  expect(await authenticator.authenticate(headers)).toEqual(principal);
});

it('a key that is known is looked up, in either header and in any case of the scheme', async () => {
  const { secret, authenticator } = setUp();
  for (const headers of [
    { authorization: `Bearer ${secret}` },
    { authorization: `bearer  ${secret} ` },
    { 'x-api-key': secret },
    // Another scheme is no credential of ours.
    { authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': secret },
    // The bearer token wins.
    { authorization: `Bearer ${secret}`, 'x-api-key': unknown },
  ]) {
    expect(await authenticator.authenticate(headers)).toEqual(principal);
    expect(await authenticator.authenticateNow(headers)).toEqual(principal);
  }
});

it.each(['Bearer', 'Bearer garbage', `Bearer ${unknown}`])('a bad bearer token is not made up for: %s', async (bad) => {
  const { secret, authenticator } = setUp();
  expect(await authenticator.authenticate({ authorization: bad, 'x-api-key': secret })).toBeNull();
});

/** Another letter or digit. */
function swapped(character: string | undefined): string {
  return character === 'a' ? 'b' : 'a';
}
