import {
  type CreditsOverview,
  createCredits,
  createKey,
  createModels,
  createUsage,
  findCost,
  type Key,
  type Models,
  type Usage,
} from './account.ts';
import { type Chat, createChat } from './chat.ts';
import { createConsole, type Subscription } from './console.ts';
import { type AiSdkSettings, type AnthropicOptions, dropIn, type OpenAiOptions } from './drop-in.ts';
import { createEmbeddings, type Embeddings } from './embeddings.ts';
import { ConfigurationError } from './errors.ts';
import type { Console } from './generated/console.ts';
import { createGraphql, type Graphql, runDocument, subscribeDocument, type TypedDocument } from './graphql.ts';
import { createImages, type Images } from './images.ts';
import { apiRoot } from './internal/address.ts';
import { createDataPlaneClient } from './internal/data-plane.ts';
import { createSend, requestOptions } from './internal/http.ts';
import { checkNames } from './internal/names.ts';
import type { Pending } from './internal/pending.ts';
import { createMessages, type Messages } from './messages.ts';
import type { RequestOptions, SteygOptions } from './options.ts';
import { createResponses, type Responses } from './responses.ts';

/**
 * The client of a Steyg gateway. One of them serves a whole program; it holds no connection and needs no closing.
 *
 * @example
 * ```ts
 * const steyg = new Steyg({ baseUrl: 'https://steyg.example/api', apiKey: process.env.STEYG_API_KEY });
 * const message = await steyg.messages.create({
 *   model: 'sim-small',
 *   max_tokens: 64,
 *   messages: [{ role: 'user', content: 'Say hello' }],
 * });
 * ```
 */
export class Steyg {
  /** The API root, as it is used: without a trailing slash. */
  readonly baseUrl: string;
  /** The messages protocol. */
  readonly messages: Messages;
  /** The chat completions protocol. */
  readonly chat: Chat;
  /** The responses protocol. */
  readonly responses: Responses;
  /** Vectors of texts. */
  readonly embeddings: Embeddings;
  /** Pictures. */
  readonly images: Images;
  /** The models that the key may call. */
  readonly models: Models;
  /** Budget and spending. */
  readonly usage: Usage;
  /** The calling key. */
  readonly key: Key;
  /** The account's budget, in the shape of OpenRouter. */
  readonly credits: CreditsOverview;
  /**
   * The control plane: accounts, keys, ledger, orders, catalog and the operator's work, one method for each operation.
   *
   * @example
   * ```ts
   * const { secret } = orThrow(await steyg.console.keys.createKey({ input: { name: 'laptop' } }));
   * ```
   */
  readonly console: Console;
  readonly #graphql: Graphql;
  // Private to the language too, so that printing a client shows no secret.
  readonly #apiKey: string | undefined;

  /**
   * Throws a `ConfigurationError` when `baseUrl` cannot be the API root, a credential cannot be one, a number is none, or an
   * option has a name that there is not.
   *
   * @example
   * ```ts
   * const steyg = new Steyg({ baseUrl: 'https://steyg.example/api', apiKey, maxRetries: 4, timeoutMs: 120_000 });
   * ```
   */
  constructor(options: SteygOptions) {
    checkNames('option', options, clientOptions);
    const baseUrl = apiRoot(options.baseUrl);
    checkCredential('apiKey', options.apiKey);
    checkCredential('accessToken', options.accessToken);
    const call = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    const send = createSend({
      apiKey: options.apiKey,
      accessToken: options.accessToken,
      fetch: call,
      timeoutMs: options.timeoutMs ?? 600_000,
      idleTimeoutMs: options.idleTimeoutMs ?? 120_000,
      maxRetries: options.maxRetries ?? 2,
      headers: options.headers ?? {},
      onEvent: options.onEvent,
    });
    const plane = createDataPlaneClient({ baseUrl, send, cost: (requestId) => findCost(this.usage, requestId) });
    this.baseUrl = baseUrl;
    this.#apiKey = options.apiKey;
    this.messages = createMessages(plane);
    this.chat = createChat(plane);
    this.responses = createResponses(plane);
    this.embeddings = createEmbeddings(plane);
    this.images = createImages(plane);
    this.models = createModels(plane);
    this.usage = createUsage(plane);
    this.key = createKey(plane);
    this.credits = createCredits(plane);
    this.#graphql = createGraphql({
      url: options.graphqlUrl ?? `${baseUrl.replace(/\/api$/, '')}/graphql`,
      send,
      reconnections: options.maxRetries ?? 10,
    });
    this.console = createConsole(this.#graphql, options.persistedDocuments === true);
  }

  /**
   * Runs a GraphQL document of your own on the control plane. Its types come from the document's, or are given.
   *
   * @example
   * ```ts
   * const { models } = await steyg.graphql<{ models: { modelId: string }[] }>('{ models { modelId } }');
   * ```
   */
  graphql<Result = unknown, Variables = Record<string, unknown>>(
    document: TypedDocument<Result, Variables>,
    variables?: Variables,
    options?: RequestOptions,
  ): Pending<Result> {
    return runDocument(this.#graphql, document, variables, options);
  }

  /**
   * Follows a GraphQL subscription of your own; it is begun when it is iterated.
   *
   * @example
   * ```ts
   * const document = 'subscription ($id: ID!) { orderStatus(id: $id) { status } }';
   * for await (const { orderStatus } of steyg.subscribe<{ orderStatus: { status: string } }>(document, { id })) {
   *   console.log(orderStatus.status);
   * }
   * ```
   */
  subscribe<Result = unknown, Variables = Record<string, unknown>>(
    document: TypedDocument<Result, Variables>,
    variables?: Variables,
    options?: RequestOptions,
  ): Subscription<Result> {
    return subscribeDocument(this.#graphql, document, variables, options);
  }

  /**
   * Constructor options for the package `openai`.
   *
   * @example
   * ```ts
   * const openai = new OpenAI(steyg.openai());
   * ```
   */
  openai(): OpenAiOptions {
    return dropIn(this.baseUrl, this.#secret()).openai();
  }

  /**
   * Constructor options for the package `@anthropic-ai/sdk`.
   *
   * @example
   * ```ts
   * const anthropic = new Anthropic(steyg.anthropic());
   * ```
   */
  anthropic(): AnthropicOptions {
    return dropIn(this.baseUrl, this.#secret()).anthropic();
  }

  /**
   * Settings for the AI SDK's providers `@ai-sdk/openai-compatible` and `@ai-sdk/anthropic`.
   *
   * @example
   * ```ts
   * const provider = createOpenAICompatible(steyg.aiSdk().openaiCompatible);
   * ```
   */
  aiSdk(): AiSdkSettings {
    return dropIn(this.baseUrl, this.#secret()).aiSdk();
  }

  #secret(): string {
    if (!this.#apiKey) throw new ConfigurationError('This needs an API key: new Steyg({ apiKey }).');
    return this.#apiKey;
  }
}

const clientOptions: readonly string[] = [
  'baseUrl',
  'apiKey',
  'accessToken',
  'graphqlUrl',
  'persistedDocuments',
  'fetch',
  'onEvent',
  ...requestOptions.slice(1),
] satisfies (keyof SteygOptions | keyof RequestOptions)[];

/**
 * What cannot stand in a header, `fetch` refuses with a message that has the whole header in it: a key that brought
 * something along would end up in logs.
 */
function checkCredential(name: string, value: string | undefined): void {
  if (value !== undefined && !/^[\x21-\x7e]*$/.test(value)) {
    throw new ConfigurationError(`${name} has spaces, line ends or other characters in it that no key has.`);
  }
}
