/** The command line of the SDK. */

import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnosis } from '@steyg/sdk/doctor';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diff } from '../../sdk/dist/cli/diff.js';
import { gitEnvironment } from '../../sdk/dist/cli/files.js';
import { run } from '../../sdk/dist/cli/run.js';
import { startApp, type TestApp } from '../support/app.ts';
import { type Ended, root, withDirectory } from './programs.ts';

let app: TestApp;
let apiKey: string;

beforeAll(async () => {
  app = await startApp();
  apiKey = (await app.customer()).secret;
});
afterAll(() => app.close());

/** The command line with a home directory of its own, which is also the working directory. */
async function steyg(
  home: string,
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): Promise<Ended> {
  const ended = { stdout: '', stderr: '' };
  const code = await run(args, {
    env: { STEYG_BASE_URL: app.baseUrl, STEYG_API_KEY: apiKey, ...env },
    cwd: home,
    home,
    print: (text) => void (ended.stdout += text),
    complain: (text) => void (ended.stderr += text),
    readInput: async () => input,
    confirm: null,
  });
  return { code, ...ended };
}

describe('steyg', () => {
  it('helps', async () => {
    const { code, stdout } = await steyg(root, ['--help']);
    expect(stdout).toContain('steyg doctor');
    expect(code).toBe(0);
    expect((await steyg(root, ['dance'])).code).toBe(2);
    const wrong = await steyg(root, ['doctor', '--dance']);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('--dance');
    expect(wrong.stderr).not.toContain('    at ');
  });
});

describe('steyg status', () => {
  it('says what is left and what today cost, for people, programs and status lines', async () => {
    await withDirectory(async (home) => {
      const customer = await app.customer({ usd: '5' });
      const env = { STEYG_API_KEY: customer.secret };
      expect((await steyg(home, ['status'], env)).stdout).toBe(
        'Left        5.00 USD\nToday       0.00 USD by this key\n',
      );
      expect((await steyg(home, ['status', '--line'], env)).stdout).toBe('5.00 USD left, 0.00 USD today\n');
      const { stdout } = await steyg(home, ['status', '--json'], env);
      expect(JSON.parse(stdout)).toEqual({ balance: 5, limitLeft: null, limitReset: null, today: 0 });
    });
  });

  it('counts the limit of the key, asks at most once in five seconds, and keeps no key on disk', async () => {
    await withDirectory(async (home) => {
      const customer = await app.customer({
        usd: '5',
        terms: { limits: { day: 2_000_000_000_000n, week: null, month: null, lifetime: null } },
      });
      const env = { STEYG_API_KEY: customer.secret };
      expect((await steyg(home, ['status'], env)).stdout).toContain('  this key  2.00 USD (daily)');
      const before = app.logged.length;
      for (let round = 0; round < 5; round += 1)
        expect((await steyg(home, ['status', '--line'], env)).stdout).toBe('2.00 USD left, 0.00 USD today\n');
      expect(app.logged.slice(before).filter((line) => line.includes('/v1/key'))).toEqual([]);
      const folder = join(home, '.cache/steyg');
      const [name = ''] = await readdir(folder);
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
      expect(name + (await readFile(join(folder, name), 'utf8'))).not.toContain(customer.secret.slice(-12));
    });
  });

  it('in a status line never fails', async () => {
    await withDirectory(async (home) => {
      const away = { STEYG_BASE_URL: 'http://127.0.0.1:64231/api' };
      expect(await steyg(home, ['status', '--line'], away)).toMatchObject({ code: 0, stdout: 'Steyg: no answer\n' });
      expect((await steyg(home, ['status', '--line'], { STEYG_API_KEY: '' })).stdout).toBe('Steyg: not set up\n');
      expect((await steyg(home, ['status'], away)).code).toBe(1);
    });
  });
});

describe('steyg connect', () => {
  it('prints settings, the key masked, the models by price', async () => {
    const { stdout, code } = await steyg(root, ['connect', 'claude-code']);
    expect(stdout).toContain(`"ANTHROPIC_BASE_URL": "${app.baseUrl}"`);
    expect(stdout).toContain('"ANTHROPIC_DEFAULT_OPUS_MODEL": "sim-large"');
    expect(stdout).toContain('"ANTHROPIC_SMALL_FAST_MODEL": "sim-small"');
    expect(stdout).not.toContain(apiKey);
    expect(code).toBe(0);
    expect((await steyg(root, ['connect', 'claude-code', '--show-key'])).stdout).toContain(apiKey);
  });

  it('is JSON for programs', async () => {
    const { stdout } = await steyg(root, ['connect', 'codex', '--model', 'sim-large', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      tool: 'codex',
      files: [{ path: '~/.codex/config.toml', holdsKey: false }],
    });
    expect(stdout).not.toContain(apiKey);
  });

  it.each([
    [['emacs'], 'no known tool'],
    [['cursr'], 'Did you mean cursor?'],
    [['codex', '--model', 'gpt-9'], 'sim-large, sim-medium, sim-small'],
    [['codex', '--base-url', 'https://steyg.test/api/v1'], 'leave /v1 out'],
    [['codex', '--key-file', 'not-there'], 'not-there'],
    [['cursor', '--write', '--yes'], 'no settings file'],
  ])('says what is wrong: %j', async (args, reason) => {
    const { code, stderr } = await steyg(root, ['connect', ...args]);
    expect(stderr).toContain(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('takes the key from a file or from standard input, and names no tool without being asked', async () => {
    await withDirectory(async (home) => {
      await writeFile(join(home, 'key'), `${apiKey}\n`);
      const none = { STEYG_API_KEY: '' };
      expect((await steyg(home, ['connect', 'curl', '--key-file', 'key', '--show-key'], none)).stdout).toContain(
        apiKey,
      );
      expect((await steyg(home, ['connect', 'curl', '--key-file', '-', '--show-key'], none, apiKey)).stdout).toContain(
        apiKey,
      );
      expect((await steyg(home, ['connect'])).stdout).toContain('claude-code, codex');
    });
  });

  it('writes after showing what changes, keeps the rest, and masks the key', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, '.claude'));
      const path = join(home, '.claude/settings.json');
      await writeFile(path, '{\n  // mine\n  "theme": "dark",\n  "env": { "OTHER": "1" }\n}\n');
      const unasked = await steyg(home, ['connect', 'claude-code', '--write']);
      expect(unasked).toMatchObject({ code: 1, stdout: expect.stringContaining('Nothing was written') });
      expect(await readFile(path, 'utf8')).not.toContain('ANTHROPIC');

      const { stdout, code } = await steyg(home, ['connect', 'claude-code', '--write', '--yes']);
      expect(code).toBe(0);
      expect(stdout).toContain('+');
      expect(stdout).toContain(`"ANTHROPIC_AUTH_TOKEN": "…${apiKey.slice(-4)}"`);
      expect(stdout).not.toContain(apiKey);
      const written = await readFile(path, 'utf8');
      expect(written).toContain('// mine');
      expect(written).toContain(`"ANTHROPIC_AUTH_TOKEN": "${apiKey}"`);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect((await steyg(home, ['connect', 'claude-code', '--write', '--yes'])).stdout).toContain(
        'is as it should be',
      );
    });
  });

  it('keeps a link a link', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, '.codex'));
      await writeFile(join(home, 'real.toml'), '');
      await symlink(join(home, 'real.toml'), join(home, '.codex/config.toml'));
      await steyg(home, ['connect', 'codex', '--write', '--yes']);
      expect(await readFile(join(home, 'real.toml'), 'utf8')).toContain('model_provider = "steyg"');
    });
  });

  it('refuses to put the key where git would commit it', async () => {
    await withDirectory(async (home) => {
      execFileSync('git', ['init', '-q', home]);
      const args = ['connect', 'claude-code', '--project', '--write', '--yes'];
      const { code, stderr } = await steyg(home, args);
      expect(stderr).toContain('.gitignore');
      expect(code).toBe(1);
      await expect(stat(join(home, '.claude/settings.json'))).rejects.toThrow('ENOENT');
      await writeFile(join(home, '.gitignore'), '.claude/settings.local.json\n');
      expect((await steyg(home, args)).code).toBe(0);
      expect(await readFile(join(home, '.claude/settings.json'), 'utf8')).not.toContain(apiKey);
      expect(await readFile(join(home, '.claude/settings.local.json'), 'utf8')).toContain(apiKey);
    });
  });

  it('keeps the permissions of a file, and takes them from others only where the key is in it', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, '.codex'));
      const config = join(home, '.codex/config.toml');
      for (const mode of [0o600, 0o640]) {
        await writeFile(config, '[mcp_servers.x.env]\nTOKEN = "sk-of-another-service-0123456789"\n');
        await chmod(config, mode);
        const { stdout } = await steyg(home, ['connect', 'codex', '--write', '--yes']);
        expect((await stat(config)).mode & 0o777).toBe(mode);
        // Nor does showing what changes show what is in there besides.
        expect(stdout).not.toContain('sk-of-another-service');
      }
      expect(await readdir(join(home, '.codex'))).toEqual(['config.toml']);
    });
  });

  it('runs no command that a foreign repository names, and gives git no key', async () => {
    await withDirectory(async (home) => {
      execFileSync('git', ['init', '-q', home]);
      const trace = join(home, 'trace');
      const spy = join(home, 'spy.sh');
      await writeFile(spy, `#!/bin/sh\nenv >> ${trace}\necho\n`);
      await chmod(spy, 0o755);
      for (const name of ['core.fsmonitor', 'core.pager', 'core.sshCommand', 'core.editor', 'diff.external'])
        execFileSync('git', ['-C', home, 'config', name, spy]);
      execFileSync('git', ['-C', home, 'config', 'core.hooksPath', join(home, 'hooks')]);
      await mkdir(join(home, 'hooks'));
      for (const hook of ['fsmonitor-watchman', 'post-index-change', 'pre-auto-gc'])
        await symlink(spy, join(home, 'hooks', hook));
      await writeFile(join(home, '.gitignore'), '.claude/settings.local.json\n');
      const args = ['connect', 'claude-code', '--project', '--write', '--yes'];
      expect((await steyg(home, args)).code).toBe(0);
      await expect(stat(trace)).rejects.toThrow('ENOENT');
      // The repository would run it: the test sees what it looks for.
      execFileSync('git', ['-C', home, 'status'], { stdio: 'ignore' });
      expect((await stat(trace)).size).toBeGreaterThan(0);
    });
    const env = gitEnvironment({
      PATH: '/bin',
      STEYG_API_KEY: 'k',
      GIT_DIR: '/evil',
      GIT_SSH_COMMAND: 'evil',
      HOME: '/h',
    });
    expect(Object.keys(env).filter((name) => /KEY|GIT_(?:DIR|SSH)/.test(name))).toEqual([]);
    expect(env).toMatchObject({ PATH: '/bin', HOME: '/h' });
  });

  it('takes back what it wrote, one write after the other, and nothing that was changed since', async () => {
    await withDirectory(async (home) => {
      const path = join(home, '.claude/settings.json');
      const connect = (...more: string[]) => steyg(home, ['connect', 'claude-code', ...more]);
      expect(await connect('--undo')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('Nothing was written'),
      });
      await mkdir(join(home, '.claude'));
      const before = '{\n  "theme": "dark"\n}\n';
      await writeFile(path, before);
      await connect('--write', '--yes', '--model', 'sim-small');
      const first = await readFile(path, 'utf8');
      await connect('--write', '--yes', '--model', 'sim-large');
      expect(await readFile(path, 'utf8')).not.toBe(first);
      const kept = join(home, '.steyg/backups');
      expect((await stat(kept)).mode & 0o777).toBe(0o700);
      for (const name of await readdir(kept)) expect((await stat(join(kept, name))).mode & 0o777).toBe(0o600);
      expect(await connect('--undo')).toMatchObject({ code: 0, stdout: expect.stringContaining(path) });
      expect(await readFile(path, 'utf8')).toBe(first);
      await writeFile(path, `${first} `);
      expect(await connect('--undo')).toMatchObject({ code: 1, stderr: expect.stringContaining('was changed since') });
      expect(await readFile(path, 'utf8')).toBe(`${first} `);
      await writeFile(path, first);
      expect((await connect('--undo')).code).toBe(0);
      expect(await readFile(path, 'utf8')).toBe(before);
      expect((await connect('--undo')).code).toBe(1);
      expect((await connect('--write', '--yes', '--project')).code).toBe(0);
      expect((await steyg(home, ['connect', 'claude-code', '--project', '--undo'])).code).toBe(0);
      await expect(stat(join(home, '.claude/settings.local.json'))).rejects.toThrow('ENOENT');
    });
  });

  it('refuses to put the key where git would commit it, also behind a link', async () => {
    await withDirectory(async (home) => {
      const dotfiles = join(home, 'dotfiles');
      execFileSync('git', ['init', '-q', dotfiles]);
      await mkdir(join(dotfiles, 'claude'));
      await symlink(join(dotfiles, 'claude'), join(home, '.claude'));
      const args = ['connect', 'claude-code', '--write', '--yes'];
      const whole = await steyg(home, args);
      expect(whole).toMatchObject({ code: 1, stderr: expect.stringContaining('dotfiles/claude/settings.json') });
      await writeFile(join(dotfiles, 'claude/settings.json'), '{}');
      expect((await steyg(home, args)).code).toBe(1);
      expect(await readFile(join(dotfiles, 'claude/settings.json'), 'utf8')).toBe('{}');
      await writeFile(join(dotfiles, '.gitignore'), 'settings.json\n');
      expect((await steyg(home, args)).code).toBe(0);
    });
  });

  it('leaves a file alone that it cannot read, and says which', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, '.qwen'));
      await writeFile(join(home, '.qwen/settings.json'), '{ "modelProviders": ');
      const { code, stderr } = await steyg(home, ['connect', 'qwen-code', '--write', '--yes']);
      expect(stderr).toContain(join(home, '.qwen/settings.json'));
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(code).toBe(1);
      await expect(stat(join(home, '.qwen/.env'))).rejects.toThrow('ENOENT');
    });
  });

  it('leaves a file alone that is read-only, no UTF-8 or no file, and says which', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, '.claude'));
      const path = join(home, '.claude/settings.json');
      const args = ['connect', 'claude-code', '--write', '--yes'];
      for (const [content, mode, complaint] of [
        [Buffer.from('{}'), 0o444, 'read-only'],
        // Valid JSON but for a comment in another encoding.
        [Buffer.from('// caf\xe9\n{}', 'latin1'), 0o644, 'not UTF-8'],
      ] as const) {
        await writeFile(path, content);
        await chmod(path, mode);
        const { code, stderr } = await steyg(home, args);
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${path}: The settings file is`) });
        expect(stderr).toContain(complaint);
        expect(await readFile(path)).toEqual(content);
      }
      await rm(path);
      await mkdir(path);
      expect(await steyg(home, args)).toMatchObject({ code: 1, stderr: `${path} cannot be read (EISDIR).\n` });
    });
  });

  it('keeps a byte order mark and the ends of lines', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, '.claude'));
      const path = join(home, '.claude/settings.json');
      await writeFile(path, '\uFEFF{\r\n  // mine\r\n  "a": 1\r\n}\r\n');
      expect((await steyg(home, ['connect', 'claude-code', '--write', '--yes'])).code).toBe(0);
      const text = await readFile(path, 'utf8');
      expect(text).toMatch(/^\uFEFF\{\r\n {2}\/\/ mine\r\n {2}"a": 1,\r\n/);
      expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    });
  });

  it('refuses what it does not know, in words', async () => {
    const unknown = await steyg(root, ['conect', 'codex']);
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^There is no command conect\./),
    });
    const several = await steyg(root, ['connect', 'codex', 'zed']);
    expect(several).toMatchObject({ code: 1, stdout: '', stderr: 'One tool at a time: what is zed?\n' });
  });

  it('finds settings that were moved, or that have another name', async () => {
    await withDirectory(async (home) => {
      const moved = {
        CLAUDE_CONFIG_DIR: join(home, 'a'),
        CODEX_HOME: join(home, 'b'),
        XDG_CONFIG_HOME: join(home, 'c'),
      };
      await mkdir(join(home, 'c/opencode'), { recursive: true });
      await writeFile(join(home, 'c/opencode/opencode.jsonc'), '{\n  // mine\n}\n');
      for (const tool of ['claude-code', 'codex', 'opencode', 'zed']) {
        expect((await steyg(home, ['connect', tool, '--write', '--yes'], moved)).code).toBe(0);
      }
      expect(await readFile(join(home, 'a/settings.json'), 'utf8')).toContain(apiKey);
      expect(await readFile(join(home, 'b/config.toml'), 'utf8')).toContain('model_provider');
      expect(await readFile(join(home, 'c/opencode/opencode.jsonc'), 'utf8')).toMatch(/mine[^]*small_model/);
      expect(await readdir(join(home, 'c/opencode'))).toEqual(['opencode.jsonc']);
      expect(await readFile(join(home, 'c/zed/settings.json'), 'utf8')).toContain('default_model');
      expect((await readdir(home)).toSorted()).toEqual(['.steyg', 'a', 'b', 'c']);
      // And the doctor looks there.
      const { stdout } = await steyg(home, ['doctor', '--no-spend'], { ...moved, ANTHROPIC_MODEL: 'claude' });
      expect(stdout).toContain('ANTHROPIC_MODEL differs');
    });
  });

  it('takes a variable that is set to nothing for none', async () => {
    const { code, stderr } = await steyg(root, ['connect', 'curl'], { STEYG_API_KEY: '' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('--model ID') });
    expect((await steyg(root, ['doctor'], { STEYG_BASE_URL: '' })).stderr).toContain('--base-url');
  });
});

describe('steyg doctor', () => {
  it('ends with 0 when all is well, and with 1 when something has to be mended', async () => {
    const well = await steyg(root, ['doctor', '--model', 'sim-large']);
    expect(well.stdout).toContain('✓ streaming');
    expect(well.code).toBe(0);
    const ill = await steyg(root, ['doctor', '--base-url', `${app.baseUrl}/v1`, '--no-spend', '--json']);
    const { healthy, findings } = JSON.parse(ill.stdout) as Diagnosis;
    expect({ healthy, first: findings[0] }).toMatchObject({
      healthy: false,
      first: { check: 'address', level: 'error' },
    });
    expect(ill.code).toBe(1);
    expect(`${well.stdout}${ill.stdout}`).not.toContain(apiKey);
  });

  it('looks at the settings of Claude Code as it would', async () => {
    await withDirectory(async (home) => {
      await steyg(home, ['connect', 'claude-code', '--write', '--yes']);
      expect((await steyg(home, ['doctor', '--no-spend'])).code).toBe(0);
      const { stdout } = await steyg(home, ['doctor', '--no-spend'], { ANTHROPIC_MODEL: 'claude' });
      expect(stdout).toContain('ANTHROPIC_MODEL differs');
      await writeFile(join(home, '.claude/.credentials.json'), '{}');
      expect((await steyg(home, ['doctor', '--no-spend'])).stdout).toContain('/logout');
      const path = join(home, '.claude/settings.json');
      await writeFile(path, (await readFile(path, 'utf8')).replace('"sim-small"', '"claude-haiku"'));
      expect((await steyg(home, ['doctor', '--no-spend'])).code).toBe(1);
    });
  });
});

const text = (list: readonly string[]) => `${list.join('\n')}\n`;

describe('a difference', () => {
  it('is shown with three lines around it', () => {
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`);
    expect(diff(text(lines), text(lines))).toBe('');
    expect(diff('', 'a\nb\n')).toBe('+a\n+b\n');
    expect(diff(text(lines), text(lines.with(10, 'new').toSpliced(0, 1)))).toBe(
      [
        '-line 0',
        ' line 1',
        ' line 2',
        ' line 3',
        '…',
        ' line 7',
        ' line 8',
        ' line 9',
        '-line 10',
        '+new',
        ' line 11',
        ' line 12',
        ' line 13',
        '',
      ].join('\n'),
    );
  });
});
