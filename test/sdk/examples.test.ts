import { globSync, readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { linkModules, root, run, tsc, withDirectory } from './programs.ts';

/** The programs in `sdk/examples` type-check against the built package and run against a server. */

const examples = globSync('sdk/examples/*.ts', { cwd: root }).map((path) => basename(path));
const outputs: Record<string, RegExp> = {
  'client.ts': /^$/,
  'first-request.ts': /^pong\n\d\S* USD, request [0-9a-f-]{36}\n$/,
  'stream.ts': /\n\d\S* USD\n$/,
  'budget.ts': /^\S+ of 100 USD left\n[\s\S]*sim-small 0\.25\n/,
  'errors.ts': /^400 model_not_found .*no-such-model/,
};

let app: TestApp;
let env: Record<string, string>;
beforeAll(async () => {
  app = await startApp();
  const { secret } = await app.customer();
  env = { STEYG_BASE_URL: app.baseUrl, STEYG_API_KEY: secret };
});
afterAll(() => app.close());

it('each example says in its first line what it is for, and has its output held here', () => {
  expect([...examples].sort()).toEqual(Object.keys(outputs).sort());
  for (const name of examples) expect(readFileSync(join(root, 'sdk/examples', name), 'utf8')).toMatch(/^\/\/ [A-Z]/);
});

it('all examples type-check and run', async () => {
  await withDirectory(async (directory) => {
    await linkModules(directory);
    await Promise.all(examples.map((name) => copyFile(join(root, 'sdk/examples', name), join(directory, name))));
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
    };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    expect((await run(process.execPath, [tsc, '-p', directory])).stdout).toBe('');
    for (const name of examples) {
      const { code, stdout, stderr } = await run(process.execPath, [name], { cwd: directory, env });
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
      expect(stdout).toMatch(outputs[name] ?? /never/);
    }
  });
});
