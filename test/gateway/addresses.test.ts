import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, parseAnswers, rawConnection, rawExchange } from './support.ts';

/** Which addresses there are, and what the others answer. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ env: { PUBLIC_URL: 'https://steyg.example' } });
  customer = await app.customer();
});
afterAll(() => app.close());

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, {
    method,
    redirect: 'manual',
    headers: { authorization: `Bearer ${customer.secret}`, ...headers },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });

const withIds = (response: Response): void => {
  expect(response.headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.headers.get('x-request-id')).toBe(response.headers.get('request-id'));
};

it('the addresses of the data plane are these and no others', () => {
  const routes = app.app.fastify
    .printRoutes({ commonPrefix: false, includeHooks: false })
    .split('\n')
    .filter((line) => line.trim() !== '');
  expect(dataPlane(routes)).toMatchInlineSnapshot(`
    [
      "GET, HEAD /api/api/hello",
      "GET, HEAD /api/docs",
      "GET, HEAD /api/docs/",
      "GET, HEAD /api/docs/countTokens",
      "GET, HEAD /api/docs/createChatCompletion",
      "GET, HEAD /api/docs/createEmbeddings",
      "GET, HEAD /api/docs/createImages",
      "GET, HEAD /api/docs/createMessage",
      "GET, HEAD /api/docs/createResponse",
      "GET, HEAD /api/docs/editImages",
      "GET, HEAD /api/docs/estimateChatCompletion",
      "GET, HEAD /api/docs/estimateEmbeddings",
      "GET, HEAD /api/docs/estimateImageEdits",
      "GET, HEAD /api/docs/estimateImages",
      "GET, HEAD /api/docs/estimateMessage",
      "GET, HEAD /api/docs/estimateResponse",
      "GET, HEAD /api/docs/getCredits",
      "GET, HEAD /api/docs/getKey",
      "GET, HEAD /api/docs/getUsage",
      "GET, HEAD /api/docs/listModels",
      "GET, HEAD /api/docs/objects",
      "GET, HEAD /api/docs/retrieveModel",
      "GET, HEAD /api/hello",
      "GET, HEAD /api/openapi.json",
      "GET, HEAD /api/uptime/plan",
      "GET, HEAD /api/v1/batches/:name",
      "GET, HEAD /api/v1/credits",
      "GET, HEAD /api/v1/embeddings/models",
      "GET, HEAD /api/v1/files/:name/content",
      "GET, HEAD /api/v1/generation",
      "GET, HEAD /api/v1/generation/content",
      "GET, HEAD /api/v1/key",
      "GET, HEAD /api/v1/messages/batches/:name/results",
      "GET, HEAD /api/v1/model/:author/:slug",
      "GET, HEAD /api/v1/models",
      "GET, HEAD /api/v1/models*",
      "GET, HEAD /api/v1/models/:author/:slug/endpoints",
      "GET, HEAD /api/v1/models/count",
      "GET, HEAD /api/v1/models/user",
      "GET, HEAD /api/v1/usage",
      "GET, HEAD, DELETE /api/v1/files/:name",
      "GET, HEAD, DELETE /api/v1/messages/batches/:name",
      "GET, HEAD, POST /api/v1/files",
      "GET, POST /api/v1/responses",
      "POST /api/device/code",
      "POST /api/device/revoke",
      "POST /api/device/token",
      "POST /api/uptime/key",
      "POST /api/uptime/rounds",
      "POST /api/v1/batches/:name/cancel",
      "POST /api/v1/chat/completions",
      "POST /api/v1/chat/completions/estimate",
      "POST /api/v1/embeddings",
      "POST /api/v1/embeddings/estimate",
      "POST /api/v1/images/edits",
      "POST /api/v1/images/edits/estimate",
      "POST /api/v1/images/generations",
      "POST /api/v1/images/generations/estimate",
      "POST /api/v1/messages",
      "POST /api/v1/messages/batches/:name/cancel",
      "POST /api/v1/messages/count_tokens",
      "POST /api/v1/messages/estimate",
      "POST /api/v1/responses/compact",
      "POST /api/v1/responses/estimate",
      "POST, GET, HEAD /api/v1/batches",
      "POST, GET, HEAD /api/v1/messages/batches",
    ]
  `);
});

/** The lines of the printed tree below `/api`, as whole addresses. */
function dataPlane(lines: readonly string[]): string[] {
  const path: string[] = [];
  const addresses: string[] = [];
  for (const line of lines) {
    const match = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line);
    if (match === null) continue;
    const [, indent = '', name = '', methods] = match;
    path.length = indent.length / 4;
    path.push(name);
    if (methods !== undefined) addresses.push(`${methods} ${path.join('')}`);
  }
  return addresses.filter((address) => address.includes(' /api')).sort();
}

describe('a base address that lacks /v1', () => {
  it.each([
    ['POST', '/api/chat/completions'],
    ['GET', '/api/models'],
    ['GET', '/api/models/sim-medium'],
    ['POST', '/api/responses'],
    ['POST', '/api/completions'],
    ['POST', '/api/chat/completions?x=/v1/messages'],
  ])('%s %s: 404 as a page for people', async (method, path) => {
    const response = await ask(method, path, { 'content-type': 'application/json' });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toContain('https://steyg.example/api/v1');
    withIds(response);
  });

  it.each(['text/plain', 'application/json', 'multipart/form-data; boundary=x'])(
    'whatever the body is said to be: %s',
    async (type) => {
      const response = await ask('POST', '/api/chat/completions', { 'content-type': type });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toContain('text/html');
    },
  );

  it('without a key too', async () => {
    const response = await fetch(`${app.baseUrl}/chat/completions`, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('text/html');
  });

  it('a messages client with a base address of its own kind is told which one it needs', async () => {
    const response = await ask('POST', '/api/messages', { 'content-type': 'application/json' });
    expect(response.status).toBe(404);
    expect((await errorOf(response, 'messages')).message).toContain('https://steyg.example/api/v1');
  });
});

describe('a base address that has /v1 although the client adds it', () => {
  it.each([
    ['POST', '/api/v1/v1/messages', 'messages', 'https://steyg.example/api'],
    ['POST', '/api/v1/v1/chat/completions', 'chat-completions', 'https://steyg.example/api/v1'],
    ['GET', '/api/v1/v1/models', 'chat-completions', 'https://steyg.example/api/v1'],
    ['POST', '/api/v1//v1/responses', 'responses', 'https://steyg.example/api/v1'],
  ] as const)('%s %s: 404 with the base address that is meant', async (method, path, protocol, meant) => {
    const response = await ask(method, path, { 'content-type': 'application/json' });
    expect(response.status).toBe(404);
    expect((await errorOf(response, protocol)).message).toMatch(
      new RegExp(`/v1 twice; the base URL of this client must be ${meant}$`),
    );
  });
});

describe('an address with a slash too many', () => {
  it.each([
    ['GET', '/api/v1/models/', 200],
    ['GET', '/api/v1//models?limit=1', 200],
    ['GET', '//api/v1/models', 200],
    ['GET', '/api/v1/models//sim-medium/', 200],
    ['POST', '/api/v1/chat/completions/', 400],
    ['POST', '/api//v1/messages/count_tokens//?beta=true', 400],
  ])('%s %s is served', async (method, path, status) => {
    // The client would make an absolute address of two slashes at the beginning.
    const lines = [`${method} ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${customer.secret}`];
    const body = method === 'POST' ? '{}' : '';
    const head = ['content-type: application/json', 'anthropic-version: 2023-06-01', `content-length: ${body.length}`];
    const received = await rawExchange(app, `${[...lines, ...head, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);
    expect(parseAnswers(received).map((answer) => answer.status)).toEqual([status]);
  });

  it('a wrong base address is recognised all the same', async () => {
    const response = await ask('POST', '/api//chat/completions/', { 'content-type': 'application/json' });
    expect(response.headers.get('content-type')).toContain('text/html');
  });
});

describe('an upgrade to WebSocket, which coding agents try before they use HTTP', () => {
  const upgrade = async (path: string, to: string, more: readonly string[] = []) => {
    const lines = [`GET ${path} HTTP/1.1`, 'host: x', 'connection: Upgrade', `upgrade: ${to}`, ...more];
    const key = ['sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version: 13'];
    const connection = await rawConnection(app);
    connection.write(`${[...lines, ...key].join('\r\n')}\r\n\r\n`);
    const received = await connection.until(/\r\n\r\n[^]*\}$/);
    connection.socket.destroy();
    return parseAnswers(received);
  };

  it.each(['/api/v1/chat/completions', '/api/v1/messages', '/api/v1/realtime', '/api/responses', '/api/v1/models'])(
    '%s: 426, with a key and without one',
    async (path) => {
      for (const more of [[], [`authorization: Bearer ${customer.secret}`]]) {
        const [answer] = await upgrade(path, 'WebSocket', more);
        expect(answer?.status).toBe(426);
        expect(JSON.parse(answer?.body ?? '').error.message).toContain('over HTTP');
      }
    },
  );

  it('an offer of another protocol is ignored, as common HTTP clients send it with every request', async () => {
    const [answer] = await upgrade('/api/v1/models', 'h2c', [`authorization: Bearer ${customer.secret}`]);
    expect(answer?.status).toBe(200);
  });
});

describe('other addresses', () => {
  it.each([
    ['GET', '/api/v1/nope', 'chat-completions'],
    ['POST', '/api/v1/nope', 'chat-completions'],
    ['GET', '/api/v1/messages/batches/batch_1/lines', 'messages'],
    ['POST', '/api/v1/files/file_1/parts', 'chat-completions'],
    ['POST', '/api/v1/rerank', 'chat-completions'],
    ['POST', '/api/v1/responses/resp_1/cancel', 'responses'],
    ['GET', '/api/v1/responses/resp_1', 'responses'],
    ['GET', '/api/v1', 'chat-completions'],
    ['GET', '/api/v1/', 'chat-completions'],
    ['GET', '/api/v1/modelsx', 'chat-completions'],
    ['GET', '/api/v2/models', 'chat-completions'],
    ['GET', '/api', 'chat-completions'],
    ['GET', '/api/', 'chat-completions'],
  ] as const)('%s %s: 404 in the envelope', async (method, path, protocol) => {
    const response = await ask(method, path, { 'content-type': 'application/json' });
    expect(response.status).toBe(404);
    const error = await errorOf(response, protocol);
    expect(error.type).toBe(protocol === 'messages' ? 'not_found_error' : 'invalid_request_error');
  });

  it('outside of the data plane: 404, not a page of another service', async () => {
    for (const path of ['/nope', '/apix/v1/models', '/v1/messages', '/v1/chat/completions']) {
      const response = await ask('POST', path, { 'content-type': 'application/json' });
      expect([path, response.status]).toEqual([path, 404]);
      withIds(response);
    }
  });

  it('a body at an address that is not there is not read', async () => {
    const connection = await rawConnection(app);
    connection.write(
      'POST /api/v1/nope HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 90000000\r\nexpect: 100-continue\r\n\r\n',
    );
    const received = await connection.until(/\r\n\r\n\{.*\}$/s);
    connection.socket.destroy();
    expect(received).toMatch(/^HTTP\/1\.1 404 /);
  });
});

it('the reference has a page for every operation and one with every object, and needs nothing else', async () => {
  const read = async (path: string) => {
    const response = await fetch(`${app.url}${path}`);
    expect([path, response.status]).toEqual([path, 200]);
    // Nothing is loaded but the face of this server, and nothing is upgraded to a port that has no TLS.
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^;]+';/);
    const page = await response.text();
    expect(page).not.toMatch(/<(script|img|link|iframe)\b|url\((?!\/fonts\/be-vietnam-pro-)|@import|\bon\w+=/);
    return page;
  };
  const document = (await (await fetch(`${app.url}/api/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; summary: string }>>;
    components: { schemas: Record<string, unknown> };
  };
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(await read('/api/docs/')).toBe(await read('/api/docs'));
  const paths = ['/api/docs', '/api/docs/objects', ...operations.map(({ operationId }) => `/api/docs/${operationId}`)];
  const pages = new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
  for (const { operationId, summary } of operations) {
    // Addresses of the time when all operations stood on one page still lead to theirs.
    expect(pages.get('/api/docs')).toContain(` id="${operationId}"`);
    expect(pages.get(`/api/docs/${operationId}`)).toContain(
      `<h1 id="${operationId}">${summary.replaceAll("'", '&#39;')}</h1>`,
    );
  }
  const objects = pages.get('/api/docs/objects') ?? '';
  const anchors = Object.keys(document.components.schemas).map((name) => `object-${name}`);
  expect(anchors.filter((anchor) => !objects.includes(` id="${anchor}"`))).toEqual([]);
  const targets = [...pages.values()].flatMap((page) =>
    [...page.matchAll(/href="(\/api\/docs[^"#]*)(?:#([^"]+))?"/g)].map(([, path = '', anchor = '']) => ({
      path,
      anchor,
    })),
  );
  expect(targets.length).toBeGreaterThan(100);
  const isBroken = ({ path, anchor }: { path: string; anchor: string }) => {
    const page = pages.get(path);
    return page === undefined || (anchor !== '' && !page.includes(` id="${anchor}"`));
  };
  expect(targets.filter(isBroken)).toEqual([]);
});

it.each(['createMessage', 'createChatCompletion', 'createResponse'])(
  'the page of %s folds away what translation does with each field',
  async (operationId) => {
    const page = await (await fetch(`${app.url}/api/docs/${operationId}`)).text();
    const [, folded = ''] = /<details><summary>Which fields[^<]*<\/summary>([\s\S]*?)<\/details>/.exec(page) ?? [];
    expect(folded).toContain('x-steyg-dropped-tools');
    expect(page.replace(folded, '')).not.toContain('x-steyg-dropped-tools</code>: tools');
  },
);

describe('other methods', () => {
  it.each([
    ['GET', '/api/v1/messages', 'POST', 'messages'],
    ['PUT', '/api/v1/messages', 'POST', 'messages'],
    ['GET', '/api/v1/messages/count_tokens', 'POST', 'messages'],
    ['GET', '/api/v1/messages/estimate', 'POST', 'messages'],
    ['GET', '/api/v1/chat/completions', 'POST', 'chat-completions'],
    ['DELETE', '/api/v1/chat/completions', 'POST', 'chat-completions'],
    ['OPTIONS', '/api/v1/chat/completions', 'POST', 'chat-completions'],
    ['GET', '/api/v1/responses', 'POST', 'responses'],
    ['POST', '/api/v1/models', 'GET', 'chat-completions'],
    ['DELETE', '/api/v1/models/sim-medium', 'GET', 'chat-completions'],
    ['POST', '/api/v1/usage', 'GET', 'chat-completions'],
    ['POST', '/api/v1/key', 'GET', 'chat-completions'],
    ['POST', '/api/v1/credits', 'GET', 'chat-completions'],
  ] as const)('%s %s: 405 that names %s', async (method, path, allow, protocol) => {
    const response = await ask(method, path, { 'content-type': 'application/json' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toContain(allow);
    await errorOf(response, protocol);
  });
});

describe('path tricks', () => {
  it.each([
    '/api/v1/../v1/models',
    '/api/v1/..%2fmodels',
    '/api/v1/%2e%2e/%2e%2e/graphql',
    '/api/v1/models;x=1',
    '/api/v1/models.',
    '/api/v1/models%00',
    '/api/v1/%6dodels%2f',
    '/api/v1/models/..%2f..%2f..%2fetc%2fpasswd',
    '/api/v1/models/%2e%2e%2f%2e%2e%2fpackage.json',
    '/API/V1/MODELS',
    '/api/v1/models\\..\\..',
    '/api/v1/usage/../../../readyz',
  ])('%s: 404 or 400, and nothing of another page', async (path) => {
    const received = await rawExchange(
      app,
      `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${customer.secret}\r\nconnection: close\r\n\r\n`,
    );
    const [answer] = parseAnswers(received);
    expect([400, 404]).toContain(answer?.status);
    expect(answer?.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer?.body).not.toContain('root:');
    expect(answer?.body).not.toContain('"steyg"');
  });

  it.each(['/api/v1/models/%', '/api/v1/models/%zz', '/api/v1/models/%c0%af', '/%'])(
    'an address that cannot be decoded: %s',
    async (path) => {
      const [answer] = parseAnswers(
        await rawExchange(
          app,
          `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${customer.secret}\r\nconnection: close\r\n\r\n`,
        ),
      );
      expect([400, 404]).toContain(answer?.status);
      expect(answer?.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(JSON.parse(answer?.body ?? '')).toHaveProperty('error');
    },
  );

  it.each([
    'GET http://169.254.169.254/latest HTTP/1.1',
    'GET http://x/api/v1/models HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT x:443 HTTP/1.1',
  ])('this is no proxy: %s', async (line) => {
    const received = await rawExchange(app, `${line}\r\nhost: x\r\nconnection: close\r\n\r\n`);
    // A connection that is closed without an answer is fine too.
    const status = parseAnswers(received)[0]?.status ?? 400;
    expect([400, 401, 404, 405]).toContain(status);
  });
});
