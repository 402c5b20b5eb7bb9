/** The settings that `connect` makes for each client tool. */

import { ConfigurationError } from '@steyg/sdk';
import {
  type Connection,
  type ConnectRequest,
  chooseModels,
  connect,
  renderConnection,
  type ToolName,
  tools,
} from '@steyg/sdk/connect';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { getJson, removeJson, setJson } from '../../sdk/src/connect/edit/json.ts';
import { setEnvironment, setYamlItems, setYamlKeys } from '../../sdk/src/connect/edit/lines.ts';
import { setToml } from '../../sdk/src/connect/edit/toml.ts';
import { connectionOf } from '../clients/readme.ts';

const apiKey = `sk-steyg-${'k'.repeat(49)}`;
const catalog = [
  {
    id: 'big-1',
    displayName: 'Big 1',
    contextLength: 200_000,
    maxOutputTokens: 32_000,
    priceUsdPerMillion: { output: '15' },
  },
  {
    id: 'mid-1',
    displayName: 'Mid 1',
    contextLength: 100_000,
    maxOutputTokens: 16_000,
    priceUsdPerMillion: { output: '3' },
  },
  {
    id: 'flash',
    displayName: 'Flash',
    contextLength: 50_000,
    maxOutputTokens: 8_000,
    priceUsdPerMillion: { output: '0.4' },
  },
];
const request: Omit<ConnectRequest, 'tool'> = {
  baseUrl: 'https://steyg.test/api',
  apiKey,
  models: { main: 'mid-1', large: 'big-1', medium: 'mid-1', small: 'flash' },
  catalog,
};
const made = (tool: ToolName, more: Partial<ConnectRequest> = {}): Connection => connect({ ...request, tool, ...more });
const contentOf = (connection: Connection, path: string) =>
  connection.files.find((file) => file.path === path)?.content ?? expect.unreachable(path);
const jsonOf = (connection: Connection, path: string) =>
  JSON.parse(contentOf(connection, path)) as Record<string, unknown>;

describe('every tool', () => {
  it.each(tools)('%s: points here, with the right form of the address', (tool) => {
    const connection = made(tool);
    const whole = JSON.stringify(connection);
    const takesRoot = ['claude-code', 'anthropic-sdk', 'curl'].includes(tool);
    expect(connection.baseUrl.replace(/\/$/, '')).toBe(
      takesRoot ? 'https://steyg.test/api' : 'https://steyg.test/api/v1',
    );
    expect(whole).toContain(takesRoot ? 'https://steyg.test/api' : 'https://steyg.test/api/v1');
    expect(whole).toContain('mid-1');
    expect(whole).not.toMatch(/\/v1\/v1|undefined|null,null/);
  });

  const forProjects: ToolName[] = [
    'claude-code',
    'opencode',
    'qwen-code',
    'kilo',
    'crush',
    'aider',
    'langchain',
    'ai-sdk',
    'openai-sdk',
    'anthropic-sdk',
    'curl',
  ];

  it.each(tools)('%s: has the key only where it may be', (tool) => {
    const connections = [made(tool), ...(forProjects.includes(tool) ? [made(tool, { scope: 'project' })] : [])];
    for (const { files, environment, commands, code, steps, notes } of connections) {
      for (const file of files) expect(file.content.includes(apiKey)).toBe(file.holdsKey);
      for (const { value, secret } of environment) expect(value === apiKey).toBe(secret);
      expect(JSON.stringify({ commands, code, steps, notes })).not.toContain(apiKey);
    }
  });

  it('has settings for a project, or says that it takes none', () => {
    for (const tool of tools.filter((each) => !forProjects.includes(each))) {
      expect(() => made(tool, { scope: 'project' })).toThrow(ConfigurationError);
    }
    const files = forProjects.flatMap((tool) => made(tool, { scope: 'project' }).files);
    // What a project commits never holds the key.
    expect(files.map(({ path, holdsKey }) => [path, holdsKey])).toEqual([
      ['.claude/settings.json', false],
      ['.claude/settings.local.json', true],
      ['opencode.json', false],
      ['.qwen/settings.json', false],
      ['.qwen/.env', true],
      ['.kilo/kilo.json', false],
      ['crush.json', false],
      ['.aider.conf.yml', false],
      ['.env', true],
    ]);
  });

  it.each(tools)('%s: can be written a second time without a change', (tool) => {
    for (const { content, merge } of made(tool).files) expect(merge(content)).toBe(content);
  });

  it.each(tools)('%s: is shown with the key masked', (tool) => {
    const connection = made(tool);
    expect(renderConnection(connection)).not.toContain(apiKey);
    const holdsKey =
      connection.environment.some(({ secret }) => secret) || connection.files.some((file) => file.holdsKey);
    expect(renderConnection(connection, { showKey: true }).includes(apiKey)).toBe(holdsKey);
    expect(renderConnection(connection).includes('masked')).toBe(holdsKey);
  });

  it.each(tools)('%s: works without a key, with a placeholder', (tool) => {
    const { apiKey: _key, ...without } = request;
    expect(JSON.stringify(connect({ ...without, tool }))).not.toContain('sk-steyg');
  });
});

describe('Claude Code', () => {
  const aliases = {
    ANTHROPIC_BASE_URL: 'https://steyg.test/api',
    ANTHROPIC_MODEL: 'mid-1',
    ANTHROPIC_DEFAULT_FABLE_MODEL: 'big-1',
    ANTHROPIC_DEFAULT_OPUS_MODEL: 'big-1',
    ANTHROPIC_DEFAULT_SONNET_MODEL: 'mid-1',
    ANTHROPIC_DEFAULT_HAIKU_MODEL: 'flash',
    ANTHROPIC_SMALL_FAST_MODEL: 'flash',
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: '100000',
  };

  it('gets every alias, the main and the small-fast model', () => {
    expect(jsonOf(made('claude-code'), '~/.claude/settings.json')).toEqual({
      env: { ...aliases, ANTHROPIC_AUTH_TOKEN: apiKey },
    });
  });

  it('gets commands in place of the key, keeps the person’s own status line, and loses a key from before', () => {
    const commands = { keyCommand: 'cat /home/ada/.steyg/key', statusCommand: 'node /x/bin/steyg.js status --line' };
    const connection = made('claude-code', commands);
    const [settings] = connection.files;
    const before = `{\n  // mine\n  "env": {\n    "ANTHROPIC_AUTH_TOKEN": "${apiKey}",\n    "OTHER": "1"\n  }\n}\n`;
    const after = settings?.merge(before) ?? '';
    expect(after).toContain('// mine');
    expect(getJson(after, [])).toEqual({
      env: { OTHER: '1', ...aliases },
      apiKeyHelper: commands.keyCommand,
      statusLine: { type: 'command', command: commands.statusCommand },
    });
    expect(settings?.merge(after)).toBe(after);
    const own = '{ "statusLine": { "type": "command", "command": "mine.sh" } }';
    expect(getJson(settings?.merge(own) ?? '', ['statusLine', 'command'])).toBe('mine.sh');
    expect(JSON.stringify(connection)).not.toContain(apiKey);
    expect(settings?.holdsKey).toBe(false);
  });

  it('gets them all from one model too', () => {
    const { env } = jsonOf(made('claude-code', { models: { main: 'flash' } }), '~/.claude/settings.json');
    const models = Object.entries(env as Record<string, string>).filter(([name]) => name.endsWith('_MODEL'));
    expect(models).toHaveLength(6);
    for (const [, id] of models) expect(id).toBe('flash');
  });

  it('gets address and models in the committed file, the key in the local one', () => {
    const connection = made('claude-code', { scope: 'project' });
    expect(jsonOf(connection, '.claude/settings.json')).toEqual({ env: aliases });
    expect(jsonOf(connection, '.claude/settings.local.json')).toEqual({ env: { ANTHROPIC_AUTH_TOKEN: apiKey } });
  });

  it('is told of the two sources of credentials, of file against shell, and of what is off', () => {
    const { steps, notes } = made('claude-code');
    const words = [...steps, ...notes].join('\n');
    for (const part of [
      '/logout',
      'ANTHROPIC_API_KEY',
      'wins over',
      'background agents',
      'remote control',
      'voice input',
      'tool search',
    ]) {
      expect(words).toContain(part);
    }
  });
});

describe('the settings in the README', () => {
  // `npm run test:clients` runs each of its blocks with the program it is for; what is given out here is the same.
  const sims = ['large', 'medium', 'small'].map((size) => ({
    id: `sim-${size}`,
    contextLength: 200_000,
    maxOutputTokens: size === 'small' ? 16_000 : 64_000,
  }));
  const given = (tool: ToolName) =>
    connect({
      tool,
      baseUrl: 'http://127.0.0.1:8787/api',
      models: { main: 'sim-large', large: 'sim-large', medium: 'sim-medium', small: 'sim-small' },
      catalog: sims,
    });

  it('of Claude Code', () => {
    const { shell } = connectionOf('Claude Code');
    const lines = [...shell.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value]) => [
      name,
      value === '"$KEY"' ? 'YOUR_STEYG_API_KEY' : value,
    ]);
    expect(lines.length).toBeGreaterThan(6);
    const variables = Object.fromEntries(given('claude-code').environment.map(({ name, value }) => [name, value]));
    // All of them: `doctor` complains of every alias that is not set.
    expect(variables).toEqual(Object.fromEntries(lines));
  });

  it('of Codex', () => {
    const [file] = given('codex').files;
    const own = connectionOf('Codex').files.get('.codex/config.toml') ?? '';
    expect(file?.path).toBe('~/.codex/config.toml');
    expect(parseToml(file?.content ?? '')).toEqual(parseToml(own.replace('"KEY"', '"STEYG_API_KEY"')));
  });

  it('of opencode', () => {
    const [file] = given('opencode').files;
    const own = connectionOf('opencode').files.get('.config/opencode/opencode.json') ?? '';
    expect(file?.path).toBe('~/.config/opencode/opencode.json');
    expect(JSON.parse(file?.content ?? '')).toMatchObject(
      JSON.parse(own.replace('{env:KEY}', '{env:STEYG_API_KEY}')) as object,
    );
  });

  it('of Cline', () => {
    const words = (command: string) =>
      command
        .trim()
        .replaceAll("'", '')
        .split(/ (?=-)/)
        .toSorted();
    const own = connectionOf('Cline').shell.replace('$KEY', '$STEYG_API_KEY');
    expect(words(given('cline').commands[0] ?? '')).toEqual(words(own));
  });
});

describe('the list of models for Codex', () => {
  const entry = (more: object) => ({
    slug: 'gpt-9',
    base_instructions: 'You are Codex, a coding agent based on GPT-9.1. Work well.',
    model_messages: { instructions_template: 'x' },
    service_tiers: [{ id: 'priority' }],
    shell_type: 'unified_exec',
    ...more,
  });
  const listed = (bundled: string) =>
    connect({
      tool: 'codex',
      baseUrl: 'https://steyg.test/api',
      models: { main: 'mid-1' },
      bundledModels: bundled,
      catalog: [
        {
          id: 'mid-1',
          displayName: 'Mid 1',
          contextLength: 200_000,
          reasoning: { supportedEfforts: ['high', 'low'] },
          architecture: { inputModalities: ['text', 'image'] },
        },
        { id: 'vectors', kind: 'embedding' },
        { id: 'small-1' },
      ],
    }).files;

  it('has every model that answers with text, as the installed Codex works with models', () => {
    const [config, list] = listed(
      JSON.stringify({ models: [entry({ tool_mode: 'code_mode_only' }), entry({ use_responses_lite: false })] }),
    );
    expect(parseToml(config?.content ?? '')).toMatchObject({ model_catalog_json: 'steyg-models.json' });
    expect(list?.path).toBe('~/.codex/steyg-models.json');
    const { models } = JSON.parse(list?.content ?? '') as { models: Record<string, unknown>[] };
    expect(models.map(({ slug }) => slug)).toEqual(['mid-1', 'small-1']);
    expect(models[0]).toMatchObject({
      display_name: 'Mid 1',
      base_instructions: 'You are Codex, a coding agent. Work well.',
      shell_type: 'unified_exec',
      context_window: 200_000,
      supported_reasoning_levels: [{ effort: 'low' }, { effort: 'high' }],
      default_reasoning_level: 'low',
      input_modalities: ['text', 'image'],
    });
    expect(list?.content).not.toMatch(/model_messages|service_tiers|GPT-9/);
  });

  it.each(['', '{}', '{"models":[]}', JSON.stringify({ models: [entry({ tool_mode: 'code_mode_only' })] })])(
    'is left out where Codex lists nothing to go by: %s',
    (bundled) => {
      const files = listed(bundled);
      expect(files).toHaveLength(1);
      expect(files[0]?.content).not.toContain('model_catalog_json');
    },
  );
});

describe('the others', () => {
  it('Codex: responses, and the key by the name of its variable', () => {
    expect(contentOf(made('codex'), '~/.codex/config.toml')).toBe(
      [
        'model = "mid-1"',
        'model_provider = "steyg"',
        'model_context_window = 100000',
        '',
        '[model_providers.steyg]',
        'name = "Steyg"',
        'base_url = "https://steyg.test/api/v1"',
        'env_key = "STEYG_API_KEY"',
        'wire_api = "responses"',
        '',
      ].join('\n'),
    );
  });

  it('opencode: a provider with limits, and the small model set', () => {
    expect(jsonOf(made('opencode'), '~/.config/opencode/opencode.json')).toMatchObject({
      provider: {
        steyg: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: 'https://steyg.test/api/v1', apiKey: '{env:STEYG_API_KEY}' },
          models: { 'big-1': { name: 'Big 1', limit: { context: 200_000, output: 32_000 } }, flash: {} },
        },
      },
      model: 'steyg/mid-1',
      small_model: 'steyg/flash',
    });
  });

  it('Qwen Code and Cursor: the prefix, because their pickers have models of their own', () => {
    const qwen = jsonOf(made('qwen-code'), '~/.qwen/settings.json');
    expect(qwen).toMatchObject({ model: { name: 'steyg/mid-1' }, security: { auth: { selectedType: 'openai' } } });
    expect(contentOf(made('qwen-code'), '~/.qwen/.env')).toBe(`STEYG_API_KEY=${apiKey}\n`);
    expect(made('cursor').steps.join('\n')).toContain('steyg/mid-1, steyg/big-1, steyg/flash');
    expect(made('cursor', { baseUrl: 'http://127.0.0.1:8787/api' }).notes.join('\n')).toContain('cannot reach');
  });

  it('VS Code: each model with its whole address, and no key in a file', () => {
    const { code, files } = made('vscode');
    const models = JSON.parse(`{${code[0]?.text ?? ''}}`) as { models: Record<string, unknown>[] };
    expect(models.models.map(({ id }) => id)).toEqual(['mid-1', 'big-1', 'flash']);
    expect(models.models[1]).toMatchObject({
      url: 'https://steyg.test/api/v1/chat/completions',
      apiType: 'chat-completions',
      maxInputTokens: 168_000,
      maxOutputTokens: 32_000,
    });
    expect([files, JSON.stringify(made('vscode')).includes(apiKey)]).toEqual([[], false]);
  });

  it('Continue: valid YAML', () => {
    expect(parseYaml(contentOf(made('continue'), '~/.continue/config.yaml'))).toMatchObject({
      schema: 'v1',
      models: [
        { provider: 'openai', model: 'mid-1', apiBase: 'https://steyg.test/api/v1/', roles: ['chat', 'edit', 'apply'] },
        {
          model: 'big-1',
          apiKey: '${{ secrets.STEYG_API_KEY }}',
          defaultCompletionOptions: { contextLength: 200_000 },
        },
        { model: 'flash' },
      ],
    });
  });

  it('the SDKs: in both languages, the address with /v1 and without', () => {
    const languages = (tool: ToolName) =>
      made(tool).code.map(({ language, text }) => [language, text.match(/https:[^'"]+/)?.[0]]);
    expect(languages('openai-sdk')).toEqual([
      ['ts', 'https://steyg.test/api/v1'],
      ['python', 'https://steyg.test/api/v1'],
    ]);
    expect(languages('anthropic-sdk')).toEqual([
      ['ts', 'https://steyg.test/api'],
      ['python', 'https://steyg.test/api'],
    ]);
  });

  it('Zed: the provider, and the default model', () => {
    expect(jsonOf(made('zed'), '~/.config/zed/settings.json')).toMatchObject({
      language_models: {
        openai_compatible: {
          steyg: {
            api_url: 'https://steyg.test/api/v1',
            available_models: [{ name: 'mid-1', max_tokens: 100_000 }, {}, {}],
          },
        },
      },
      agent: { default_model: { provider: 'steyg', model: 'mid-1' } },
    });
  });

  it('Aider: its own prefix, and the weak model set', () => {
    expect(parseYaml(contentOf(made('aider'), '~/.aider.conf.yml'))).toEqual({
      'openai-api-base': 'https://steyg.test/api/v1',
      model: 'openai/mid-1',
      'editor-model': 'openai/mid-1',
      'weak-model': 'openai/flash',
      'openai-api-key': apiKey,
    });
  });
});

describe('a request that cannot be right', () => {
  it.each([
    ['an address with /v1', { baseUrl: 'https://steyg.test/api/v1' }, 'leave /v1 out'],
    ['a model that is not there', { models: { main: 'claude-opus-9' } }, 'big-1, mid-1, flash'],
    ['an alias that is not there', { models: { main: 'flash', small: 'nope' } }, 'nope'],
    ['a key with a line end', { apiKey: 'sk-steyg-x\n' }, 'spaces'],
    ['an address that would leave its quotes', { baseUrl: "https://steyg.test/api'$(x)" }, 'plain address'],
    ['an unknown tool', { tool: 'emacs' as ToolName }, 'claude-code'],
    ['a tool with a typing mistake', { tool: 'cursr' as ToolName }, 'Did you mean cursor?'],
    ['a tool named like a member of objects', { tool: 'constructor' as ToolName }, 'no known tool'],
  ])('is refused: %s', (_, change, reason) => {
    expect(() => made('claude-code', change)).toThrow(reason);
    expect(() => made('claude-code', change)).toThrow(ConfigurationError);
  });

  it('may name models as pickers and people do', () => {
    const { env } = jsonOf(made('claude-code', { models: { main: 'steyg/Flash' } }), '~/.claude/settings.json');
    expect(env).toMatchObject({ ANTHROPIC_MODEL: 'flash' });
  });
});

describe('a default choice', () => {
  it('goes by price', () => {
    expect(chooseModels(catalog)).toEqual({ main: 'mid-1', large: 'big-1', medium: 'mid-1', small: 'flash' });
    expect(chooseModels([{ id: 'only' }])).toEqual({ main: 'only', large: 'only', medium: 'only', small: 'only' });
    expect(() => chooseModels([])).toThrow('empty');
  });
});

describe('an existing settings file', () => {
  it('in JSON keeps its comments, order and commas', () => {
    const mine = `// mine
{
    "theme": "dark", // like it
    /* and */ "env": { "A": "{\\"b\\": [1]}" },
    "list": [1, 2,],
}
`;
    const text = setJson(setJson(setJson(mine, ['env', 'B'], 'x'), ['theme'], 'light'), ['new', 'deep'], { a: [1] });
    expect(text).toBe(
      `// mine
{
    "theme": "light", // like it
    /* and */ "env": { "A": "{\\"b\\": [1]}",
    "B": "x"
    },
    "list": [1, 2,],
    "new": {
        "deep": {
            "a": [
                1
            ]
        }
    }
}
`.replace('    "B"', '    "B"'),
    );
    expect(getJson(text, ['env', 'B'])).toBe('x');
    expect(getJson(text, ['list'])).toEqual([1, 2]);
    expect(getJson(text, ['new', 'deep', 'a'])).toEqual([1]);
  });

  it.each([
    '',
    '{}',
    '{ }',
    '{\n}\n',
    '{"x":1}',
    '{"a":{"b":null}}',
    '\uFEFF{ "x": "//no" }',
    '{"x":{"y":{"z":[{"a":1}]}}}',
  ])('in JSON can be %j', (mine) => {
    const text = setJson(setJson(mine, ['a', 'b'], 1), ['c'], [true]);
    const before = mine.trim() === '' ? {} : (JSON.parse(mine.replace('\uFEFF', '')) as object);
    expect(JSON.parse(text.replace('\uFEFF', ''))).toEqual({ ...before, a: { b: 1 }, c: [true] });
  });

  it.each(['[]', '"x"', '{"a" 1}', '{"a":1', '{"a":}'])('in JSON that is broken is left alone: %s', (mine) => {
    expect(() => setJson(mine, ['b'], 1)).toThrow('The settings file is');
  });

  it('in TOML keeps other tables, comments and values over several lines', () => {
    const mine = `# mine
model = "gpt" # old
notify = [
  "a",
[ "b" ],
]
text = """
[model_providers.steyg]
"""

[model_providers.other]
name = "Other"

[model_providers.steyg]
name = "old"
extra = 1

# about projects
[projects."/x"]
trust_level = "trusted"
`;
    const text = setToml(
      mine,
      { model: 'big-1', model_provider: 'steyg' },
      { name: 'model_providers.steyg', values: { name: 'Steyg' } },
    );
    expect(text).toBe(`# mine
model = "big-1" # old
notify = [
  "a",
[ "b" ],
]
text = """
[model_providers.steyg]
"""
model_provider = "steyg"

[model_providers.other]
name = "Other"

[model_providers.steyg]
name = "Steyg"
extra = 1

# about projects
[projects."/x"]
trust_level = "trusted"
`);
  });

  it('in YAML keeps its own models', () => {
    const mine = 'name: Mine\nmodels:\n- name: Own\n  model: x\nrules: []\n';
    const first = setYamlItems(mine, 'models', ['- name: A', '  model: a']);
    expect(parseYaml(first)).toEqual({
      name: 'Mine',
      models: [
        { name: 'A', model: 'a' },
        { name: 'Own', model: 'x' },
      ],
      rules: [],
    });
    const second = setYamlItems(first, 'models', ['- name: B', '  model: b']);
    expect(parseYaml(second)).toMatchObject({ models: [{ name: 'B' }, { name: 'Own' }] });
    expect(parseYaml(setYamlItems('name: Mine\nmodels: []\n', 'models', ['- name: A']))).toEqual({
      name: 'Mine',
      models: [{ name: 'A' }],
    });
    expect(setYamlKeys('# mine\nmodel: x\nother: 1\n', { model: 'openai/a' })).toBe(
      '# mine\nmodel: "openai/a"\nother: 1\n',
    );
  });

  it.each([
    ['an array in place of the table', 'model_providers = [{ name = "x" }]\n', 'as a key'],
    ['an inline table', 'model_providers = { other = { name = "x" } }\n', 'as a key'],
    ['dotted keys', 'model_providers.steyg.name = "x"\n', 'as a key'],
    ['a table inside the table around it', '[model_providers]\nsteyg = { name = "x" }\n', 'inside [model_providers]'],
    ['a key over several lines', 'model = """\nx\n"""\n', 'several lines'],
    ['a string without an end', 'a = """\nx\n', 'no end'],
    ['an array without an end', 'a = [\n1,\n', 'no end'],
    ['a line that is none', 'model\n', 'line 1'],
  ])('in TOML that has %s is left alone', (_, mine, why) => {
    const [config] = made('codex').files;
    expect(() => config?.merge(mine)).toThrow(why);
    expect(() => config?.merge(mine)).toThrow(ConfigurationError);
  });

  it('in TOML is still TOML, with everything it had', () => {
    const mine = [
      '# a comment with """ and [',
      'instructions = """',
      '[not.a.table]',
      'model = "not mine" # nor "this"',
      '"""',
      "path = 'C:\\[x]' # [y]",
      'model = "old" # kept',
      'list = [ # one',
      '  { a = "]" }, # two',
      ']',
      '[model_providers."steyg"] # mine',
      'request_max_retries = 9 # patient',
      'wire_api = "chat"',
      '[model_providers.steyg.http_headers]',
      'x = "1"',
      '[[things]]',
      'a = 1',
      '',
    ].join('\n');
    const [config] = made('codex').files;
    const text = config?.merge(mine) ?? '';
    const before = parseToml(mine) as { model_providers: { steyg: object } };
    expect(parseToml(text)).toEqual({
      ...before,
      model: 'mid-1',
      model_provider: 'steyg',
      model_context_window: 100_000,
      model_providers: {
        steyg: {
          ...before.model_providers.steyg,
          name: 'Steyg',
          base_url: 'https://steyg.test/api/v1',
          env_key: 'STEYG_API_KEY',
          wire_api: 'responses',
        },
      },
    });
    for (const comment of ['# kept', '# one', '# two', '# mine', '# patient', '# a comment with']) {
      expect(text).toContain(comment);
    }
    expect(config?.merge(text)).toBe(text);
  });

  it.each([
    ['models in one piece', 'models: [{ name: Own }]\n', 'in one piece'],
    ['models by reference', 'base: &m []\nmodels: *m\n', 'in one piece'],
    ['a word at its outermost level', 'name: a\nmodels\n', 'line 2'],
    ['two documents', 'name: a\n---\nmodels: []\n', 'line 2'],
    ['an end', 'name: a\n...\n', 'line 2'],
    ['tabs', 'name: a\n\tb: 1\n', 'line 2'],
    ['braces around it all', '{ name: a }\n', 'line 1'],
  ])('in YAML that has %s is left alone', (_, mine, why) => {
    const [config] = made('continue').files;
    expect(() => config?.merge(mine)).toThrow(why);
    expect(() => config?.merge(mine)).toThrow(ConfigurationError);
  });

  it('in YAML is still YAML, with everything it had', () => {
    const mine = [
      '%YAML 1.2',
      '# mine',
      '---',
      '"name": Mine # called so',
      'prompt: |',
      '  models:',
      '  - not: mine',
      'flow: {',
      '  a: 1',
      '}',
      'models: # the models',
      '# a comment in the list',
      '- name: Own',
      '  model: x',
      'rules:',
      '  - one',
      '',
    ].join('\n');
    const [config] = made('continue').files;
    const text = config?.merge(mine) ?? '';
    const before = parseYaml(mine) as { models: object[] };
    const after = parseYaml(text) as { models: { name: string }[] };
    expect({ ...after, models: after.models.slice(3) }).toEqual(before);
    expect(after.models.map(({ name }) => name)).toEqual(['Steyg: Mid 1', 'Steyg: Big 1', 'Steyg: Flash', 'Own']);
    for (const comment of ['# mine', '# called so', '# the models', '# a comment in the list']) {
      expect(text).toContain(comment);
    }
    expect(config?.merge(text)).toBe(text);
  });

  it('of Aider keeps comments, and is left alone where a value runs over several lines', () => {
    const [config] = made('aider').files;
    const text = config?.merge('model: "gpt # not a comment" # the best\nread:\n  - a.md\n') ?? '';
    expect(text).toContain('model: "openai/mid-1" # the best\n');
    expect(parseYaml(text)).toMatchObject({ read: ['a.md'], 'weak-model': 'openai/flash' });
    expect(() => config?.merge('model: >\n  gpt\n')).toThrow('several lines');
  });

  it.each<[ToolName, string]>([
    ['claude-code', '{ "env": [] }'],
    ['claude-code', '{ "env": "x" }'],
    ['claude-code', '{ "env": {} } trailing'],
    ['claude-code', '{ "env": {}, "later": {"a": } }'],
    ['qwen-code', '{ "modelProviders": '],
    ['qwen-code', '{ "modelProviders": [] }'],
    ['opencode', 'not json'],
    ['zed', '{ "agent": true }'],
  ])('of %s that is not as it should be is left alone: %s', (tool, mine) => {
    const [settings] = made(tool).files;
    expect(() => settings?.merge(mine)).toThrow(ConfigurationError);
    expect(() => settings?.merge(mine)).toThrow(/left as it is|left as it was|it was left|no JSON object/);
  });

  it.each<ToolName>(['claude-code', 'codex', 'opencode', 'qwen-code', 'continue', 'zed', 'aider'])(
    'of %s keeps its line ends and its byte order mark',
    (tool) => {
      for (const { content, merge } of made(tool).files) {
        const windows = `\uFEFF${content.replaceAll('\n', '\r\n')}`;
        expect(merge(windows)).toBe(windows);
        const changed = merge(windows.replace(/mid-1|kkkk/, 'other'));
        expect(changed.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
        expect(changed.startsWith('\uFEFF')).toBe(true);
      }
    },
  );

  it('of variables keeps the others', () => {
    expect(setEnvironment('A=1\nexport STEYG_API_KEY=old\nB=2', { STEYG_API_KEY: 'new' })).toBe(
      'A=1\nSTEYG_API_KEY=new\nB=2\n',
    );
  });

  it('of Qwen Code keeps the models of other services, and drops its own old ones', () => {
    const mine = JSON.stringify({
      modelProviders: {
        openai: [
          { id: 'x', envKey: 'OTHER' },
          { id: 'steyg/old', envKey: 'STEYG_API_KEY' },
        ],
      },
    });
    const [settings] = made('qwen-code').files;
    const { modelProviders } = JSON.parse(settings?.merge(mine) ?? '') as {
      modelProviders: { openai: { id: string }[] };
    };
    expect(modelProviders.openai.map(({ id }) => id)).toEqual(['x', 'steyg/mid-1', 'steyg/big-1', 'steyg/flash']);
  });
});

describe('a member that goes', () => {
  it.each([
    ['{ "a": 1, "b": 2 }', ['a'], '{ "b": 2 }'],
    ['{ "a": 1, "b": 2 }', ['b'], '{ "a": 1 }'],
    ['{\n  "a": { "b": 2 }\n}', ['a', 'b'], '{\n  "a": {}\n}'],
    ['{ "a": 1, }', ['a'], '{}'],
    ['{ "a": 1, /* x */ "b": 2, }', ['c'], '{ "a": 1, /* x */ "b": 2, }'],
  ] as const)('leaves the rest of %s', (text, path, rest) => {
    expect(removeJson(text, [...path] as [string, ...string[]])).toBe(rest);
  });

  it('stays where a comment would go with it', () => {
    expect(() => removeJson('{ "a": 1, // why\n "b": 2 }', ['a'])).toThrow('remove both by hand');
  });
});
