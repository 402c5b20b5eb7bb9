import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyProtocol, model } from '../gateway/support.ts';
import type { Customer } from '../support/app.ts';
import { attack, maxDelayMs, startTarget, type Target } from './support.ts';

/**
 * No request within the limits delays the other clients for more than 200 ms, whatever route it is sent to: huge, deep,
 * wide and slow bodies, from nobody, from an account without money and from one that pays.
 */

let target: Target;
let poor: Customer;
let paying: Customer;
beforeAll(async () => {
  target = await startTarget();
  poor = await target.customer({ usd: '0' });
  paying = await target.customer({ usd: '1000' });
});
afterAll(() => target.close());

const megabyte = 1_048_576;
const size = 31 * megabyte;

/** A body of `bytes` with `unit` again and again between `before` and `after`. */
function filled(unit: string, before: string, after: string, bytes = size): string {
  return before + unit.repeat(Math.floor((bytes - before.length - after.length) / unit.length)) + after;
}

const start = `{"model":"${model}","max_tokens":16,"x":`;
const nasty: Record<string, () => string> = {
  'nothing but opening brackets': () => '['.repeat(size),
  'nested as deep as long': () => `${start}${filled('[', '', '', size / 2)}${filled(']', '', '', size / 2 - 200)}}`,
  'objects as deep as long': () => filled('{"a":', start, ''),
  'millions of members': () => filled('"aaaaaaa":0,', `${start}{`, '"z":0}}'),
  'millions of list items': () => filled('0,', `${start}[`, '0]}'),
  'one long text': () => filled('a', `${start}"`, '"}'),
  'nothing but escapes': () => filled('\\u0000', `${start}"`, '"}'),
  'one endless number': () => filled('9', start, '}'),
  'nothing but blanks': () => ' '.repeat(size),
};

const routes: Record<string, string> = {
  messages: '/api/v1/messages',
  count_tokens: '/api/v1/messages/count_tokens',
  'chat completions': '/api/v1/chat/completions',
  responses: '/api/v1/responses',
  GraphQL: '/graphql',
  'bank webhook sepay': '/webhooks/sepay',
  'bank webhook casso': '/webhooks/casso',
  'bank webhook payos': '/webhooks/payos',
  'no route': '/api/v1/nothing',
};

/** Sends a body; a server that refuses early may close before it has all, and that is an answer too. */
async function post(path: string, body: string, secret: string | null): Promise<number> {
  const credential = secret === null ? {} : { authorization: `Bearer ${secret}` };
  try {
    const response = await fetch(target.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...credential },
      body,
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

describe('nasty bodies of 31 MB', () => {
  for (const [name, make] of Object.entries(nasty)) {
    it(`${name}: no route is delayed, with a key or without`, async () => {
      const body = make();
      const report = await attack(target, `31 MB, ${name}, all routes`, async () => {
        const statuses: number[] = [];
        for (const path of Object.values(routes)) {
          for (const secret of [null, poor.secret]) statuses.push(await post(path, body, secret));
        }
        return statuses;
      });
      // 503 is how a busy machine sheds load.
      expect(report.result.filter((status) => status === 200 || (status >= 500 && status !== 503))).toEqual([]);
      expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
    });
  }
});

/** Members of requests that are valid, or nearly, and hold as many elements as fit. */
const valid: Record<string, (bytes: number) => Record<string, unknown>> = {
  'many small messages': (bytes) => ({
    messages: Array.from({ length: bytes / 40 }, (_none, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: 'a',
    })),
  }),
  'many content parts': (bytes) => ({
    messages: [{ role: 'user', content: Array.from({ length: bytes / 32 }, () => ({ type: 'text', text: 'a' })) }],
  }),
  'a schema with many required properties': (bytes) => {
    const names = Array.from({ length: bytes / 50 }, (_none, index) => `p${index}`);
    const schema = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      required: names,
      additionalProperties: false,
    };
    return {
      messages: [{ role: 'user', content: 'ping' }],
      tools: [{ name: 'a', input_schema: schema, type: 'function', function: { name: 'a', parameters: schema } }],
    };
  },
  'many tools': (bytes) => ({
    messages: [{ role: 'user', content: 'ping' }],
    tools: Array.from({ length: bytes / 150 }, (_none, index) => ({
      name: `t${index}`,
      input_schema: { type: 'object' },
      type: 'function',
      function: { name: `t${index}`, parameters: { type: 'object' } },
    })),
  }),
  'many stop sequences': (bytes) => ({
    messages: [{ role: 'user', content: 'ping' }],
    stop_sequences: Array.from({ length: bytes / 10 }, (_none, index) => `s${index}`),
    stop: Array.from({ length: bytes / 10 }, (_none, index) => `s${index}`),
  }),
  'text that no tokenizer likes': (bytes) => ({
    messages: [{ role: 'user', content: 'ab1'.repeat(bytes / 3) }],
  }),
};

describe('requests that look valid', () => {
  const models = ['only-messages', 'only-chat', 'only-responses'];
  for (const [name, members] of Object.entries(valid)) {
    it(`${name}: natively and translated, from an account without money and from one that pays`, async () => {
      const bodies = models.map((id) => {
        const { messages, ...rest } = members(4 * megabyte);
        return JSON.stringify({ model: id, max_tokens: 16, messages, input: messages, ...rest });
      });
      const report = await attack(target, `4 MB, ${name}`, async () => {
        const statuses: number[] = [];
        for (const body of bodies) {
          for (const { path } of everyProtocol) {
            statuses.push(await post(`/api${path}`, body, poor.secret), await post(`/api${path}`, body, paying.secret));
          }
          statuses.push(await post('/api/v1/messages/count_tokens', body, poor.secret));
        }
        return statuses;
      });
      expect(report.result.filter((status) => status >= 500 && status !== 503)).toEqual([]);
      expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
    });
  }
});

describe('slow bodies', () => {
  it('a hundred connections that send a byte now and then keep nobody waiting', async () => {
    const { hostname, port } = new URL(target.url);
    const report = await attack(
      target,
      '100 slow bodies',
      async () => {
        const sockets = Array.from({ length: 100 }, (_none, index) => {
          const socket = connect({ host: hostname, port: Number(port) });
          socket.on('error', () => undefined);
          const path = Object.values(routes)[index % Object.keys(routes).length] ?? '/';
          const head = [`POST ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${poor.secret}`];
          socket.write([...head, 'content-type: application/json', `content-length: ${size}`, '', ''].join('\r\n'));
          return socket;
        });
        const ticking = setInterval(() => {
          for (const socket of sockets) if (socket.writable) socket.write(' ');
        }, 100);
        let failed = 0;
        for (let count = 0; count < 20; count += 1) {
          const body = JSON.stringify({ model, max_tokens: 16, messages: [{ role: 'user', content: 'ping' }] });
          if ((await post('/api/v1/messages', body, paying.secret)) !== 200) failed += 1;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        clearInterval(ticking);
        for (const socket of sockets) socket.destroy();
        return { failed };
      },
      { figures: ({ failed }) => ({ 'bystander failed': failed }) },
    );
    expect(report.result.failed).toBe(0);
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});

describe('sign-in and public queries', () => {
  const query = (text: string, variables: Record<string, unknown>): string =>
    JSON.stringify({ query: text, variables });

  it('passwords as long as a body are refused, and many sign-ins at once hash beside the event loop', async () => {
    const signIn =
      'mutation($email: String!, $password: String!) { signIn(input: { email: $email, password: $password }) { __typename } }';
    const report = await attack(target, 'sign-in: long passwords, 40 at once', async () => {
      await post('/graphql', query(signIn, { email: 'a@example.com', password: 'x'.repeat(megabyte / 2) }), null);
      await Promise.all(
        Array.from({ length: 40 }, (_none, index) =>
          post('/graphql', query(signIn, { email: `a${index}@example.com`, password: 'a wrong password' }), null),
        ),
      );
    });
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });

  it('documents that are deep, wide or aliased are refused before they are run', async () => {
    const documents = [
      `{ ${Array.from({ length: 5_000 }, (_none, index) => `a${index}: __typename`).join(' ')} }`,
      `{ ${'a { '.repeat(10_000)}${'} '.repeat(10_000)} }`,
      `query ${'('.repeat(50_000)}`,
      `{ models { ${'id '.repeat(20_000)} } }`,
      `{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }`,
      Array.from({ length: 3_000 }, (_none, index) => `fragment f${index} on Query { ...f${index + 1} }`).join(' '),
    ];
    const report = await attack(target, 'GraphQL: deep, wide, aliased, recursive', async () => {
      for (const document of documents) await post('/graphql', query(document, {}), null);
    });
    expect(report.worstDelayMs).toBeLessThan(maxDelayMs);
  });
});
