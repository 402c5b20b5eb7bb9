import { z } from 'zod';
import { modelKinds } from '../../core/kind.ts';

/**
 * Schemas of the data plane's bodies, for people and generators. They document and do not validate: the gateway scans
 * bodies as bytes and passes unknown members, so every object here is open. Tests check them against requests and
 * answers of the published clients.
 *
 * Request schemas allow kinds that are not listed. Response schemas list today's kinds, so that generated types are
 * discriminated by `type`; clients have to ignore unknown kinds.
 */

const open = <T extends z.core.$ZodLooseShape>(shape: T) => z.looseObject(shape);

const text = z.string();

export const cacheControl = open({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).meta({
  id: 'CacheControl',
  description: 'Marks the end of a prefix that the vendor may cache; forwarded unchanged.',
});

const cached = { cache_control: cacheControl.nullish() };
/** A kind that a vendor may add at any time, or that is not described here. */
const otherKind = open({ type: text });

export const textParam = open({ type: z.literal('text'), text, ...cached }).meta({ id: 'TextBlockParam' });
export const imageParam = open({
  type: z.literal('image'),
  source: z.union([
    open({ type: z.literal('base64'), media_type: text, data: text }),
    open({ type: z.literal('url'), url: text }),
  ]),
  ...cached,
}).meta({ id: 'ImageBlockParam' });
export const toolUseParam = open({
  type: z.literal('tool_use'),
  id: text,
  name: text,
  input: z.unknown(),
  ...cached,
}).meta({ id: 'ToolUseBlockParam' });
export const toolResultParam = open({
  type: z.literal('tool_result'),
  tool_use_id: text,
  content: z.union([text, z.array(z.union([textParam, imageParam, otherKind]))]).optional(),
  is_error: z.boolean().optional(),
  ...cached,
}).meta({ id: 'ToolResultBlockParam' });
export const thinkingParam = open({ type: z.literal('thinking'), thinking: text, signature: text }).meta({
  id: 'ThinkingBlockParam',
  description: 'Sent back exactly as it came: the signature covers the text.',
});

export const messageParam = open({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([
    text,
    z.array(z.union([textParam, imageParam, toolUseParam, toolResultParam, thinkingParam, otherKind])),
  ]),
}).meta({ id: 'MessageParam' });

export const messagesTool = open({
  name: text.optional(),
  description: text.optional(),
  input_schema: open({}).optional(),
  type: text.optional(),
  ...cached,
}).meta({ id: 'MessagesTool', description: 'A function that the model may ask to have called.' });

const messagesInput = {
  model: text.meta({ description: 'A catalog id; a leading `steyg/` is accepted.', examples: ['sim-small'] }),
  messages: z.array(messageParam),
  system: z.union([text, z.array(textParam)]).optional(),
  tools: z.array(messagesTool).optional(),
  tool_choice: open({
    type: z.enum(['auto', 'any', 'tool', 'none']),
    name: text.optional(),
    disable_parallel_tool_use: z.boolean().optional(),
  }).optional(),
  thinking: open({ type: text, budget_tokens: z.int().optional() }).optional(),
};

export const messagesRequest = open({
  ...messagesInput,
  max_tokens: z
    .int()
    .min(0)
    .meta({ description: 'Cap on the tokens of the answer. 0 warms the cache without an answer.' }),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop_sequences: z.array(text).optional(),
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

export const textBlock = open({ type: z.literal('text'), text }).meta({ id: 'TextBlock' });
export const thinkingBlock = open({ type: z.literal('thinking'), thinking: text, signature: text }).meta({
  id: 'ThinkingBlock',
});
export const redactedThinkingBlock = open({ type: z.literal('redacted_thinking'), data: text }).meta({
  id: 'RedactedThinkingBlock',
});
export const toolUseBlock = open({ type: z.literal('tool_use'), id: text, name: text, input: z.unknown() }).meta({
  id: 'ToolUseBlock',
  description: 'The model asks for a function to be called.',
});
export const contentBlock = z
  .discriminatedUnion('type', [textBlock, thinkingBlock, redactedThinkingBlock, toolUseBlock])
  .meta({ id: 'ContentBlock', description: 'A part of an answer. Further kinds may appear.' });

const stopReason = text.nullable().meta({
  description: 'end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal, model_context_window_exceeded.',
});

export const messagesResponse = open({
  id: text,
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: text,
  content: z.array(contentBlock),
  stop_reason: stopReason,
  stop_sequence: text.nullish(),
  usage: messagesUsage,
}).meta({ id: 'MessagesResponse' });

export const messagesEvent = z
  .discriminatedUnion('type', [
    open({ type: z.literal('message_start'), message: messagesResponse }),
    open({ type: z.literal('content_block_start'), index: z.int(), content_block: contentBlock }),
    open({
      type: z.literal('content_block_delta'),
      index: z.int(),
      delta: z.discriminatedUnion('type', [
        open({ type: z.literal('text_delta'), text }),
        open({ type: z.literal('input_json_delta'), partial_json: text }),
        open({ type: z.literal('thinking_delta'), thinking: text }),
        open({ type: z.literal('signature_delta'), signature: text }),
        open({ type: z.literal('citations_delta'), citation: open({}) }),
      ]),
    }),
    open({ type: z.literal('content_block_stop'), index: z.int() }),
    open({
      type: z.literal('message_delta'),
      delta: open({ stop_reason: stopReason, stop_sequence: text.nullish() }),
      usage: open({
        input_tokens: z.int().nullish(),
        cache_read_input_tokens: z.int().nullish(),
        cache_creation_input_tokens: z.int().nullish(),
        output_tokens: z.int(),
      }).meta({ description: 'Cumulative.' }),
    }),
    open({ type: z.literal('message_stop') }),
    open({ type: z.literal('ping') }),
    open({ type: z.literal('error'), error: open({ type: text, message: text }), request_id: text.optional() }),
  ])
  .meta({
    id: 'MessagesEvent',
    description: 'One `data:` of the stream; `event:` repeats its type. Further types may appear.',
    examples: [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }],
  });

export const countTokensRequest = open(messagesInput).meta({ id: 'CountTokensRequest' });
export const countTokensResponse = open({ input_tokens: z.int() }).meta({ id: 'CountTokensResponse' });

export const chatToolCall = open({
  id: text,
  type: text,
  function: open({ name: text, arguments: text.meta({ description: 'JSON, as the model wrote it.' }) }).optional(),
}).meta({ id: 'ChatToolCall' });

export const chatPart = z
  .union([
    open({ type: z.literal('text'), text }),
    open({ type: z.literal('image_url'), image_url: open({ url: text, detail: text.optional() }) }),
    otherKind,
  ])
  .meta({ id: 'ChatContentPart' });

export const chatMessageParam = open({
  role: z.enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
  content: z.union([text, z.array(chatPart), z.null()]).optional(),
  name: text.optional(),
  tool_calls: z.array(chatToolCall).optional(),
  tool_call_id: text.optional(),
}).meta({ id: 'ChatMessageParam' });

export const chatTool = open({
  type: text,
  function: open({
    name: text,
    description: text.optional(),
    parameters: open({}).optional(),
    strict: z.boolean().nullish(),
  }).optional(),
}).meta({ id: 'ChatTool', description: 'A function that the model may ask to have called.' });

export const chatRequest = open({
  model: text.meta({ description: 'A catalog id; a leading `steyg/` is accepted.', examples: ['sim-small'] }),
  messages: z.array(chatMessageParam),
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
  tools: z.array(chatTool).optional(),
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

const finishReason = text.nullish().meta({ description: 'stop, length, tool_calls, content_filter, function_call.' });

export const chatMessage = open({
  role: z.literal('assistant'),
  content: text.nullable(),
  refusal: text.nullish(),
  reasoning_content: text.nullish(),
  tool_calls: z.array(chatToolCall).optional(),
}).meta({ id: 'ChatMessage' });

export const chatResponse = open({
  id: text,
  object: z.literal('chat.completion'),
  created: z.int(),
  model: text,
  choices: z.array(open({ index: z.int(), message: chatMessage, finish_reason: finishReason })),
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
      delta: open({
        role: text.optional(),
        content: text.nullish(),
        refusal: text.nullish(),
        reasoning_content: text.nullish(),
        tool_calls: z
          .array(
            open({
              index: z.int(),
              id: text.optional(),
              type: text.optional(),
              function: open({ name: text.optional(), arguments: text.optional() }).optional(),
            }),
          )
          .optional(),
      }),
      finish_reason: finishReason,
    }),
  ),
  usage: chatUsage.nullish(),
}).meta({ id: 'ChatCompletionChunk', description: 'One `data:` of the stream, which ends with `data: [DONE]`.' });

export const responsesTool = open({
  type: text,
  name: text.optional(),
  description: text.nullish(),
  parameters: open({}).nullish(),
  strict: z.boolean().nullish(),
}).meta({ id: 'ResponsesTool', description: 'A function that the model may ask to have called.' });

export const responsesRequest = open({
  model: text.meta({ description: 'A catalog id; a leading `steyg/` is accepted.', examples: ['sim-small'] }),
  input: z.union([text, z.array(open({ type: text.optional(), role: text.optional() }))]),
  instructions: text.nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish().meta({ description: 'Nothing is ever stored: true is refused.' }),
  tools: z.array(responsesTool).optional(),
  tool_choice: z.union([text, open({ type: text })]).optional(),
  reasoning: open({ effort: text.nullish(), summary: text.nullish() }).nullish(),
  text: open({ format: open({ type: text }).optional() }).optional(),
}).meta({ id: 'ResponsesRequest' });

export const responsesUsage = open({
  input_tokens: z.int().meta({ description: 'All context, cached tokens included.' }),
  input_tokens_details: open({ cached_tokens: z.int().optional() }).nullish(),
  output_tokens: z.int(),
  output_tokens_details: open({ reasoning_tokens: z.int().optional() }).nullish(),
  total_tokens: z.int(),
}).meta({ id: 'ResponsesUsage' });

export const responsesItem = z
  .discriminatedUnion('type', [
    open({
      type: z.literal('message'),
      id: text,
      role: z.literal('assistant'),
      status: text.optional(),
      content: z.array(open({ type: text, text: text.optional(), refusal: text.optional() })),
    }),
    open({
      type: z.literal('function_call'),
      id: text.optional(),
      call_id: text,
      name: text,
      arguments: text.meta({ description: 'JSON, as the model wrote it.' }),
      status: text.optional(),
    }),
    open({
      type: z.literal('reasoning'),
      id: text,
      summary: z.array(open({ type: text, text })),
      encrypted_content: text.nullish(),
    }),
  ])
  .meta({ id: 'ResponsesItem', description: 'A part of an answer. Further kinds may appear.' });

export const responsesResponse = open({
  id: text,
  object: z.literal('response'),
  created_at: z.int().optional(),
  status: text.meta({ description: 'completed, incomplete, failed, in_progress.' }),
  model: text,
  output: z.array(responsesItem),
  incomplete_details: open({ reason: text.optional() }).nullish(),
  error: open({ code: text.nullish(), message: text }).nullish(),
  usage: responsesUsage.nullish(),
}).meta({ id: 'ResponsesResponse' });

const numbered = { sequence_number: z.int() };
const placed = { ...numbered, output_index: z.int(), item_id: text.optional() };

export const responsesEvent = z
  .discriminatedUnion('type', [
    open({
      type: z.enum([
        'response.created',
        'response.in_progress',
        'response.completed',
        'response.incomplete',
        'response.failed',
      ]),
      response: responsesResponse,
      ...numbered,
    }),
    open({
      type: z.enum(['response.output_item.added', 'response.output_item.done']),
      item: responsesItem,
      ...placed,
    }),
    open({
      type: z.enum(['response.content_part.added', 'response.content_part.done']),
      content_index: z.int(),
      part: open({ type: text, text: text.optional() }),
      ...placed,
    }),
    open({
      type: z.enum(['response.output_text.delta', 'response.refusal.delta']),
      content_index: z.int(),
      delta: text,
      ...placed,
    }),
    open({ type: z.literal('response.output_text.done'), content_index: z.int(), text, ...placed }),
    open({ type: z.literal('response.refusal.done'), content_index: z.int(), refusal: text, ...placed }),
    open({ type: z.literal('response.function_call_arguments.delta'), delta: text, ...placed }),
    open({ type: z.literal('response.function_call_arguments.done'), arguments: text, ...placed }),
    open({
      type: z.enum(['response.reasoning_summary_text.delta', 'response.reasoning_text.delta']),
      delta: text,
      ...placed,
    }),
    open({
      type: z.enum(['response.reasoning_summary_text.done', 'response.reasoning_text.done']),
      text,
      ...placed,
    }),
    open({
      type: z.enum(['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done']),
      part: open({ type: text, text }),
      ...placed,
    }),
    open({ type: z.literal('error'), code: text.nullable(), message: text, param: text.nullish(), ...numbered }),
  ])
  .meta({
    id: 'ResponsesEvent',
    description:
      'One `data:` of the stream, which ends with response.completed, response.incomplete or response.failed. Further types may appear.',
  });

/** The format is this service's own: it says the unit to generators of clients. */
const usd = z.string().meta({
  format: 'usd',
  description: 'USD as a decimal string, at most 12 decimals.',
  examples: ['4.805'],
});
/** As OpenRouter's clients read it. */
const usdNumber = z
  .number()
  .meta({ format: 'usd', description: 'USD as a number; `/v1/usage` has the exact strings.' });

/** Held money may be in an escrow: see `billing/ESCROW.md`. */
const heldUsd = usd.meta({
  description:
    'USD as a decimal string. Reserved by running requests, and in advance for busy keys until two seconds after their last one: it is returned when another request needs it.',
  examples: ['0.25'],
});

const fivePrices = { input: usd, cache_hit: usd, cache_write_5m: usd, cache_write_1h: usd, output: usd };

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
  kind: z.enum(modelKinds).meta({
    description:
      '`text` answers; `embedding` is asked at `/v1/embeddings`, `image` at `/v1/images/generations` and `/v1/images/edits`.',
  }),
  reasoning: open({ mandatory: z.boolean(), supported_efforts: z.array(text) })
    .optional()
    .meta({
      description: 'The reasoning efforts that the model knows, the strongest first; absent: not said, or none.',
    }),
  canonical_slug: text,
  architecture: open({
    modality: text,
    input_modalities: z.array(text),
    output_modalities: z.array(text),
    tokenizer: text,
    instruct_type: text.nullable(),
  }),
  supported_parameters: z.array(text),
  top_provider: open({ context_length: z.int(), max_completion_tokens: z.int(), is_moderated: z.boolean() }),
  per_request_limits: z.null(),
  default_parameters: z.null(),
  supported_voices: z.null(),
  links: open({ details: text }),
  pricing: open({
    prompt: usd,
    completion: usd,
    input_cache_read: usd,
    input_cache_write: usd,
    input_cache_write_1h: usd,
  }).meta({
    description: 'USD per token.',
  }),
  price_usd_per_million: open({
    ...fivePrices,
    tiers: z.array(open({ above_prompt_tokens: z.int(), ...fivePrices })).meta({
      description:
        'Other prices for longer prompts, rising: above so many prompt tokens the whole request is charged at them.',
    }),
    clock: open({
      time_zone: z.string(),
      except_dates: z.array(z.string()),
      windows: z.array(
        open({
          days: z.array(z.string()),
          hours: z.array(z.string()),
          ...fivePrices,
          tiers: z.array(open({ above_prompt_tokens: z.int(), ...fivePrices })),
        }),
      ),
    })
      .nullable()
      .meta({
        description:
          'Other prices for hours of the week (`mon` to `sun`, `HH:MM-HH:MM` in the time zone, hours over midnight by the day on which they begin), but not on the dates that are left out. A request is charged at the prices of the moment at which it is accepted. Null: the same prices at every hour.',
      }),
    variants: z
      .array(
        open({
          name: z.string(),
          ...fivePrices,
          tiers: z.array(open({ above_prompt_tokens: z.int(), ...fivePrices })),
        }),
      )
      .meta({
        description:
          'Other prices by what a request asks for in `service_tier`, `speed` or `inference_geo` and its vendor serves (`flex`, `fast`, also for `priority`, `us`, or several with `+`), or of a `batch`. What is not in the list is refused by name.',
      }),
    per_unit: open({ search: usd.optional(), image: usd.optional(), minute: usd.optional() }).meta({
      description: 'USD for one of what is charged by the piece; what is left out has no price.',
    }),
    images: open({
      tokens: open({ input: usd, cache_hit: usd, output: usd })
        .nullable()
        .meta({ description: 'Tokens of images, USD per 1,000,000; null: they cost as those of text.' }),
      each: z.array(
        open({
          quality: z.string().nullable(),
          size: z.string().nullable(),
          up_to_pixels: z.int().nullable(),
          price: usd,
        }),
      ),
    })
      .nullable()
      .meta({
        description:
          'What images cost, for models that make them: by token, or one by quality and size, of which the most exact line counts. Null: no prices of their own.',
      }),
    max_prompt_tokens: z.int().nullable().meta({
      description:
        'The longest prompt that has a price: a request whose prompt may be longer, by its bytes, is refused.',
    }),
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

const usageFigures = {
  requests: z.int(),
  input_tokens: z.int(),
  cache_hit_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: usd.meta({ description: 'What the requests came to by their tokens and prices.' }),
  charged_usd: usd.meta({ description: 'What was taken from the budget: less where it ended first.' }),
};

export const usageReport = open({
  object: z.literal('usage'),
  balance: open({ granted_usd: usd, charged_usd: usd, held_usd: heldUsd, expired_usd: usd, free_usd: usd }),
  grants: z.array(
    open({
      id: text,
      kind: z.enum(['trial', 'purchase', 'adjustment', 'refund', 'bonus', 'code']),
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
      project_id: text.nullable().optional(),
      session: text.optional(),
      user: text.optional(),
      tag: text.optional(),
      ...usageFigures,
      first_request_at: z.iso
        .datetime()
        .optional()
        .meta({ description: 'By session, user or tag: its first request.' }),
      last_request_at: z.iso.datetime().optional(),
    }),
  ),
  has_more: z.boolean(),
  next_cursor: text.nullable(),
}).meta({ id: 'UsageReport' });

const entryTokens = open({
  input_tokens: z.int(),
  cache_hit_tokens: z.int(),
  cache_write_5m_tokens: z.int(),
  cache_write_1h_tokens: z.int(),
  output_tokens: z.int(),
});

export const ledgerEntry = open({
  object: z.literal('usage.entry'),
  request_id: text,
  created_at: z.iso.datetime(),
  key_id: text,
  session: text.nullable().meta({
    description:
      'The session that the client named: a keyed digest (`~…`), or the value where the account asks for it.',
  }),
  user: text.nullable().meta({ description: 'The end user that the client named, likewise.' }),
  tags: z.array(text).meta({ description: '`name=value`, the values likewise.' }),
  model: text,
  upstream: text,
  protocol: z.enum(['messages', 'chat-completions', 'responses']),
  usage: entryTokens,
  prices: open(fivePrices).meta({
    description: 'USD per 1,000,000 tokens at the moment of the request.',
  }),
  lines: z.array(open({ model: text, usage: entryTokens, prices: open(fivePrices), amount_usd: usd })).meta({
    description:
      'What other models did for the same request, such as the one that served it after a refusal, at their own prices; empty: nothing. `usage` does not have these tokens, `cost_usd` has their amounts.',
  }),
  units: z
    .array(open({ unit: z.enum(['search', 'image', 'minute']), count: z.int(), price_usd: usd, amount_usd: usd }))
    .meta({ description: 'What was charged by the piece, beside the tokens; empty: nothing.' }),
  variant: open({ asked: text, served: text.nullable(), counted: text.nullable() }).nullable().meta({
    description:
      'The tier, speed or region that the request asked for (`flex`, `fast`, `us`, `fast+us`), what the vendor says that it served (empty: the ordinary one; null: it does not say), and whose prices counted (null: the ordinary ones). Null: nothing was asked for.',
  }),
  clock: open({
    priced_at: z.string(),
    window: open({ days: z.array(z.string()), period: z.string(), time_zone: z.string() }).nullable(),
  })
    .nullable()
    .meta({
      description:
        'When the request was accepted, and the hours of the week whose prices count since then; `window` is null outside of such hours. Null: the price did not depend on the clock.',
    }),
  tier: open({ above_prompt_tokens: z.int().nullable(), up_to_prompt_tokens: z.int().nullable() })
    .nullable()
    .meta({ description: 'The prompt lengths that these prices are for; null: the model had one set of prices.' }),
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

export const usageRequests = open({
  object: z.literal('usage.requests'),
  data: z.array(ledgerEntry),
  archived: z
    .array(open({ month: text, archived_at: z.iso.datetime() }))
    .optional()
    .describe('Months (UTC) of the range whose requests are in an archive, and not in this list.'),
  has_more: z.boolean(),
  next_cursor: text.nullable(),
}).meta({ id: 'UsageRequests', description: 'Requests one by one, the newest first.' });

export const usageSummary = open({
  object: z.enum(['usage.session', 'usage.user', 'usage.tag']),
  session: text.optional(),
  user: text.optional(),
  tag: text.optional(),
  ...usageFigures,
  first_request_at: z.iso.datetime().nullable(),
  last_request_at: z.iso.datetime().nullable(),
  models: z.array(
    open({
      model: text,
      ...usageFigures,
      first_request_at: z.iso.datetime(),
      last_request_at: z.iso.datetime(),
    }),
  ),
}).meta({
  id: 'UsageSummary',
  description: 'What a session, a user or a tag came to; zeros where nothing is known of it.',
});

export const keyInfo = open({
  data: open({
    label: text,
    usage: usdNumber,
    usage_daily: usdNumber,
    usage_weekly: usdNumber,
    usage_monthly: usdNumber,
    limit: usdNumber.nullable(),
    limit_remaining: usdNumber.nullable(),
    limit_reset: text.nullable(),
    is_free_tier: z.boolean(),
    expires_at: z.iso.datetime().nullable(),
  }),
}).meta({ id: 'KeyInfo', description: "About the calling key, in the shape that OpenRouter's clients read." });

export const embeddingsRequest = open({
  model: text,
  input: z.union([text, z.array(text), z.array(z.int()), z.array(z.array(z.int()))]).meta({
    description: 'A text, texts, a list of tokens, or lists of tokens; none of them empty.',
  }),
  encoding_format: z.enum(['float', 'base64']).optional(),
  dimensions: z.int().optional(),
  user: text.optional(),
}).meta({ id: 'EmbeddingsRequest' });

export const embeddingsResponse = open({
  object: z.literal('list'),
  data: z.array(
    open({ object: z.literal('embedding'), index: z.int(), embedding: z.union([z.array(z.number()), text]) }),
  ),
  model: text,
  usage: open({ prompt_tokens: z.int(), total_tokens: z.int() }),
}).meta({ id: 'EmbeddingsResponse' });

const picture = open({ image_url: text.meta({ description: 'A data URL, or an address that the vendor fetches.' }) });

export const imagesRequest = open({
  model: text,
  prompt: text,
  n: z.int().min(1).max(10).optional(),
  size: text.optional().meta({ description: '`WIDTHxHEIGHT`, such as `1024x1024`, or `auto`.' }),
  quality: text.optional().meta({ description: "In the vendor's word, such as `low`, `medium` or `high`." }),
  background: text.optional(),
  output_format: z.enum(['png', 'jpeg', 'webp']).optional(),
  output_compression: z.int().optional(),
  response_format: z.enum(['b64_json', 'url']).optional(),
  stream: z.boolean().optional(),
  partial_images: z.int().min(0).max(3).optional().meta({ description: 'First versions of an image in a stream.' }),
  moderation: text.optional(),
  user: text.optional(),
  images: z.array(picture).optional().meta({ description: 'Edits alone: the pictures to start from.' }),
  mask: picture.optional().meta({ description: 'Edits alone: what of the first picture may change.' }),
}).meta({ id: 'ImagesRequest' });

const imageTokens = open({ image_tokens: z.int(), text_tokens: z.int() });

export const imagesResponse = open({
  created: z.int(),
  data: z.array(open({ b64_json: text.optional(), url: text.optional() })),
  size: text.optional(),
  quality: text.optional(),
  background: text.optional(),
  output_format: text.optional(),
  usage: open({
    input_tokens: z.int(),
    input_tokens_details: imageTokens.optional(),
    output_tokens: z.int(),
    output_tokens_details: imageTokens.optional(),
    total_tokens: z.int(),
  }).optional(),
}).meta({ id: 'ImagesResponse' });

export const imagesEvent = open({
  type: text.meta({
    description: '`image_generation.partial_image`, `image_generation.completed`, or the same of `image_edit`.',
  }),
  b64_json: text.optional(),
  partial_image_index: z.int().optional(),
}).meta({ id: 'ImagesEvent' });

export const credits = open({ data: open({ total_credits: usdNumber, total_usage: usdNumber }) }).meta({
  id: 'Credits',
  description: "The account's budget, in the shape that OpenRouter's clients read.",
});

export const estimate = open({
  object: z.literal('estimate'),
  model: text.meta({ description: 'Id in the catalog.' }),
  input_tokens: z.int().meta({ description: 'Estimated from the bytes of the request; an upper figure for media.' }),
  tier: open({ above_prompt_tokens: z.int().nullable(), up_to_prompt_tokens: z.int().nullable() }).nullable().meta({
    description: 'The prompt lengths of the prices that the estimated tokens reach; null: there is one set of prices.',
  }),
  hold_usd: usd.meta({ description: 'What the same request would reserve of the budget at this moment.' }),
  least_usd: usd.meta({
    description:
      'The lowest plausible cost of an answer: a short one, with its context cached. A failure costs nothing.',
  }),
  most_usd: usd.meta({
    description:
      'The bound of the request: no honest bill is higher, and nothing above it is charged. A stream is stopped where the budget ends.',
  }),
  bound: z
    .array(
      open({
        kind: text.meta({
          description:
            'What it is: `text`, `template`, `image`, `document_by_address`, `vendor_tools` and others; more may come.',
        }),
        count: z.int().nullable().meta({ description: 'How many there are; null: it is not counted.' }),
        tokens: z.int().meta({ description: 'Its tokens at most.' }),
        is_window: z.boolean().meta({
          description: 'It counts as the whole window of the model, because only the vendor can measure it.',
        }),
      }),
    )
    .meta({ description: 'What the upper bound of the prompt is made of. A window is counted once.' }),
}).meta({ id: 'Estimate', description: 'What a request would hold and cost, by the prices of this moment.' });

/** Figures of a refusal for lack of budget, or at a key's own limit. */
const figures = {
  balance_usd: usd.optional(),
  held_usd: heldUsd.optional(),
  required_usd: usd.optional(),
  most_usd: usd.optional(),
  affordable_max_tokens: z.int().optional(),
  retry_after_s: z.int().optional(),
  limit_period: text.optional(),
  limit_usd: usd.optional(),
  spent_usd: usd.optional(),
};

export const messagesError = open({
  type: z.literal('error'),
  error: open({
    type: text,
    message: text,
    code: text.optional().meta({ description: "The service's own code, where there is one." }),
    ...figures,
  }),
  request_id: text,
}).meta({ id: 'MessagesError' });

export const openAiError = open({
  error: open({
    message: text,
    type: text,
    param: text.nullable(),
    code: text.nullable(),
    ...figures,
  }),
}).meta({ id: 'OpenAiError' });
