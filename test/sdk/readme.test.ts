import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as sdk from '@steyg/sdk';
import * as connecting from '@steyg/sdk/connect';
import { connect, type ToolName } from '@steyg/sdk/connect';
import * as doctoring from '@steyg/sdk/doctor';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessTokens } from '../../server/people/access-tokens.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { linkModules, root, run, tsc, withDirectory } from './programs.ts';

// The examples of the README, and the code that `connect` prints, run as they are.

let app: TestApp;
let customer: Customer;
let env: Record<string, string>;

beforeAll(async () => {
  app = await startApp();
  customer = await app.customer();
  const token = await createAccessTokens({ pool: app.pool }).create(
    {
      accountId: customer.accountId,
      name: 'readme',
      scopes: ['read', 'keys', 'billing'],
      expiresAt: null,
      createdBy: null,
    },
    'test',
  );
  if (token.kind !== 'created') throw new Error(token.kind);
  env = { STEYG_BASE_URL: app.baseUrl, STEYG_API_KEY: customer.secret, STEYG_ACCESS_TOKEN: token.secret };
  await app.pool.query(
    `INSERT INTO plan (id, name, price_vnd, budget) VALUES ('starter', 'Starter', 250000, 10000000000000) ON CONFLICT (id) DO NOTHING`,
  );
});
afterAll(() => app.close());

const fenced = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^ *\`\`\`${language}\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))].map(([, code = '']) => code);

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
};

describe('the README', () => {
  const [client = '', ...examples] = fenced(readFileSync(join(root, 'sdk/README.md'), 'utf8'), 'ts');

  it('has an example for every part', () => {
    const text = examples.join('\n');
    const parts = [
      'messages.create',
      'chat.completions',
      'responses.create',
      'stream(',
      'cost()',
      'models.',
      'usage.',
      'verifyReceipt',
    ];
    const more = [
      'instanceof',
      'abort()',
      'tool_use',
      'StreamError',
      'withResponse()',
      'idempotencyKey',
      'fetch:',
      'subscribe<',
      'onEvent',
      'console.',
      'graphql',
      'openai()',
      'anthropic()',
      'aiSdk()',
      'connect(',
      'doctor(',
    ];
    for (const part of [...parts, ...more]) expect(text).toContain(part);
  });

  it('has examples that type-check and run', async () => {
    await withDirectory(async (directory) => {
      await linkModules(directory);
      const files = examples.map((_, index) => `example-${index}.ts`);
      await Promise.all(
        examples.map((example, index) => writeFile(join(directory, files[index] ?? ''), `${client}\n${example}`)),
      );
      await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      const checked = await run(process.execPath, [tsc, '-p', directory]);
      expect(checked.stdout).toBe('');

      const all = files.map((file) => `await import('./${file}'); console.log('\\nran ${file}');`).join('\n');
      await writeFile(join(directory, 'all.mjs'), all);
      const { stdout, stderr } = await run(process.execPath, ['all.mjs'], { cwd: directory, env });
      expect(stderr).toBe('');
      expect(stdout.match(/^ran example/gm)).toHaveLength(files.length);
      expect(stdout).toContain('model_not_found');
      expect(stdout).toContain('PENDING');
      expect(stdout).toContain('client_closed\nAbortedError');
      expect(stdout).toContain("get_weather { city: 'Huế' }");
    });
  });
});

describe('the README', () => {
  const readme = readFileSync(join(root, 'sdk/README.md'), 'utf8');

  it('has commands that work', async () => {
    const commands = fenced(readme, 'sh')
      .join('')
      .split('\n')
      .flatMap((line) => /^npx --yes \S+\/sdk\.tgz (.*?)\s*(#.*)?$/.exec(line)?.[1] ?? [])
      // A person decides: `login.test.ts`.
      .filter((command) => !command.startsWith('login '));
    expect(commands.length).toBeGreaterThan(2);
    await withDirectory(async (directory) => {
      const steyg = join(root, 'sdk/bin/steyg.js');
      for (const command of commands) {
        const { code, stderr } = await run(process.execPath, [steyg, ...command.split(' ')], { cwd: directory, env });
        expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
      }
    });
  });

  it('names errors that there are, and all that have a status', () => {
    const errors = Object.keys(sdk).filter((name) => name.endsWith('Error'));
    const named = [...new Set(readme.match(/\b[A-Z]\w+Error\b/g))];
    expect(named.filter((name) => !errors.includes(name))).toEqual([]);
    const general = ['ApiError', 'SteygError', 'ResultError', 'GraphqlError'];
    expect(errors.filter((name) => !named.includes(name) && !general.includes(name))).toEqual([]);
  });
});

describe('the examples beside the declarations', () => {
  const sources = [
    'client',
    'account',
    'messages',
    'chat',
    'responses',
    'streams',
    'errors',
    'options',
    'console',
    'graphql',
    'receipt',
    'drop-in',
    'connect/index',
    'connect/choose',
    'connect/render',
    'doctor/index',
    'internal/pending',
    'internal/data-plane',
    'generated/console',
  ];
  /** What examples take for granted. */
  const around = `
import * as sdk from '@steyg/sdk';
import * as connecting from '@steyg/sdk/connect';
import { doctor } from '@steyg/sdk/doctor';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
const { Steyg, SteygError, ApiError, BadRequestError, AuthenticationError, BudgetError, PermissionError, NotFoundError, RateLimitError, ServerError, StreamError, StreamInterruptedError, ConnectionError, RequestTimeoutError, ConflictError, RequestTooLargeError, UnsupportedMediaTypeError, UnprocessableError, InternalServerError, NotSupportedError, UpstreamError, UnavailableError, UpstreamTimeoutError, OverloadedError, InvalidAnswerError, GraphqlError, ResultError, isFailure, orThrow, verifyReceipt } = sdk;
const { chooseModels, connect, renderConnection, tools } = connecting;
type SteygEvent = sdk.SteygEvent;
type TypedDocument<R = unknown, V = Record<string, unknown>> = sdk.TypedDocument<R, V>;
declare const steyg: sdk.Steyg, apiKey: string, error: unknown, controller: AbortController, id: string;
declare const password: string, token: string, secret: string, currentPassword: string, newPassword: string;
declare const request: sdk.MessagesRequest & sdk.ChatCompletionRequest & sdk.ResponsesRequest & { stream?: false } & connecting.ConnectRequest;
declare const messages: sdk.MessageParam[], requestId: string, message: sdk.Answer<sdk.MessagesResponse>;
declare const stream: sdk.MessageStream;
declare const showOffline: () => void, askForKey: () => void, chooseAnotherModel: () => void, signInAgain: () => void;
declare const delay: (ms: number) => Promise<void>;
`;

  it('stand with everything that programs can import', async () => {
    const documented = sources.flatMap((name) => {
      const text = readFileSync(join(root, `sdk/src/${name}.ts`), 'utf8');
      const declarations = text.matchAll(
        /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport (?:async )?(?:class|function|const) (\w+)/g,
      );
      return [...declarations].flatMap(([, comment = '', declared = '']) =>
        comment.includes('@example') ? [declared] : [],
      );
    });
    const exported = [sdk, connecting, doctoring].flatMap((module) => Object.keys(module));
    expect(exported.length).toBeGreaterThan(30);
    expect(exported.filter((name) => !documented.includes(name))).toEqual([]);
  });

  it('type-check', async () => {
    const examples = sources.flatMap((name) => {
      const text = readFileSync(join(root, `sdk/src/${name}.ts`), 'utf8').replaceAll(/^ *\* ?/gm, '');
      return fenced(text, 'ts').map((code) => ({ name, code }));
    });
    expect(examples.length).toBeGreaterThan(120);
    const functions = examples.map(
      ({ name, code }, index) =>
        `// ${name}\nexport async function example${index}(): Promise<unknown> {\n${code}\nreturn null;\n}`,
    );
    await withDirectory(async (directory) => {
      await linkModules(directory);
      await writeFile(join(directory, 'examples.ts'), `${around}\n${functions.join('\n')}`);
      const options = { ...compilerOptions, lib: ['es2024', 'dom'] };
      await writeFile(
        join(directory, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, include: ['*.ts'] }),
      );
      const { stdout } = await run(process.execPath, [tsc, '-p', directory]);
      expect(stdout).toBe('');
    });
  });
});

const connectionOf = (tool: ToolName) =>
  connect({ tool, baseUrl: app.baseUrl, apiKey: customer.secret, models: { main: 'sim-small' } });

describe('the code that connect gives out', () => {
  it.each<ToolName>(['openai-sdk', 'anthropic-sdk', 'ai-sdk', 'langchain'])('%s: runs', async (tool) => {
    const [code] = connectionOf(tool).code;
    await withDirectory(async (directory) => {
      await linkModules(directory);
      await writeFile(join(directory, 'program.mjs'), code?.text ?? '');
      const { stdout, code: ended } = await run(process.execPath, ['program.mjs'], { cwd: directory, env });
      expect(stdout).toContain('pong');
      expect(ended).toBe(0);
    });
  });

  it('curl: answers', async () => {
    for (const command of connectionOf('curl').commands) {
      const { stdout } = await run('sh', ['-c', command.replace(/^curl/, 'curl -s')], { env });
      expect(stdout).toContain('pong');
    }
  });
});
