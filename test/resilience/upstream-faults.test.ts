import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { ask, catalogFile, type Direction, directions, leaks, oneRouteEach } from './support.ts';

/** What an upstream does wrong before any content, and what customer and ledger get of it, in every direction. */

/** For what answers in time, however slow the machine is, and for what does not answer. */
let patient: TestApp;
let impatient: TestApp;
const start = (timeoutMs: string) =>
  startApp({
    simulator: { record: 5_000 },
    env: { UPSTREAM_HEADERS_TIMEOUT_MS: timeoutMs, UPSTREAM_IDLE_TIMEOUT_MS: timeoutMs },
    catalog: (url) => {
      const { upstreams, models } = oneRouteEach(url);
      return catalogFile({ upstreams, models });
    },
  });
beforeAll(async () => {
  [patient, impatient] = await Promise.all([start('30000'), start('600')]);
});
afterAll(() => Promise.all([patient.close(), impatient.close()]));

const html = Buffer.from('<html><body>504 at vendor-secret-of-the-operator-7f3a</body></html>').toString('base64');
const zipped = gzipSync('{"id":"chatcmpl-1","choices":[]}').toString('base64');
const bomb = gzipSync(Buffer.alloc(50_000_000)).toString('base64');
const headers = (value: object) => `[[headers ${JSON.stringify(value)}]]`;

interface Fault {
  name: string;
  directives: string;
  /** One status, or what messages says and what the others say. */
  status: number | [messages: number, others: number];
  outcome?: 'upstream_error' | 'timeout' | 'upstream_cut';
  code?: string;
  says?: RegExp;
  retryAfter?: string | null;
  only?: (direction: Direction) => boolean;
}

const whole = ({ stream }: Direction): boolean => !stream;
const always = (): boolean => true;
const streamed = ({ stream }: Direction): boolean => stream;

const beforeContent: Fault[] = [
  {
    name: 'headers too late',
    directives: '[[delay 3000]]',
    status: 504,
    outcome: 'timeout',
    code: 'upstream_timeout',
  },
  {
    name: 'headers, then nothing',
    directives: '[[hang 0]]',
    status: 504,
    outcome: 'timeout',
    code: 'upstream_timeout',
  },
  { name: 'no answer at all', directives: '[[drop]]', status: 502 },
  { name: 'a body shorter than announced', directives: '[[cut 1]]', status: 502, only: whole },
  { name: 'a body that never begins', directives: '[[cut 0]]', status: 502 },
  { name: 'a reset before the body', directives: '[[cut 0 reset]]', status: 502 },
  { name: 'a stream that ends before it begins', directives: '[[cut 0 end]]', status: 502, only: streamed },
  {
    name: '400',
    directives: '[[status 400 prompt is too long: 9 tokens > 8 maximum]]',
    status: 400,
    says: /prompt is too long: 9 tokens > 8 maximum/,
  },
  {
    name: '400 that quotes our key',
    directives: '[[status 400 no such thing for {key} here]]',
    status: 400,
    says: /no such thing for .* here/,
  },
  { name: '413', directives: '[[status 413]]', status: 413 },
  { name: '422', directives: '[[status 422 unprocessable thing]]', status: 422, says: /unprocessable thing/ },
  { name: '401', directives: '[[status 401]]', status: 502 },
  { name: '403', directives: '[[status 403]]', status: 502 },
  { name: '404', directives: '[[status 404]]', status: 502 },
  { name: '402', directives: '[[status 402]]', status: 503, retryAfter: '30' },
  {
    name: '429',
    directives: `[[status 429]]${headers({ 'retry-after': '7' })}`,
    status: [529, 503],
    retryAfter: '7',
  },
  {
    name: '429 with a long wait',
    directives: `[[status 429]]${headers({ 'retry-after': '86400' })}`,
    status: [529, 503],
    retryAfter: '59',
  },
  { name: '500', directives: '[[status 500]]', status: 502 },
  { name: '501', directives: '[[status 501]]', status: 502 },
  { name: '503', directives: '[[status 503]]', status: [529, 503], retryAfter: '2' },
  { name: '529', directives: '[[status 529]]', status: [529, 503], retryAfter: '2' },
  { name: '504', directives: '[[status 504]]', status: 504, outcome: 'timeout' },
  { name: '302', directives: `[[status 302]]${headers({ location: '/v1/models' })}`, status: 502 },
  {
    name: '308',
    directives: `[[status 308]]${headers({ location: 'http://169.254.169.254/latest' })}`,
    status: 502,
  },
  { name: '200 with HTML', directives: `${headers({ 'content-type': 'text/html' })}[[raw ${html}]]`, status: 502 },
  {
    name: '500 with HTML',
    directives: `[[status 500]]${headers({ 'content-type': 'text/html' })}[[raw ${html}]]`,
    status: 502,
  },
  {
    name: '502 with HTML',
    directives: `[[status 502]]${headers({ 'content-type': 'text/html' })}[[raw ${html}]]`,
    status: 502,
  },
  { name: 'HTML that calls itself what was asked for', directives: `[[raw ${html}]]`, status: 502 },
  { name: 'an empty body', directives: '[[raw ]]', status: 502, only: whole },
  { name: '204', directives: '[[status 204]]', status: 502 },
  {
    name: 'a JSON text that is no answer',
    directives: `[[raw ${Buffer.from('"ok"').toString('base64')}]]`,
    status: 502,
    only: whole,
  },
  {
    name: 'JSON in place of a stream',
    directives: headers({ 'content-type': 'application/json' }),
    status: 502,
    only: streamed,
  },
  { name: 'gzip', directives: `${headers({ 'content-encoding': 'gzip' })}[[raw ${zipped}]]`, status: 502 },
  { name: 'a bomb', directives: `${headers({ 'content-encoding': 'gzip' })}[[raw ${bomb}]]`, status: 502 },
  {
    name: 'forty encodings',
    directives: `${headers({ 'content-encoding': Array(40).fill('gzip').join(', ') })}[[raw ${zipped}]]`,
    status: 502,
  },
  {
    name: 'an error in gzip',
    directives: `[[status 400]]${headers({ 'content-encoding': 'gzip' })}[[raw ${zipped}]]`,
    status: 400,
  },
  {
    name: 'overloaded as the first event',
    directives: '[[midfail 0]]',
    status: [529, 503],
    only: ({ stream, upstream }) => stream && upstream === 'messages',
  },
  {
    name: '503 as the first event',
    directives: '[[midfail 0 503]]',
    status: [529, 503],
    only: ({ stream, upstream }) => stream && upstream !== 'messages',
  },
  { name: '400 as the first event', directives: '[[midfail 0 400]]', status: 400, only: streamed },
  { name: '401 as the first event', directives: '[[midfail 0 401]]', status: 502, only: streamed },
  { name: '429 as the first event', directives: '[[midfail 0 429]]', status: [529, 503], only: streamed },
  {
    name: 'not HTTP',
    directives: `[[socket ${Buffer.from('SSH-2.0-OpenSSH\r\n').toString('base64')}]]`,
    status: 502,
  },
];

describe.each(beforeContent)('an upstream that fails before content: $name', (fault) => {
  it.concurrent.each(directions.filter(fault.only ?? always))('$name', async (direction) => {
    const { protocol } = direction.client;
    const app = fault.code === 'upstream_timeout' ? impatient : patient;
    const outcome = await ask(app, direction, fault.directives);
    const { headers: answered, text, error } = outcome;
    const status = Array.isArray(fault.status) ? fault.status[protocol === 'messages' ? 0 : 1] : fault.status;
    const requestId = answered.get('request-id');

    expect({ status: outcome.status, text }).toEqual({ status, text: expect.any(String) });
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(Object.fromEntries(answered)).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'x-request-id': requestId,
    });
    expect(answered.get('retry-after')).toBe(fault.retryAfter ?? null);
    expect(JSON.parse(text)).toMatchObject(protocol === 'messages' ? { type: 'error', request_id: requestId } : {});
    expect(error).toMatchObject({
      type: expect.any(String),
      ...(protocol === 'messages' ? {} : { code: fault.code ?? error?.code ?? null }),
    });
    expect(error?.message).toMatch(fault.says ?? (status >= 500 ? /\/status/ : /./));
    expect(outcome.upstreamCalls).toBe(1);
    expect(leaks(app, outcome)).toEqual([]);
    // Exactly one row, which costs nothing, and nothing stays reserved.
    expect(outcome).toMatchObject({
      rows: 1,
      held: 0n,
      row: { outcome: fault.outcome ?? 'upstream_error', usage_source: 'none', cost: 0n, charged: 0n, output: 0n },
    });
  });
});
