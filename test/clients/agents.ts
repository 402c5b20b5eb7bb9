/** The published coding agents, with their versions, settings and bounds of requests. */

import type { Protocol } from './gateway.ts';
import type { Connection } from './readme.ts';

/** Maximum requests to the server for one prompt of a person. */
export interface Bounds {
  /** The budget ends in the middle of the answer, with what follows from that. */
  runsDry: number;
  usedUp: number;
  wrongKey: number;
  unknownModel: number;
  /** Within `cutWindowMs`, while every answer is cut. */
  cut: number;
}

/** A published program that writes code, and how it is used without a person. */
export interface Agent {
  /** What `--only` names. */
  id: string;
  /** As in the headings of README.md, where there is no recipe. */
  name: string;
  /** On npm. */
  package: string;
  version: string;
  command: string;
  /** Of a library: the file in `programs` that uses it. */
  program?: string;
  /** Other programs that it starts. */
  starts?: readonly { package: string; version: string; command: string }[];
  /** How it is connected, where README.md leaves that to the vendor's pages. `YOUR_KEY` stands for the key in files. */
  recipe?: Connection;
  /** It offers the vendor's search with every request, which a model must have a price for. */
  offersSearch?: true;
  /** It shows people what a refusal says. */
  showsRefusals: boolean;
  /** What it says of a wrong key in place of what the refusal says. */
  saysOfWrongKey?: string;
  /** It hides that a wrong key is not to be tried again, and what it starts goes on for minutes, with growing pauses. */
  retriesWrongKey?: true;
  /** What is spent within one answer, in USD, where its own cap on answers is small; 0.04 otherwise. */
  dryUsd?: string;
  /** What it speaks when it is connected as README.md says. */
  protocol: Protocol;
  /** What README.md has for the shell: settings for every start, or a command that is run once. */
  shell: 'settings' | 'setup';
  /** Arguments that ask once and print the answer. */
  ask(prompt: string, connection: { model: string; key: string }): string[];
  /** The same in the conversation that was the last one in this directory; null: it has no such thing without a person. */
  goOn: ((prompt: string) => string[]) | null;
  /** What makes the simulator call the tool of this agent that writes a file. */
  write(path: string, content: string): string;
  /** Settings of this run, not of people's: reports, updates and other traffic that is not about models. */
  silence: { env?: Record<string, string>; files?: Record<string, string> };
  bounds: Bounds;
}

/**
 * How long a tool may try again while every answer is cut. Some go on for minutes, with growing pauses; what matters is
 * how many requests that makes.
 */
export const cutWindowMs = 20_000;

// The versions are those that the rules of the gateway were observed with. The bounds are what these versions send for
// the statuses and streams they get here; a tool that gets a worse answer (a bare end of a stream, a 401 without
// `x-should-retry`) sends many times more.
export const agents: readonly Agent[] = [
  {
    id: 'claude',
    name: 'Claude Code',
    showsRefusals: true,
    package: '@anthropic-ai/claude-code',
    version: '2.1.330',
    command: 'claude',
    protocol: 'messages',
    shell: 'settings',
    ask: (prompt) => ['-p', prompt, '--allowedTools', 'Write'],
    goOn: (prompt) => ['-p', prompt, '-c'],
    write: (path, content) => `[[tool Write ${JSON.stringify({ file_path: path, content })}]]`,
    silence: { env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } },
    // A 400 is tried again with fewer and fewer fields, six times in all, whatever it says. A cut stream is asked for
    // once without streaming; that fails with a 502 here, which is repeated after 0.5, 1, 2, … seconds.
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 6, cut: 8 },
  },
  {
    id: 'codex',
    name: 'Codex',
    showsRefusals: true,
    package: '@openai/codex',
    version: '0.169.0',
    command: 'codex',
    protocol: 'responses',
    shell: 'settings',
    ask: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    goOn: (prompt) => [
      'exec',
      'resume',
      '--last',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      prompt,
    ],
    write: (path, content) => `[[tool exec_command ${JSON.stringify({ cmd: `printf %s '${content}' > '${path}'` })}]]`,
    silence: {},
    // Everything but a 400 is sent six times, with growing pauses.
    bounds: { runsDry: 6, usedUp: 6, wrongKey: 6, unknownModel: 1, cut: 6 },
  },
  {
    id: 'opencode',
    name: 'opencode',
    showsRefusals: true,
    package: 'opencode-ai',
    version: '1.18.33',
    command: 'opencode',
    protocol: 'chat-completions',
    shell: 'settings',
    // It puts quotation marks around an argument with spaces in it, and the simulator would see them.
    ask: (prompt) => ['run', ...prompt.split(' ')],
    goOn: (prompt) => ['run', '-c', ...prompt.split(' ')],
    write: (path, content) => `[[tool write ${JSON.stringify({ filePath: path, content })}]]`,
    silence: { env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' } },
    // A new conversation costs one request more: its title, by the small model.
    bounds: { runsDry: 4, usedUp: 2, wrongKey: 2, unknownModel: 2, cut: 7 },
  },
  {
    id: 'qwen',
    name: 'Qwen Code',
    showsRefusals: true,
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    command: 'qwen',
    protocol: 'chat-completions',
    shell: 'settings',
    ask: (prompt) => ['-p', prompt, '--yolo'],
    goOn: (prompt) => ['-p', prompt, '-c', '--yolo'],
    write: (path, content) => `[[tool write_file ${JSON.stringify({ file_path: path, content })}]]`,
    silence: { files: { '.qwen/settings.json': '{"privacy":{"usageStatisticsEnabled":false}}' } },
    // After a cut it asks for the rest; after an answer, for what is worth remembering.
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 5 },
  },
  {
    id: 'cline',
    name: 'Cline',
    showsRefusals: true,
    package: 'cline',
    version: '3.0.65',
    command: 'cline',
    protocol: 'chat-completions',
    shell: 'setup',
    ask: (prompt, { model, key }) => ['-P', 'openai-compatible', '-m', model, '-k', key, prompt],
    goOn: null,
    write: (path, content) => `[[tool editor ${JSON.stringify({ path, new_text: content })}]]`,
    silence: {},
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 2 },
  },
  {
    id: 'cline-anthropic',
    name: 'Cline (Anthropic)',
    showsRefusals: true,
    package: 'cline',
    version: '3.0.65',
    command: 'cline',
    protocol: 'messages',
    offersSearch: true,
    dryUsd: '0.015',
    // Its command line takes no address for this provider; its own file of settings does.
    recipe: {
      shell: '',
      files: new Map([
        [
          '.cline/data/settings/providers.json',
          JSON.stringify({
            version: 1,
            lastUsedProvider: 'anthropic',
            modes: {},
            providers: {
              anthropic: {
                settings: {
                  provider: 'anthropic',
                  apiKey: 'YOUR_KEY',
                  model: 'sim-large',
                  baseUrl: 'http://127.0.0.1:8787/api/v1',
                },
                updatedAt: '2026-01-01T00:00:00.000Z',
                tokenSource: 'manual',
              },
            },
          }),
        ],
      ]),
    },
    shell: 'settings',
    ask: (prompt, { model, key }) => ['-P', 'anthropic', '-m', model, '-k', key, prompt],
    goOn: null,
    write: (path, content) => `[[tool editor ${JSON.stringify({ path, new_text: content })}]]`,
    silence: {},
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 2 },
  },
  {
    id: 'cline-openai',
    name: 'Cline (OpenAI)',
    showsRefusals: true,
    package: 'cline',
    version: '3.0.65',
    command: 'cline',
    protocol: 'responses',
    offersSearch: true,
    // As above.
    recipe: {
      shell: '',
      files: new Map([
        [
          '.cline/data/settings/providers.json',
          JSON.stringify({
            version: 1,
            lastUsedProvider: 'openai-native',
            modes: {},
            providers: {
              'openai-native': {
                settings: {
                  provider: 'openai-native',
                  apiKey: 'YOUR_KEY',
                  model: 'sim-large',
                  baseUrl: 'http://127.0.0.1:8787/api/v1',
                },
                updatedAt: '2026-01-01T00:00:00.000Z',
                tokenSource: 'manual',
              },
            },
          }),
        ],
      ]),
    },
    shell: 'settings',
    ask: (prompt, { model, key }) => ['-P', 'openai-native', '-m', model, '-k', key, prompt],
    goOn: null,
    write: (path, content) =>
      `[[tool apply_patch ${JSON.stringify({ input: `*** Begin Patch\n*** Add File: ${path}\n+${content}\n*** End Patch` })}]]`,
    silence: {},
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 2 },
  },
  {
    id: 'continue',
    name: 'Continue',
    showsRefusals: true,
    package: '@continuedev/cli',
    version: '1.5.47',
    command: 'cn',
    protocol: 'chat-completions',
    recipe: {
      shell: '',
      files: new Map([
        [
          '.continue/config.yaml',
          `name: steyg
version: 1.0.0
schema: v1
models:
  - name: steyg
    provider: openai
    model: sim-large
    apiBase: http://127.0.0.1:8787/api/v1
    apiKey: YOUR_KEY
`,
        ],
      ]),
    },
    shell: 'settings',
    ask: (prompt) => ['--auto', '-p', prompt],
    goOn: (prompt) => ['--auto', '--resume', '-p', prompt],
    write: (path, content) => `[[tool Write ${JSON.stringify({ filepath: path, content })}]]`,
    silence: { env: { CONTINUE_TELEMETRY_ENABLED: '0' } },
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 8 },
  },
  {
    id: 'pi',
    name: 'pi',
    showsRefusals: true,
    package: '@earendil-works/pi-coding-agent',
    // Later ones name a dependency that is not published.
    version: '0.87.1',
    command: 'pi',
    protocol: 'chat-completions',
    recipe: {
      shell: '',
      files: new Map([
        [
          '.pi/agent/models.json',
          JSON.stringify({
            providers: {
              steyg: {
                baseUrl: 'http://127.0.0.1:8787/api/v1',
                api: 'openai-completions',
                apiKey: '$KEY',
                models: [{ id: 'sim-large' }],
              },
            },
          }),
        ],
      ]),
    },
    shell: 'settings',
    ask: (prompt, { model }) => ['--offline', '--provider', 'steyg', '--model', model, '-p', prompt],
    goOn: (prompt) => ['--offline', '-c', '-p', prompt],
    write: (path, content) => `[[tool write ${JSON.stringify({ path, content })}]]`,
    silence: { env: { PI_OFFLINE: '1' } },
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 3 },
  },
  {
    id: 'copilot',
    name: 'GitHub Copilot CLI',
    showsRefusals: true,
    saysOfWrongKey: 'Authentication failed with provider',
    package: '@github/copilot',
    version: '1.0.102',
    command: 'copilot',
    protocol: 'chat-completions',
    recipe: {
      shell: `export COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:8787/api/v1
export COPILOT_PROVIDER_API_KEY=$KEY
export COPILOT_MODEL=sim-large
`,
      files: new Map(),
    },
    shell: 'settings',
    ask: (prompt) => ['--allow-all-tools', '-p', prompt],
    goOn: (prompt) => ['--allow-all-tools', '--continue', '-p', prompt],
    write: (path, content) => `[[tool create ${JSON.stringify({ path, file_text: content })}]]`,
    silence: { env: { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' } },
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 8 },
  },
  {
    id: 'ccr',
    name: 'claude-code-router',
    showsRefusals: true,
    retriesWrongKey: true,
    package: '@musistudio/claude-code-router',
    // The next one names a dependency that is not published.
    version: '2.0.0',
    command: 'ccr',
    starts: [{ package: '@anthropic-ai/claude-code', version: '2.1.330', command: 'claude' }],
    protocol: 'chat-completions',
    recipe: {
      shell: '',
      files: new Map([
        [
          '.claude-code-router/config.json',
          JSON.stringify({
            LOG: false,
            NON_INTERACTIVE_MODE: true,
            Providers: [
              {
                name: 'steyg',
                api_base_url: 'http://127.0.0.1:8787/api/v1/chat/completions',
                api_key: 'YOUR_KEY',
                models: ['sim-large'],
              },
            ],
            Router: { default: 'steyg,sim-large' },
          }),
        ],
      ]),
    },
    shell: 'settings',
    ask: (prompt) => ['code', '-p', prompt, '--allowedTools', 'Write'],
    goOn: (prompt) => ['code', '-p', prompt, '-c'],
    write: (path, content) => `[[tool Write ${JSON.stringify({ file_path: path, content })}]]`,
    silence: { env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } },
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 8, unknownModel: 6, cut: 8 },
  },
  {
    id: 'agent-sdk',
    name: 'Claude Agent SDK',
    showsRefusals: true,
    package: '@anthropic-ai/claude-agent-sdk',
    version: '0.3.330',
    command: 'node',
    program: 'agent-sdk.ts',
    protocol: 'messages',
    recipe: {
      shell: 'export BASE_URL=http://127.0.0.1:8787/api MODEL=sim-large\n',
      files: new Map(),
    },
    shell: 'settings',
    ask: (prompt) => [prompt],
    goOn: (prompt) => [prompt, 'continue'],
    write: (path, content) => `[[tool Write ${JSON.stringify({ file_path: path, content })}]]`,
    silence: {},
    bounds: { runsDry: 4, usedUp: 1, wrongKey: 1, unknownModel: 6, cut: 8 },
  },
  ...(['responses', 'chat-completions'] as const).map(
    (protocol): Agent => ({
      id: `openai-agents-${protocol}`,
      name: `OpenAI Agents (${protocol})`,
      showsRefusals: true,
      package: '@openai/agents',
      version: '0.20.0',
      command: 'node',
      program: 'openai-agents.ts',
      protocol,
      recipe: {
        shell: `export BASE_URL=http://127.0.0.1:8787/api/v1 MODEL=sim-large API=${protocol}\n`,
        files: new Map(),
      },
      shell: 'settings',
      ask: (prompt) => [prompt],
      goOn: null,
      write: (path, content) => `[[tool write_file ${JSON.stringify({ path, content })}]]`,
      silence: {},
      bounds: { runsDry: 2, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 3 },
    }),
  ),
  {
    id: 'openrouter',
    name: "OpenRouter's SDK",
    showsRefusals: true,
    package: '@openrouter/sdk',
    version: '1.3.19',
    command: 'node',
    program: 'openrouter-sdk.ts',
    protocol: 'chat-completions',
    recipe: {
      shell: 'export BASE_URL=http://127.0.0.1:8787/api/v1 MODEL=sim-large\n',
      files: new Map(),
    },
    shell: 'settings',
    ask: (prompt) => [prompt],
    goOn: null,
    write: (path, content) => `[[tool write_file ${JSON.stringify({ path, content })}]]`,
    silence: {},
    bounds: { runsDry: 1, usedUp: 1, wrongKey: 1, unknownModel: 1, cut: 1 },
  },
];
