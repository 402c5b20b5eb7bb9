/** Capabilities of an upstream, `features` of the catalog file. Translation consults them, the native path does not. */
export interface UpstreamFeatures {
  /** Name of the output cap on chat completions upstreams. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** How a system message in mid-conversation is sent. */
  systemRole: 'keep' | 'user' | 'hoist';
  files: boolean;
  jsonObject: boolean;
  sampling: boolean;
  /** The upstream expects earlier reasoning in the history (`reasoning_content`). */
  reasoningHistory: boolean;
  /** Reasoning effort is understood (`reasoning_effort`, or `output_config.effort`). */
  effort: boolean;
  /**
   * The upstream stores requests and answers in its account unless `store: false` is sent, so it is always sent. True
   * of every Responses upstream.
   */
  store: boolean;
}
