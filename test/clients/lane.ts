/** One coding agent in an isolated home directory, with its traffic recorded. */

import { copyFile, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Agent } from './agents.ts';
import type { Gateway } from './gateway.ts';
import { type Finished, killInhabitants, run } from './process.ts';
import { connectionOf, personalise } from './readme.ts';
import { type Call, type Outside, openOutside, openTap } from './tap.ts';

export interface Question {
  prompt: string;
  key: string;
  model: string;
  /** Where the agent works; a fresh directory if it does not matter. */
  directory?: string;
  /** Goes on with the last conversation in that directory. */
  goOn?: boolean;
  timeoutMs?: number;
  /** Kills it so long after its first request. How long it takes to start depends on the machine. */
  windowMs?: number;
  env?: Record<string, string>;
  /** Changes what README.md says, for what people do otherwise. */
  edit?: (text: string) => string;
}

export interface Asked extends Finished {
  /** Both outputs, without the codes that colour them. */
  printed: string;
  /** What reached the server meanwhile. */
  calls: Call[];
}

/** One agent at home: connected as README.md says, with everything it does in view. */
export interface Lane {
  agent: Agent;
  gateway: Gateway;
  /** A fresh directory to work in. */
  workplace(): Promise<string>;
  ask(question: Question): Promise<Asked>;
  /** Hosts elsewhere that it asked for, in vain. */
  outside(): ReadonlySet<string>;
  close(): Promise<void>;
}

export interface LaneParts {
  agent: Agent;
  gateway: Gateway;
  /** Directories of its program and of those that it starts, for PATH. */
  commands: readonly string[];
  /** What its library is imported from. */
  modules: string;
  directory: string;
  signal: AbortSignal;
}

const patienceMs = 300_000;

export async function openLane(parts: LaneParts): Promise<Lane> {
  const { agent, gateway, directory } = parts;
  const home = join(directory, 'home');
  await mkdir(home, { recursive: true });
  const tap = await openTap(gateway.url);
  const outside = await openOutside();
  const env = environment(parts, home, outside);
  const connection = agent.recipe ?? connectionOf(agent.name);
  const program = agent.program === undefined ? null : await placeProgram(parts, agent.program);
  const files = { ...agent.silence.files, ...Object.fromEntries(connection.files) };
  let isSetUp = false;

  const shell = async (
    question: Question,
    script: string,
    args: string[],
    cwd: string,
    signal = parts.signal,
  ): Promise<Finished> => {
    const finished = await run({
      command: 'sh',
      args: ['-euc', script, 'sh', ...args],
      cwd,
      env: { ...env, ...question.env, KEY: question.key },
      timeoutMs: question.timeoutMs ?? patienceMs,
      signal,
    });
    killInhabitants(home);
    return finished;
  };

  const workplace = (): Promise<string> => mkdtemp(join(directory, 'work-'));

  return {
    agent,
    gateway,
    workplace,
    async ask(question) {
      const { prompt, key, model, goOn = false, edit = (text) => text } = question;
      const cwd = question.directory ?? (await workplace());
      const own = { baseUrl: `${tap.url}/api`, model, key };
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(home, path)), { recursive: true });
        await writeFile(join(home, path), edit(personalise(text, own)));
      }
      const block = edit(personalise(connection.shell, own));
      if (agent.shell === 'setup' && !isSetUp) {
        const setup = await shell({ ...question, timeoutMs: patienceMs }, block, [], cwd);
        if (setup.code !== 0) throw new Error(`setting it up failed: ${setup.stderr}${setup.stdout}`);
        isSetUp = true;
      }
      const before = tap.calls.length;
      const asked = goOn && agent.goOn !== null ? agent.goOn(prompt) : agent.ask(prompt, { model, key });
      const args = program === null ? asked : [program, ...asked];
      const script = `${agent.shell === 'settings' ? block : ''}\nexec "$@"`;
      const window = new AbortController();
      const watch = setInterval(() => {
        if (tap.now() - (tap.calls[before]?.atMs ?? tap.now()) > (question.windowMs ?? patienceMs)) window.abort();
      }, 100);
      const signal = AbortSignal.any([parts.signal, window.signal]);
      const finished = await shell(question, script, [agent.command, ...args], cwd, signal);
      clearInterval(watch);
      const printed = stripVTControlCharacters(`${finished.stdout}\n${finished.stderr}`);
      return { ...finished, printed, calls: tap.calls.slice(before) };
    },
    outside: () => new Set(outside.asked),
    async close() {
      killInhabitants(home);
      await Promise.all([tap.close(), outside.close()]);
    },
  };
}

/** Puts a program beside the library that it imports: below `node_modules` Node would not take its types off. */
async function placeProgram({ directory, modules }: LaneParts, name: string): Promise<string> {
  const place = join(directory, 'program');
  await mkdir(place);
  await symlink(modules, join(place, 'node_modules'));
  await writeFile(join(place, 'package.json'), '{"type":"module"}\n');
  await copyFile(new URL(`programs/${name}`, import.meta.url), join(place, name));
  return join(place, name);
}

/** An empty home, and no way out of this machine. The environment of the caller is not inherited. */
function environment(
  { agent, commands, directory }: LaneParts,
  home: string,
  outside: Outside,
): Record<string, string> {
  const proxies = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
  return {
    PATH: [...commands, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local/share'),
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    TMPDIR: directory,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    DO_NOT_TRACK: '1',
    ...Object.fromEntries(proxies.map((name) => [name, outside.url])),
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
    ...agent.silence.env,
  };
}
