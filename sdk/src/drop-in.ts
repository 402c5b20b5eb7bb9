/**
 * Settings for the vendors' own packages, so that existing code keeps its client and only changes where it points.
 * They hold the API key: hand them to a constructor, never to a log.
 */

/**
 * For `new OpenAI(…)` of the package `openai`.
 *
 * @example
 * ```ts
 * const openai = new OpenAI(steyg.openai());
 * ```
 */
export interface OpenAiOptions {
  /** With `/v1`: that client appends `/chat/completions` or `/responses`. */
  baseURL: string;
  apiKey: string;
}

/**
 * For `new Anthropic(…)` of the package `@anthropic-ai/sdk`.
 *
 * @example
 * ```ts
 * const anthropic = new Anthropic(steyg.anthropic());
 * ```
 */
export interface AnthropicOptions {
  /** Without `/v1`: that client appends `/v1/messages`. */
  baseURL: string;
  /** Sent as a bearer token. */
  authToken: string;
  /** Versions that read a vendor's key from the environment in any case would send it along. */
  apiKey: null;
}

/**
 * For the providers of the AI SDK.
 *
 * @example
 * ```ts
 * const { openaiCompatible, anthropic } = steyg.aiSdk();
 * const chat = createOpenAICompatible(openaiCompatible);
 * const messages = createAnthropic(anthropic);
 * ```
 */
export interface AiSdkSettings {
  /** For `createOpenAICompatible(…)` of `@ai-sdk/openai-compatible`. */
  openaiCompatible: { name: string; baseURL: string; apiKey: string; includeUsage: boolean };
  /** For `createAnthropic(…)` of `@ai-sdk/anthropic`, whose base address has `/v1`, unlike the vendor's own client. */
  anthropic: { baseURL: string; authToken: string };
}

/** @internal */
export function dropIn(baseUrl: string, apiKey: string) {
  const versioned = `${baseUrl}/v1`;
  return {
    openai: (): OpenAiOptions => ({ baseURL: versioned, apiKey }),
    anthropic: (): AnthropicOptions => ({ baseURL: baseUrl, authToken: apiKey, apiKey: null }),
    aiSdk: (): AiSdkSettings => ({
      openaiCompatible: { name: 'steyg', baseURL: versioned, apiKey, includeUsage: true },
      anthropic: { baseURL: versioned, authToken: apiKey },
    }),
  };
}
