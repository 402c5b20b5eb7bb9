/** The published coding agents, with their versions, settings and bounds of requests. */

import type { Protocol } from './gateway.ts';

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
  /** As in the headings of README.md. */
  name: string;
  /** On npm. */
  package: string;
  version: string;
  command: string;
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
    name: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    version: '2.1.329',
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
    name: 'Codex',
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
    name: 'opencode',
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
    name: 'Qwen Code',
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
    name: 'Cline',
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
];
