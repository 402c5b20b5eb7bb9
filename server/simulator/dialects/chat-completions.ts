/** The simulated vendor of the chat completions protocol. */

import { segmentOf, segmentsOfMessage, textOfContent } from '../context.ts';
import { arrayOf, isObject, type ParsedObject, rawJson, stringify, wordOf } from '../json.ts';
import {
  invalidPrompt,
  type Prompt,
  type PromptTool,
  type PromptToolChoice,
  type PromptTurn,
  type Segment,
  type VendorError,
} from '../prompt.ts';
import type { PlannedTool, PlayedAnswer } from '../script.ts';
import { chatHistoryFault } from './chat-history.ts';
import type { Envelope, StreamEvent, VendorDialect } from './dialect.ts';
import { OPENAI_ACCOUNT_ID, openAiErrorBody, openAiHeaders, openAiWording, shownTier } from './openai-errors.ts';

const MAX_ANSWERS = 128;
const MAX_STOPS = 4;
const ROLES = new Set(['developer', 'system', 'user', 'assistant', 'tool', 'function']);

function limitOf(body: ParsedObject): unknown {
  return body['max_completion_tokens'] ?? body['max_tokens'] ?? null;
}

function fieldFault(body: ParsedObject): VendorError | null {
  if (typeof body['model'] !== 'string') return invalidPrompt('you must provide a model parameter');
  const messages = body['messages'];
  if (messages === undefined)
    return invalidPrompt("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter');
  if (!Array.isArray(messages)) {
    return invalidPrompt("Invalid type for 'messages': expected an array of objects.", 'messages', 'invalid_type');
  }
  if (messages.length === 0) {
    return invalidPrompt(
      "Invalid 'messages': empty array. Expected an array with minimum length 1.",
      'messages',
      'empty_array',
    );
  }
  const at = messages.findIndex((message) => !isObject(message) || !ROLES.has(wordOf(message['role'])));
  if (at >= 0)
    return invalidPrompt(`Invalid value for 'messages[${at}].role'.`, `messages[${at}].role`, 'invalid_value');
  return settingFault(body);
}

function settingFault(body: ParsedObject): VendorError | null {
  const limit = limitOf(body);
  const field = body['max_completion_tokens'] == null ? 'max_tokens' : 'max_completion_tokens';
  if (limit !== null && !Number.isInteger(limit)) {
    return invalidPrompt(`Invalid type for '${field}': expected an integer.`, field, 'invalid_type');
  }
  if (limit !== null && Number(limit) < 1) {
    return invalidPrompt(
      `Invalid '${field}': integer below minimum value. Expected a value >= 1.`,
      field,
      'integer_below_min_value',
    );
  }
  if (body['max_completion_tokens'] != null && body['max_tokens'] != null) {
    return invalidPrompt(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'max_tokens',
    );
  }
  const answers = body['n'] ?? 1;
  if (!Number.isInteger(answers) || Number(answers) < 1 || Number(answers) > MAX_ANSWERS) {
    return invalidPrompt(`Invalid 'n': expected an integer from 1 to ${MAX_ANSWERS}.`, 'n', 'invalid_value');
  }
  if (arrayOf(body['stop']).length > MAX_STOPS) {
    return invalidPrompt(
      `Invalid 'stop': array too long. Expected an array with maximum length ${MAX_STOPS}.`,
      'stop',
      'array_above_max_length',
    );
  }
  if (body['stream_options'] != null && body['stream'] !== true) {
    return invalidPrompt("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options');
  }
  return null;
}

function turnsOf(messages: readonly unknown[]): PromptTurn[] {
  return messages.filter(isObject).flatMap((message): PromptTurn[] => {
    const role = message['role'];
    if (role === 'assistant') return [{ from: 'assistant' }];
    if (role === 'tool' || role === 'function') return [{ from: 'tool' }];
    const text = role === 'user' ? textOfContent(message['content'], ['text']) : '';
    return text === '' ? [] : [{ from: 'user', text }];
  });
}

function segmentsOf(body: ParsedObject): Segment[] {
  const tools = arrayOf(body['tools']).map((tool) => segmentOf('tool', tool));
  const messages = arrayOf(body['messages']).filter(isObject);
  const said = messages.flatMap((message) => {
    const role = wordOf(message['role']);
    const segments = segmentsOfMessage(role, message['content']);
    const calls = message['tool_calls'] === undefined ? [] : [segmentOf(role, message['tool_calls'])];
    return [...segments, ...calls];
  });
  return [...tools, ...said];
}

function toolOf(tool: ParsedObject): PromptTool {
  const custom = isObject(tool['custom']) ? tool['custom'] : null;
  if (custom !== null) return { name: wordOf(custom['name']), schema: null, kind: 'custom' };
  const described = isObject(tool['function']) ? tool['function'] : {};
  return { name: wordOf(described['name']), schema: described['parameters'], kind: 'function' };
}

function choiceOf(value: unknown): PromptToolChoice {
  if (value === 'none') return { mode: 'none' };
  if (value === 'required') return { mode: 'any' };
  const named = isObject(value) ? (value['function'] ?? value['custom']) : null;
  return isObject(named) ? { mode: 'named', name: wordOf(named['name']) } : { mode: 'auto' };
}

function jsonOf(format: unknown): Prompt['json'] {
  if (!isObject(format)) return null;
  if (format['type'] === 'json_object') return { schema: null };
  if (format['type'] !== 'json_schema') return null;
  const described = isObject(format['json_schema']) ? format['json_schema'] : {};
  return { schema: described['schema'] ?? null };
}

function promptOf(body: ParsedObject): Prompt {
  const limit = limitOf(body);
  const options = isObject(body['stream_options']) ? body['stream_options'] : {};
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : arrayOf(body['stop']);
  return {
    protocol: 'chat-completions',
    model: wordOf(body['model']),
    stream: body['stream'] === true,
    maxTokens: limit === null ? null : Number(limit),
    stopSequences: stop.filter((sequence) => typeof sequence === 'string'),
    answers: Number(body['n'] ?? 1),
    turns: turnsOf(arrayOf(body['messages'])),
    segments: segmentsOf(body),
    tools: arrayOf(body['tools']).filter(isObject).map(toolOf),
    toolChoice: choiceOf(body['tool_choice']),
    parallelTools: body['parallel_tool_calls'] !== false,
    json: jsonOf(body['response_format']),
    includeUsage: options['include_usage'] === true,
    thought: null,
  };
}

const FINISH_REASONS = { end: 'stop', limit: 'length', stop_sequence: 'stop', tools: 'tool_calls' };

function toolCall(tool: PlannedTool, input: string, envelope: Envelope): ParsedObject {
  const id = tool.id ?? envelope.nextId('call_', 24);
  return tool.kind === 'custom'
    ? { id, type: 'custom', custom: { name: tool.name, input } }
    : { id, type: 'function', function: { name: tool.name, arguments: input } };
}

function messageOf(answer: PlayedAnswer, envelope: Envelope): ParsedObject {
  const text = answer.text.join('');
  const reasoning = answer.thinking === null ? {} : { [envelope.reasoningField]: answer.thinking.join('') };
  const calls = answer.tools.map((tool) => toolCall(tool, tool.pieces.join(''), envelope));
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...reasoning,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

type Delta = { delta: ParsedObject; tokens: number };

function* deltasOf(answer: PlayedAnswer, envelope: Envelope): Iterable<Delta> {
  // A call without text has null content from the first delta on, as the vendor sends it.
  const silent = answer.tools.length > 0 && answer.text.length === 0;
  yield { delta: { role: 'assistant', content: silent ? null : '', refusal: null }, tokens: 0 };
  for (const piece of answer.thinking ?? []) yield { delta: { [envelope.reasoningField]: piece }, tokens: 1 };
  for (const content of answer.text) yield { delta: { content }, tokens: 1 };
  for (const [index, tool] of answer.tools.entries()) {
    yield { delta: { tool_calls: [{ index, ...toolCall(tool, '', envelope) }] }, tokens: 1 };
    for (const piece of tool.pieces) {
      const part = tool.kind === 'custom' ? { custom: { input: piece } } : { function: { arguments: piece } };
      yield { delta: { tool_calls: [{ index, ...part }] }, tokens: 1 };
    }
  }
}

function chunk(envelope: Envelope, choices: unknown[], usage: unknown, tokens: number): StreamEvent {
  const data = stringify({
    id: envelope.id,
    object: 'chat.completion.chunk',
    created: envelope.createdAt,
    model: envelope.model,
    ...shownTier(envelope),
    system_fingerprint: 'fp_simulator',
    choices,
    // With usage requested, the vendor sends null in every chunk but the last; otherwise it omits the member.
    ...(envelope.prompt.includeUsage && envelope.usage.kind === 'reported' ? { usage } : {}),
  });
  return { name: null, data, tokens, counted: true };
}

/** A vendor of the chat-completions protocol. */
export const chatCompletions: VendorDialect = {
  protocol: 'chat-completions',
  accountId: OPENAI_ACCOUNT_ID,
  idStyle: ['chatcmpl-', 29],
  midStreamStatus: 500,
  wording: openAiWording,
  errorBody: openAiErrorBody,
  accountHeaders: openAiHeaders,

  read(body, _headers, rules) {
    const failure = fieldFault(body) ?? (rules.strict ? chatHistoryFault(arrayOf(body['messages'])) : null);
    return failure === null ? { ok: true, value: promptOf(body) } : { ok: false, failure };
  },

  cached: (cache, scope, segments) => cache.automatic(scope, segments),

  usage(input, answer, answers) {
    const prompt = input.input + input.cacheHit + input.cacheWrite5m + input.cacheWrite1h;
    const completion = answer.outputTokens * answers;
    const written = input.cacheWrite5m + input.cacheWrite1h;
    return {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: {
        cached_tokens: input.cacheHit,
        audio_tokens: 0,
        ...(written > 0 ? { cache_write_tokens: written } : {}),
      },
      completion_tokens_details: {
        reasoning_tokens: answer.thinkingTokens * answers,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    };
  },

  whole: (answer, envelope) => ({
    id: envelope.id,
    object: 'chat.completion',
    created: envelope.createdAt,
    model: envelope.model,
    choices: Array.from({ length: envelope.prompt.answers }, (_none, index) => ({
      index,
      message: messageOf(answer, envelope),
      logprobs: null,
      finish_reason: FINISH_REASONS[answer.stop],
    })),
    ...(envelope.usage.kind === 'reported' ? { usage: rawJson(envelope.usage.text) } : {}),
    ...shownTier(envelope),
    system_fingerprint: 'fp_simulator',
  }),

  *events(answer, envelope) {
    const indexes = Array.from({ length: envelope.prompt.answers }, (_none, index) => index);
    // Several choices are streamed in turns, one step of each at a time.
    for (const deltas of sideBySide(indexes.map(() => deltasOf(answer, envelope)))) {
      for (const [index, { delta, tokens }] of deltas.entries()) {
        yield chunk(envelope, [{ index, delta, logprobs: null, finish_reason: null }], null, tokens);
      }
    }
    for (const index of indexes) {
      const choice = { index, delta: {}, logprobs: null, finish_reason: FINISH_REASONS[answer.stop] };
      yield chunk(envelope, [choice], null, 0);
    }
    if (envelope.prompt.includeUsage && envelope.usage.kind === 'reported') {
      yield chunk(envelope, [], rawJson(envelope.usage.text), 0);
    }
    yield { name: null, data: '[DONE]', tokens: 0, counted: true };
  },

  *failedEvents(failure) {
    yield { name: null, data: stringify(openAiErrorBody(failure)), tokens: 0, counted: true };
  },
};

function* sideBySide(runs: Iterable<Delta>[]): Iterable<Delta[]> {
  const iterators = runs.map((run) => run[Symbol.iterator]());
  for (;;) {
    const steps = iterators.map((iterator) => iterator.next());
    // The runs are copies of one answer and therefore end together.
    if (steps.some((step) => step.done === true)) return;
    yield steps.map((step) => step.value);
  }
}
