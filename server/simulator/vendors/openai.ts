/** OpenAI's reasoning models, at OpenAI and at Azure. */

import type { Protocol } from '../../core/protocol.ts';
import { arrayOf, isObject, type ParsedObject } from '../json.ts';
import { invalidPrompt, type Prompt, type VendorError } from '../prompt.ts';
import type { PlayedAnswer } from '../script.ts';
import {
  firstOf,
  hasTools,
  mapChunks,
  modelOf,
  type SimulatedVendor,
  unknownMembers,
  unsupportedParameter,
} from './vendor.ts';

/** https://platform.openai.com/docs/api-reference/chat/create */
const chatMembers =
  'model messages max_completion_tokens max_tokens stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort stop n seed logit_bias logprobs top_logprobs frequency_penalty presence_penalty temperature top_p user safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options metadata store service_tier prediction modalities audio web_search_options verbosity functions function_call moderation';

/**
 * https://platform.openai.com/docs/api-reference/responses/create; the first two are what its own agent sends:
 * https://github.com/openai/codex codex-rs/codex-api/src/common.rs
 */
const responsesMembers =
  'client_metadata access_programs context_management model input instructions max_output_tokens max_tool_calls stream stream_options tools tool_choice parallel_tool_calls text reasoning temperature top_p top_logprobs user safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options metadata store service_tier include previous_response_id conversation prompt background truncation';

// https://github.com/nashsu/llm_wiki/issues/336
function unknownArgument(body: ParsedObject, protocol: Protocol): VendorError | null {
  const [name] = unknownMembers(body, protocol === 'responses' ? responsesMembers : chatMembers);
  if (name === undefined) return null;
  return protocol === 'responses'
    ? invalidPrompt(`Unknown parameter: '${name}'.`, name, 'unknown_parameter')
    : invalidPrompt(`Unrecognized request argument supplied: ${name}`);
}

// https://github.com/tmc/langchaingo/issues/1355
function sampling(body: ParsedObject): VendorError | null {
  const temperature = body['temperature'] ?? 1;
  if (temperature !== 1) {
    const message = `Unsupported value: 'temperature' does not support ${JSON.stringify(temperature)} with this model. Only the default (1) value is supported.`;
    return invalidPrompt(message, 'temperature', 'unsupported_value');
  }
  // https://github.com/nextai-translator/nextai-translator/issues/1781
  const refused = ['top_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'logit_bias'];
  const sent = refused.find((name) => (body[name] ?? null) !== null);
  return sent === undefined ? null : unsupportedParameter(sent);
}

function chat(body: ParsedObject): VendorError | null {
  // https://github.com/griptape-ai/ComfyUI-Griptape/issues/312
  if ((body['max_tokens'] ?? null) !== null) {
    return unsupportedParameter('max_tokens', " Use 'max_completion_tokens' instead.");
  }
  // https://github.com/huggingface/smolagents/pull/1662
  return (body['stop'] ?? null) === null ? null : unsupportedParameter('stop');
}

// https://github.com/vectorize-io/hindsight/issues/58
function smallCap(body: ParsedObject): VendorError | null {
  const cap = body['max_output_tokens'];
  if (typeof cap !== 'number' || cap >= 16) return null;
  const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${cap} instead.`;
  return invalidPrompt(message, 'max_output_tokens', 'integer_below_min_value');
}

/** https://github.com/mckinsey/agents-at-scale-marketplace/pull/324 */
function badToolCalls(body: ParsedObject): VendorError | null {
  const calls = body['max_tool_calls'] ?? null;
  if (calls === null || (Number.isInteger(calls) && Number(calls) >= 1)) return null;
  const [message, code] = Number.isInteger(calls)
    ? [
        `Invalid 'max_tool_calls': integer below minimum value. Expected a value >= 1, but got ${Number(calls)} instead.`,
        'integer_below_min_value',
      ]
    : ["Invalid type for 'max_tool_calls': expected an integer.", 'invalid_type'];
  return invalidPrompt(message, 'max_tool_calls', code);
}

/** From 5.4 on by what the request says, from 5.6 on also by default. */
function toolsWithReasoning(body: ParsedObject): VendorError | null {
  const minor = /^gpt-5\.(\d+)/.exec(modelOf(body))?.[1];
  if (minor === undefined || Number(minor) < 4 || !hasTools(body)) return null;
  const effort = body['reasoning_effort'] ?? (Number(minor) >= 6 ? 'medium' : 'none');
  if (effort === 'none') return null;
  // https://github.com/pipecat-ai/pipecat/issues/4043 and https://github.com/BerriAI/litellm/pull/34569
  const message = `Function tools with reasoning_effort are not supported for ${modelOf(body)} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
  return invalidPrompt(message, 'reasoning_effort');
}

/** https://github.com/microsoft/autogen/issues/6377 and https://github.com/AnswerDotAI/fastllm/issues/45 */
function longCallId(body: ParsedObject, protocol: Protocol): VendorError | null {
  const isChat = protocol === 'chat-completions';
  const max = isChat ? 40 : 64;
  const ids = arrayOf(isChat ? body['messages'] : body['input'])
    .filter(isObject)
    .flatMap((item) => [
      item['call_id'],
      item['tool_call_id'],
      ...arrayOf(item['tool_calls']).map((call) => (isObject(call) ? call['id'] : null)),
    ]);
  const long = ids.find((id) => typeof id === 'string' && id.length > max);
  if (typeof long !== 'string') return null;
  const message = `Invalid call id: string too long. Expected a string with maximum length ${max}, but got a string with length ${long.length} instead.`;
  return invalidPrompt(message, isChat ? 'messages' : 'input', 'string_above_max_length');
}

function reasoningModel(body: ParsedObject, protocol: Protocol): VendorError | null {
  const unknown = unknownArgument(body, protocol) ?? sampling(body) ?? longCallId(body, protocol);
  return (
    unknown ??
    (protocol === 'responses'
      ? firstOf(smallCap(body), badToolCalls(body))
      : firstOf(chat(body), toolsWithReasoning(body)))
  );
}

// https://github.com/nextlevelbuilder/goclaw/issues/245
function usedUpByReasoning({ thinking, text, tools, stop }: PlayedAnswer, prompt: Prompt): VendorError | null {
  if (prompt.maxTokens === null || stop !== 'limit' || thinking === null || text.length + tools.length > 0) return null;
  return invalidPrompt(
    'Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.',
  );
}

const refuseAnswer: NonNullable<SimulatedVendor['refuseAnswer']> = (answer, prompt) =>
  prompt.protocol === 'chat-completions' ? usedUpByReasoning(answer, prompt) : null;

/** Its reasoning is never shown on chat completions. */
function hideReasoning(message: unknown): void {
  if (isObject(message)) delete message['reasoning_content'];
}

const hidden: Pick<SimulatedVendor, 'whole' | 'events'> = {
  whole(answer) {
    for (const choice of arrayOf(answer['choices']).filter(isObject)) hideReasoning(choice['message']);
    return answer;
  },
  events: (events) =>
    mapChunks(events, (chunk) => {
      for (const choice of arrayOf(chunk['choices']).filter(isObject)) hideReasoning(choice['delta']);
      return chunk;
    }),
};

export const simulatedGpt5: SimulatedVendor = {
  id: 'openai-gpt5',
  protocols: ['chat-completions', 'responses'],
  refuse: reasoningModel,
  refuseAnswer,
  ...hidden,
};

export const simulatedO: SimulatedVendor = {
  ...simulatedGpt5,
  id: 'openai-o',
  // https://github.com/evalstate/fast-agent/issues/279
  refuse: (body, protocol) =>
    reasoningModel(body, protocol) ??
    ((body['parallel_tool_calls'] ?? null) === null ? null : unsupportedParameter('parallel_tool_calls')),
};

const filters = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } };

export const simulatedAzure: SimulatedVendor = {
  ...simulatedGpt5,
  id: 'azure',
  whole(answer) {
    if (answer['object'] !== 'chat.completion') return answer;
    const choices = arrayOf(answer['choices']).filter(isObject);
    for (const choice of choices) {
      hideReasoning(choice['message']);
      choice['content_filter_results'] = filters;
    }
    return { ...answer, prompt_filter_results: [{ prompt_index: 0, content_filter_results: filters }] };
  },
  *events(events, usage) {
    let first = true;
    for (const event of hidden.events?.(events, usage) ?? events) {
      if ('data' in event && event.name === null) {
        // https://github.com/AbanteAI/archive-old-cli-mentat/issues/429
        if (first) yield { ...event, data: JSON.stringify(filtered), tokens: 0, counted: false };
        first = false;
        // https://github.com/microsoft/autogen/issues/6465
        if (event.data === '[DONE]') yield { ...event, data: JSON.stringify(offsets), tokens: 0, counted: false };
      }
      yield event;
    }
  },
};

const filtered = {
  choices: [],
  created: 0,
  id: '',
  model: '',
  object: '',
  prompt_filter_results: [{ prompt_index: 0, content_filter_results: filters }],
};
const offsets = {
  id: '',
  object: '',
  created: 0,
  model: '',
  choices: [
    {
      index: 0,
      finish_reason: null,
      content_filter_results: filters,
      content_filter_offsets: { check_offset: 44, start_offset: 44, end_offset: 198 },
    },
  ],
};
