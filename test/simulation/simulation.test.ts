import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/**
 * A minute of the simulation, half of it at a time, from seeds that nobody has seen before. What fails is printed with its seed, which
 * repeats the run, and as the shortest history that fails as well: see this folder's README.
 */

let databases: TestDatabase[];
beforeAll(async () => {
  databases = await Promise.all([createDatabase(), createDatabase()]);
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

it('no promise is broken, whatever fails in whatever order', { timeout: 400_000 }, async () => {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=DeprecationWarning',
      'test/simulation/run.ts',
      ...databases.map(({ url }) => `--url=${url}`),
      '--seconds=30',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  process.stdout.write(output);
  expect(output).toMatch(/^[1-9]\d* runs, [1-9]\d* requests/m);
  expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
});
