/** What vendors and engines say when a conversation does not fit, each with its source; and what only looks like it. */

export interface Wording {
  from: string;
  says: string;
  /** `code` or `type` of the error, where the sentence alone does not say it. */
  code?: string;
  source: string;
}

const pi = 'https://github.com/earendil-works/pi packages/ai/src/utils/overflow.ts';
const opencode = 'https://github.com/anomalyco/opencode packages/opencode/src/provider/error.ts';

export const overflows: readonly Wording[] = [
  { from: 'Anthropic', says: 'prompt is too long: 213462 tokens > 200000 maximum', source: pi },
  {
    from: 'Anthropic, with the answer',
    says: 'input length and `max_tokens` exceed context limit: 199759 + 8192 > 204698, decrease input length or `max_tokens` and try again',
    source: 'https://github.com/anthropics/claude-code/issues/1421',
  },
  { from: 'Amazon Bedrock', says: 'Input is too long for requested model.', source: pi },
  {
    from: 'OpenAI',
    says: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    source: pi,
  },
  {
    from: 'OpenAI, GPT-5',
    says: 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. Please reduce the length of the messages.',
    source: 'https://github.com/cline/cline/issues/5474',
  },
  {
    from: 'OpenAI, older',
    says: "This model's maximum context length is 8192 tokens, however you requested 25701 tokens (25701 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    source: 'https://github.com/sugarforever/chat-ollama/issues/130',
  },
  {
    from: 'Google',
    says: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    source: 'https://github.com/google-gemini/gemini-cli/issues/6678',
  },
  {
    from: 'xAI',
    says: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    source: pi,
  },
  { from: 'Groq', says: 'Please reduce the length of the messages or completion.', source: pi },
  {
    from: 'OpenRouter',
    says: "This endpoint's maximum context length is 202752 tokens. However, you requested about 203889 tokens (183648 of text input, 4241 of tool input, 16000 in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
    source: 'https://github.com/autohandai/code-cli/issues/100',
  },
  {
    from: 'llama.cpp',
    says: 'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
    source: 'https://github.com/ggml-org/llama.cpp tools/server/server-context.cpp',
  },
  {
    from: 'llama.cpp, older',
    says: 'the request exceeds the available context size. try increasing the context size or enable context shift',
    source: 'https://github.com/ggml-org/llama.cpp/pull/15780',
  },
  {
    from: 'llama.cpp, by its type',
    says: 'Nope.',
    code: 'exceed_context_size_error',
    source: 'https://github.com/ggml-org/llama.cpp/pull/15780',
  },
  {
    from: 'LM Studio',
    says: 'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
    source: pi,
  },
  { from: 'GitHub Copilot', says: 'prompt token count of 135000 exceeds the limit of 128000', source: pi },
  { from: 'MiniMax', says: 'invalid params, context window exceeds limit (2013)', source: pi },
  {
    from: 'Moonshot',
    says: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 270011)',
    source: pi,
  },
  {
    from: 'Mistral',
    says: 'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    source: pi,
  },
  {
    from: 'vLLM',
    says: "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
    source: 'https://github.com/earendil-works/pi/issues/5930',
  },
  {
    from: 'vLLM, with its parameter',
    says: "You passed 131073 input tokens and requested 0 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 131072 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=131073)",
    source: opencode,
  },
  {
    from: 'vLLM, by its model',
    says: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    source: 'https://github.com/vllm-project/vllm vllm/v1/engine/input_processor.py',
  },
  {
    from: 'vLLM, by its model, with the answer',
    says: 'The decoder prompt (length 4096) plus the number of requested output tokens (at least 1) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens (prompt + requested output tokens).',
    source: 'https://github.com/vllm-project/vllm vllm/v1/engine/input_processor.py',
  },
  {
    from: 'LiteLLM',
    says: "Requested token count exceeds the model's maximum context length of 131072 tokens",
    source: pi,
  },
  {
    from: 'a proxy',
    says: "Input length (265330) exceeds model's maximum context length (262144).",
    source: pi,
  },
  {
    from: 'SGLang, its pool',
    says: 'Input length (700001 tokens) exceeds the maximum allowed length (536826 tokens). Use a shorter input or enable --allow-auto-truncate.',
    source: 'https://github.com/NVIDIA-NeMo/Switchyard/pull/426',
  },
  {
    from: 'SGLang, its window',
    says: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    source: 'https://github.com/QwenLM/Qwen3/issues/1321',
  },
  {
    from: 'TGI',
    says: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
    source: 'https://github.com/huggingface/text-generation-inference router/src/validation.rs',
  },
  {
    from: 'TGI, the input alone',
    says: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000',
    source: 'https://github.com/huggingface/text-generation-inference router/src/validation.rs',
  },
  {
    from: 'Ollama, its cloud',
    says: 'prompt too long; exceeded max context length by 540451 tokens (ref: 00ad71bb-fea0-4639-9dc9-3ad800192057)',
    source: 'https://github.com/dyad-sh/dyad/issues/3498',
  },
  {
    from: 'oMLX',
    says: 'Prompt too long: 41911 tokens exceeds max context window of 32768 tokens',
    source: 'https://github.com/ValueCell-ai/ClawX/issues/658',
  },
  {
    from: 'mlx-serve',
    says: 'Prompt exceeds maximum context length',
    source: 'https://github.com/ddalcu/mlx-serve/issues/66',
  },
  {
    from: 'llama-cpp-python',
    says: 'Requested tokens (5000) exceed context window of 4096',
    source: 'https://github.com/abetlen/llama-cpp-python llama_cpp/llama.py',
  },
  {
    from: 'Alibaba',
    says: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]',
    source: 'https://github.com/QwenLM/qwen-code/issues/2068',
  },
  {
    from: 'Zhipu',
    says: 'Prompt exceeds max length',
    source: 'https://github.com/NousResearch/hermes-agent/pull/1877',
  },
  { from: 'Zhipu, by its code', says: 'Nope.', code: '1261', source: 'https://docs.z.ai/api-reference/api-code' },
  {
    from: 'GLM behind a hub',
    says: 'Input length 877338 exceeds the maximum allowed input length of 639968 tokens',
    source: 'https://github.com/NVIDIA-NeMo/Switchyard/pull/314',
  },
  {
    from: 'Fireworks',
    says: 'The prompt is too long: 140000, model maximum context length: 131071',
    source: 'https://github.com/cline/cline/issues/5474',
  },
  {
    from: 'TensorRT-LLM',
    says: 'The sum of prompt length (8000.0), query length (0) should not exceed max_num_tokens (4096)',
    source: 'https://github.com/NVIDIA/TensorRT-LLM/pull/19457',
  },
  {
    from: 'Cohere',
    says: 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt.',
    source: pi,
  },
  // Nobody has said these: they are recognised by what they mean.
  {
    from: 'unseen',
    says: 'Conversation of 310000 tokens does not fit into the 262144 of this deployment.',
    source: '',
  },
  { from: 'unseen', says: 'The number of tokens in your request (130000) is larger than 128000.', source: '' },
  { from: 'unseen', says: 'Context budget of 65536 surpassed by this request.', source: '' },
  { from: 'unseen', says: 'Your prompt has more tokens than this model can take (131072).', source: '' },
];

export const others: readonly Wording[] = [
  {
    from: 'Amazon Bedrock, throttled',
    says: 'ThrottlingException: Too many tokens, please wait before trying again.',
    source: pi,
  },
  {
    from: 'OpenAI',
    says: 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
    source: 'https://github.com/langchain-ai/langchain/issues/24058',
  },
  {
    from: 'Anthropic',
    says: 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5',
    source: 'https://docs.claude.com/en/api/errors',
  },
  {
    from: 'Ollama',
    says: "max_tokens (32000) exceeds model's maximum output tokens (16384)",
    source: 'https://github.com/anomalyco/opencode/issues/4327',
  },
  {
    from: 'Anthropic',
    says: '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation.',
    source: 'https://docs.claude.com/en/docs/build-with-claude/extended-thinking',
  },
  {
    from: 'Groq',
    says: 'Request too large for model `llama-3.3-70b-versatile` in organization on tokens per minute (TPM): Limit 6000, Requested 8123, please reduce your message size and try again.',
    code: 'rate_limit_exceeded',
    source: 'https://console.groq.com/docs/rate-limits',
  },
  {
    from: 'OpenAI',
    says: 'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 51234. The input or output tokens must be reduced in order to run successfully.',
    source: 'https://platform.openai.com/docs/guides/rate-limits',
  },
  {
    from: 'OpenAI',
    says: "Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got a string with length 84 instead.",
    code: 'string_above_max_length',
    source: 'https://github.com/openai/openai-agents-python/issues',
  },
  {
    from: 'OpenAI',
    says: "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 instead.",
    source: 'https://platform.openai.com/docs/api-reference/chat',
  },
  {
    from: 'Anthropic',
    says: 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
    source: 'https://docs.claude.com/en/docs/build-with-claude/vision',
  },
  {
    from: 'Anthropic',
    says: 'messages.3.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
    source: 'https://github.com/anthropics/claude-code/issues',
  },
  {
    from: 'Anthropic',
    says: 'messages: text content blocks must be non-empty',
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    from: 'Anthropic',
    says: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    source: 'https://docs.claude.com/en/docs/build-with-claude/prompt-caching',
  },
  {
    from: 'Anthropic',
    says: 'max_tokens: Input should be less than or equal to 128000',
    source: 'https://docs.claude.com/en/api/messages',
  },
  {
    from: 'OpenAI',
    says: "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 128000 instead.",
    source: 'https://platform.openai.com/docs/api-reference/responses',
  },
  {
    from: 'Google',
    says: 'Cached content is too small. total_token_count=500, min_total_token_count=1024',
    source: 'https://ai.google.dev/gemini-api/docs/caching',
  },
  {
    from: 'any',
    says: 'messages: more than one system message in this context is not supported',
    source: '',
  },
  { from: 'any', says: 'Unknown parameter: context_length', source: '' },
  { from: 'any', says: 'num_ctx: the context window cannot be set for this model', source: '' },
  { from: 'any', says: 'Tool name is too long: 80 characters, at most 64 are allowed in the prompt', source: '' },
  { from: 'any', says: 'You exceeded your current quota of tokens, please check your plan and prompt', source: '' },
  { from: 'any', says: 'The prompt was flagged: it contains more than 3 URLs', source: '' },
  {
    from: 'a customer whose text is quoted',
    says: "Invalid value: 'prompt is too long: 213462 tokens > 200000 maximum'. Supported values are: 'auto' and 'none'.",
    source: '',
  },
  {
    from: 'OpenAI',
    says: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    source: 'https://platform.openai.com/docs/guides/function-calling',
  },
  {
    from: 'OpenAI',
    says: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    source: 'https://platform.openai.com/docs/guides/reasoning',
  },
  { from: 'DeepSeek', says: 'Thinking mode does not support this tool_choice', source: '' },
  { from: 'Mistral', says: 'Requests rate limit exceeded', source: 'https://docs.mistral.ai' },
  { from: 'vLLM', says: 'min_tokens must be less than or equal to max_tokens=100, got 200.', source: '' },
  { from: 'vLLM', says: 'best_of must be at least 1, got 0.', source: '' },
  {
    from: 'llama.cpp',
    says: 'error parsing grammar: number of repetitions exceeds sane defaults, please reduce the number of repetitions',
    source: 'https://github.com/ggml-org/llama.cpp src/llama-grammar.cpp',
  },
];
