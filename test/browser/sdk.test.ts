import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type * as core from '@steyg/sdk';
import type * as doctoring from '@steyg/sdk/doctor';
import { type Browser, chromium, type JSHandle, type Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

// The SDK in a browser, against the real server. Page and service share an origin, as the dashboard and its own do.

let app: TestApp;
let apiKey: string;
let origin: Server;
let browser: Browser;
let page: Page;

/** The built package as a page loads it: path and text of each file. */
async function bundle(): Promise<Map<string, string>> {
  const entry = '\0entry';
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (name) => (name === 'entry' ? entry : null),
        load: (name) => (name === entry ? "export * from '@steyg/sdk'; export * from '@steyg/sdk/doctor';" : null),
      },
    ],
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: { input: 'entry', preserveEntrySignatures: 'strict', output: { entryFileNames: 'sdk.js' } },
    },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as { output: { fileName: string; code?: string }[] };
  return new Map(output.map(({ fileName, code = '' }) => [`/${fileName}`, code]));
}

const html = `<!doctype html><title>page</title><script type="module">
  import * as sdk from '/sdk.js';
  globalThis.sdk = sdk;
</script>`;

/** Serves the package and an empty page; everything else is the service's. */
function serve(files: Map<string, string>): Server {
  const { port } = new URL(app.url);
  return createServer((incoming, response) => {
    const path = incoming.url ?? '/';
    const text = path === '/page' ? html : files.get(path);
    if (text !== undefined) {
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text);
      return;
    }
    const { method, headers } = incoming;
    const outgoing = forward({ port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    // A page that leaves is to be felt by the service.
    response.once('close', () => outgoing.destroy());
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
}

beforeAll(async () => {
  app = await startApp({ simulator: { tokensPerSecond: 200 } });
  apiKey = (await app.customer()).secret;
  origin = serve(await bundle());
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--host-resolver-rules=MAP steyg.test 127.0.0.1',
    ],
  });
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(origin.address() as AddressInfo).port}/page`);
  handle = await page.evaluateHandle((key) => {
    const { sdk } = globalThis as unknown as Pick<InPage, 'sdk'>;
    return { sdk, steyg: new sdk.Steyg({ baseUrl: `${location.origin}/api`, apiKey: key }), apiKey: key };
  }, apiKey);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  origin?.closeAllConnections();
  await new Promise((resolve) => origin?.close(resolve));
  await app?.close();
});

/** What the page has when it is loaded. */
interface InPage {
  sdk: typeof core & typeof doctoring;
  steyg: core.Steyg;
  apiKey: string;
}

let handle: JSHandle<InPage>;

/** Runs a function in the page. It is sent as text, so it can use nothing from out here. */
const inPage = <T>(work: (page: InPage) => Promise<T>): Promise<T> => page.evaluate(work, handle);

describe('in Chromium', () => {
  it('a whole answer comes with its cost', async () => {
    const answer = await inPage(async ({ steyg }) => {
      const message = await steyg.messages.create({
        model: 'sim-small',
        max_tokens: 64,
        messages: [{ role: 'user', content: '[[say Xin chào 👋]]' }],
      });
      return { text: (message.content[0] as { text: string }).text, costUsd: message.steyg.costUsd };
    });
    expect(answer).toEqual({ text: 'Xin chào 👋', costUsd: expect.stringMatching(/^0\./) });
  });

  it('streams of every protocol arrive piece by piece', async () => {
    const answers = await inPage(async ({ steyg }) => {
      const request = { model: 'sim-small', messages: [{ role: 'user' as const, content: '[[len 20]]' }] };
      const streams = [
        steyg.messages.stream({ ...request, max_tokens: 64 }),
        steyg.chat.completions.stream(request),
        steyg.responses.stream({ model: 'sim-small', input: '[[len 20]]' }),
      ];
      return Promise.all(
        streams.map(async (stream) => {
          let pieces = 0;
          let text = '';
          for await (const piece of stream.text()) {
            pieces += 1;
            text += piece;
          }
          return { pieces, text };
        }),
      );
    });
    const words = Array.from({ length: 20 }, (_, n) => `w${n}`).join(' ');
    expect(answers.map(({ text }) => text)).toEqual([words, words, words]);
    for (const { pieces } of answers) expect(pieces).toBeGreaterThan(5);
  });

  it('a stream that is left ends at the service', async () => {
    const outcome = await inPage(async ({ steyg }) => {
      const stream = steyg.messages.stream({
        model: 'sim-small',
        max_tokens: 64,
        messages: [{ role: 'user', content: '[[hang 3]]' }],
      });
      for await (const event of stream) if (event.type === 'content_block_delta') break;
      return (await stream.cost()).entry.outcome;
    });
    expect(outcome).toBe('client_closed');
  });

  it('refusals and cut streams are the same classes', async () => {
    const names = await inPage(async ({ sdk, steyg }) => {
      const ask = (content: string, model = 'sim-small') =>
        steyg.messages
          .stream({ model, max_tokens: 64, messages: [{ role: 'user', content }] })
          .finalText()
          .catch((error: unknown) => [(error as Error).name, error instanceof sdk.SteygError]);
      return Promise.all([ask('hi', 'nope'), ask('[[midfail 3]]')]);
    });
    expect(names).toEqual([
      ['BadRequestError', true],
      ['StreamError', true],
    ]);
  });

  it('the control plane is loaded when it is first used', async () => {
    const { models, loadedBefore, loadedAfter } = await inPage(async ({ steyg }) => {
      const loaded = () =>
        performance.getEntriesByType('resource').filter(({ name }) => name.includes('documents')).length;
      const loadedBefore = loaded();
      const models = await steyg.console.catalog.models();
      return { models: models.map(({ modelId }) => modelId), loadedBefore, loadedAfter: loaded() };
    });
    expect(models).toEqual(['sim-large', 'sim-medium', 'sim-small']);
    expect([loadedBefore, loadedAfter]).toEqual([0, 1]);
  });

  it('the page’s own fetch can be handed over', async () => {
    const count = await inPage(async ({ sdk, apiKey }) => {
      const { fetch } = globalThis;
      const { data } = await new sdk.Steyg({ baseUrl: `${location.origin}/api`, apiKey, fetch }).models.list();
      return data.length;
    });
    expect(count).toBe(3);
  });

  it('a page without TLS, which has less to make ids from, can make things too', async () => {
    const plain = await browser.newPage();
    await plain.goto(`http://steyg.test:${(origin.address() as AddressInfo).port}/page`);
    const outcome = await plain.evaluate(async () => {
      const { sdk } = globalThis as unknown as Pick<InPage, 'sdk'>;
      const steyg = new sdk.Steyg({ baseUrl: `${location.origin}/api` });
      const failure = await steyg.console.keys.createKey({ input: { name: 'x' } }).catch((error: unknown) => error);
      return { isSecureContext, code: (failure as { code?: string }).code };
    });
    expect(outcome).toEqual({ isSecureContext: false, code: 'UNAUTHENTICATED' });
    await plain.close();
  });

  it('the doctor finds nothing wrong', async () => {
    const findings = await inPage(async ({ sdk, apiKey }) => {
      const { findings } = await sdk.doctor({ baseUrl: `${location.origin}/api`, apiKey });
      return findings.filter(({ level }) => level !== 'ok').map(({ check, message }) => `${check}: ${message}`);
    });
    expect(findings).toEqual([]);
  });
});
