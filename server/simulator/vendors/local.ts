/** Servers that people run themselves: vLLM, Ollama and llama.cpp. */

import { arrayOf, isObject, type ParsedObject } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import { hasLateSystem, mapChunks, messagesOf, type SimulatedVendor, without } from './vendor.ts';

const lateSystem = 'System message must be at the beginning.';

export const simulatedVllm: SimulatedVendor = {
  id: 'vllm',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning',
  // https://docs.vllm.ai/en/v0.6.4.post1/serving/openai_compatible_server.html
  seen: (body) => without(body, 'user', 'parallel_tool_calls'),
  // https://github.com/vllm-project/vllm/issues/41114
  refuse: (body) => (hasLateSystem(body) ? invalidPrompt(lateSystem) : null),
  // https://github.com/langchain4j/langchain4j/issues/3475
  errorBody: ({ status, message }) => ({
    object: 'error',
    message,
    type: status < 500 ? 'BadRequestError' : 'InternalServerError',
    param: null,
    code: status,
  }),
  usage: ({ prompt_tokens, completion_tokens, total_tokens }) => ({
    prompt_tokens,
    total_tokens,
    completion_tokens,
    prompt_tokens_details: null,
  }),
  whole(answer) {
    for (const choice of arrayOf(answer['choices']).filter(isObject)) choice['stop_reason'] = null;
    return { ...answer, prompt_logprobs: null, kv_transfer_params: null };
  },
};

function addresses(body: ParsedObject): unknown[] {
  const parts = messagesOf(body).flatMap(({ content }) => arrayOf(content).filter(isObject));
  return parts.flatMap(({ type, image_url: image }) => {
    if (type !== 'image_url') return [];
    return [isObject(image) ? image['url'] : image];
  });
}

function refuseAsOllama(body: ParsedObject): VendorError | null {
  // https://github.com/ollama/ollama/issues/6753
  if (addresses(body).some((url) => !String(url).startsWith('data:'))) return invalidPrompt('invalid image input');
  // https://github.com/ollama/ollama/issues/17774
  return hasLateSystem(body) ? { ...invalidPrompt('system message must be at the beginning'), status: 500 } : null;
}

export const simulatedOllama: SimulatedVendor = {
  id: 'ollama',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning',
  idStyle: ['chatcmpl-', 3],
  // https://github.com/nextcloud/integration_openai/issues/426 and https://github.com/ollama/ollama/issues/17921
  seen: (body) => without(body, 'max_completion_tokens', 'tool_choice', 'parallel_tool_calls', 'user', 'n'),
  refuse: refuseAsOllama,
  errorBody: ({ status, message }) => ({
    error: { message, type: status < 500 ? 'invalid_request_error' : 'api_error', param: null, code: null },
  }),
  usage: ({ prompt_tokens, completion_tokens, total_tokens }) => ({ prompt_tokens, completion_tokens, total_tokens }),
  whole: (answer) => ({ ...answer, system_fingerprint: 'fp_ollama' }),
};

const timings = { prompt_n: 25, prompt_ms: 12.5, predicted_n: 3, predicted_ms: 30.1, predicted_per_second: 99.6 };

export const simulatedLlamaCpp: SimulatedVendor = {
  id: 'llama.cpp',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning_content',
  // https://github.com/Open-Historia/open-historia/pull/333
  seen: (body) => (isObject(body['tool_choice']) ? without(body, 'tool_choice') : body),
  // https://github.com/ggml-org/llama.cpp/issues/27367
  refuse: (body) => (hasLateSystem(body) ? { ...invalidPrompt(lateSystem), status: 500 } : null),
  // https://github.com/ggml-org/llama.cpp/issues/22389
  errorBody: ({ status, message }) => ({
    error: { code: status, message, type: status < 500 ? 'invalid_request_error' : 'server_error' },
  }),
  usage: ({ prompt_tokens, completion_tokens, total_tokens }) => ({ completion_tokens, prompt_tokens, total_tokens }),
  // https://pypi.org/project/langchain-llama-cpp/
  whole: (answer) => ({ ...answer, timings }),
  events: (events) => mapChunks(events, (chunk) => (chunk['usage'] == null ? chunk : { ...chunk, timings })),
};
