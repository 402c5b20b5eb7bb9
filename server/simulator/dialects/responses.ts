/** The simulated vendor of the responses protocol. */

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
import type { Envelope, ReadRules, StreamEvent, VendorDialect } from './dialect.ts';
import { OPENAI_ACCOUNT_ID, openAiErrorBody, openAiHeaders, openAiWording, shownTier } from './openai-errors.ts';

const TEXT_PARTS = ['input_text', 'output_text', 'text'];

/** Input items; a plain string stands for one user message. */
function itemsOf(body: ParsedObject): ParsedObject[] {
  const input = body['input'];
  return typeof input === 'string' ? [{ role: 'user', content: input }] : arrayOf(input).filter(isObject);
}

function fieldFault(body: ParsedObject): VendorError | null {
  if (typeof body['model'] !== 'string') {
    return invalidPrompt("Missing required parameter: 'model'.", 'model', 'missing_required_parameter');
  }
  if (body['input'] === undefined) {
    return invalidPrompt("Missing required parameter: 'input'.", 'input', 'missing_required_parameter');
  }
  if (typeof body['input'] !== 'string' && !Array.isArray(body['input'])) {
    return invalidPrompt("Invalid type for 'input': expected a string or an array.", 'input', 'invalid_type');
  }
  const previous = body['previous_response_id'];
  if (typeof previous === 'string') {
    return invalidPrompt(
      `Previous response with id '${previous}' not found.`,
      'previous_response_id',
      'previous_response_not_found',
    );
  }
  const limit = body['max_output_tokens'] ?? null;
  if (limit !== null && (!Number.isInteger(limit) || Number(limit) < 1)) {
    return invalidPrompt(
      "Invalid 'max_output_tokens': expected an integer >= 1.",
      'max_output_tokens',
      'invalid_value',
    );
  }
  return null;
}

/** Encrypted reasoning is opaque: a nonce and its signature, so that only the simulator's own is accepted. */
function encrypt(nonce: string, rules: Pick<ReadRules, 'signatures'>): string {
  return `${nonce}.${rules.signatures.sign(nonce)}`;
}

/** Items whose content is readable to the vendor alone. */
function isSealed({ type }: ParsedObject): boolean {
  return type === 'reasoning' || type === 'compaction';
}

/** https://developers.openai.com/api/docs/guides/compaction: as the last item of the input. */
function asksForCompaction(body: ParsedObject): boolean {
  return itemsOf(body).at(-1)?.['type'] === 'compaction_trigger';
}

/** What an answer that compacts consists of. */
function compactionItem(envelope: Envelope): Item {
  const sealed = { encrypted_content: encrypt(envelope.nextId('', 32), envelope) };
  const item = { id: envelope.nextId('cmp_', 48), type: 'compaction', ...sealed };
  return { opened: item, done: item, between: () => [] };
}

function reasoningFault(items: readonly ParsedObject[], rules: ReadRules): VendorError | null {
  for (const item of items) {
    const encrypted = isSealed(item) ? item['encrypted_content'] : null;
    if (typeof encrypted !== 'string') continue;
    const border = encrypted.indexOf('.');
    if (rules.signatures.isOwn(encrypted.slice(0, border), encrypted.slice(border + 1))) continue;
    return invalidPrompt(
      `The encrypted content for item ${wordOf(item['id'])} could not be verified.`,
      null,
      'invalid_encrypted_content',
    );
  }
  return null;
}

function pairFault(items: readonly ParsedObject[]): VendorError | null {
  const idsOf = (suffix: string): Set<string> =>
    new Set(items.filter((item) => wordOf(item['type']).endsWith(suffix)).map((item) => wordOf(item['call_id'])));
  const calls = idsOf('_call');
  const results = idsOf('_call_output');
  const orphan = [...results].find((id) => !calls.has(id));
  if (orphan !== undefined) {
    return invalidPrompt(`No tool call found for function call output with call_id ${orphan}.`, 'input');
  }
  const open = [...calls].find((id) => !results.has(id));
  return open === undefined ? null : invalidPrompt(`No tool output found for function call ${open}.`, 'input');
}

function turnsOf(items: readonly ParsedObject[]): PromptTurn[] {
  return items.flatMap((item): PromptTurn[] => {
    const type = wordOf(item['type'] ?? 'message');
    if (type.endsWith('_call_output')) return [{ from: 'tool' }];
    if (type !== 'message' || item['role'] === 'assistant') return [{ from: 'assistant' }];
    const text = item['role'] === 'user' ? textOfContent(item['content'], TEXT_PARTS) : '';
    return text === '' ? [] : [{ from: 'user', text }];
  });
}

function segmentsOf(body: ParsedObject): Segment[] {
  const tools = arrayOf(body['tools']).map((tool) => segmentOf('tool', tool));
  const instructions =
    typeof body['instructions'] === 'string' ? segmentsOfMessage('system', body['instructions']) : [];
  const input = itemsOf(body).flatMap((item) =>
    item['role'] === undefined
      ? [segmentOf(wordOf(item['type']), item)]
      : segmentsOfMessage(wordOf(item['role']), item['content']),
  );
  return [...tools, ...instructions, ...input];
}

function toolsOf(body: ParsedObject): PromptTool[] {
  return arrayOf(body['tools'])
    .filter(isObject)
    .filter((tool) => tool['type'] === 'function' || tool['type'] === 'custom')
    .map((tool) => ({
      name: wordOf(tool['name']),
      schema: tool['parameters'],
      kind: tool['type'] === 'custom' ? 'custom' : 'function',
    }));
}

function choiceOf(value: unknown): PromptToolChoice {
  if (value === 'none') return { mode: 'none' };
  if (value === 'required') return { mode: 'any' };
  return isObject(value) && typeof value['name'] === 'string'
    ? { mode: 'named', name: value['name'] }
    : { mode: 'auto' };
}

function jsonOf(body: ParsedObject): Prompt['json'] {
  const text = isObject(body['text']) ? body['text'] : {};
  const format = isObject(text['format']) ? text['format'] : {};
  if (format['type'] === 'json_object') return { schema: null };
  return format['type'] === 'json_schema' ? { schema: format['schema'] ?? null } : null;
}

function promptOf(body: ParsedObject): Prompt {
  return {
    protocol: 'responses',
    model: wordOf(body['model']),
    stream: body['stream'] === true,
    maxTokens: Number.isInteger(body['max_output_tokens']) ? Number(body['max_output_tokens']) : null,
    stopSequences: [],
    answers: 1,
    turns: turnsOf(itemsOf(body)),
    segments: segmentsOf(body),
    tools: toolsOf(body),
    toolChoice: choiceOf(body['tool_choice']),
    parallelTools: body['parallel_tool_calls'] !== false,
    json: jsonOf(body),
    includeUsage: true,
    thought: null,
  };
}

/** One output item: as it is announced, as it ends, and the events between. */
interface Item {
  opened: ParsedObject;
  done: ParsedObject;
  between: (place: { output_index: number; item_id: string }) => Iterable<Step>;
}

/** An event without its place in the stream. */
interface Step {
  type: string;
  members: ParsedObject;
  tokens: number;
}

function step(type: string, members: ParsedObject, tokens = 0): Step {
  return { type: `response.${type}`, members, tokens };
}

function reasoningItem(pieces: readonly string[], envelope: Envelope): Item {
  const id = envelope.nextId('rs_', 48);
  const text = pieces.join('');
  const wanted = arrayOf(envelope.body['include']).includes('reasoning.encrypted_content');
  const sealed = wanted ? { encrypted_content: encrypt(envelope.nextId('', 32), envelope) } : {};
  const part = { type: 'summary_text', text };
  return {
    opened: { id, type: 'reasoning', summary: [], ...sealed },
    done: { id, type: 'reasoning', summary: [part], ...sealed },
    *between(item) {
      const place = { ...item, summary_index: 0 };
      yield step('reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } });
      for (const delta of pieces) yield step('reasoning_summary_text.delta', { ...place, delta }, 1);
      yield step('reasoning_summary_text.done', { ...place, text });
      yield step('reasoning_summary_part.done', { ...place, part });
    },
  };
}

function textItem(pieces: readonly string[], status: string, envelope: Envelope): Item {
  const id = envelope.nextId('msg_', 48);
  const text = pieces.join('');
  const part = { type: 'output_text', annotations: [], logprobs: [], text };
  const head = { id, type: 'message', role: 'assistant' };
  return {
    opened: { ...head, status: 'in_progress', content: [] },
    done: { ...head, status, content: [part] },
    *between(item) {
      const place = { ...item, content_index: 0 };
      yield step('content_part.added', { ...place, part: { ...part, text: '' } });
      for (const delta of pieces) yield step('output_text.delta', { ...place, delta, logprobs: [] }, 1);
      yield step('output_text.done', { ...place, text, logprobs: [] });
      yield step('content_part.done', { ...place, part });
    },
  };
}

function toolItem(tool: PlannedTool, envelope: Envelope): Item {
  const custom = tool.kind === 'custom';
  const input = tool.pieces.join('');
  const member = custom ? 'input' : 'arguments';
  const head = {
    id: envelope.nextId(custom ? 'ctc_' : 'fc_', 48),
    type: custom ? 'custom_tool_call' : 'function_call',
    call_id: tool.id ?? envelope.nextId('call_', 24),
    name: tool.name,
  };
  const events = custom ? 'custom_tool_call_input' : 'function_call_arguments';
  return {
    opened: { ...head, status: 'in_progress', [member]: '' },
    done: { ...head, status: tool.complete ? 'completed' : 'incomplete', [member]: input },
    *between(place) {
      for (const delta of tool.pieces) yield step(`${events}.delta`, { ...place, delta }, 1);
      yield step(`${events}.done`, { ...place, ...(custom ? {} : { name: tool.name }), [member]: input });
    },
  };
}

function itemsOfAnswer(answer: PlayedAnswer, envelope: Envelope): Item[] {
  if (asksForCompaction(envelope.body)) return [compactionItem(envelope)];
  const status = answer.stop === 'limit' ? 'incomplete' : 'completed';
  return [
    ...(answer.thinking === null ? [] : [reasoningItem(answer.thinking, envelope)]),
    ...(answer.text.length > 0 ? [textItem(answer.text, status, envelope)] : []),
    ...answer.tools.map((tool) => toolItem(tool, envelope)),
  ];
}

/** The response object around the output; it repeats the members of the request that the vendor repeats. */
function responseOf(envelope: Envelope, members: ParsedObject): ParsedObject {
  const { body } = envelope;
  return {
    id: envelope.id,
    object: 'response',
    created_at: envelope.createdAt,
    background: false,
    completed_at: members['status'] === 'completed' ? envelope.createdAt : null,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: envelope.model,
    output: [],
    parallel_tool_calls: envelope.prompt.parallelTools,
    presence_penalty: 0,
    previous_response_id: null,
    reasoning: body['reasoning'] ?? { effort: null, summary: null },
    // Until it ends, a response repeats what was asked: https://github.com/Wei-Shaw/sub2api/pull/6111
    ...(members['status'] === 'completed' || members['status'] === 'incomplete'
      ? shownTier(envelope)
      : { service_tier: body['service_tier'] ?? 'auto' }),
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: arrayOf(body['tools']),
    top_p: body['top_p'] ?? 1,
    truncation: 'disabled',
    usage: null,
    metadata: body['metadata'] ?? {},
    ...members,
  };
}

function finished(answer: PlayedAnswer, items: readonly Item[], envelope: Envelope): ParsedObject {
  const limited = answer.stop === 'limit';
  return responseOf(envelope, {
    status: limited ? 'incomplete' : 'completed',
    incomplete_details: limited ? { reason: 'max_output_tokens' } : null,
    output: items.map((item) => item.done),
    usage: envelope.usage.kind === 'reported' ? rawJson(envelope.usage.text) : null,
  });
}

function* stepsOf(answer: PlayedAnswer, envelope: Envelope): Iterable<Step> {
  const running = responseOf(envelope, { status: 'in_progress' });
  yield step('created', { response: running });
  yield step('in_progress', { response: running });
  const items = itemsOfAnswer(answer, envelope);
  for (const [index, item] of items.entries()) {
    yield step('output_item.added', { output_index: index, item: item.opened });
    yield* item.between({ output_index: index, item_id: String(item.opened['id']) });
    yield step('output_item.done', { output_index: index, item: item.done });
  }
  const response = finished(answer, items, envelope);
  yield step(answer.stop === 'limit' ? 'incomplete' : 'completed', { response });
}

function eventOf({ type, members, tokens }: Step, sequence: number): StreamEvent {
  return { name: type, data: stringify({ type, sequence_number: sequence, ...members }), tokens, counted: true };
}

/** The vendor of the responses protocol. */
export const responses: VendorDialect = {
  protocol: 'responses',
  accountId: OPENAI_ACCOUNT_ID,
  idStyle: ['resp_', 48],
  midStreamStatus: 500,
  wording: openAiWording,
  errorBody: openAiErrorBody,
  accountHeaders: openAiHeaders,

  read(body, _headers, rules) {
    const items = itemsOf(body);
    const failure = fieldFault(body) ?? reasoningFault(items, rules) ?? (rules.strict ? pairFault(items) : null);
    return failure === null ? { ok: true, value: promptOf(body) } : { ok: false, failure };
  },

  cached: (cache, scope, segments) => cache.automatic(scope, segments),

  usage(input, answer) {
    const written = input.cacheWrite5m + input.cacheWrite1h;
    const total = input.input + input.cacheHit + written;
    return {
      input_tokens: total,
      input_tokens_details: {
        cached_tokens: input.cacheHit,
        ...(written > 0 ? { cache_write_tokens: written } : {}),
      },
      output_tokens: answer.outputTokens,
      output_tokens_details: { reasoning_tokens: answer.thinkingTokens },
      total_tokens: total + answer.outputTokens,
    };
  },

  whole: (answer, envelope) => finished(answer, itemsOfAnswer(answer, envelope), envelope),

  *events(answer, envelope) {
    let sequence = 0;
    for (const next of stepsOf(answer, envelope)) {
      yield eventOf(next, sequence);
      sequence += 1;
    }
  },

  *failedEvents(failure, envelope, sent) {
    const error = { code: failure.code ?? failure.type ?? 'server_error', message: failure.message };
    const failed = step('failed', { response: responseOf(envelope, { status: 'failed', error }) });
    yield eventOf(failed, sent);
  },
};
