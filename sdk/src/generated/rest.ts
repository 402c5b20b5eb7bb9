// Generated from openapi.json by `npm run generate:sdk`. Do not edit.

import type { UsdAmount, UsdNumber } from '../amounts.ts';

/** Marks the end of a prefix that the vendor may cache; forwarded unchanged. */
export interface CacheControl {
  type: 'ephemeral';
  ttl?: '5m' | '1h' | undefined;
  [member: string]: unknown;
}

export interface TextBlockParam {
  type: 'text';
  text: string;
  cache_control?: CacheControl | null | undefined;
  [member: string]: unknown;
}

export interface ImageBlockParam {
  type: 'image';
  source: {
    type: 'base64';
    media_type: string;
    data: string;
    [member: string]: unknown;
  } | {
    type: 'url';
    url: string;
    [member: string]: unknown;
  };
  cache_control?: CacheControl | null | undefined;
  [member: string]: unknown;
}

export interface ToolUseBlockParam {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
  cache_control?: CacheControl | null | undefined;
  [member: string]: unknown;
}

export interface ToolResultBlockParam {
  type: 'tool_result';
  tool_use_id: string;
  content?: string | (TextBlockParam | ImageBlockParam | {
    type: string;
    [member: string]: unknown;
  })[] | undefined;
  is_error?: boolean | undefined;
  cache_control?: CacheControl | null | undefined;
  [member: string]: unknown;
}

/** Sent back exactly as it came: the signature covers the text. */
export interface ThinkingBlockParam {
  type: 'thinking';
  thinking: string;
  signature: string;
  [member: string]: unknown;
}

export interface MessageParam {
  role: 'user' | 'assistant' | 'system';
  content: string | (TextBlockParam | ImageBlockParam | ToolUseBlockParam | ToolResultBlockParam | ThinkingBlockParam | {
    type: string;
    [member: string]: unknown;
  })[];
  [member: string]: unknown;
}

/** A function that the model may ask to have called. */
export interface MessagesTool {
  name?: string | undefined;
  description?: string | undefined;
  input_schema?: {
    [member: string]: unknown;
  } | undefined;
  type?: string | undefined;
  cache_control?: CacheControl | null | undefined;
  [member: string]: unknown;
}

/** A request of the messages protocol. Members not listed are forwarded unchanged. */
export interface MessagesRequest {
  /**
   * A catalog id; a leading `steyg/` is accepted.
   * @example "sim-small"
   */
  model: string;
  messages: MessageParam[];
  system?: string | TextBlockParam[] | undefined;
  tools?: MessagesTool[] | undefined;
  tool_choice?: {
    type: 'auto' | 'any' | 'tool' | 'none';
    name?: string | undefined;
    disable_parallel_tool_use?: boolean | undefined;
    [member: string]: unknown;
  } | undefined;
  thinking?: {
    type: string;
    budget_tokens?: number | undefined;
    [member: string]: unknown;
  } | undefined;
  /** Cap on the tokens of the answer. 0 warms the cache without an answer. */
  max_tokens: number;
  stream?: boolean | undefined;
  temperature?: number | undefined;
  top_p?: number | undefined;
  top_k?: number | undefined;
  stop_sequences?: string[] | undefined;
  output_config?: {
    effort?: string | undefined;
    format?: {
      [member: string]: unknown;
    } | undefined;
    [member: string]: unknown;
  } | undefined;
  metadata?: {
    user_id?: string | null | undefined;
    [member: string]: unknown;
  } | undefined;
  [member: string]: unknown;
}

export interface MessagesUsage {
  /** New context: neither read from nor written to a cache. */
  input_tokens: number;
  cache_read_input_tokens?: number | null | undefined;
  cache_creation_input_tokens?: number | null | undefined;
  cache_creation?: {
    ephemeral_5m_input_tokens: number;
    ephemeral_1h_input_tokens: number;
    [member: string]: unknown;
  } | null | undefined;
  output_tokens: number;
  [member: string]: unknown;
}

export interface TextBlock {
  type: 'text';
  text: string;
  [member: string]: unknown;
}

export interface ThinkingBlock {
  type: 'thinking';
  thinking: string;
  signature: string;
  [member: string]: unknown;
}

export interface RedactedThinkingBlock {
  type: 'redacted_thinking';
  data: string;
  [member: string]: unknown;
}

/** The model asks for a function to be called. */
export interface ToolUseBlock {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
  [member: string]: unknown;
}

/** A part of an answer. Further kinds may appear. */
export type ContentBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock;

export interface MessagesResponse {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: ContentBlock[];
  /** end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal, model_context_window_exceeded. */
  stop_reason: string | null;
  stop_sequence?: string | null | undefined;
  usage: MessagesUsage;
  [member: string]: unknown;
}

/**
 * One `data:` of the stream; `event:` repeats its type. Further types may appear.
 * @example {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}
 */
export type MessagesEvent = {
  type: 'message_start';
  message: MessagesResponse;
  [member: string]: unknown;
} | {
  type: 'content_block_start';
  index: number;
  content_block: ContentBlock;
  [member: string]: unknown;
} | {
  type: 'content_block_delta';
  index: number;
  delta: {
    type: 'text_delta';
    text: string;
    [member: string]: unknown;
  } | {
    type: 'input_json_delta';
    partial_json: string;
    [member: string]: unknown;
  } | {
    type: 'thinking_delta';
    thinking: string;
    [member: string]: unknown;
  } | {
    type: 'signature_delta';
    signature: string;
    [member: string]: unknown;
  } | {
    type: 'citations_delta';
    citation: {
      [member: string]: unknown;
    };
    [member: string]: unknown;
  };
  [member: string]: unknown;
} | {
  type: 'content_block_stop';
  index: number;
  [member: string]: unknown;
} | {
  type: 'message_delta';
  delta: {
    /** end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal, model_context_window_exceeded. */
    stop_reason: string | null;
    stop_sequence?: string | null | undefined;
    [member: string]: unknown;
  };
  /** Cumulative. */
  usage: {
    input_tokens?: number | null | undefined;
    cache_read_input_tokens?: number | null | undefined;
    cache_creation_input_tokens?: number | null | undefined;
    output_tokens: number;
    [member: string]: unknown;
  };
  [member: string]: unknown;
} | {
  type: 'message_stop';
  [member: string]: unknown;
} | {
  type: 'ping';
  [member: string]: unknown;
} | {
  type: 'error';
  error: {
    type: string;
    message: string;
    [member: string]: unknown;
  };
  request_id?: string | undefined;
  [member: string]: unknown;
};

export interface CountTokensRequest {
  /**
   * A catalog id; a leading `steyg/` is accepted.
   * @example "sim-small"
   */
  model: string;
  messages: MessageParam[];
  system?: string | TextBlockParam[] | undefined;
  tools?: MessagesTool[] | undefined;
  tool_choice?: {
    type: 'auto' | 'any' | 'tool' | 'none';
    name?: string | undefined;
    disable_parallel_tool_use?: boolean | undefined;
    [member: string]: unknown;
  } | undefined;
  thinking?: {
    type: string;
    budget_tokens?: number | undefined;
    [member: string]: unknown;
  } | undefined;
  [member: string]: unknown;
}

export interface CountTokensResponse {
  input_tokens: number;
  [member: string]: unknown;
}

export interface ChatToolCall {
  id: string;
  type: string;
  function?: {
    name: string;
    /** JSON, as the model wrote it. */
    arguments: string;
    [member: string]: unknown;
  } | undefined;
  [member: string]: unknown;
}

export type ChatContentPart = {
  type: 'text';
  text: string;
  [member: string]: unknown;
} | {
  type: 'image_url';
  image_url: {
    url: string;
    detail?: string | undefined;
    [member: string]: unknown;
  };
  [member: string]: unknown;
} | {
  type: string;
  [member: string]: unknown;
};

export interface ChatMessageParam {
  role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function';
  content?: string | ChatContentPart[] | null | undefined;
  name?: string | undefined;
  tool_calls?: ChatToolCall[] | undefined;
  tool_call_id?: string | undefined;
  [member: string]: unknown;
}

/** A function that the model may ask to have called. */
export interface ChatTool {
  type: string;
  function?: {
    name: string;
    description?: string | undefined;
    parameters?: {
      [member: string]: unknown;
    } | undefined;
    strict?: boolean | null | undefined;
    [member: string]: unknown;
  } | undefined;
  [member: string]: unknown;
}

/** A request of the chat completions protocol. Members not listed are forwarded unchanged where the upstream speaks it too. */
export interface ChatCompletionRequest {
  /**
   * A catalog id; a leading `steyg/` is accepted.
   * @example "sim-small"
   */
  model: string;
  messages: ChatMessageParam[];
  /** Cap on the tokens of the answer, and so on its cost. */
  max_completion_tokens?: number | null | undefined;
  /** The older name of `max_completion_tokens`, which wins when both are set. */
  max_tokens?: number | null | undefined;
  stream?: boolean | null | undefined;
  stream_options?: {
    include_usage?: boolean | undefined;
    [member: string]: unknown;
  } | null | undefined;
  n?: number | null | undefined;
  temperature?: number | null | undefined;
  top_p?: number | null | undefined;
  stop?: string | string[] | null | undefined;
  tools?: ChatTool[] | undefined;
  tool_choice?: string | {
    type: string;
    [member: string]: unknown;
  } | undefined;
  parallel_tool_calls?: boolean | undefined;
  response_format?: {
    type: string;
    [member: string]: unknown;
  } | undefined;
  reasoning_effort?: string | null | undefined;
  user?: string | undefined;
  [member: string]: unknown;
}

export interface ChatCompletionUsage {
  /** All context, cached tokens included. */
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: {
    cached_tokens?: number | undefined;
    [member: string]: unknown;
  } | null | undefined;
  completion_tokens_details?: {
    reasoning_tokens?: number | undefined;
    [member: string]: unknown;
  } | null | undefined;
  [member: string]: unknown;
}

export interface ChatMessage {
  role: 'assistant';
  content: string | null;
  refusal?: string | null | undefined;
  reasoning_content?: string | null | undefined;
  tool_calls?: ChatToolCall[] | undefined;
  [member: string]: unknown;
}

export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: {
    index: number;
    message: ChatMessage;
    /** stop, length, tool_calls, content_filter, function_call. */
    finish_reason?: string | null | undefined;
    [member: string]: unknown;
  }[];
  usage?: ChatCompletionUsage | undefined;
  [member: string]: unknown;
}

/** One `data:` of the stream, which ends with `data: [DONE]`. */
export interface ChatCompletionChunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  choices: {
    index: number;
    delta: {
      role?: string | undefined;
      content?: string | null | undefined;
      refusal?: string | null | undefined;
      reasoning_content?: string | null | undefined;
      tool_calls?: {
        index: number;
        id?: string | undefined;
        type?: string | undefined;
        function?: {
          name?: string | undefined;
          arguments?: string | undefined;
          [member: string]: unknown;
        } | undefined;
        [member: string]: unknown;
      }[] | undefined;
      [member: string]: unknown;
    };
    /** stop, length, tool_calls, content_filter, function_call. */
    finish_reason?: string | null | undefined;
    [member: string]: unknown;
  }[];
  usage?: ChatCompletionUsage | null | undefined;
  [member: string]: unknown;
}

/** A function that the model may ask to have called. */
export interface ResponsesTool {
  type: string;
  name?: string | undefined;
  description?: string | null | undefined;
  parameters?: {
    [member: string]: unknown;
  } | null | undefined;
  strict?: boolean | null | undefined;
  [member: string]: unknown;
}

export interface ResponsesRequest {
  /**
   * A catalog id; a leading `steyg/` is accepted.
   * @example "sim-small"
   */
  model: string;
  input: string | {
    type?: string | undefined;
    role?: string | undefined;
    [member: string]: unknown;
  }[];
  instructions?: string | null | undefined;
  max_output_tokens?: number | null | undefined;
  stream?: boolean | null | undefined;
  /** Nothing is ever stored: true is refused. */
  store?: boolean | null | undefined;
  tools?: ResponsesTool[] | undefined;
  tool_choice?: string | {
    type: string;
    [member: string]: unknown;
  } | undefined;
  reasoning?: {
    effort?: string | null | undefined;
    summary?: string | null | undefined;
    [member: string]: unknown;
  } | null | undefined;
  text?: {
    format?: {
      type: string;
      [member: string]: unknown;
    } | undefined;
    [member: string]: unknown;
  } | undefined;
  [member: string]: unknown;
}

export interface ResponsesUsage {
  /** All context, cached tokens included. */
  input_tokens: number;
  input_tokens_details?: {
    cached_tokens?: number | undefined;
    [member: string]: unknown;
  } | null | undefined;
  output_tokens: number;
  output_tokens_details?: {
    reasoning_tokens?: number | undefined;
    [member: string]: unknown;
  } | null | undefined;
  total_tokens: number;
  [member: string]: unknown;
}

/** A part of an answer. Further kinds may appear. */
export type ResponsesItem = {
  type: 'message';
  id: string;
  role: 'assistant';
  status?: string | undefined;
  content: {
    type: string;
    text?: string | undefined;
    refusal?: string | undefined;
    [member: string]: unknown;
  }[];
  [member: string]: unknown;
} | {
  type: 'function_call';
  id?: string | undefined;
  call_id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
  status?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'reasoning';
  id: string;
  summary: {
    type: string;
    text: string;
    [member: string]: unknown;
  }[];
  encrypted_content?: string | null | undefined;
  [member: string]: unknown;
};

export interface ResponsesResponse {
  id: string;
  object: 'response';
  created_at?: number | undefined;
  /** completed, incomplete, failed, in_progress. */
  status: string;
  model: string;
  output: ResponsesItem[];
  incomplete_details?: {
    reason?: string | undefined;
    [member: string]: unknown;
  } | null | undefined;
  error?: {
    code?: string | null | undefined;
    message: string;
    [member: string]: unknown;
  } | null | undefined;
  usage?: ResponsesUsage | null | undefined;
  [member: string]: unknown;
}

/** One `data:` of the stream, which ends with response.completed, response.incomplete or response.failed. Further types may appear. */
export type ResponsesEvent = {
  type: 'response.created' | 'response.in_progress' | 'response.completed' | 'response.incomplete' | 'response.failed';
  response: ResponsesResponse;
  sequence_number: number;
  [member: string]: unknown;
} | {
  type: 'response.output_item.added' | 'response.output_item.done';
  item: ResponsesItem;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.content_part.added' | 'response.content_part.done';
  content_index: number;
  part: {
    type: string;
    text?: string | undefined;
    [member: string]: unknown;
  };
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.output_text.delta' | 'response.refusal.delta';
  content_index: number;
  delta: string;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.output_text.done';
  content_index: number;
  text: string;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.refusal.done';
  content_index: number;
  refusal: string;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.function_call_arguments.delta';
  delta: string;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.function_call_arguments.done';
  arguments: string;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.reasoning_summary_text.delta' | 'response.reasoning_text.delta';
  delta: string;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.reasoning_summary_text.done' | 'response.reasoning_text.done';
  text: string;
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done';
  part: {
    type: string;
    text: string;
    [member: string]: unknown;
  };
  sequence_number: number;
  output_index: number;
  item_id?: string | undefined;
  [member: string]: unknown;
} | {
  type: 'error';
  code: string | null;
  message: string;
  param?: string | null | undefined;
  sequence_number: number;
  [member: string]: unknown;
};

export interface EmbeddingsRequest {
  model: string;
  /** A text, texts, a list of tokens, or lists of tokens; none of them empty. */
  input: string | string[] | number[] | number[][];
  encoding_format?: 'float' | 'base64' | undefined;
  dimensions?: number | undefined;
  user?: string | undefined;
  [member: string]: unknown;
}

export interface EmbeddingsResponse {
  object: 'list';
  data: {
    object: 'embedding';
    index: number;
    embedding: number[] | string;
    [member: string]: unknown;
  }[];
  model: string;
  usage: {
    prompt_tokens: number;
    total_tokens: number;
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

export interface ImagesRequest {
  model: string;
  prompt: string;
  n?: number | undefined;
  /** `WIDTHxHEIGHT`, such as `1024x1024`, or `auto`. */
  size?: string | undefined;
  /** In the vendor's word, such as `low`, `medium` or `high`. */
  quality?: string | undefined;
  background?: string | undefined;
  output_format?: 'png' | 'jpeg' | 'webp' | undefined;
  output_compression?: number | undefined;
  response_format?: 'b64_json' | 'url' | undefined;
  stream?: boolean | undefined;
  /** First versions of an image in a stream. */
  partial_images?: number | undefined;
  moderation?: string | undefined;
  user?: string | undefined;
  /** Edits alone: the pictures to start from. */
  images?: {
    /** A data URL, or an address that the vendor fetches. */
    image_url: string;
    [member: string]: unknown;
  }[] | undefined;
  /** Edits alone: what of the first picture may change. */
  mask?: {
    /** A data URL, or an address that the vendor fetches. */
    image_url: string;
    [member: string]: unknown;
  } | undefined;
  [member: string]: unknown;
}

export interface ImagesResponse {
  created: number;
  data: {
    b64_json?: string | undefined;
    url?: string | undefined;
    [member: string]: unknown;
  }[];
  size?: string | undefined;
  quality?: string | undefined;
  background?: string | undefined;
  output_format?: string | undefined;
  usage?: {
    input_tokens: number;
    input_tokens_details?: {
      image_tokens: number;
      text_tokens: number;
      [member: string]: unknown;
    } | undefined;
    output_tokens: number;
    output_tokens_details?: {
      image_tokens: number;
      text_tokens: number;
      [member: string]: unknown;
    } | undefined;
    total_tokens: number;
    [member: string]: unknown;
  } | undefined;
  [member: string]: unknown;
}

export interface ImagesEvent {
  /** `image_generation.partial_image`, `image_generation.completed`, or the same of `image_edit`. */
  type: string;
  b64_json?: string | undefined;
  partial_image_index?: number | undefined;
  [member: string]: unknown;
}

/** What a request would hold and cost, by the prices of this moment. */
export interface Estimate {
  object: 'estimate';
  /** Id in the catalog. */
  model: string;
  /** Estimated from the bytes of the request; an upper figure for media. */
  inputTokens: number;
  /** The prompt lengths of the prices that the estimated tokens reach; null: there is one set of prices. */
  tier: {
    abovePromptTokens: number | null;
    upToPromptTokens: number | null;
    [member: string]: unknown;
  } | null;
  /**
   * What the same request would reserve of the budget at this moment.
   * @example "4.805"
   */
  holdUsd: UsdAmount;
  /**
   * The lowest plausible cost of an answer: a short one, with its context cached. A failure costs nothing.
   * @example "4.805"
   */
  leastUsd: UsdAmount;
  /**
   * The bound of the request: no honest bill is higher, and nothing above it is charged. A stream is stopped where the budget ends.
   * @example "4.805"
   */
  mostUsd: UsdAmount;
  /** What the upper bound of the prompt is made of. A window is counted once. */
  bound: {
    /** What it is: `text`, `template`, `image`, `document_by_address`, `vendor_tools` and others; more may come. */
    kind: string;
    /** How many there are; null: it is not counted. */
    count: number | null;
    /** Its tokens at most. */
    tokens: number;
    /** It counts as the whole window of the model, because only the vendor can measure it. */
    isWindow: boolean;
    [member: string]: unknown;
  }[];
  [member: string]: unknown;
}

export interface Model {
  id: string;
  object: 'model';
  type: 'model';
  created: number;
  createdAt: string;
  ownedBy: string;
  displayName: string;
  name: string;
  contextLength: number;
  maxOutputTokens: number;
  /** `text` answers; `embedding` is asked at `/v1/embeddings`, `image` at `/v1/images/generations` and `/v1/images/edits`. */
  kind: 'text' | 'embedding' | 'image';
  /** The reasoning efforts that the model knows, the strongest first; absent: not said, or none. */
  reasoning?: {
    mandatory: boolean;
    supportedEfforts: string[];
    [member: string]: unknown;
  } | undefined;
  canonicalSlug: string;
  architecture: {
    modality: string;
    inputModalities: string[];
    outputModalities: string[];
    tokenizer: string;
    instructType: string | null;
    [member: string]: unknown;
  };
  supportedParameters: string[];
  topProvider: {
    contextLength: number;
    maxCompletionTokens: number;
    isModerated: boolean;
    [member: string]: unknown;
  };
  perRequestLimits: null;
  defaultParameters: null;
  supportedVoices: null;
  links: {
    details: string;
    [member: string]: unknown;
  };
  /** USD per token. */
  pricing: {
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    prompt: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    completion: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    inputCacheRead: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    inputCacheWrite: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    inputCacheWrite1h: UsdAmount;
    [member: string]: unknown;
  };
  /** USD per 1,000,000 tokens. */
  priceUsdPerMillion: {
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    input: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    cacheHit: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    cacheWrite5m: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    cacheWrite1h: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    output: UsdAmount;
    /** Other prices for longer prompts, rising: above so many prompt tokens the whole request is charged at them. */
    tiers: {
      abovePromptTokens: number;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      input: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheHit: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheWrite5m: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheWrite1h: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      output: UsdAmount;
      [member: string]: unknown;
    }[];
    /** Other prices for hours of the week (`mon` to `sun`, `HH:MM-HH:MM` in the time zone, hours over midnight by the day on which they begin), but not on the dates that are left out. A request is charged at the prices of the moment at which it is accepted. Null: the same prices at every hour. */
    clock: {
      timeZone: string;
      exceptDates: string[];
      windows: {
        days: string[];
        hours: string[];
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        input: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        cacheHit: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        cacheWrite5m: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        cacheWrite1h: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        output: UsdAmount;
        tiers: {
          abovePromptTokens: number;
          /**
           * USD as a decimal string, at most 12 decimals.
           * @example "4.805"
           */
          input: UsdAmount;
          /**
           * USD as a decimal string, at most 12 decimals.
           * @example "4.805"
           */
          cacheHit: UsdAmount;
          /**
           * USD as a decimal string, at most 12 decimals.
           * @example "4.805"
           */
          cacheWrite5m: UsdAmount;
          /**
           * USD as a decimal string, at most 12 decimals.
           * @example "4.805"
           */
          cacheWrite1h: UsdAmount;
          /**
           * USD as a decimal string, at most 12 decimals.
           * @example "4.805"
           */
          output: UsdAmount;
          [member: string]: unknown;
        }[];
        [member: string]: unknown;
      }[];
      [member: string]: unknown;
    } | null;
    /** Other prices by what a request asks for in `service_tier`, `speed` or `inference_geo` and its vendor serves (`flex`, `fast`, also for `priority`, `us`, or several with `+`), or of a `batch`. What is not in the list is refused by name. */
    variants: {
      name: string;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      input: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheHit: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheWrite5m: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheWrite1h: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      output: UsdAmount;
      tiers: {
        abovePromptTokens: number;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        input: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        cacheHit: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        cacheWrite5m: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        cacheWrite1h: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        output: UsdAmount;
        [member: string]: unknown;
      }[];
      [member: string]: unknown;
    }[];
    /** USD for one of what is charged by the piece; what is left out has no price. */
    perUnit: {
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      search?: UsdAmount | undefined;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      image?: UsdAmount | undefined;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      minute?: UsdAmount | undefined;
      [member: string]: unknown;
    };
    /** What images cost, for models that make them: by token, or one by quality and size, of which the most exact line counts. Null: no prices of their own. */
    images: {
      /** Tokens of images, USD per 1,000,000; null: they cost as those of text. */
      tokens: {
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        input: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        cacheHit: UsdAmount;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        output: UsdAmount;
        [member: string]: unknown;
      } | null;
      each: {
        quality: string | null;
        size: string | null;
        upToPixels: number | null;
        /**
         * USD as a decimal string, at most 12 decimals.
         * @example "4.805"
         */
        price: UsdAmount;
        [member: string]: unknown;
      }[];
      [member: string]: unknown;
    } | null;
    /** The longest prompt that has a price: a request whose prompt may be longer, by its bytes, is refused. */
    maxPromptTokens: number | null;
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

/** One envelope that the clients of every protocol parse. */
export interface ModelList {
  object: 'list';
  data: Model[];
  hasMore: boolean;
  firstId: string | null;
  lastId: string | null;
  totalCount: number;
  links: {
    next: string | null;
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

export interface UsageReport {
  object: 'usage';
  balance: {
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    grantedUsd: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    chargedUsd: UsdAmount;
    /**
     * USD as a decimal string. Reserved by running requests, and in advance for busy keys until two seconds after their last one: it is returned when another request needs it.
     * @example "0.25"
     */
    heldUsd: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    expiredUsd: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    freeUsd: UsdAmount;
    [member: string]: unknown;
  };
  grants: {
    id: string;
    kind: 'trial' | 'purchase' | 'adjustment' | 'refund' | 'bonus' | 'code';
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    amountUsd: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    freeUsd: UsdAmount;
    expiresAt: string | null;
    [member: string]: unknown;
  }[];
  data: {
    date?: string | undefined;
    model?: string | undefined;
    keyId?: string | undefined;
    projectId?: string | null | undefined;
    session?: string | undefined;
    user?: string | undefined;
    tag?: string | undefined;
    requests: number;
    inputTokens: number;
    cacheHitTokens: number;
    cacheWriteTokens: number;
    outputTokens: number;
    /**
     * What the requests came to by their tokens and prices.
     * @example "4.805"
     */
    costUsd: UsdAmount;
    /**
     * What was taken from the budget: less where it ended first.
     * @example "4.805"
     */
    chargedUsd: UsdAmount;
    /** By session, user or tag: its first request. */
    firstRequestAt?: string | undefined;
    lastRequestAt?: string | undefined;
    [member: string]: unknown;
  }[];
  hasMore: boolean;
  nextCursor: string | null;
  [member: string]: unknown;
}

/** One finished request: what it used, at which prices, and what was charged. */
export interface LedgerEntry {
  object: 'usage.entry';
  requestId: string;
  createdAt: string;
  keyId: string;
  /** The session that the client named: a keyed digest (`~…`), or the value where the account asks for it. */
  session: string | null;
  /** The end user that the client named, likewise. */
  user: string | null;
  /** `name=value`, the values likewise. */
  tags: string[];
  model: string;
  upstream: string;
  protocol: 'messages' | 'chat-completions' | 'responses';
  usage: {
    inputTokens: number;
    cacheHitTokens: number;
    cacheWrite5mTokens: number;
    cacheWrite1hTokens: number;
    outputTokens: number;
    [member: string]: unknown;
  };
  /** USD per 1,000,000 tokens at the moment of the request. */
  prices: {
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    input: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    cacheHit: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    cacheWrite5m: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    cacheWrite1h: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    output: UsdAmount;
    [member: string]: unknown;
  };
  /** What other models did for the same request, such as the one that served it after a refusal, at their own prices; empty: nothing. `usage` does not have these tokens, `cost_usd` has their amounts. */
  lines: {
    model: string;
    usage: {
      inputTokens: number;
      cacheHitTokens: number;
      cacheWrite5mTokens: number;
      cacheWrite1hTokens: number;
      outputTokens: number;
      [member: string]: unknown;
    };
    prices: {
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      input: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheHit: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheWrite5m: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      cacheWrite1h: UsdAmount;
      /**
       * USD as a decimal string, at most 12 decimals.
       * @example "4.805"
       */
      output: UsdAmount;
      [member: string]: unknown;
    };
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    amountUsd: UsdAmount;
    [member: string]: unknown;
  }[];
  /** What was charged by the piece, beside the tokens; empty: nothing. */
  units: {
    unit: 'search' | 'image' | 'minute';
    count: number;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    priceUsd: UsdAmount;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    amountUsd: UsdAmount;
    [member: string]: unknown;
  }[];
  /** The tier, speed or region that the request asked for (`flex`, `fast`, `us`, `fast+us`), what the vendor says that it served (empty: the ordinary one; null: it does not say), and whose prices counted (null: the ordinary ones). Null: nothing was asked for. */
  variant: {
    asked: string;
    served: string | null;
    counted: string | null;
    [member: string]: unknown;
  } | null;
  /** When the request was accepted, and the hours of the week whose prices count since then; `window` is null outside of such hours. Null: the price did not depend on the clock. */
  clock: {
    pricedAt: string;
    window: {
      days: string[];
      period: string;
      timeZone: string;
      [member: string]: unknown;
    } | null;
    [member: string]: unknown;
  } | null;
  /** The prompt lengths that these prices are for; null: the model had one set of prices. */
  tier: {
    abovePromptTokens: number | null;
    upToPromptTokens: number | null;
    [member: string]: unknown;
  } | null;
  /**
   * USD as a decimal string, at most 12 decimals.
   * @example "4.805"
   */
  costUsd: UsdAmount;
  /**
   * USD as a decimal string, at most 12 decimals.
   * @example "4.805"
   */
  chargedUsd: UsdAmount;
  latencyMs: number;
  timeToFirstByteMs: number | null;
  outcome: 'completed' | 'budget_stopped' | 'client_closed' | 'upstream_error' | 'upstream_cut' | 'timeout' | 'shutdown';
  usageSource: 'reported' | 'partial' | 'clamped' | 'estimated' | 'none';
  [member: string]: unknown;
}

/** Requests one by one, the newest first. */
export interface UsageRequests {
  object: 'usage.requests';
  data: LedgerEntry[];
  /** Months (UTC) of the range whose requests are in an archive, and not in this list. */
  archived?: {
    month: string;
    archivedAt: string;
    [member: string]: unknown;
  }[] | undefined;
  hasMore: boolean;
  nextCursor: string | null;
  [member: string]: unknown;
}

/** What a session, a user or a tag came to; zeros where nothing is known of it. */
export interface UsageSummary {
  object: 'usage.session' | 'usage.user' | 'usage.tag';
  session?: string | undefined;
  user?: string | undefined;
  tag?: string | undefined;
  requests: number;
  inputTokens: number;
  cacheHitTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  /**
   * What the requests came to by their tokens and prices.
   * @example "4.805"
   */
  costUsd: UsdAmount;
  /**
   * What was taken from the budget: less where it ended first.
   * @example "4.805"
   */
  chargedUsd: UsdAmount;
  firstRequestAt: string | null;
  lastRequestAt: string | null;
  models: {
    model: string;
    requests: number;
    inputTokens: number;
    cacheHitTokens: number;
    cacheWriteTokens: number;
    outputTokens: number;
    /**
     * What the requests came to by their tokens and prices.
     * @example "4.805"
     */
    costUsd: UsdAmount;
    /**
     * What was taken from the budget: less where it ended first.
     * @example "4.805"
     */
    chargedUsd: UsdAmount;
    firstRequestAt: string;
    lastRequestAt: string;
    [member: string]: unknown;
  }[];
  [member: string]: unknown;
}

/** About the calling key, in the shape that OpenRouter's clients read. */
export interface KeyInfo {
  data: {
    label: string;
    /** USD as a number; `/v1/usage` has the exact strings. */
    usage: UsdNumber;
    /** USD as a number; `/v1/usage` has the exact strings. */
    usageDaily: UsdNumber;
    /** USD as a number; `/v1/usage` has the exact strings. */
    usageWeekly: UsdNumber;
    /** USD as a number; `/v1/usage` has the exact strings. */
    usageMonthly: UsdNumber;
    limit: UsdNumber | null;
    limitRemaining: UsdNumber | null;
    limitReset: string | null;
    isFreeTier: boolean;
    expiresAt: string | null;
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

/** The account's budget, in the shape that OpenRouter's clients read. */
export interface Credits {
  data: {
    /** USD as a number; `/v1/usage` has the exact strings. */
    totalCredits: UsdNumber;
    /** USD as a number; `/v1/usage` has the exact strings. */
    totalUsage: UsdNumber;
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

export interface MessagesError {
  type: 'error';
  error: {
    type: string;
    message: string;
    /** The service's own code, where there is one. */
    code?: string | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    balance_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string. Reserved by running requests, and in advance for busy keys until two seconds after their last one: it is returned when another request needs it.
     * @example "0.25"
     */
    held_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    required_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    most_usd?: UsdAmount | undefined;
    affordable_max_tokens?: number | undefined;
    retry_after_s?: number | undefined;
    limit_period?: string | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    limit_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    spent_usd?: UsdAmount | undefined;
    [member: string]: unknown;
  };
  request_id: string;
  [member: string]: unknown;
}

export interface OpenAiError {
  error: {
    message: string;
    type: string;
    param: string | null;
    code: string | null;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    balance_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string. Reserved by running requests, and in advance for busy keys until two seconds after their last one: it is returned when another request needs it.
     * @example "0.25"
     */
    held_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    required_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    most_usd?: UsdAmount | undefined;
    affordable_max_tokens?: number | undefined;
    retry_after_s?: number | undefined;
    limit_period?: string | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    limit_usd?: UsdAmount | undefined;
    /**
     * USD as a decimal string, at most 12 decimals.
     * @example "4.805"
     */
    spent_usd?: UsdAmount | undefined;
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

/** What `getUsage` can be asked. */
export interface GetUsageQuery {
  /** First day, `YYYY-MM-DD` (UTC). Default: 30 days ago. */
  from?: string | undefined;
  /** Last day, `YYYY-MM-DD` (UTC). Default: today. */
  to?: string | undefined;
  /** Comma-separated: `day`, `model`, `key`, `project`, and one of `session`, `user` and `tag`. Default: `day,model`. A request with several tags counts for each. */
  groupBy?: string | undefined;
  /** Rows, 1 to 1000. Default: 100. */
  limit?: number | undefined;
  /** `next_cursor` of the page before. */
  cursor?: string | undefined;
  /** `requests`: answers with the requests one by one instead, the newest first. */
  list?: 'requests' | undefined;
  /** Answers with what this session came to instead, from its first request; with `list`, the requests of it. As the client names it, or as a list does. */
  session?: string | undefined;
  /** Likewise, of an end user. */
  user?: string | undefined;
  /** Likewise, of a tag: `name=value`. */
  tag?: string | undefined;
  /** Answers with the ledger entry of this request instead. */
  requestId?: string | undefined;
}
