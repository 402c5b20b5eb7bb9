/** The simulated vendor of the messages protocol. */

import { segmentOf, segmentsOfMessage, textOfContent } from '../context.ts';
import { arrayOf, isObject, type ParsedObject, rawJson, stringify, wordOf } from '../json.ts';
import {
  invalidPrompt,
  type Prompt,
  type PromptToolChoice,
  type PromptTurn,
  type Segment,
  type VendorError,
} from '../prompt.ts';
import type { PlannedTool } from '../script.ts';
import type { Envelope, StreamEvent, VendorDialect } from './dialect.ts';
import { messagesHistoryFault } from './messages-history.ts';

/** The version since which sampling settings are refused and nullable fields always present. */
const VERSION_WITHOUT_SAMPLING = '2026-10-21';

const ACCOUNT_ID = '51b0a7e5-0000-4000-8000-51b0f0e1a7e5';

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function typeOf(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

const SENTENCES: Record<number, string> = {
  400: 'messages.0.content.0.text: Input should be a valid string',
  401: 'invalid x-api-key',
  402: "There's an issue with your billing or payment information. Please check your payment details.",
  403: 'Your API key does not have permission to use the specified resource.',
  409: 'The request conflicts with the current state of the resource.',
  413: 'Request exceeds the maximum size',
  422: 'The request could not be processed.',
  500: 'Internal server error',
  502: 'Bad gateway',
  503: 'Service temporarily unavailable',
  504: 'Request timed out. Please try again.',
  529: 'Overloaded',
};

function wording(status: number, about: { model: string }): VendorError {
  const message =
    status === 404
      ? `model: ${about.model}`
      : status === 429
        ? `This request would exceed your organization's rate limit of 50 requests per minute (org: ${ACCOUNT_ID}, model: ${about.model}).`
        : (SENTENCES[status] ?? 'The request failed.');
  return { status, message, type: null, param: null, code: null };
}

function fieldFault(body: ParsedObject, version: string): VendorError | null {
  if (typeof body['model'] !== 'string') return invalidPrompt('model: Field required', 'model');
  if (body['messages'] === undefined) return invalidPrompt('messages: Field required', 'messages');
  if (!Array.isArray(body['messages'])) return invalidPrompt('messages: Input should be a valid list', 'messages');
  if (body['messages'].length === 0) return invalidPrompt('messages: at least one message is required', 'messages');
  const sampling = ['temperature', 'top_p', 'top_k'].find((name) => body[name] !== undefined);
  if (version >= VERSION_WITHOUT_SAMPLING && sampling !== undefined) {
    return invalidPrompt(`${sampling}: Extra inputs are not permitted`, sampling);
  }
  return null;
}

function limitFault(body: ParsedObject): VendorError | null {
  const limit = body['max_tokens'];
  if (limit === undefined) return invalidPrompt('max_tokens: Field required', 'max_tokens');
  if (!Number.isInteger(limit)) return invalidPrompt('max_tokens: Input should be a valid integer', 'max_tokens');
  if (Number(limit) < 0) return invalidPrompt('max_tokens: Input should be greater than or equal to 0', 'max_tokens');
  const thinking = isObject(body['thinking']) ? body['thinking'] : {};
  if (thinking['type'] !== 'enabled') return null;
  const budget = Number(thinking['budget_tokens']);
  if (!(budget >= 1024)) {
    return invalidPrompt('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024', 'thinking');
  }
  if (budget >= Number(limit)) {
    return invalidPrompt('`max_tokens` must be greater than `thinking.budget_tokens`.', 'max_tokens');
  }
  return null;
}

function turnsOf(messages: readonly unknown[]): PromptTurn[] {
  return messages.filter(isObject).flatMap((message): PromptTurn[] => {
    if (message['role'] === 'assistant') return [{ from: 'assistant' }];
    if (message['role'] !== 'user') return [];
    const answered = arrayOf(message['content']).some((block) => isObject(block) && block['type'] === 'tool_result');
    const text = textOfContent(message['content'], ['text']);
    return [
      ...(answered ? [{ from: 'tool' } as const] : []),
      ...(text === '' ? [] : [{ from: 'user', text } as const]),
    ];
  });
}

function segmentsOf(body: ParsedObject): Segment[] {
  const tools = arrayOf(body['tools']).map((tool) => segmentOf('tool', tool));
  const system = body['system'] === undefined ? [] : segmentsOfMessage('system', body['system']);
  const messages = arrayOf(body['messages'])
    .filter(isObject)
    .flatMap((message) => segmentsOfMessage(wordOf(message['role']), message['content']));
  const segments = [...tools, ...system, ...messages];
  // A marker on the body as a whole stands for one on its last block.
  const last = segments.at(-1);
  const overall = body['cache_control'];
  if (last !== undefined && isObject(overall)) last.mark = overall['ttl'] === '1h' ? '1h' : '5m';
  return segments;
}

function choiceOf(value: unknown): PromptToolChoice {
  const choice = isObject(value) ? value : {};
  if (choice['type'] === 'none' || choice['type'] === 'any') return { mode: choice['type'] };
  if (choice['type'] === 'tool') return { mode: 'named', name: wordOf(choice['name']) };
  return { mode: 'auto' };
}

function jsonOf(body: ParsedObject): Prompt['json'] {
  const config = isObject(body['output_config']) ? body['output_config'] : {};
  const format = config['format'] ?? body['output_format'];
  return isObject(format) && format['type'] === 'json_schema' ? { schema: format['schema'] ?? null } : null;
}

function promptOf(body: ParsedObject): Prompt {
  const choice = isObject(body['tool_choice']) ? body['tool_choice'] : {};
  return {
    protocol: 'messages',
    model: wordOf(body['model']),
    stream: body['stream'] === true,
    maxTokens: Number.isInteger(body['max_tokens']) ? Number(body['max_tokens']) : null,
    stopSequences: arrayOf(body['stop_sequences']).filter((stop) => typeof stop === 'string'),
    answers: 1,
    turns: turnsOf(arrayOf(body['messages'])),
    segments: segmentsOf(body),
    tools: arrayOf(body['tools'])
      .filter(isObject)
      .map((tool) => ({ name: wordOf(tool['name']), schema: tool['input_schema'], kind: 'function' })),
    toolChoice: choiceOf(choice),
    parallelTools: choice['disable_parallel_tool_use'] !== true,
    json: jsonOf(body),
    includeUsage: true,
    thought: null,
  };
}

const STOP_REASONS = { end: 'end_turn', limit: 'max_tokens', stop_sequence: 'stop_sequence', tools: 'tool_use' };

function isNewVersion(envelope: Envelope): boolean {
  return String(envelope.headers['anthropic-version']) >= VERSION_WITHOUT_SAMPLING;
}

/** Members that the newer version always carries and the older one does not have. */
function newMembers(envelope: Envelope, names: readonly string[]): ParsedObject {
  return isNewVersion(envelope) ? Object.fromEntries(names.map((name) => [name, null])) : {};
}

/** Hidden thinking still has to be returned signed. */
function shownThinking(pieces: readonly string[], envelope: Envelope): string[] {
  const settings = isObject(envelope.body['thinking']) ? envelope.body['thinking'] : {};
  return settings['display'] === 'omitted' ? [] : [...pieces];
}

function toolId(tool: PlannedTool, envelope: Envelope): string {
  return tool.id ?? envelope.nextId('toolu_', 24);
}

/**
 * The speed and region, where something was asked for: https://platform.claude.com/docs/en/build-with-claude/fast-mode,
 * https://platform.claude.com/docs/en/build-with-claude/data-residency
 */
function servedOf({ body, tier }: Envelope): ParsedObject {
  const { speed, inference_geo: region } = body;
  if (tier === 'none') return {};
  return {
    ...(speed === undefined ? {} : { speed: tier ?? speed }),
    ...(region === undefined ? {} : { inference_geo: region }),
  };
}

function finalUsage(envelope: Envelope): ParsedObject {
  return envelope.usage.kind === 'none' ? {} : { usage: rawJson(envelope.usage.text) };
}

/** At the start the vendor knows its input and has generated almost nothing. */
function startUsage(envelope: Envelope): ParsedObject {
  if (envelope.usage.kind === 'none') return {};
  const { value, text } = envelope.usage;
  if (!isObject(value)) return { usage: rawJson(text) };
  const { output_tokens: output, output_tokens_details: _details, ...input } = value;
  const atStart = typeof output === 'number' && output > 1 ? 1 : output;
  return { usage: atStart === undefined ? input : { ...input, output_tokens: atStart } };
}

function event(name: string, members: ParsedObject, tokens = 0, counted = true): StreamEvent {
  return { name, data: stringify({ type: name, ...members }), tokens, counted };
}

type Block = { start: ParsedObject; deltas: Iterable<{ delta: ParsedObject; tokens: number }> };

function* thinkingDeltas(
  pieces: readonly string[],
  envelope: Envelope,
): Iterable<{ delta: ParsedObject; tokens: number }> {
  const shown = shownThinking(pieces, envelope);
  for (const piece of shown) yield { delta: { type: 'thinking_delta', thinking: piece }, tokens: 1 };
  const signature = envelope.signatures.sign(shown.join(''));
  yield { delta: { type: 'signature_delta', signature }, tokens: pieces.length - shown.length };
}

function* inputDeltas(tool: PlannedTool): Iterable<{ delta: ParsedObject; tokens: number }> {
  // The vendor opens with an empty piece, which clients must not take for the whole input.
  yield { delta: { type: 'input_json_delta', partial_json: '' }, tokens: 1 };
  const empty = tool.complete && tool.pieces.join('') === '{}';
  for (const piece of empty ? [] : tool.pieces) {
    yield { delta: { type: 'input_json_delta', partial_json: piece }, tokens: 1 };
  }
}

function blocksOf(answer: Parameters<VendorDialect['events']>[0], envelope: Envelope): Block[] {
  const blocks: Block[] = [];
  if (answer.thinking !== null) {
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: thinkingDeltas(answer.thinking, envelope),
    });
  }
  if (answer.text.length > 0) {
    const deltas = answer.text.map((text) => ({ delta: { type: 'text_delta', text }, tokens: 1 }));
    blocks.push({ start: { type: 'text', text: '' }, deltas });
  }
  for (const tool of answer.tools) {
    const start = { type: 'tool_use', id: toolId(tool, envelope), name: tool.name, input: {} };
    blocks.push({ start, deltas: inputDeltas(tool) });
  }
  return blocks;
}

/** The vendor of the messages protocol. */
export const messages: VendorDialect = {
  protocol: 'messages',
  accountId: ACCOUNT_ID,
  idStyle: ['msg_01', 22],
  midStreamStatus: 529,
  wording,

  read(body, headers, rules) {
    const version = headers['anthropic-version'];
    if (version === undefined) return { ok: false, failure: invalidPrompt('anthropic-version: header is required') };
    const failure =
      fieldFault(body, String(version)) ??
      (rules.countOnly ? null : limitFault(body)) ??
      messagesHistoryFault(arrayOf(body['messages']), rules);
    return failure === null ? { ok: true, value: promptOf(body) } : { ok: false, failure };
  },

  cached: (cache, scope, segments) => cache.marked(scope, segments),

  usage: (input, answer, _answers, envelope) => ({
    input_tokens: input.input,
    cache_creation_input_tokens: input.cacheWrite5m + input.cacheWrite1h,
    cache_read_input_tokens: input.cacheHit,
    cache_creation: {
      ephemeral_5m_input_tokens: input.cacheWrite5m,
      ephemeral_1h_input_tokens: input.cacheWrite1h,
    },
    output_tokens: answer.outputTokens,
    output_tokens_details: { thinking_tokens: answer.thinkingTokens },
    service_tier: 'standard',
    ...servedOf(envelope),
  }),

  whole(answer, envelope) {
    const content: ParsedObject[] = [];
    if (answer.thinking !== null) {
      const thinking = shownThinking(answer.thinking, envelope).join('');
      content.push({ type: 'thinking', thinking, signature: envelope.signatures.sign(thinking) });
    }
    if (answer.text.length > 0) content.push({ type: 'text', text: answer.text.join('') });
    for (const tool of answer.tools) {
      const input = tool.complete ? rawJson(tool.pieces.join('')) : {};
      content.push({ type: 'tool_use', id: toolId(tool, envelope), name: tool.name, input });
    }
    return {
      id: envelope.id,
      type: 'message',
      role: 'assistant',
      model: envelope.model,
      content,
      stop_reason: STOP_REASONS[answer.stop],
      stop_sequence: answer.stopSequence,
      ...newMembers(envelope, ['container', 'diagnostics', 'stop_details']),
      ...finalUsage(envelope),
    };
  },

  *events(answer, envelope) {
    yield event('message_start', {
      message: {
        id: envelope.id,
        type: 'message',
        role: 'assistant',
        model: envelope.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...newMembers(envelope, ['container', 'diagnostics', 'stop_details']),
        ...startUsage(envelope),
      },
    });
    for (const [index, block] of blocksOf(answer, envelope).entries()) {
      yield event('content_block_start', { index, content_block: block.start });
      if (index === 0) yield event('ping', {}, 0, false);
      for (const { delta, tokens } of block.deltas) yield event('content_block_delta', { index, delta }, tokens);
      yield event('content_block_stop', { index });
    }
    yield event('message_delta', {
      delta: {
        stop_reason: STOP_REASONS[answer.stop],
        stop_sequence: answer.stopSequence,
        ...newMembers(envelope, ['container', 'stop_details']),
      },
      ...finalUsage(envelope),
    });
    yield event('message_stop', {});
  },

  *failedEvents(failure) {
    yield event('error', { error: { type: failure.type ?? typeOf(failure.status), message: failure.message } });
  },

  errorBody: (failure, requestId) => ({
    type: 'error',
    error: { type: failure.type ?? typeOf(failure.status), message: failure.message },
    request_id: requestId,
  }),

  accountHeaders({ requestId, status }) {
    const limits = ['requests', 'tokens', 'input-tokens', 'output-tokens'].flatMap((kind): [string, string][] => [
      [`anthropic-ratelimit-${kind}-limit`, kind === 'requests' ? '4000' : '400000'],
      [`anthropic-ratelimit-${kind}-remaining`, status === 429 ? '0' : '3999'],
      [`anthropic-ratelimit-${kind}-reset`, '2026-01-01T00:00:00Z'],
    ]);
    return [['request-id', requestId], ['anthropic-organization-id', ACCOUNT_ID], ...limits];
  },
};
