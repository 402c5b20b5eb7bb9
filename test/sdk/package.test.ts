/** The SDK as a published package: its types, sizes and runtimes. */

import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { installPacked, nodes, root, run, tsc } from './programs.ts';

const sdk = join(root, 'sdk');

/** A project outside of this one that has the packed package installed. */
let project: string;
let tarball: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'steyg-sdk-'));
  tarball = await installPacked(project);
});
afterAll(() => rm(project, { recursive: true, force: true }));

async function bundle(source: string, format: 'es' | 'iife' = 'es'): Promise<{ entry: string; whole: string }> {
  const id = '\0entry';
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root,
    plugins: [
      {
        name: 'entry',
        resolveId: (name) => (name === 'entry' ? id : null),
        load: (name) => (name === id ? source : null),
      },
    ],
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: 'entry',
        preserveEntrySignatures: format === 'es' ? 'strict' : false,
        output: format === 'es' ? {} : { format, codeSplitting: false },
      },
    },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as {
    output: { type: string; isEntry?: boolean; code?: string }[];
  };
  const code = output.filter(({ type }) => type === 'chunk');
  return {
    entry: code.find(({ isEntry }) => isEntry)?.code ?? '',
    whole: code.map((chunk) => chunk.code).join('\n'),
  };
}

const sizeOf = (code: string) => gzipSync(code).length;

describe('the package', () => {
  it('is as publint wants it', async () => {
    const { messages } = await publint({ pkgDir: sdk, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types that are right for every way of resolving ESM', async () => {
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const options = ['--profile', 'esm-only', '--no-color', '--no-emoji'];
    const { code, stdout } = await run(process.execPath, [attw, tarball, ...options]);
    expect(stdout.match(/OK \(ESM\)/g)).toHaveLength(4);
    expect(code).toBe(0);
  });

  it('needs nothing else, and says so', () => {
    const { dependencies, peerDependencies, sideEffects, engines, type } = JSON.parse(
      readFileSync(join(sdk, 'package.json'), 'utf8'),
    ) as Record<string, unknown>;
    expect({ dependencies, peerDependencies, sideEffects, engines, type }).toEqual({
      sideEffects: false,
      engines: { node: '>=20' },
      type: 'module',
    });
    const imports = globSync('src/**/*.ts', { cwd: sdk }).flatMap((path) =>
      [...readFileSync(join(sdk, path), 'utf8').matchAll(/^(?:import|export).*from '([^.'][^']*)'/gm)].map(
        ([, name]) => `${path}: ${name}`,
      ),
    );
    expect(imports.filter((line) => !line.startsWith('src/cli/'))).toEqual([]);
  });

  it('knows no Node outside its command line', async () => {
    const { code, stdout } = await run(process.execPath, [tsc, '-p', join(sdk, 'tsconfig.web.json')]);
    expect(stdout).toBe('');
    expect(code).toBe(0);
  });

  it('has a core below 13 kB, without the texts of the control plane', async () => {
    const { entry, whole } = await bundle("export * from '@steyg/sdk';");
    expect(sizeOf(entry)).toBeLessThan(13_000);
    expect(sizeOf(entry)).toBeGreaterThan(4_000);
    expect(entry.includes('fragment ApiKey on')).toBe(false);
    expect(whole.includes('mutation createKey')).toBe(true);
  });

  it('loses what is not used', async () => {
    const { whole } = await bundle("export { verifyReceipt } from '@steyg/sdk';");
    expect(whole.includes('is no amount of USD')).toBe(true);
    expect(sizeOf(whole)).toBeLessThan(2_850);
    const errors = await bundle("export { BudgetError } from '@steyg/sdk';");
    expect(errors.whole.includes('anthropic-version')).toBe(false);
    const tools = await bundle("export { connect } from '@steyg/sdk/connect';");
    expect(tools.whole.includes('text/event-stream')).toBe(false);
  });
});

const consumer = `
import { orThrow, Steyg, StreamError, verifyReceipt, type LedgerEntry, type MessagesEvent } from '@steyg/sdk';
import { connect, type Connection } from '@steyg/sdk/connect';
import { doctor } from '@steyg/sdk/doctor';

const steyg = new Steyg({ baseUrl: 'https://steyg.example/api', apiKey: undefined });
export async function use(): Promise<[string | null, string, LedgerEntry, boolean, Connection]> {
  const message = await steyg.messages.create({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] });
  const stream = await steyg.messages.create({ model: 'm', max_tokens: 1, messages: [], stream: true });
  for await (const event of stream) handle(event);
  const { secret, key } = orThrow(await steyg.console.keys.createKey({ input: { name: 'a' } }));
  for await (const each of steyg.console.keys.listKeys({ first: 5 })) console.log(each.name.length, secret, key.id);
  const { entry } = await stream.cost();
  const { healthy } = await doctor({ baseUrl: steyg.baseUrl });
  // @ts-expect-error: an operation takes its own variables only
  await steyg.console.keys.deleteKey({ nope: 1 });
  // @ts-expect-error: max_tokens is required
  await steyg.messages.create({ model: 'm', messages: [] });
  return [message.steyg.costUsd, verifyReceipt(entry).costUsd, entry, healthy, connect({ tool: 'curl', baseUrl: steyg.baseUrl, models: { main: 'm' } })];
}
function handle(event: MessagesEvent): void {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') event.delta.text.toUpperCase();
  if (event.type === 'error') throw new Error(event.error.message, { cause: StreamError });
}
`;

describe('a project somewhere else', () => {
  it.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('type-checks against the packed tarball, strictly: module %s', async (module, moduleResolution) => {
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      module,
      moduleResolution,
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      // Its own declarations are checked too.
      skipLibCheck: false,
    };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }));
    await writeFile(join(project, 'use.ts'), consumer);
    const { code, stdout } = await run(process.execPath, [tsc, '-p', project]);
    expect(stdout).toBe('');
    expect(code).toBe(0);
  });
});

describe('a program of its own', () => {
  let app: TestApp;
  let env: Record<string, string>;
  beforeAll(async () => {
    app = await startApp();
    env = { STEYG_BASE_URL: app.baseUrl, STEYG_API_KEY: (await app.customer()).secret };
  });
  afterAll(() => app.close());

  const program = `
    import { BadRequestError, Steyg, verifyReceipt } from '@steyg/sdk';
    const steyg = new Steyg({ baseUrl: process.env.STEYG_BASE_URL, apiKey: process.env.STEYG_API_KEY });
    const request = (content) => ({ model: 'sim-small', max_tokens: 64, messages: [{ role: 'user', content }] });
    const whole = await steyg.messages.create(request('[[say Xin chào 👋]]'));
    const stream = steyg.messages.stream(request('[[say Xin chào 👋]]'));
    const text = await stream.finalText();
    const { entry } = await stream.cost();
    const failure = await steyg.messages.create({ ...request('x'), model: 'nope' }).catch((error) => error);
    const models = await steyg.console.catalog.models();
    const broken = steyg.chat.completions.stream({ model: 'sim-small', messages: [{ role: 'user', content: '[[cut 3]]' }] });
    console.log(JSON.stringify({
      whole: whole.content[0].text, text, receipt: verifyReceipt(entry).matches, cost: typeof whole.steyg.costUsd,
      failure: failure instanceof BadRequestError, models: models.length,
      broken: await broken.finalText().catch((error) => error.name),
    }));
  `;

  it.each(nodes())('runs on Node $version', async ({ path }) => {
    await writeFile(join(project, 'program.js'), program);
    const { stdout, stderr } = await run(path, ['program.js'], { cwd: project, env });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      whole: 'Xin chào 👋',
      text: 'Xin chào 👋',
      receipt: true,
      cost: 'string',
      failure: true,
      models: 3,
      broken: 'StreamError',
    });
    const doctor = join(project, 'node_modules/@steyg/sdk/bin/steyg.js');
    const { code, stdout: findings } = await run(path, [doctor, 'doctor', '--json'], { cwd: project, env });
    expect(JSON.parse(findings)).toMatchObject({ healthy: true });
    expect(code).toBe(0);
  });

  it('runs where there is nothing but what the web has', async () => {
    const given = { url: app.baseUrl, apiKey: env['STEYG_API_KEY'] };
    const { whole: script } = await bundle(
      `
      import { Steyg, BadRequestError, verifyReceipt } from '@steyg/sdk';
      import { connect } from '@steyg/sdk/connect';
      import { doctor } from '@steyg/sdk/doctor';
      const { url, apiKey } = given;
      const request = (content) => ({ model: 'sim-small', max_tokens: 64, messages: [{ role: 'user', content }] });
      async function run() {
        const steyg = new Steyg({ baseUrl: url, apiKey });
        const stream = steyg.messages.stream(request('[[say Xin chào 👋]]'));
        const text = await stream.finalText();
        const left = steyg.messages.stream(request('[[hang 3]]'));
        for await (const { type } of left) if (type === 'content_block_delta') break;
        const refusal = await steyg.messages.create({ ...request('x'), model: 'nope' }).catch((error) => error);
        const unsigned = await steyg.console.keys.createKey({ input: { name: 'x' } }).catch((error) => error.code);
        return {
          text,
          receipt: verifyReceipt((await stream.cost()).entry).matches,
          left: (await left.cost()).entry.outcome,
          refused: refusal instanceof BadRequestError,
          unsigned,
          healthy: (await doctor({ baseUrl: url, apiKey })).healthy,
          tool: connect({ tool: 'codex', baseUrl: url, models: { main: 'sim-small' } }).title,
        };
      }
      globalThis.outcome = run();
      `,
      'iife',
    );
    // No process, no Buffer, no setImmediate, no require, no import.
    const web = {
      AbortController,
      AbortSignal,
      Headers,
      ReadableStream,
      Response,
      TextDecoder,
      TextEncoder,
      URL,
      URLSearchParams,
      clearTimeout,
      crypto,
      fetch,
      setTimeout,
    };
    const context = createContext({ ...web, given, outcome: undefined });
    runInContext(script, context);
    expect(JSON.parse(JSON.stringify(await (context['outcome'] as Promise<unknown>)))).toEqual({
      text: 'Xin chào 👋',
      receipt: true,
      left: 'client_closed',
      refused: true,
      unsigned: 'UNAUTHENTICATED',
      healthy: true,
      tool: 'Codex',
    });
  });
});
