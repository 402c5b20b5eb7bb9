/** The doctor: each fault of a set-up has its finding. */

import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Diagnosis, type DoctorRequest, doctor } from '@steyg/sdk/doctor';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isHeldBack } from '../../sdk/src/doctor/calls.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let customer: Customer;

beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
});
afterAll(() => app.close());

const examine = (more: Partial<DoctorRequest> = {}) =>
  doctor({ baseUrl: app.baseUrl, apiKey: customer.secret, ...more });
/** What is not as it should be, as `check: message`. */
const complaints = ({ findings }: Diagnosis) =>
  findings
    .filter(({ level }) => level === 'error' || level === 'warning')
    .map(({ check, message }) => `${check}: ${message}`);
const levelOf = ({ findings }: Diagnosis, check: string) => findings.find((finding) => finding.check === check)?.level;

/** A server in between, or in the service's place. */
async function withServer<T>(listener: RequestListener, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('a set-up that works', () => {
  it('has nothing to complain about, and says what it looked at', async () => {
    const diagnosis = await examine({ models: { main: 'sim-large', small: 'steyg/sim-small' }, environment: {} });
    expect(complaints(diagnosis)).toEqual([]);
    expect(diagnosis.healthy).toBe(true);
    expect([...new Set(diagnosis.findings.map(({ check }) => check))]).toEqual([
      'address',
      'reachability',
      'clock',
      'key',
      'budget',
      'models',
      'environment',
      'messages',
      'chat completions',
      'streaming',
    ]);
    expect(Number(diagnosis.costUsd)).toBeGreaterThan(0);
  });

  it('costs nothing when nothing is to be spent', async () => {
    const before = app.simulator.requests().length;
    const diagnosis = await examine({ spend: false });
    expect(diagnosis).toMatchObject({ healthy: true, costUsd: null });
    expect(levelOf(diagnosis, 'streaming')).toBe('skipped');
    expect(app.simulator.requests()).toHaveLength(before);
  });
});

const refusal = async () => Response.json({ error: {} }, { status: 401 });

describe('the address', () => {
  it.each([
    ['/api/v1', 'ends in /v1'],
    ['/api/v1/', 'ends in /v1'],
    ['/api/v1/v1', 'ends in /v1/v1'],
    ['/api/v1/messages', 'ends in /v1/messages'],
    ['/keys', 'another path'],
    ['/api/docs', 'another path'],
    ['', 'another path'],
    ['/', 'another path'],
  ])('%j is put right, and the rest examined all the same', async (path, complaint) => {
    const diagnosis = await examine({ baseUrl: `${app.url}${path}`, spend: false });
    expect(complaints(diagnosis)).toEqual([expect.stringContaining(complaint)]);
    expect(diagnosis.findings.find(({ level }) => level === 'error')?.remedy).toContain(app.baseUrl);
    expect(levelOf(diagnosis, 'key')).toBe('ok');
    expect(diagnosis.healthy).toBe(false);
  });

  it.each(["https://steyg.test/api'x", 'https://u:p@steyg.test/api', 'https://steyg.test/api?x'])(
    '%j has something in it that does not belong there',
    async (baseUrl) => {
      const diagnosis = await examine({ baseUrl, fetch: refusal, spend: false });
      expect(complaints(diagnosis)[0]).toContain('odd characters');
      expect(diagnosis.healthy).toBe(false);
    },
  );

  it.each(['steyg.test', 'ftp://steyg.test', ''])('%j is none', async (baseUrl) => {
    const diagnosis = await examine({ baseUrl });
    expect(complaints(diagnosis)).toEqual([expect.stringContaining('no http(s) address')]);
    expect(levelOf(diagnosis, 'streaming')).toBe('skipped');
  });

  it('over http, not on this machine, is warned of', async () => {
    const diagnosis = await examine({ baseUrl: 'http://steyg.test/api', fetch: refusal });
    expect(complaints(diagnosis)[0]).toContain('unencrypted');
  });

  it.each<[string, RequestListener, string]>([
    ['a page', (_, response) => response.end('<html>Sign in to this network</html>'), 'A web page answers'],
    ['another kind of service', (_, response) => response.end('{"hello":1}'), 'Something else answers'],
    ['nobody', (_, response) => response.writeHead(404).end(), 'Something else answers'],
    [
      'a redirect',
      (_, response) => response.writeHead(301, { location: 'https://x.test/' }).end(),
      'redirects to https://x.test/',
    ],
    ['a failing proxy', (_, response) => response.writeHead(502).end('bad gateway'), 'status 502'],
    ['a broken connection', (request) => request.socket.destroy(), 'cannot be reached'],
  ])('where %s answers is recognised', async (_, listener, complaint) => {
    await withServer(listener, async (url) => {
      const diagnosis = await examine({ baseUrl: `${url}/api` });
      expect(complaints(diagnosis)).toEqual([expect.stringContaining(complaint)]);
      expect(levelOf(diagnosis, 'key')).toBe('skipped');
    });
  });
});

it('a service that lists models without being asked for a key, and has nothing else, is said not to be ours', async () => {
  const other: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"x"}]}');
  };
  await withServer(other, async (url) => {
    const diagnosis = await examine({ baseUrl: `${url}/api`, spend: false });
    expect(complaints(diagnosis)).toEqual([
      expect.stringContaining('not in the way of this service'),
      'reachability: What answers there is not understood.',
    ]);
    expect(diagnosis.findings.find(({ check }) => check === 'key')?.message).toBe('The key is valid for one model.');
    expect(diagnosis.healthy).toBe(false);
  });
});

describe('an address that cannot be reached', () => {
  const failing =
    (code: string, name = 'Error') =>
    async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(`${code} happened`), { code, name }) });
    };

  it.each([
    ['ENOTFOUND', 'host name is not known', 'DNS'],
    ['EAI_AGAIN', 'host name is not known', 'DNS'],
    ['ECONNREFUSED', 'Nothing listens', 'port'],
    ['CERT_HAS_EXPIRED', 'not valid at this time', 'clock'],
    ['CERT_NOT_YET_VALID', 'not valid at this time', 'clock'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'not trusted', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not trusted', 'NODE_EXTRA_CA_CERTS'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host name', 'console'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS', 'http://'],
    ['ESOMETHING', 'ESOMETHING happened', 'firewall'],
  ])('says why: %s', async (code, message, remedy) => {
    const { findings } = await examine({ baseUrl: 'https://steyg.test/api', fetch: failing(code) });
    const finding = findings.find(({ level }) => level === 'error');
    expect(finding).toMatchObject({ check: 'reachability', message: expect.stringContaining(message) });
    expect(finding?.message).toContain(`${code} happened`);
    expect(finding?.remedy).toContain(remedy);
  });

  it('says so of a name that is none, and of a port without TLS, as they really fail', async () => {
    const unknown = await examine({ baseUrl: 'https://steyg.invalid/api' });
    expect(complaints(unknown)).toEqual([expect.stringContaining('host name is not known')]);
    const plain = await examine({ baseUrl: app.baseUrl.replace('http:', 'https:') });
    expect(complaints(plain)).toEqual([expect.stringContaining('does not speak TLS')]);
  });

  it('says so when nothing comes', async () => {
    await withServer(
      () => undefined,
      async (url) => {
        const diagnosis = await examine({ baseUrl: `${url}/api`, timeoutMs: 20 });
        expect(complaints(diagnosis)).toEqual([expect.stringContaining('did not answer in time')]);
      },
    );
  });

  it('reminds of a proxy that Node would not use', async () => {
    const remedyWith = async (environment: Record<string, string>) => {
      const request = { baseUrl: 'https://steyg.test/api', fetch: failing('ECONNREFUSED'), environment };
      return (await examine(request)).findings.find(({ level }) => level === 'error')?.remedy;
    };
    expect(await remedyWith({ HTTPS_PROXY: 'http://proxy.test' })).toContain('NODE_USE_ENV_PROXY');
    expect(await remedyWith({ HTTPS_PROXY: 'http://proxy.test', NODE_USE_ENV_PROXY: '1' })).not.toContain('PROXY');
    expect(await remedyWith({})).not.toContain('PROXY');
  });
});

describe('what answers', () => {
  it('by redirecting to https is not followed, but named with its path', async () => {
    const diagnosis = await examine({
      baseUrl: 'http://steyg.test/api',
      fetch: async () => new Response(null, { status: 308, headers: { location: 'https://steyg.test/api/v1/models' } }),
    });
    expect(diagnosis.findings.find(({ check }) => check === 'reachability')?.remedy).toContain(
      'Use https://steyg.test/api as the base address',
    );
  });

  it.each([
    ['refuses like another gateway', () => Response.json({ error: { message: 'no key' } }, { status: 401 })],
    ['asks for no key', () => Response.json({ object: 'list', data: [{ id: 'llama' }] })],
  ])('and %s may be another', async (_, answer) => {
    const diagnosis = await examine({ baseUrl: 'https://gateway.test/api', fetch: async () => answer(), spend: false });
    expect(complaints(diagnosis)[0]).toContain('not in the way of this service');
    expect(diagnosis.healthy).toBe(false);
  });
});

describe('the clock', () => {
  it.each([
    [3_600_000, 'ahead of'],
    [-3_600_000, 'behind'],
  ])('that is %i ms off is warned of', async (offMs, word) => {
    const diagnosis = await examine({ now: () => Date.now() + offMs, spend: false });
    expect(complaints(diagnosis)).toEqual([expect.stringMatching(new RegExp(`clock.*3(600|599|601) s ${word}`))]);
    expect(diagnosis.healthy).toBe(true);
  });
});

const changed = () =>
  `${customer.secret.slice(0, 20)}${customer.secret[20] === 'x' ? 'y' : 'x'}${customer.secret.slice(21)}`;

describe('the key', () => {
  it.each<[string, () => string | undefined, string]>([
    ['absent', () => undefined, 'No API key'],
    ['with a line end', () => `${customer.secret}\n`, 'spaces or line ends'],
    ['in quotes', () => `"${customer.secret}"`, 'quotes'],
    ['of another service', () => 'sk-ant-123', 'another service'],
    ['an access token', () => customer.secret.replace('sk-', 'tk-'), 'access token'],
    ['cut', () => customer.secret.slice(0, -3), 'characters'],
    ['mistyped', changed, 'typing error'],
  ])('%s is recognised without asking the server', async (_, key, complaint) => {
    const diagnosis = await examine({ apiKey: key() });
    expect(complaints(diagnosis)).toEqual([expect.stringContaining(complaint)]);
    expect(levelOf(diagnosis, 'budget')).toBe('skipped');
  });

  it('that was deleted, or may call nothing', async () => {
    const other = await app.customer();
    await app.keys.delete({ accountId: other.accountId, id: other.keyId, actor: 'test' });
    expect(complaints(await examine({ apiKey: other.secret }))).toEqual(['key: The key is wrong, expired or deleted.']);
  });
});

describe('the account', () => {
  it('that is suspended is not blamed on the key', async () => {
    const diagnosis = await examine({
      fetch: through((path, answer) =>
        path === 'GET /api/v1/models' && answer.ok
          ? Response.json(
              { error: { message: 'This account is suspended.', code: 'account_suspended' } },
              { status: 403 },
            )
          : answer,
      ),
    });
    expect(complaints(diagnosis)).toEqual(['key: This account is suspended.']);
    expect(diagnosis.findings.find(({ check }) => check === 'key')?.remedy).toContain('Another key would not help');
  });
});

describe('the budget', () => {
  it('that is used up, or low', async () => {
    const poor = await examine({ apiKey: (await app.customer({ usd: '0' })).secret });
    expect(complaints(poor)).toEqual(['budget: The budget is used up, or has expired.']);
    expect(levelOf(poor, 'messages')).toBe('skipped');
    const low = await examine({ apiKey: (await app.customer({ usd: '0.25' })).secret, spend: false });
    expect(complaints(low)).toEqual(['budget: Only 0.25 USD of budget are left.']);
  });

  it('that a key may not spend any more of', async () => {
    const { secret } = await app.customer({ terms: { limits: { day: 1n, week: null, month: null, lifetime: null } } });
    const diagnosis = await examine({ apiKey: secret });
    expect(diagnosis.healthy).toBe(false);
    expect(complaints(diagnosis).join('\n')).toMatch(/limit/);
  });
});

describe('the models', () => {
  it('that the catalog does not have', async () => {
    const diagnosis = await examine({ models: { main: 'sim-large', small: 'claude-haiku-9' }, spend: false });
    expect(complaints(diagnosis)).toEqual(['models: small is claude-haiku-9, which the catalog does not have.']);
    expect(diagnosis.findings.find(({ level }) => level === 'error')?.remedy).toContain('sim-small');
  });
});

const right = () => ({
  ANTHROPIC_BASE_URL: app.baseUrl,
  ANTHROPIC_AUTH_TOKEN: customer.secret,
  ANTHROPIC_MODEL: 'sim-large',
  ANTHROPIC_DEFAULT_FABLE_MODEL: 'sim-large',
  ANTHROPIC_DEFAULT_OPUS_MODEL: 'sim-large[1m]',
  ANTHROPIC_DEFAULT_SONNET_MODEL: 'sim-medium',
  ANTHROPIC_DEFAULT_HAIKU_MODEL: 'sim-small',
  ANTHROPIC_SMALL_FAST_MODEL: 'sim-small',
});

const told = async (environment: Record<string, string | undefined>, settings: Record<string, string> = {}) =>
  complaints(await examine({ environment, settings, spend: false }));

describe('the environment', () => {
  it('that is right', async () => {
    expect(await told(right())).toEqual([]);
    expect(await told({ OPENAI_BASE_URL: `${app.baseUrl}/v1`, OPENAI_API_BASE: 'x' })).toEqual([]);
  });

  it('that README.md gives for Claude Code', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, block = ''] = /### Claude Code\n\n```sh\n([\s\S]*?)```/.exec(readme) ?? [];
    const lines = [...block.matchAll(/^export (\w+)="?([^"\n]*)"?$/gm)].map(([, name = '', value = '']) => [
      name,
      value.replace('$KEY', customer.secret).replace('http://127.0.0.1:8787/api', app.baseUrl),
    ]);
    expect(lines.length).toBeGreaterThan(7);
    expect(await told(Object.fromEntries(lines) as Record<string, string>)).toEqual([]);
  });

  it('that is wrong', async () => {
    expect(await told({ ...right(), ANTHROPIC_BASE_URL: `${app.baseUrl}/v1` })).toEqual([
      'environment: ANTHROPIC_BASE_URL ends in /v1.',
    ]);
    expect(await told({ ...right(), ANTHROPIC_BASE_URL: 'https://elsewhere.test' })).toEqual([
      expect.stringContaining('points to'),
    ]);
    expect(await told({ ...right(), ANTHROPIC_API_KEY: 'sk-ant' })).toEqual([expect.stringContaining('two sources')]);
    expect(await told({ ...right(), ANTHROPIC_AUTH_TOKEN: '' })).toEqual([
      expect.stringContaining('AUTH_TOKEN is not set'),
    ]);
    expect(await told({ ...right(), ANTHROPIC_DEFAULT_HAIKU_MODEL: undefined })).toEqual([
      expect.stringContaining('HAIKU_MODEL is not set'),
    ]);
    expect(await told({ ...right(), ANTHROPIC_SMALL_FAST_MODEL: 'haiku' })).toEqual([
      expect.stringContaining('SMALL_FAST_MODEL is haiku'),
    ]);
    expect(await told({ OPENAI_BASE_URL: app.baseUrl })).toEqual(['environment: OPENAI_BASE_URL lacks /v1.']);
    expect(await told({ OPENAI_API_BASE: `${app.baseUrl}/v1` })).toEqual([expect.stringContaining('do not read')]);
  });

  it('that has another key than the one that is examined', async () => {
    expect(await told({ ...right(), ANTHROPIC_AUTH_TOKEN: 'sk-steyg-old' })).toEqual([
      'environment: ANTHROPIC_AUTH_TOKEN is another key than the one that is examined here.',
    ]);
    expect(await told({ OPENAI_BASE_URL: `${app.baseUrl}/v1/`, OPENAI_API_KEY: 'sk-of-openai' })).toEqual([
      'environment: OPENAI_API_KEY is another key than the one that is examined here.',
    ]);
    expect(await told({ OPENAI_API_KEY: 'sk-of-openai', ANTHROPIC_AUTH_TOKEN: 'x' })).toEqual([]);
  });

  it('of a client that is signed in to its vendor too', async () => {
    const diagnosis = await examine({ environment: right(), signedIn: true, spend: false });
    expect(complaints(diagnosis)).toEqual([expect.stringContaining('two sources of credentials')]);
    expect(complaints(await examine({ environment: {}, signedIn: true, spend: false }))).toEqual([]);
  });

  it('that a settings file covers: the file wins', async () => {
    expect(await told({ ANTHROPIC_MODEL: 'claude' }, right())).toEqual([
      expect.stringContaining('ANTHROPIC_MODEL differs'),
    ]);
    expect(await told({ ANTHROPIC_MODEL: 'sim-large' }, right())).toEqual([]);
  });
});

/** A proxy that passes everything on but what it is told to change. */
const through =
  (change: (path: string, answer: Response) => Promise<Response> | Response) =>
  async (url: string, init: RequestInit) =>
    change(`${init.method ?? 'GET'} ${new URL(url).pathname}`, await fetch(url, init));

const isStream = (answer: Response) => answer.headers.get('content-type')?.startsWith('text/event-stream') === true;

describe('the calls', () => {
  it('that fail say what the service said', async () => {
    const failing = through((path, answer) =>
      path.startsWith('POST')
        ? Response.json({ error: { message: 'The model rests.', type: 'x' } }, { status: 503 })
        : answer,
    );
    const diagnosis = await examine({ fetch: failing });
    expect(complaints(diagnosis)).toEqual([
      'messages: sim-small: The model rests.',
      'chat completions: sim-small: The model rests.',
      'streaming: sim-small: The model rests.',
    ]);
    expect(diagnosis.findings.find(({ check }) => check === 'messages')?.remedy).toContain('status page');
  });

  it.each<[string, (answer: Response) => Response | Promise<Response>, string]>([
    ['turned into something else', async (answer) => new Response(await answer.text()), 'A stream was answered with'],
    ['cut', (answer) => cut(answer), 'ended before its last event'],
    ['compressed', (answer) => withHeader(answer, 'content-encoding', 'gzip'), 'compressed (gzip)'],
  ])('that stream are watched: %s', async (_, change, complaint) => {
    const diagnosis = await examine({
      fetch: through((_path, answer) => (isStream(answer) ? change(answer) : answer)),
    });
    expect(complaints(diagnosis)).toEqual([expect.stringContaining(complaint)]);
  });

  it('that stream at the service’s own pace and arrive all at once are held back', async () => {
    const slow = await startApp({ simulator: { tokensPerSecond: 50 } });
    try {
      const { secret } = await slow.customer();
      const request = { baseUrl: slow.baseUrl, apiKey: secret };
      const held = through(async (_path, answer) =>
        isStream(answer) ? new Response(await answer.text(), { headers: answer.headers }) : answer,
      );
      const diagnosis = await doctor({ ...request, fetch: held });
      expect(complaints(diagnosis)).toEqual([expect.stringContaining('all at once')]);
      expect(diagnosis.findings.at(-1)?.remedy).toContain('proxy_buffering off');
      expect(diagnosis.healthy).toBe(true);
      expect(complaints(await doctor(request))).toEqual([]);
    } finally {
      await slow.close();
    }
  });

  it('are judged by when pieces arrive', () => {
    const late = { firstMs: 2_000, lastMs: 2_050, events: 20 };
    expect(isHeldBack({ ...late, sentWithinMs: 1_900 })).toBe(true);
    expect(isHeldBack({ ...late, sentWithinMs: 60 })).toBe(false);
    expect(isHeldBack({ ...late, firstMs: 300, sentWithinMs: 1_900 })).toBe(false);
    expect(isHeldBack({ ...late, sentWithinMs: null })).toBe(true);
    expect(isHeldBack({ ...late, firstMs: 300, sentWithinMs: null })).toBe(false);
    expect(isHeldBack({ ...late, events: 3, sentWithinMs: 1_900 })).toBe(false);
    expect(isHeldBack({ firstMs: 900, lastMs: 910, events: 20, sentWithinMs: null })).toBe(false);
  });
});

function withHeader(answer: Response, name: string, value: string): Response {
  const headers = new Headers(answer.headers);
  headers.set(name, value);
  return new Response(answer.body, { headers });
}

async function cut(answer: Response): Promise<Response> {
  return new Response((await answer.text()).slice(0, 400), { headers: answer.headers });
}
