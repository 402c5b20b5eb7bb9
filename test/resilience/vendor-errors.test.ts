import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProfileId } from '../../server/core/profile.ts';
import { readVendorError, troubleOf, vendorWordings } from '../../server/gateway/upstream/vendor-errors.ts';
import { settled } from '../gateway/support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { catalogFile, counter, errorIn, leaks, post, protocols, vendorModel, vendorSecret } from './support.ts';

/** An operator's trouble with a vendor is never shown as the customer's fault, whatever its status. */

interface Recorded {
  name: string;
  status: number;
  means: 'key' | 'funds' | 'model' | 'content';
  body: unknown;
}

const anthropic = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const openAi = (message: string, code: string | null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
});

/** Bodies as the vendors send them, by the reports that `vendorWordings` names; names of models are ours. */
const recorded: Recorded[] = [
  {
    name: 'Anthropic: no credit',
    status: 400,
    means: 'funds',
    body: anthropic(
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
  },
  {
    name: 'Anthropic: organization disabled',
    status: 400,
    means: 'key',
    body: anthropic('This organization has been disabled.'),
  },
  {
    name: 'xAI: wrong key',
    status: 400,
    means: 'key',
    body: {
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: sk***gA. You can obtain an API key from https://console.x.ai.',
    },
  },
  {
    name: 'xAI: no credits, 403',
    status: 403,
    means: 'funds',
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error:
        'Your team 8c268de0-42ec-4474-b4b6-4c92c1f97827 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
    },
  },
  {
    name: 'xAI: no credits yet',
    status: 403,
    means: 'funds',
    body: { code: 'x', error: "Your newly created team doesn't have any credits or licenses yet." },
  },
  {
    name: 'xAI: refused content',
    status: 403,
    means: 'content',
    body: { code: 'x', error: 'Content violates usage guidelines. Team: 1, Failed check: SAFETY_CHECK_TYPE_BIO' },
  },
  {
    name: 'Google: wrong key',
    status: 400,
    means: 'key',
    body: [
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
        },
      },
    ],
  },
  {
    name: 'OpenAI: hard limit',
    status: 400,
    means: 'funds',
    body: openAi('Billing hard limit has been reached', 'billing_hard_limit_reached'),
  },
  {
    name: 'OpenAI: quota as 429',
    status: 429,
    means: 'funds',
    body: openAi('You exceeded your current quota.', 'insufficient_quota', 'insufficient_quota'),
  },
  {
    name: 'OpenAI responses: model',
    status: 400,
    means: 'model',
    body: openAi(`The requested model '${vendorModel}' does not exist.`, 'model_not_found'),
  },
  {
    name: 'OpenAI: model as 404',
    status: 404,
    means: 'model',
    body: openAi(`The model \`${vendorModel}\` does not exist or you do not have access to it.`, 'model_not_found'),
  },
  {
    name: 'Alibaba: arrears',
    status: 400,
    means: 'funds',
    body: openAi('Access denied, please make sure your account is in good standing.', 'Arrearage', 'Arrearage'),
  },
  {
    name: 'DeepSeek: model',
    status: 400,
    means: 'model',
    body: openAi('Model Not Exist', 'invalid_request_error'),
  },
  {
    name: 'OpenRouter: model',
    status: 400,
    means: 'model',
    body: { error: { message: `${vendorModel} is not a valid model ID`, code: 400 }, user_id: 'user_2x7DNyswjOHVRWDY' },
  },
  {
    name: 'OpenRouter: moderation',
    status: 403,
    means: 'content',
    body: { error: { code: 403, message: 'flagged', metadata: { reasons: ['violence'], flagged_input: 'words' } } },
  },
  {
    name: 'Groq: decommissioned',
    status: 400,
    means: 'model',
    body: openAi(
      `The model \`${vendorModel}\` has been decommissioned and is no longer supported.`,
      'model_decommissioned',
    ),
  },
  {
    name: 'Mistral: model',
    status: 400,
    means: 'model',
    body: {
      object: 'error',
      message: `Invalid model: ${vendorModel}`,
      type: 'invalid_model',
      param: null,
      code: '1500',
    },
  },
  {
    name: 'Bedrock: identifier',
    status: 400,
    means: 'model',
    body: { message: 'The provided model identifier is invalid.' },
  },
  {
    name: 'Bedrock: no throughput',
    status: 400,
    means: 'model',
    body: {
      message: `Invocation of model ID ${vendorModel} with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.`,
    },
  },
];

let app: TestApp;
let vendor: Server;
const calls = new Map<number, number>();

beforeAll(async () => {
  // The first part of the path says which answer an upstream gives.
  vendor = createServer((request, response) => {
    request.resume().on('end', () => {
      const index = Number(request.url?.split('/')[1]);
      calls.set(index, (calls.get(index) ?? 0) + 1);
      const { status = 500, body = {} } = recorded[index] ?? {};
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => {
    vendor.listen(0, '127.0.0.1', resolve);
  });
  const vendorUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  app = await startApp({
    catalog: (url) =>
      catalogFile({
        upstreams: [
          { id: 'good', protocol: 'messages', url },
          ...recorded.map((_, index) => ({
            id: `vendor-${index}`,
            protocol: 'chat-completions' as const,
            url: `${vendorUrl}/${index}`,
            apiKey: vendorSecret,
          })),
        ],
        models: recorded.flatMap((_, index) => [
          { id: `alone-${index}`, routes: [{ upstream: `vendor-${index}` }] },
          {
            id: `with-sibling-${index}`,
            routes: [
              { upstream: `vendor-${index}`, priority: 0 },
              { upstream: 'good', priority: 1 },
            ],
          },
        ]),
      }),
  });
});
afterAll(async () => {
  await app.close();
  vendor.close();
});

const statusOf = { key: 502, funds: 503, model: 502, content: 400 };

describe.each(recorded.map((one, index) => ({ ...one, index })))('$name', ({ means, index, status, body }) => {
  it('is told to the customer in our words, and to the operator', async () => {
    const customer = await app.customer();
    for (const client of [protocols.chat, protocols.messages]) {
      const response = await post(app, customer.secret, { client, model: `alone-${index}`, stream: false }, 'ping');
      const text = await response.text();
      expect([response.status, text]).toEqual([statusOf[means], expect.any(String)]);
      const message = errorIn(text)?.message;
      expect(message).toMatch(means === 'content' ? /moderation/ : /\/status/);
      expect(message).not.toMatch(/credit|API key|spending|quota|good standing|organization|identifier|not exist/i);
      expect(leaks(app, { headers: response.headers, text })).toEqual([]);
    }
    expect(await settled(app, customer)).toMatchObject([{ cost: 0n }, { cost: 0n }]);
    const alerts = await counter(app, 'gateway_anomalies_total', {
      kind: `upstream_${means}`,
      upstream: `vendor-${index}`,
    });
    expect(alerts).toBe(means === 'content' ? 0 : 2);
  });

  it('moves the request on to a sibling, and rests what is at fault; refused content does neither', async () => {
    const customer = await app.customer();
    const ask = async () => {
      const response = await post(
        app,
        customer.secret,
        { client: protocols.chat, model: `with-sibling-${index}`, stream: false },
        'ping',
      );
      await response.text();
      return response.status;
    };
    const before = calls.get(index) ?? 0;
    const isContent = means === 'content';
    expect(await ask()).toBe(isContent ? 400 : 200);
    expect(await ask()).toBe(isContent ? 400 : 200);
    // What rests is asked after its siblings.
    const asked = (calls.get(index) ?? 0) - before;
    expect(asked).toBeLessThanOrEqual(isContent ? 2 : 1);
    expect(troubleOf(status, readVendorError(Buffer.from(JSON.stringify(body))), vendorModel, null)).toBe(means);
  });
});

/** Faults of the request that a vendor words as its own. */
const requestFaults: { profile: ProfileId; status: number; body: unknown }[] = [
  {
    profile: 'llama.cpp',
    status: 500,
    body: { error: { code: 500, message: 'System message must be at the beginning.', type: 'server_error' } },
  },
  {
    profile: 'ollama',
    status: 500,
    body: { error: { message: 'system message must be at the beginning', type: 'api_error', param: null, code: null } },
  },
];

describe('a vendor that is known', () => {
  it.each(requestFaults)(
    '$profile: a fault of the request is one, whatever its status',
    ({ profile, status, body }) => {
      const error = readVendorError(Buffer.from(JSON.stringify(body)));
      expect(troubleOf(status, error, vendorModel, profile)).toBe('request');
      expect(troubleOf(status, error, vendorModel, 'anthropic')).toBeNull();
    },
  );

  it('is not taken at another vendor’s word', () => {
    const error = readVendorError(Buffer.from(JSON.stringify(anthropic('This organization has been disabled.'))));
    expect(troubleOf(400, error, vendorModel, 'anthropic')).toBe('key');
    // It passes on what other vendors say.
    expect(troubleOf(400, error, vendorModel, 'openrouter')).toBe('key');
    expect(troubleOf(400, error, vendorModel, 'xai')).toBeNull();
  });
});

describe('the table of wordings', () => {
  it('has a recorded answer for each of its rows, and a public source', () => {
    const unused = vendorWordings.filter((wording) => {
      const only = (one: Pick<Recorded, 'body'>): boolean => {
        const error = readVendorError(Buffer.from(JSON.stringify(one.body)));
        const says = wording.message?.test(error?.message ?? '') ?? false;
        return says || (wording.code !== undefined && error?.codes.includes(wording.code) === true);
      };
      return ![...recorded, ...requestFaults].some(only) || !wording.source.startsWith('https://');
    });
    expect(unused).toEqual([]);
  });

  it.each([
    ['a quotation of what the customer sent', 400, anthropic("messages.0: 'Your credit balance is too low' is odd")],
    ['another status', 422, anthropic('This organization has been disabled.')],
    [
      'another model, which only a member of the request can have named',
      400,
      openAi('other is not a valid model ID', null),
    ],
    ['a prompt that is too long', 400, anthropic('prompt is too long: 209000 tokens > 200000 maximum')],
  ])('does not take %s for the operator’s trouble', (_name, status, body) => {
    expect(troubleOf(status, readVendorError(Buffer.from(JSON.stringify(body))), vendorModel, null)).toBeNull();
  });

  it('takes no body for an error that is none', () => {
    for (const body of ['', '<h1>400</h1>', '[]', 'null', '"text"', '[[{"error":1}]]']) {
      expect(troubleOf(400, readVendorError(Buffer.from(body)), vendorModel, null)).toBeNull();
    }
  });
});

it('an error of a megabyte of values is not parsed, and one that quotes a long request is', () => {
  const values = Buffer.from(`{"error":{"message":"quota","list":[${'0,'.repeat(400_000)}0]}}`);
  expect(readVendorError(values)).toBeNull();
  const quoting = Buffer.from(JSON.stringify({ error: { message: 'too long', input: 'x'.repeat(900_000) } }));
  expect(readVendorError(quoting)?.message).toBe('too long');
});
