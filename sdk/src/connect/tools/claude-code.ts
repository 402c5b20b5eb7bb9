import type { Connection, SettingsFile, Variable } from '../connection.ts';
import { getJson, removeJson, setJson } from '../edit/json.ts';
import { file, type Parts } from './parts.ts';

/** Claude Code speaks the messages protocol: its base address has no `/v1`, and the key is its auth token. */
export function claudeCode(parts: Parts): Connection {
  const environment = variables(parts);
  return {
    tool: 'claude-code',
    title: 'Claude Code',
    baseUrl: parts.baseUrl,
    files: files(parts, environment),
    environment,
    commands: [],
    code: [],
    steps: [
      'If you are signed in to the vendor, run /logout inside Claude Code: with two sources of credentials it warns, and may use the other one.',
      'Start Claude Code again and check with /status that the base URL and the auth token are these.',
    ],
    notes: [
      'Every alias is set, also those you do not pick yourself: one that is not makes Claude Code ask for the vendor’s default model, which is refused with 400 if the catalog does not have it.',
      'A value in a settings file wins over the same variable of the shell. Variables of one shell reach neither background agents nor other terminals, so the file is the better place.',
      parts.statusCommand === undefined
        ? 'What is left and what today cost, below every answer: steyg login claude-code sets it up.'
        : 'What is left and what today cost stands below every answer (statusLine), unless you have a status line of your own.',
      `Unset ANTHROPIC_API_KEY${parts.keyCommand === undefined ? '' : ' and ANTHROPIC_AUTH_TOKEN'}: it is a second source of credentials.`,
      'At an address that is not the vendor’s, remote control and voice input are off, and tool search is off unless you turn it on (ENABLE_TOOL_SEARCH=true).',
      ...(parts.scope === 'project'
        ? [
            `.claude/settings.json is committed and holds no key. ${parts.keyCommand === undefined ? 'The key' : 'The command that prints the key'} is in .claude/settings.local.json, which must be git-ignored.`,
          ]
        : []),
    ],
  };
}

const tokenVariable = 'ANTHROPIC_AUTH_TOKEN';

function variables({ baseUrl, apiKey, models, chosen, keyCommand }: Parts): Variable[] {
  const window = chosen[0]?.contextWindow ?? null;
  const plain = {
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_MODEL: models.main,
    ANTHROPIC_DEFAULT_FABLE_MODEL: models.extraLarge,
    ANTHROPIC_DEFAULT_OPUS_MODEL: models.large,
    ANTHROPIC_DEFAULT_SONNET_MODEL: models.medium,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: models.small,
    ANTHROPIC_SMALL_FAST_MODEL: models.small,
    // For a name it does not know it assumes a million tokens, and summarises too late.
    ...(window === null ? {} : { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(window) }),
  };
  return [
    ...Object.entries(plain).map(([name, value]) => ({ name, value, secret: false })),
    ...(keyCommand === undefined ? [{ name: tokenVariable, value: apiKey, secret: true }] : []),
  ];
}

const withVariables = (chosen: Variable[]) => (existing: string) =>
  chosen.reduce((text, { name, value }) => setJson(text, ['env', name], value), existing);

/**
 * `apiKeyHelper` is run by /bin/sh, and what it prints is sent as the key; the variable would win over it:
 * https://code.claude.com/docs/en/authentication#authentication-precedence
 */
const withHelper =
  ({ keyCommand, statusCommand }: Parts) =>
  (existing: string): string => {
    let text = existing;
    if (keyCommand !== undefined) {
      text = removeJson(text, ['env', tokenVariable]);
      text = setJson(text, ['apiKeyHelper'], keyCommand);
    }
    const line = getJson(text, ['statusLine', 'command']);
    const isFree = getJson(text, ['statusLine']) === undefined || (typeof line === 'string' && isOurs.test(line));
    // https://code.claude.com/docs/en/statusline
    return statusCommand === undefined || !isFree
      ? text
      : setJson(text, ['statusLine'], { type: 'command', command: statusCommand });
  };
const isOurs = /\bsteyg\S* status --line$/;

function files(parts: Parts, environment: Variable[]): SettingsFile[] {
  const isSecret = parts.keyCommand === undefined;
  const helper = withHelper(parts);
  if (parts.scope === 'user') {
    const merge = (existing: string) => helper(withVariables(environment)(existing));
    return [file({ path: '~/.claude/settings.json', holdsKey: isSecret, merge })];
  }
  const open = environment.filter(({ secret }) => !secret);
  const secret = environment.filter((variable) => variable.secret);
  const merge = (existing: string) => helper(withVariables(secret)(existing));
  return [
    file({ path: '.claude/settings.json', holdsKey: false, merge: withVariables(open) }),
    file({ path: '.claude/settings.local.json', holdsKey: isSecret, merge }),
  ];
}
