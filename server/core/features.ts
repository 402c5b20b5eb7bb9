/**
 * Capabilities of an upstream: the protocol's defaults, its vendor profile's, and `features` of the catalog file, each
 * overriding the one before. Translation consults all of them, the native path `maxTokensField`, `store` and `usageOption`.
 */
export interface UpstreamFeatures {
  /**
   * The one name of the output cap that a chat completions upstream takes. Null: it takes either, or its catalog entry names none;
   * then translation writes `max_tokens`, and natively the client's own name stands.
   */
  maxTokensField: 'max_tokens' | 'max_completion_tokens' | null;
  /** How a system message in mid-conversation is sent. */
  systemRole: 'keep' | 'user' | 'hoist';
  files: boolean;
  jsonObject: boolean;
  /** Takes a schema of the answer. */
  jsonSchema: boolean;
  sampling: boolean;
  /** Takes stop sequences. */
  stop: boolean;
  /** The upstream expects earlier reasoning in the history (`reasoning_content`). */
  reasoningHistory: boolean;
  /**
   * Reasoning effort is understood (`reasoning_effort`, or `output_config.effort`); `named`: by some models, which are those
   * whose entry in the catalog names efforts.
   */
  effort: boolean | 'named';
  /** Thinks unless `thinking: {"type":"disabled"}` is sent, and cannot be obliged to call a tool while it thinks. */
  thinkingSwitch: boolean;
  /**
   * The upstream stores requests and answers in its account unless `store: false` is sent, so it is always sent. True
   * of every Responses upstream.
   */
  store: boolean;
  /** The strongest tool choice: a named tool, any tool (`required`), or none that binds (`auto`). */
  toolChoice: 'named' | 'required' | 'auto';
  /** Takes `parallel_tool_calls`. */
  parallelCalls: boolean;
  /** Ids of tool calls must have nine letters or digits; others are written as such in the history. */
  shortCallIds: boolean;
  /** Calls in the history must carry a signature of the vendor's, or its word for one that is not there. */
  callSignatures: boolean;
  /** Takes images by address. */
  imageUrls: boolean;
  /** Takes a pseudonym of the end user (`user`). */
  endUser: boolean;
  /** Is handed the trace of each request (`traceparent`): never by default, because vendors are strangers. */
  traceContext: boolean;
  /** Responses only: takes turns over a WebSocket, too, and then knows of each connection what the latest response came from. */
  webSocket: boolean;
  /** Takes `stream_options`; without it the upstream reports the usage of streams unasked. */
  usageOption: boolean;
  /** Smaller caps on the output are refused and therefore raised to it. */
  minOutputTokens: number;
  /** Tools that run at the vendor pass there where their price is known; otherwise they are left out. */
  hostedTools: boolean;
  /**
   * Where the counts of cached tokens stand: within the prompt's count, beside it, or both read and written within, even where
   * the same tokens are in both (`overlapping`). Null: as the numbers themselves suggest.
   */
  cachedTokens: 'within' | 'beside' | 'overlapping' | null;
}
