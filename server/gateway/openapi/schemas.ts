import { z } from 'zod';

/**
 * The bodies of the data plane, for people and generators. They document; they do not validate: the gateway scans
 * bodies as bytes and hands unknown members through, so every object here is open. Tests hold them against requests
 * that the published clients really send and answers that they really get.
 */

const open = <T extends z.core.$ZodLooseShape>(shape: T) => z.looseObject(shape);

const text = z.string();
const cacheControl = open({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).meta({
  description: 'Marks the end of a prefix that the vendor may cache; forwarded unchanged.',
});

export const messagesRequest = open({
  model: text.meta({ description: 'A catalog id; a leading `steyg/` is accepted.', examples: ['sim-small'] }),
  max_tokens: z
    .int()
    .min(0)
    .meta({ description: 'Cap on the tokens of the answer. 0 warms the cache without an answer.' }),
  messages: z.array(
    open({
      role: z.enum(['user', 'assistant', 'system']),
      content: z.union([text, z.array(open({ type: text, cache_control: cacheControl.optional() }))]),
    }),
  ),
  system: z
    .union([text, z.array(open({ type: z.literal('text'), text, cache_control: cacheControl.optional() }))])
    .optional(),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop_sequences: z.array(text).optional(),
  tools: z
    .array(
      open({
        name: text.optional(),
        description: text.optional(),
        input_schema: open({}).optional(),
        type: text.optional(),
      }),
    )
    .optional(),
  tool_choice: open({
    type: z.enum(['auto', 'any', 'tool', 'none']),
    name: text.optional(),
    disable_parallel_tool_use: z.boolean().optional(),
  }).optional(),
  thinking: open({ type: text, budget_tokens: z.int().optional() }).optional(),
  output_config: open({ effort: text.optional(), format: open({}).optional() }).optional(),
  metadata: open({ user_id: text.nullish() }).optional(),
}).meta({
  id: 'MessagesRequest',
  description: 'A request of the messages protocol. Members not listed are forwarded unchanged.',
});

export const messagesUsage = open({
  input_tokens: z.int().meta({ description: 'New context: neither read from nor written to a cache.' }),
  cache_read_input_tokens: z.int().nullish(),
  cache_creation_input_tokens: z.int().nullish(),
  cache_creation: open({ ephemeral_5m_input_tokens: z.int(), ephemeral_1h_input_tokens: z.int() }).nullish(),
  output_tokens: z.int(),
}).meta({ id: 'MessagesUsage' });

export const messagesResponse = open({
  id: text,
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: text,
  content: z.array(
    open({
      type: text,
      text: text.optional(),
      id: text.optional(),
      name: text.optional(),
      input: z.unknown().optional(),
      thinking: text.optional(),
      signature: text.optional(),
    }),
  ),
  stop_reason: text.nullable(),
  stop_sequence: text.nullish(),
  usage: messagesUsage,
}).meta({ id: 'MessagesResponse' });

export const messagesEvent = open({ type: text }).meta({
  id: 'MessagesEvent',
  description:
    'One `data:` of the stream; `event:` repeats its type: message_start, content_block_start, content_block_delta, content_block_stop, message_delta, message_stop, ping, error.',
  examples: [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }],
});

export const countTokensRequest = open({
  model: text,
  messages: messagesRequest.shape.messages,
  system: messagesRequest.shape.system,
  tools: messagesRequest.shape.tools,
}).meta({ id: 'CountTokensRequest' });
export const countTokensResponse = open({ input_tokens: z.int() }).meta({ id: 'CountTokensResponse' });

export const chatRequest = open({
  model: text.meta({ description: 'A catalog id; a leading `steyg/` is accepted.', examples: ['sim-small'] }),
  messages: z.array(
    open({
      role: z.enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
      content: z.union([text, z.array(open({ type: text })), z.null()]).optional(),
      name: text.optional(),
      tool_calls: z.array(open({ id: text, type: text })).optional(),
      tool_call_id: text.optional(),
    }),
  ),
  max_completion_tokens: z
    .int()
    .min(1)
    .nullish()
    .meta({ description: 'Cap on the tokens of the answer, and so on its cost.' }),
  max_tokens: z
    .int()
    .min(1)
    .nullish()
    .meta({ description: 'The older name of `max_completion_tokens`, which wins when both are set.' }),
  stream: z.boolean().nullish(),
  stream_options: open({ include_usage: z.boolean().optional() }).nullish(),
  n: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  stop: z.union([text, z.array(text), z.null()]).optional(),
  tools: z
    .array(
      open({
        type: text,
        function: open({ name: text, description: text.optional(), parameters: open({}).optional() }).optional(),
      }),
    )
    .optional(),
  tool_choice: z.union([text, open({ type: text })]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: open({ type: text }).optional(),
  reasoning_effort: text.nullish(),
  user: text.optional(),
}).meta({
  id: 'ChatCompletionRequest',
  description:
    'A request of the chat completions protocol. Members not listed are forwarded unchanged where the upstream speaks it too.',
});

export const chatUsage = open({
  prompt_tokens: z.int().meta({ description: 'All context, cached tokens included.' }),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: open({ cached_tokens: z.int().optional() }).nullish(),
  completion_tokens_details: open({ reasoning_tokens: z.int().optional() }).nullish(),
}).meta({ id: 'ChatCompletionUsage' });

export const chatResponse = open({
  id: text,
  object: z.literal('chat.completion'),
  created: z.int(),
  model: text,
  choices: z.array(
    open({
      index: z.int(),
      message: open({
        role: z.literal('assistant'),
        content: text.nullable(),
        reasoning_content: text.nullish(),
        tool_calls: z.array(open({ id: text, type: text })).optional(),
      }),
      finish_reason: text.nullable(),
    }),
  ),
  usage: chatUsage.optional(),
}).meta({ id: 'ChatCompletion' });

export const chatChunk = open({
  id: text,
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: text,
  choices: z.array(
    open({
      index: z.int(),
      delta: open({ role: text.optional(), content: text.nullish(), reasoning_content: text.nullish() }),
      finish_reason: text.nullish(),
    }),
  ),
  usage: chatUsage.nullish(),
}).meta({ id: 'ChatCompletionChunk', description: 'One `data:` of the stream, which ends with `data: [DONE]`.' });

export const responsesRequest = open({
  model: text.meta({ examples: ['sim-small'] }),
  input: z.union([text, z.array(open({ type: text.optional() }))]),
  instructions: text.nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish().meta({ description: 'Nothing is ever stored: true is refused.' }),
  tools: z.array(open({ type: text })).optional(),
  tool_choice: z.union([text, open({ type: text })]).optional(),
  reasoning: open({ effort: text.nullish() }).nullish(),
  text: open({ format: open({ type: text }).optional() }).optional(),
}).meta({ id: 'ResponsesRequest' });

export const responsesResponse = open({
  id: text,
  object: z.literal('response'),
  status: text,
  model: text,
  output: z.array(open({ type: text })),
  usage: open({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).nullish(),
}).meta({ id: 'Response' });

export const responsesEvent = open({ type: text, sequence_number: z.int() }).meta({
  id: 'ResponsesEvent',
  description:
    'One `data:` of the stream: response.created, response.output_text.delta, …, ending with response.completed, response.incomplete or response.failed.',
});

const usd = z.string().meta({ description: 'USD as a decimal string, at most 12 decimals.', examples: ['4.805'] });

export const model = open({
  id: text,
  object: z.literal('model'),
  type: z.literal('model'),
  created: z.int(),
  created_at: z.iso.datetime(),
  owned_by: text,
  display_name: text,
  name: text,
  context_length: z.int(),
  max_output_tokens: z.int(),
  pricing: open({ prompt: usd, completion: usd, input_cache_read: usd, input_cache_write: usd }).meta({
    description: 'USD per token.',
  }),
  price_usd_per_million: open({
    input: usd,
    cache_hit: usd,
    cache_write_5m: usd,
    cache_write_1h: usd,
    output: usd,
  }).meta({ description: 'USD per 1,000,000 tokens.' }),
}).meta({ id: 'Model' });

export const modelList = open({
  object: z.literal('list'),
  data: z.array(model),
  has_more: z.boolean(),
  first_id: text.nullable(),
  last_id: text.nullable(),
  total_count: z.int(),
  links: open({ next: text.nullable() }),
}).meta({ id: 'ModelList', description: 'One envelope that the clients of every protocol parse.' });

export const usageReport = open({
  object: z.literal('usage'),
  balance: open({ granted_usd: usd, charged_usd: usd, held_usd: usd, expired_usd: usd, free_usd: usd }),
  grants: z.array(
    open({
      id: text,
      kind: z.enum(['trial', 'purchase', 'adjustment', 'refund']),
      amount_usd: usd,
      free_usd: usd,
      expires_at: z.iso.datetime().nullable(),
    }),
  ),
  data: z.array(
    open({
      date: text.optional(),
      model: text.optional(),
      key_id: text.optional(),
      requests: z.int(),
      input_tokens: z.int(),
      cache_hit_tokens: z.int(),
      cache_write_tokens: z.int(),
      output_tokens: z.int(),
      cost_usd: usd,
    }),
  ),
  has_more: z.boolean(),
  next_cursor: text.nullable(),
}).meta({ id: 'UsageReport' });

export const ledgerEntry = open({
  object: z.literal('usage.entry'),
  request_id: text,
  created_at: z.iso.datetime(),
  key_id: text,
  model: text,
  upstream: text,
  protocol: z.enum(['messages', 'chat-completions', 'responses']),
  usage: open({
    input_tokens: z.int(),
    cache_hit_tokens: z.int(),
    cache_write_5m_tokens: z.int(),
    cache_write_1h_tokens: z.int(),
    output_tokens: z.int(),
  }),
  prices: open({ input: usd, cache_hit: usd, cache_write_5m: usd, cache_write_1h: usd, output: usd }).meta({
    description: 'USD per 1,000,000 tokens at the moment of the request.',
  }),
  cost_usd: usd,
  charged_usd: usd,
  latency_ms: z.int(),
  time_to_first_byte_ms: z.int().nullable(),
  outcome: z.enum([
    'completed',
    'budget_stopped',
    'client_closed',
    'upstream_error',
    'upstream_cut',
    'timeout',
    'shutdown',
  ]),
  usage_source: z.enum(['reported', 'partial', 'clamped', 'estimated', 'none']),
}).meta({
  id: 'LedgerEntry',
  description: 'One finished request: what it used, at which prices, and what was charged.',
});

export const keyInfo = open({
  data: open({
    label: text,
    usage: z.number(),
    usage_daily: z.number(),
    usage_monthly: z.number(),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: text.nullable(),
    is_free_tier: z.boolean(),
    expires_at: z.iso.datetime().nullable(),
  }),
}).meta({ id: 'KeyInfo', description: "About the calling key, in the shape that OpenRouter's clients read." });

export const credits = open({ data: open({ total_credits: z.number(), total_usage: z.number() }) }).meta({
  id: 'Credits',
  description: "The account's budget, in the shape that OpenRouter's clients read.",
});

export const messagesError = open({
  type: z.literal('error'),
  error: open({
    type: text,
    message: text,
    balance_usd: usd.optional(),
    held_usd: usd.optional(),
    required_usd: usd.optional(),
    affordable_max_tokens: z.int().optional(),
  }),
  request_id: text,
}).meta({ id: 'MessagesError' });

export const openAiError = open({
  error: open({
    message: text,
    type: text,
    param: text.nullable(),
    code: text.nullable(),
    balance_usd: usd.optional(),
    held_usd: usd.optional(),
    required_usd: usd.optional(),
    affordable_max_tokens: z.int().optional(),
  }),
}).meta({ id: 'OpenAiError' });
