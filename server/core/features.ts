/** What a route's upstream can take; `features` of the catalog file. Translation consults it, the native path does not. */
export interface UpstreamFeatures {
  /** Name of the output cap on chat completions upstreams. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** How a system message in mid-conversation travels. */
  systemRole: 'keep' | 'user' | 'hoist';
  files: boolean;
  jsonObject: boolean;
  sampling: boolean;
  /** Upstreams that want earlier reasoning back in the history (`reasoning_content`). */
  reasoningHistory: boolean;
  /** Reasoning effort is understood (`reasoning_effort`, or `output_config.effort`). */
  effort: boolean;
  /**
   * Keeps questions and answers in its account unless `store: false` is sent, which is then always sent. Every Responses
   * upstream is taken for such a one.
   */
  store: boolean;
}
