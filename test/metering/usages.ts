import type { CacheWrite } from '../../server/core/request.ts';

/**
 * Usage objects as vendors write them, by vendor and kind. Each family writes the object from known figures, by the
 * vendor's own page or from recorded answers: what the five pools are is known before anything reads the object.
 */

/** The figures of one answer. */
export interface Figures {
  input: number;
  cacheHit: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Reasoning included. */
  output: number;
  /** Part of the output. */
  reasoning: number;
  searches: number;
}

type Part = keyof Figures;

export interface Family {
  name: string;
  /** Where the shape is described or recorded. */
  source: string;
  protocol: 'messages' | 'chat-completions' | 'responses';
  /** Figures that the vendor tells besides input and output. */
  tells: readonly Part[];
  /** The longest cache that the requests ask to be written. */
  asked?: CacheWrite;
  /** The usage objects of one answer: one, or those of a stream in their order. */
  report: (figures: Figures) => object[];
  /** USD per 1,000,000 tokens: input, cache hit, five-minute write, one-hour write, output; and for one search. */
  prices: readonly [string, string, string, string, string];
  search?: string;
  /** The same for longer prompts. */
  above?: { tokens: number; prices: readonly [string, string, string, string, string] };
  /** Recorded answers: the objects as they were, and their figures by hand. */
  recorded?: { source: string; objects: object[]; figures: Partial<Figures> }[];
}

const sum = (...parts: number[]): number => parts.reduce((total, part) => total + part, 0);
const promptOf = (f: Figures): number => sum(f.input, f.cacheHit, f.cacheWrite5m, f.cacheWrite1h);
const writesOf = (f: Figures): number => f.cacheWrite5m + f.cacheWrite1h;

const anthropic = 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching';
const anthropicSearch = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool';
const openaiCaching = 'https://developers.openai.com/api/docs/guides/prompt-caching';
const sonnet = ['3', '0.3', '3.75', '6', '15'] as const;
const sonnetLong = { tokens: 200_000, prices: ['6', '0.6', '7.5', '12', '22.5'] as const };
const gpt = ['1.25', '0.125', '1.5625', '1.5625', '10'] as const;
const gptLong = { tokens: 272_000, prices: ['2.5', '0.25', '3.125', '3.125', '15'] as const };

const messages = (f: Figures): object => ({
  input_tokens: f.input,
  cache_read_input_tokens: f.cacheHit,
  cache_creation_input_tokens: writesOf(f),
  output_tokens: f.output,
});
const split = (f: Figures): object => ({
  ...messages(f),
  cache_creation: { ephemeral_5m_input_tokens: f.cacheWrite5m, ephemeral_1h_input_tokens: f.cacheWrite1h },
});
const chat = (f: Figures): object => ({
  prompt_tokens: promptOf(f),
  completion_tokens: f.output,
  total_tokens: promptOf(f) + f.output,
});
const responses = (f: Figures, details: object = {}): object => ({
  input_tokens: promptOf(f),
  input_tokens_details: { cached_tokens: f.cacheHit, ...details },
  output_tokens: f.output,
  output_tokens_details: { reasoning_tokens: f.reasoning },
  total_tokens: promptOf(f) + f.output,
});

const everyPool: readonly Part[] = ['cacheHit', 'cacheWrite5m', 'cacheWrite1h'];

export const families: readonly Family[] = [
  {
    name: 'Anthropic, before writes were split by lifetime',
    source: anthropic,
    protocol: 'messages',
    tells: ['cacheHit', 'cacheWrite5m'],
    report: (f) => [messages(f)],
    prices: sonnet,
    above: sonnetLong,
  },
  {
    name: 'Anthropic',
    source: anthropic,
    protocol: 'messages',
    tells: everyPool,
    report: (f) => [{ ...split(f), service_tier: 'standard' }],
    prices: sonnet,
    above: sonnetLong,
    recorded: [
      {
        source: 'https://github.com/get-convex/agent/issues/191',
        objects: [
          {
            cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 46_209 },
            cache_creation_input_tokens: 46_209,
            cache_read_input_tokens: 0,
            input_tokens: 337,
            output_tokens: 342,
            service_tier: 'standard',
          },
        ],
        figures: { input: 337, cacheWrite5m: 46_209, output: 342 },
      },
    ],
  },
  {
    name: 'Anthropic on Amazon Bedrock: one hour asked for, writes not split',
    source: 'https://github.com/BerriAI/litellm/issues/20293',
    protocol: 'messages',
    tells: ['cacheHit', 'cacheWrite1h'],
    asked: '1h',
    report: (f) => [messages(f)],
    prices: ['1', '0.1', '1.25', '2', '5'],
  },
  {
    name: 'Anthropic on Vertex: nulls where nothing was cached',
    source: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude',
    protocol: 'messages',
    tells: [],
    report: (f) => [{ ...messages(f), cache_read_input_tokens: null, cache_creation_input_tokens: null }],
    prices: sonnet,
  },
  {
    name: 'Anthropic, streamed: the start has the prompt, the delta the output',
    source: 'https://platform.claude.com/docs/en/build-with-claude/streaming',
    protocol: 'messages',
    tells: everyPool,
    report: (f) => [{ ...split(f), output_tokens: 1 }, { output_tokens: f.output }],
    prices: sonnet,
    above: sonnetLong,
  },
  {
    name: 'Anthropic, streamed: the delta repeats the prompt',
    source: 'https://platform.claude.com/docs/en/build-with-claude/streaming',
    protocol: 'messages',
    tells: everyPool,
    report: (f) => [{ ...split(f), output_tokens: 2 }, messages(f)],
    prices: ['5', '0.5', '6.25', '10', '25'],
  },
  {
    name: 'messages fronts that know the prompt only at the end',
    source: 'https://api-docs.deepseek.com/guides/anthropic_api',
    protocol: 'messages',
    tells: ['cacheHit'],
    report: (f) => [{ input_tokens: 0, output_tokens: 0 }, messages(f)],
    prices: ['0.3', '0.006', '0.3', '0.3', '1.2'],
  },
  {
    name: 'Anthropic with searches',
    source: anthropicSearch,
    protocol: 'messages',
    tells: [...everyPool, 'searches'],
    report: (f) => [{ ...split(f), server_tool_use: { web_search_requests: f.searches } }],
    prices: sonnet,
    search: '0.01',
    recorded: [
      {
        source: anthropicSearch,
        objects: [
          {
            input_tokens: 105,
            output_tokens: 6_039,
            cache_read_input_tokens: 7_123,
            cache_creation_input_tokens: 7_345,
            server_tool_use: { web_search_requests: 1 },
          },
        ],
        figures: { input: 105, cacheHit: 7_123, cacheWrite5m: 7_345, output: 6_039, searches: 1 },
      },
    ],
  },
  {
    name: 'Anthropic with searches, streamed: a counter of the whole answer',
    source: anthropicSearch,
    protocol: 'messages',
    tells: ['cacheHit', 'cacheWrite5m', 'searches'],
    report: (f) => [
      { ...messages(f), output_tokens: 1, server_tool_use: { web_search_requests: 0 } },
      { ...messages(f), server_tool_use: { web_search_requests: f.searches } },
    ],
    prices: sonnet,
    search: '0.01',
  },
  {
    name: 'Anthropic with a compaction: the runs are listed',
    source: 'https://platform.claude.com/docs/en/build-with-claude/compaction',
    protocol: 'messages',
    tells: ['cacheHit'],
    report: (f) => {
      const half = Math.floor(f.input / 2);
      const said = Math.floor(f.output / 3);
      return [
        {
          input_tokens: f.input - half,
          output_tokens: f.output - said,
          cache_read_input_tokens: f.cacheHit,
          iterations: [
            { type: 'compaction', input_tokens: half, output_tokens: said },
            {
              type: 'message',
              input_tokens: f.input - half,
              output_tokens: f.output - said,
              cache_read_input_tokens: f.cacheHit,
            },
          ],
        },
      ];
    },
    prices: ['5', '0.5', '6.25', '10', '25'],
  },
  {
    name: 'OpenAI, chat completions',
    source: openaiCaching,
    protocol: 'chat-completions',
    tells: ['cacheHit', 'reasoning'],
    report: (f) => [
      {
        ...chat(f),
        prompt_tokens_details: { cached_tokens: f.cacheHit, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: f.reasoning,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    ],
    prices: gpt,
    above: gptLong,
    recorded: [
      {
        source: openaiCaching,
        objects: [
          {
            prompt_tokens: 2_006,
            completion_tokens: 300,
            total_tokens: 2_306,
            prompt_tokens_details: { cached_tokens: 1_920 },
            completion_tokens_details: {
              reasoning_tokens: 0,
              accepted_prediction_tokens: 0,
              rejected_prediction_tokens: 0,
            },
          },
        ],
        figures: { input: 86, cacheHit: 1_920, output: 300 },
      },
    ],
  },
  {
    name: 'OpenAI, chat completions that write the cache',
    source: openaiCaching,
    protocol: 'chat-completions',
    tells: ['cacheHit', 'cacheWrite5m', 'reasoning'],
    report: (f) => [
      {
        ...chat(f),
        prompt_tokens_details: { cached_tokens: f.cacheHit, cache_write_tokens: f.cacheWrite5m },
        completion_tokens_details: { reasoning_tokens: f.reasoning },
      },
    ],
    prices: gpt,
    above: gptLong,
  },
  {
    name: 'OpenAI, writes by their lifetime: twelve hours share the pool of one hour',
    source: openaiCaching,
    protocol: 'chat-completions',
    tells: everyPool,
    report: (f) => [
      {
        ...chat(f),
        prompt_tokens_details: {
          cached_tokens: f.cacheHit,
          cache_write_tokens: writesOf(f),
          cache_write_tokens_details: { ttl_30m_tokens: f.cacheWrite5m, ttl_12h_tokens: f.cacheWrite1h },
        },
      },
    ],
    prices: ['2.5', '0.25', '3.125', '5', '15'],
  },
  {
    name: 'DeepSeek',
    source: 'https://api-docs.deepseek.com/guides/kv_cache',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'reasoning'],
    report: (f) => [
      {
        ...chat(f),
        prompt_cache_hit_tokens: f.cacheHit,
        prompt_cache_miss_tokens: f.input,
        completion_tokens_details: { reasoning_tokens: f.reasoning },
      },
    ],
    prices: ['0.3', '0.006', '0.3', '0.3', '1.2'],
    recorded: [
      {
        source: 'https://github.com/BerriAI/litellm/issues/5017',
        objects: [
          {
            completion_tokens: 40,
            prompt_tokens: 11,
            total_tokens: 51,
            prompt_cache_hit_tokens: 0,
            prompt_cache_miss_tokens: 11,
          },
        ],
        figures: { input: 11, output: 40 },
      },
      {
        source: 'https://github.com/mozilla-ai/any-llm/issues/795',
        objects: [
          {
            prompt_tokens: 100,
            prompt_cache_hit_tokens: 80,
            prompt_cache_miss_tokens: 20,
            completion_tokens: 50,
            total_tokens: 150,
          },
        ],
        figures: { input: 20, cacheHit: 80, output: 50 },
      },
    ],
  },
  {
    name: 'Moonshot',
    source: 'https://platform.moonshot.ai/docs/api/chat',
    protocol: 'chat-completions',
    tells: ['cacheHit'],
    report: (f) => [{ ...chat(f), cached_tokens: f.cacheHit }],
    prices: ['0.6', '0.15', '0.6', '0.6', '2.5'],
  },
  {
    name: 'Mistral',
    source: 'https://docs.mistral.ai/api',
    protocol: 'chat-completions',
    tells: ['cacheHit'],
    report: (f) => [{ ...chat(f), num_cached_tokens: f.cacheHit }],
    prices: ['0.4', '0.04', '0.4', '0.4', '2'],
  },
  {
    name: 'Mistral, details in the singular',
    source: 'https://docs.mistral.ai/api',
    protocol: 'chat-completions',
    tells: ['cacheHit'],
    report: (f) => [{ ...chat(f), prompt_token_details: { cached_tokens: f.cacheHit } }],
    prices: ['0.4', '0.04', '0.4', '0.4', '2'],
  },
  {
    name: 'Qwen with an explicit cache',
    source: 'https://www.alibabacloud.com/help/en/model-studio/context-cache',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'cacheWrite5m'],
    report: (f) => [
      {
        ...chat(f),
        prompt_tokens_details: { cached_tokens: f.cacheHit, cache_creation_input_tokens: f.cacheWrite5m },
      },
    ],
    prices: ['0.4', '0.04', '0.5', '0.5', '1.2'],
  },
  {
    name: 'Groq',
    source: 'https://console.groq.com/docs/prompt-caching',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'reasoning'],
    report: (f) => [
      {
        ...chat(f),
        queue_time: 0.05,
        prompt_time: 0.01,
        completion_time: 0.2,
        total_time: 0.21,
        prompt_tokens_details: { cached_tokens: f.cacheHit },
        completion_tokens_details: { reasoning_tokens: f.reasoning },
      },
    ],
    prices: ['0.15', '0.075', '0.15', '0.15', '0.75'],
  },
  {
    name: 'xAI: reasoning stands beside the completion, in the total alone',
    source: 'https://github.com/vercel/ai/pull/9774',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'reasoning'],
    report: (f) => [
      {
        prompt_tokens: promptOf(f),
        completion_tokens: f.output - f.reasoning,
        total_tokens: promptOf(f) + f.output,
        prompt_tokens_details: {
          text_tokens: promptOf(f),
          audio_tokens: 0,
          image_tokens: 0,
          cached_tokens: f.cacheHit,
        },
        completion_tokens_details: { reasoning_tokens: f.reasoning, audio_tokens: 0 },
        num_sources_used: 0,
      },
    ],
    prices: ['0.2', '0.05', '0.2', '0.2', '0.5'],
    above: { tokens: 128_000, prices: ['0.4', '0.05', '0.4', '0.4', '1'] },
    recorded: [
      {
        source: 'https://github.com/vercel/ai/pull/9774',
        objects: [
          {
            prompt_tokens: 2_640,
            completion_tokens: 182,
            total_tokens: 3_494,
            prompt_tokens_details: { text_tokens: 2_640, audio_tokens: 0, image_tokens: 0, cached_tokens: 473 },
            completion_tokens_details: { reasoning_tokens: 672, audio_tokens: 0, accepted_prediction_tokens: 0 },
            num_sources_used: 0,
          },
        ],
        figures: { input: 2_167, cacheHit: 473, output: 854 },
      },
    ],
  },
  {
    name: 'xAI with searches by the source',
    source: 'https://docs.x.ai/docs/guides/live-search',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'searches'],
    report: (f) => [{ ...chat(f), prompt_tokens_details: { cached_tokens: f.cacheHit }, num_sources_used: f.searches }],
    prices: ['3', '0.75', '3', '3', '15'],
    search: '0.025',
  },
  {
    name: 'Gemini, compatible with chat completions: thoughts are in the total alone',
    source: 'https://ai.google.dev/gemini-api/docs/openai',
    protocol: 'chat-completions',
    tells: ['reasoning'],
    report: (f) => [
      {
        prompt_tokens: promptOf(f),
        completion_tokens: f.output - f.reasoning,
        total_tokens: promptOf(f) + f.output,
      },
    ],
    prices: ['1.25', '0.125', '1.25', '1.25', '10'],
    above: { tokens: 200_000, prices: ['2.5', '0.25', '2.5', '2.5', '15'] },
  },
  {
    name: 'OpenRouter',
    source: 'https://openrouter.ai/docs/use-cases/usage-accounting',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'cacheWrite5m', 'reasoning'],
    report: (f) => [
      {
        ...chat(f),
        cost: 0.00014,
        cost_details: { upstream_inference_cost: null },
        prompt_tokens_details: { cached_tokens: f.cacheHit, cache_write_tokens: f.cacheWrite5m, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: f.reasoning, image_tokens: 0 },
      },
    ],
    prices: ['1', '0.1', '1.25', '2', '5'],
    recorded: [
      {
        source: 'https://github.com/aaif-goose/goose/pull/11472',
        objects: [
          {
            prompt_tokens: 25_612,
            completion_tokens: 5,
            total_tokens: 25_617,
            prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 25_600 },
          },
        ],
        figures: { input: 12, cacheWrite5m: 25_600, output: 5 },
      },
    ],
  },
  {
    name: 'OpenRouter with searches',
    source: 'https://openrouter.ai/docs/features/web-search',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'searches'],
    report: (f) => [
      {
        ...chat(f),
        prompt_tokens_details: { cached_tokens: f.cacheHit },
        server_tool_use: { web_search_requests: f.searches },
      },
    ],
    prices: ['3', '0.3', '3.75', '6', '15'],
    search: '0.004',
  },
  {
    name: 'Perplexity',
    source: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
    protocol: 'chat-completions',
    tells: ['searches'],
    report: (f) => [{ ...chat(f), search_context_size: 'low', num_search_queries: f.searches }],
    prices: ['3', '0.3', '3', '3', '15'],
    search: '0.005',
  },
  {
    name: 'a messages model behind a front of chat completions',
    source: 'https://docs.litellm.ai/docs/completion/prompt_caching',
    protocol: 'chat-completions',
    tells: ['cacheHit', 'cacheWrite5m'],
    report: (f) => [{ ...chat(f), cache_read_input_tokens: f.cacheHit, cache_creation_input_tokens: f.cacheWrite5m }],
    prices: sonnet,
  },
  {
    name: 'vLLM and llama.cpp: no details',
    source: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
    protocol: 'chat-completions',
    tells: [],
    report: (f) => [{ ...chat(f), prompt_tokens_details: null }],
    prices: ['0.0375', '0.000001', '0.0375', '0.0375', '0.15'],
  },
  {
    name: 'OpenAI, responses',
    source: 'https://developers.openai.com/api/reference/resources/responses',
    protocol: 'responses',
    tells: ['cacheHit', 'reasoning'],
    report: (f) => [responses(f)],
    prices: gpt,
    above: gptLong,
  },
  {
    name: 'OpenAI, responses that write the cache',
    source: openaiCaching,
    protocol: 'responses',
    tells: ['cacheHit', 'cacheWrite5m', 'reasoning'],
    report: (f) => [responses(f, { cache_write_tokens: f.cacheWrite5m })],
    prices: gpt,
    above: gptLong,
    recorded: [
      {
        source: openaiCaching,
        objects: [
          {
            input_tokens: 2_600,
            input_tokens_details: { cached_tokens: 2_000, cache_write_tokens: 400 },
            output_tokens: 0,
            total_tokens: 2_600,
          },
        ],
        figures: { input: 200, cacheHit: 2_000, cacheWrite5m: 400 },
      },
    ],
  },
  {
    name: 'xAI, responses: searches by tool',
    source: 'https://docs.x.ai/docs/guides/tools/overview',
    protocol: 'responses',
    tells: ['cacheHit', 'reasoning', 'searches'],
    report: (f) => [{ ...responses(f), server_side_tool_usage_details: { web_search_calls: f.searches } }],
    prices: ['0.2', '0.05', '0.2', '0.2', '0.5'],
    search: '0.005',
  },
];

const base: Figures = {
  input: 30_000,
  cacheHit: 150_000,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 4_000,
  reasoning: 0,
  searches: 0,
};

/** Figures that each family reports in its own words: small, odd, large, at the bounds of tiers, with empty pools. */
export const variations: readonly Figures[] = [
  base,
  ...[1, 7, 1_023, 99_991, 199_999, 200_000, 200_001, 271_999, 272_000, 272_001, 999_983].map((input) => ({
    ...base,
    input,
    cacheHit: 0,
  })),
  ...[3, 1_920, 99_989, 127_999, 128_000, 170_001, 242_000, 242_001].map((cacheHit) => ({ ...base, cacheHit })),
  ...[11, 4_093, 65_537].map((cacheWrite5m) => ({ ...base, cacheWrite5m, input: 5 })),
  ...[13, 5_424, 131_071].map((cacheWrite1h) => ({ ...base, cacheWrite1h, input: 3 })),
  ...[0, 1, 97, 31_999, 127_997].map((output) => ({ ...base, output })),
  ...[1, 64, 3_999].map((reasoning) => ({ ...base, reasoning })),
  ...[1, 3, 17].map((searches) => ({ ...base, searches })),
  { ...base, input: 0, cacheHit: 1, output: 1 },
  { ...base, input: 101, cacheHit: 103, cacheWrite5m: 107, cacheWrite1h: 109, output: 113, reasoning: 50, searches: 2 },
];
