/** The documentation: made of what is built, for people and programs, in both languages. */

import { buildSchema, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conflictTexts } from '../../server/graphql/types/conflict-texts.ts';
import { codeTexts } from '../../server/graphql/types/error-texts.ts';
import { exampleOf } from '../../server/pages/docs/graphql-reference.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
});
afterAll(() => app.close());

async function read(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(app.url + path, { headers, redirect: 'manual' });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Every address of this server that a page names. */
function linksOf(text: string): string[] {
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&#38;', '&'));
  return [...new Set(links.filter((href) => href.startsWith('/')).map((href) => href.replace(/[?#].*/, '')))];
}

describe('the pages of documentation', () => {
  // The dashboard's own, which other tests open in a browser: this server has no build of it.
  const dashboard = ['/', '/sign-in', '/sign-up', '/guides', '/sdk.tgz'];

  it.each(['en', 'vi'])('lead to each other and to pages that are there (%s)', async (locale) => {
    const seen = new Set<string>();
    const missing: string[] = [];
    const left = ['/docs', '/docs/errors', '/docs/graphql', '/pricing', '/status', '/api/docs'];
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      if (seen.has(path) || dashboard.includes(path)) continue;
      seen.add(path);
      const { status, text, headers } = await read(`${path}?lang=${locale}`, { accept: 'text/html' });
      if (status !== 200) missing.push(`${path}: ${status}`);
      if (!headers.get('content-type')?.startsWith('text/html')) continue;
      if (/undefined|\[object|\bNaN\b/.test(text.replaceAll(/<code>[^<]*<\/code>/g, '')))
        missing.push(`${path}: unfinished`);
      // One page of each kind: the reference has a thousand.
      const isDeep = /^\/docs\/graphql\/|^\/api\/docs\/|^\/pricing\//.test(path);
      if (path.startsWith('/docs') || path === '/api/docs') if (!isDeep || seen.size < 40) left.push(...linksOf(text));
    }
    expect(missing).toEqual([]);
    expect(seen.size).toBeGreaterThan(150);
  });

  it('are in the language that was asked for, name it, and need no script', async () => {
    for (const [locale, word] of [
      ['en', 'What to do'],
      ['vi', 'Cách khắc phục'],
    ] as const) {
      const { text, headers } = await read(`/docs/errors/budget_short?lang=${locale}`);
      expect(text).toContain(`<html lang="${locale}">`);
      expect(text).toContain(word);
      expect(text).not.toContain('<script');
      expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/);
      expect(headers.get('content-language')).toBe(locale);
    }
  });

  it('of a name that nobody knows are 404, in words', async () => {
    for (const path of ['/docs/errors/no_such_error', '/docs/graphql/NoSuchType', '/docs/errors/%3Cscript%3E']) {
      const { status, text } = await read(path);
      expect([path, status]).toEqual([path, 404]);
      expect(text).not.toContain('<script>');
    }
  });
});

describe('an error of the REST API', () => {
  const hello = [{ role: 'user', content: 'Hello' }];
  const ask = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${app.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const { error } = (await answer.json()) as { error: { doc_url?: string; message: string } };
    return { status: answer.status, error };
  };

  it.each([
    ['chat completions', '/v1/chat/completions', { model: 'no-such-model', messages: hello }, 'model_not_found'],
    ['responses', '/v1/responses', { model: 'sim-small', input: 'x', max_output_tokens: -1 }, 'invalid_request'],
    ['messages', '/v1/messages', { model: 'no-such-model', max_tokens: 5, messages: hello }, 'model_not_found'],
  ])('of %s names its page, which says its status and its sentence', async (_protocol, path, body, name) => {
    const { status, error } = await ask(path, body, { 'anthropic-version': '2023-06-01' });
    expect(error.doc_url).toMatch(new RegExp(`/docs/errors/${name}$`));
    const page = await read(new URL(error.doc_url ?? '').pathname);
    expect(page.status).toBe(200);
    expect(page.text).toContain(`<dd>${status}</dd>`);
  });

  it('with the wrong key names its page too', async () => {
    const { error } = await ask('/v1/chat/completions', {}, { authorization: 'Bearer sk-steyg-wrong' });
    expect(error.doc_url).toMatch(/\/docs\/errors\/invalid_api_key$/);
  });

  it('is found by its code, where several have it, too', async () => {
    const { text } = await read('/docs/errors/insufficient_quota?lang=en');
    for (const name of ['budget_exhausted', 'budget_short']) expect(text).toContain(`/docs/errors/${name}?`);
    const markdown = await read('/docs/errors/budget_short.md');
    expect(markdown.headers.get('content-type')).toMatch(/^text\/markdown/);
    expect(markdown.text).toMatch(/^# budget_short: .+\n\n- API: REST; Status: 402; Code: `insufficient_quota`/);
  });
});

describe('the reference of GraphQL', () => {
  it('has every operation and type of the schema, with an example that the schema accepts', async () => {
    const sdl = (await read('/docs/schema.graphql')).text;
    const schema = buildSchema(sdl);
    const overview = (await read('/docs/graphql?lang=en')).text;
    const wrong: string[] = [];
    for (const [kind, type] of [
      ['query', schema.getQueryType()],
      ['mutation', schema.getMutationType()],
      ['subscription', schema.getSubscriptionType()],
    ] as const)
      for (const field of Object.values(type?.getFields() ?? {})) {
        if (!overview.includes(`/docs/graphql/${field.name}?`)) wrong.push(`${field.name}: not listed`);
        const example = exampleOf(schema, kind, field);
        for (const { message } of validate(schema, parse(example))) wrong.push(`${field.name}: ${message}`);
      }
    expect(wrong).toEqual([]);
    const page = (await read('/docs/graphql/createKey?lang=vi')).text;
    expect(page).toContain('mutation ($input: CreateKeyInput!)');
    expect(page).toContain('/docs/graphql/CreateKeyInput?lang=vi');
  });

  it('stands in for the explorer, which weighs megabytes, for visitors without a session', async () => {
    const { status, headers } = await read('/graphql', { accept: 'text/html' });
    expect([status, headers.get('location')]).toEqual([303, '/docs/graphql']);
  });

  it('describes each code that an answer has', async () => {
    for (const [asked, code] of [
      [{ query: '{ node(id: "x") { id } account { budget { free } } }' }, 'UNAUTHENTICATED'],
      [{ query: `{ ${'a: me { user { id } } '.repeat(300)} }` }, 'DOCUMENT_TOO_LARGE'],
    ] as const) {
      const answer = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
      });
      const { errors } = (await answer.json()) as { errors: { extensions: { code: string } }[] };
      const codes = errors.map(({ extensions }) => extensions.code);
      expect(codes.filter((each) => !Object.hasOwn(codeTexts, each))).toEqual([]);
      expect(codes).toContain(code);
      expect((await read(`/docs/errors/${code}`)).status).toBe(200);
    }
  });
});

describe('the codes of conflicts', () => {
  it('have a page each, in both languages, with something to do', async () => {
    const names = Object.keys(conflictTexts);
    expect(names.length).toBeGreaterThan(40);
    for (const [locale, heading] of [
      ['en', 'What to do'],
      ['vi', 'Cách khắc phục'],
    ] as const) {
      const { text: list } = await read(`/docs/errors?lang=${locale}`);
      for (const name of names) {
        expect(list).toContain(`/docs/errors/${name}?lang=${locale}`);
        const { status, text } = await read(`/docs/errors/${name}?lang=${locale}`);
        expect([name, status, text.includes(heading)]).toEqual([name, 200, true]);
      }
    }
  });
});

describe('for agents', () => {
  it('llms.txt names the addresses of everything, and each is there', async () => {
    const { text, headers } = await read('/llms.txt');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(text).toMatch(/^# Steyg\n\n> /);
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => new URL(link).pathname);
    expect(links.length).toBeGreaterThan(15);
    const built = await read('/guides');
    for (const path of links) {
      // Pages of the dashboard are there once it is built, which this test does not wait for.
      if (path.startsWith('/guides') && built.status !== 200) continue;
      expect([path, (await read(path)).status]).toEqual([path, 200]);
    }
  });

  it('llms-full.txt has every operation with its curl command, and every error', async () => {
    const { text } = await read('/llms-full.txt');
    const openApi = (await (await fetch(`${app.url}/api/openapi.json`)).json()) as { paths: Record<string, object> };
    for (const path of Object.keys(openApi.paths)) expect(text).toContain(`/api${path}`);
    for (const name of ['budget_reserved', 'upstream_cut', ...Object.keys(codeTexts)])
      expect(text).toContain(`## ${name}: `);
  });
});
