/**
 * Capabilities of an upstream, `features` of the catalog file. Translation consults all of them, the native path `store`
 * and `maxTokensField`.
 */
export interface UpstreamFeatures {
  /**
   * The one name of the output cap that a chat completions upstream takes. Null: it takes either, or nobody has said;
   * then translation writes `max_tokens`, and natively the client's own name stands.
   */
  maxTokensField: 'max_tokens' | 'max_completion_tokens' | null;
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
