/** The request and the result of connecting a client tool. */

/** The client tools whose settings are known. */
export type ToolName =
  | 'claude-code'
  | 'codex'
  | 'opencode'
  | 'cline'
  | 'qwen-code'
  | 'cursor'
  | 'vscode'
  | 'continue'
  | 'zed'
  | 'kilo'
  | 'crush'
  | 'goose'
  | 'pi'
  | 'copilot-cli'
  | 'aider'
  | 'langchain'
  | 'ai-sdk'
  | 'openai-sdk'
  | 'anthropic-sdk'
  | 'curl';

/**
 * Which model of the catalog plays which part. Parts left out are played by `main`: none may stay unassigned, because
 * a tool would then ask for its vendor's default, which the catalog may not have.
 */
export interface ModelChoice {
  /** For the work itself. */
  main: string;
  /** The largest alias of tools that know several (opus). */
  large?: string | undefined;
  /** The middle alias (sonnet). */
  medium?: string | undefined;
  /** The smallest alias (haiku), which also does background tasks. */
  small?: string | undefined;
  /** The alias above the largest, of tools that know one (fable). Default: `large`. */
  extraLarge?: string | undefined;
}

/** A model as `GET /v1/models` describes it; only the id is needed. */
export interface CatalogModel {
  id: string;
  displayName?: string | undefined;
  /** Client tools talk to models of kind `text` alone. */
  kind?: string | undefined;
  contextLength?: number | undefined;
  maxOutputTokens?: number | undefined;
  priceUsdPerMillion?: { output: string } | undefined;
  /** The efforts of reasoning that it knows. */
  reasoning?: { supportedEfforts: readonly string[] } | undefined;
  architecture?: { inputModalities: readonly string[] } | undefined;
}

/** The connection that is requested. */
export interface ConnectRequest {
  tool: ToolName;
  /** The API root: the address whose path ends in `/api`. What the tool itself is given follows from it. */
  baseUrl: string;
  /** Left out, a placeholder stands in its place. */
  apiKey?: string | undefined;
  models: ModelChoice;
  /** `(await steyg.models.list()).data`: the choice is checked against it, and limits and names are taken from it. */
  catalog?: readonly CatalogModel[] | undefined;
  /**
   * What the installed tool says of the models that it brings: for Codex the output of `codex debug models --bundled`. With it
   * Codex gets a list of the gateway's models, and no longer warns that it does not know them.
   */
  bundledModels?: string | undefined;
  /** A command that prints the key: tools that can ask one for it get no copy of the key. */
  keyCommand?: string | undefined;
  /** A command that prints what is left, for the status line of tools that have one and show nothing there yet. */
  statusCommand?: string | undefined;
  /** For this person everywhere, or for this project alone. Default: `user`. */
  scope?: Scope | undefined;
}

/** Where settings apply. */
export type Scope = 'user' | 'project';

/** An environment variable. */
export interface Variable {
  name: string;
  value: string;
  /** It is the API key. */
  secret: boolean;
}

/** A settings file of the tool. */
export interface SettingsFile {
  /** `~/…` in the home directory, else relative to the project. */
  path: string;
  /** Other names of the same file: if there is one of them and none at `path`, that is the one to change. */
  others?: readonly string[] | undefined;
  /** True: it has the API key in it and must never be committed. */
  holdsKey: boolean;
  /** The content of a new file. */
  content: string;
  /**
   * The merged file: everything that is not about Steyg stays. Throws a `ConfigurationError` for content that it cannot
   * read, or cannot change safely.
   */
  merge: (existing: string) => string;
}

/** Everything that connects one tool. */
export interface Connection {
  tool: ToolName;
  /** The tool's name. */
  title: string;
  /** The base address in the form that this tool wants, with or without `/v1`. */
  baseUrl: string;
  files: SettingsFile[];
  /** Environment variables: in place of the files, or beside them where a file must not hold the key. */
  environment: Variable[];
  /** Commands to run. */
  commands: string[];
  /** Source code. */
  code: { language: string; text: string }[];
  /** Manual steps. */
  steps: string[];
  /** Notes. */
  notes: string[];
}
