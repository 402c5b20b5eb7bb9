import type {
  AssistantPart,
  CacheMark,
  ContentPart,
  Dialogue,
  FunctionTool,
  TextPart,
  Thinking,
  ToolChoice,
  ToolResult,
  Turn,
} from '../dialogue/dialogue.ts';
import { EFFORTS } from '../dialogue/dialogue.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  numberValue,
  stringifyJson,
  stringMember,
  typeOf,
} from '../dialogue/json.ts';
import {
  checkFields,
  oneOf,
  optionalBoolean,
  optionalList,
  optionalNumber,
  optionalObject,
  optionalString,
  refuse,
  refuseType,
  requireList,
  requireObject,
  requireString,
  Untranslatable,
} from '../dialogue/refusal.ts';
import { decodeToolId } from '../dialogue/tool-ids.ts';
import { isOptionalTool, refuseVendorChoice, textOfBlock } from '../dialogue/vendor-tools.ts';
import type { FieldRule } from '../members.ts';
import { asksForNothing, translationRules } from '../members.ts';
import type { RequestFacts } from '../protocol.ts';

/** What becomes of each field of the body; every other one is refused. */
export const messagesFields = translationRules('messages');

const OUTPUT_CONFIG_FIELDS: Readonly<Record<string, FieldRule>> = { effort: 'read', format: 'read' };

/** What a coding agent puts first, different in every request: it would keep the upstream's prompt cache from hitting. */
const BILLING_HEADER = 'x-anthropic-billing-header:';

/** Reads a request of the Messages protocol. Throws `Untranslatable` for what only that protocol has. */
export function readMessagesRequest(body: JsonObject, facts: RequestFacts, upstream: string): Dialogue {
  refuseThread(body);
  checkFields(body, { rules: messagesFields, upstream });
  if (facts.maxTokens === 0)
    refuse('max_tokens', 'must be at least 1 for this model: its upstream has no cache warming');
  const outputConfig = optionalObject(body.output_config, 'output_config');
  checkFields(outputConfig ?? {}, { rules: OUTPUT_CONFIG_FIELDS, upstream, at: 'output_config' });
  return {
    instructions: readSystem(body.system),
    turns: readTurns(requireList(body.messages, 'messages')),
    tools: optionalList(body.tools, 'tools').flatMap((tool, index) => readTool(tool, `tools.${index}`)),
    ...readToolChoice(optionalObject(body.tool_choice, 'tool_choice'), body.tools),
    thinking: readThinking(optionalObject(body.thinking, 'thinking'), outputConfig),
    showReasoning: readDisplay(optionalObject(body.thinking, 'thinking')),
    format: readFormat(body, outputConfig),
    stop: {
      sequences: optionalList(body.stop_sequences, 'stop_sequences').map((stop, index) =>
        requireString(stop, `stop_sequences.${index}`),
      ),
      at: 'stop_sequences',
    },
    temperature: optionalNumber(body.temperature, 'temperature'),
    topP: optionalNumber(body.top_p, 'top_p'),
    topK: optionalNumber(body.top_k, 'top_k'),
    endUser: optionalString(optionalObject(body.metadata, 'metadata')?.user_id, 'metadata.user_id'),
    verbosity: null,
    cacheKey: null,
  };
}

/** The newest client library resends the whole history when it is told so in exactly these words. */
function refuseThread(body: JsonObject): void {
  const { thread } = body;
  if (thread === undefined || asksForNothing({ kind: 'tenant' }, thread)) return;
  throw new Untranslatable({
    message: 'thread: is not supported for this model',
    param: 'thread',
    code: null,
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

function readSystem(system: Json | undefined): TextPart[] {
  if (system === undefined || system === null) return [];
  const texts = readTexts(system, 'system');
  // Only a separate block is surely nothing but that header.
  return typeof system === 'string' ? texts : texts.filter(({ text }) => !text.startsWith(BILLING_HEADER));
}

/** A string or a list of text blocks. */
function readTexts(content: Json | undefined, at: string): TextPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, cache: null, at }];
  return requireList(content, at).map((value, index) => {
    const place = `${at}.${index}`;
    const block = requireObject(value, place);
    if (block.type !== 'text') refuse(`${place}.type`, 'only text blocks are allowed here');
    return readText(block, place);
  });
}

function readText(block: JsonObject, at: string): TextPart {
  return { kind: 'text', text: requireString(block.text, `${at}.text`), cache: readCache(block), at };
}

function readCache(block: JsonObject): CacheMark | null {
  if (!isObject(block.cache_control)) return null;
  const ttl = block.cache_control.ttl;
  return { ttl: ttl === '5m' || ttl === '1h' ? ttl : null };
}

function readTurns(messages: Json[]): Turn[] {
  const turns: Turn[] = [];
  // Kept and not looked for, because conversations are long: where what follows the last answer begins, and whether that
  // answer calls anything.
  let behind = 0;
  let calls = false;
  messages.forEach((value, index) => {
    const at = `messages.${index}`;
    const message = requireObject(value, at);
    const role = oneOf(message.role, ['user', 'assistant', 'system'], `${at}.role`);
    const content = `${at}.content`;
    if (role === 'system') turns.push({ role, texts: readTexts(message.content, content), at });
    else if (role === 'user') addUser(turns, calls ? behind : null, readUser(message.content, content));
    else {
      const parts = readAssistant(message.content, content);
      calls = parts.some(({ kind }) => kind === 'call') || (calls && behind === turns.length);
      addAssistant(turns, parts, at);
      behind = turns.length;
    }
  });
  const last = turns.at(-1);
  if (last?.role === 'assistant') {
    refuse(last.at, 'this model does not continue a started answer; the conversation must end with a user message');
  }
  return turns;
}

/** The vendor reads neighbouring turns of one role as one; calls that stood apart must reach the upstream together. */
function addAssistant(turns: Turn[], parts: AssistantPart[], at: string): void {
  const last = turns.at(-1);
  if (last?.role === 'assistant') {
    last.parts.push(...parts);
    last.at = at;
  } else turns.push({ role: 'assistant', parts, at });
}

/**
 * The same for the user's: results that come after a remark go before it, to those that follow the calls directly. `at`:
 * where those stand or would stand; null without calls.
 */
function addUser(turns: Turn[], at: number | null, [first, ...rest]: Turn[]): void {
  if (first?.role === 'results' && at !== null) {
    const results = turns[at];
    if (results?.role === 'results') results.results.push(...first.results);
    else turns.splice(at, 0, first);
    turns.push(...rest);
  } else if (first !== undefined) turns.push(first, ...rest);
}

/** Results come first: they must follow their calls immediately, whatever else the turn says. */
function readUser(content: Json | undefined, at: string): Turn[] {
  if (typeof content === 'string') {
    return [{ role: 'user', parts: [{ kind: 'text', text: content, cache: null, at }], at }];
  }
  const results: ToolResult[] = [];
  const parts: ContentPart[] = [];
  requireList(content, at).forEach((value, index) => {
    const place = `${at}.${index}`;
    const block = requireObject(value, place);
    if (block.type === 'tool_result') results.push(readResult(block, place));
    else parts.push(...readContent(block, place));
  });
  const turns: Turn[] = [];
  if (results.length > 0) turns.push({ role: 'results', results, at });
  if (parts.length > 0 || results.length === 0) turns.push({ role: 'user', parts, at });
  return turns;
}

function readContent(block: JsonObject, at: string): ContentPart[] {
  switch (typeOf(block)) {
    case 'text':
      return [readText(block, at)];
    case 'image':
      return [readImage(block, at)];
    case 'document':
      return readDocument(block, at);
    case 'search_result':
      return [readSearchResult(block, at)];
    default:
      return refuseType(block, at, 'blocks');
  }
}

function readImage(block: JsonObject, at: string): ContentPart {
  const source = requireObject(block.source, `${at}.source`);
  if (block.transformations !== undefined && block.transformations !== null) {
    refuse(`${at}.transformations`, 'is not supported for this model');
  }
  const rest = { kind: 'image', detail: null, cache: readCache(block), at } as const;
  if (source.type === 'base64') return { ...rest, source: { kind: 'base64', ...readInline(source, `${at}.source`) } };
  if (source.type === 'url') {
    return { ...rest, source: { kind: 'url', url: requireString(source.url, `${at}.source.url`) } };
  }
  return refuseType(source, `${at}.source`, 'image sources');
}

function readInline(source: JsonObject, at: string): { mediaType: string; data: string } {
  return {
    mediaType: requireString(source.media_type, `${at}.media_type`),
    data: requireString(source.data, `${at}.data`),
  };
}

function readDocument(block: JsonObject, at: string): ContentPart[] {
  refuseCitations(block, at);
  const place = `${at}.source`;
  const source = requireObject(block.source, place);
  const title = optionalString(block.title, `${at}.title`);
  const context = optionalString(block.context, `${at}.context`);
  const rest = { kind: 'document', title, context, cache: readCache(block), at } as const;
  switch (typeOf(source)) {
    case 'base64':
      return [{ ...rest, source: { kind: 'base64', ...readInline(source, place) } }];
    case 'text':
      return [{ ...rest, source: { kind: 'text', text: requireString(source.data, `${place}.data`) } }];
    case 'url':
      return [{ ...rest, source: { kind: 'url', url: requireString(source.url, `${place}.url`) } }];
    case 'content': {
      const heading = headingOf([title, context], at);
      return [...heading, ...readPieces(source.content, `${place}.content`)];
    }
    default:
      return refuseType(source, place, 'document sources');
  }
}

function refuseCitations(block: JsonObject, at: string): void {
  if (isObject(block.citations) && block.citations.enabled === true) {
    refuse(`${at}.citations`, 'citations are not supported for this model');
  }
}

function headingOf(lines: readonly (string | null)[], at: string): TextPart[] {
  const text = lines.filter((line) => line !== null && line !== '').join('\n');
  return text === '' ? [] : [{ kind: 'text', text, cache: null, at }];
}

/** A string or a list of content blocks. */
function readPieces(content: Json | undefined, at: string): ContentPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, cache: null, at }];
  return requireList(content, at).flatMap((value, index) => {
    const place = `${at}.${index}`;
    return readContent(requireObject(value, place), place);
  });
}

function readSearchResult(block: JsonObject, at: string): TextPart {
  refuseCitations(block, at);
  const found = readTexts(block.content, `${at}.content`).map((part) => part.text);
  const lines = [stringMember(block, 'title'), stringMember(block, 'source'), ...found];
  const text = lines.filter((line) => line !== null && line !== '').join('\n');
  return { kind: 'text', text, cache: readCache(block), at };
}

function readResult(block: JsonObject, at: string): ToolResult {
  return {
    callId: decodeToolId(requireString(block.tool_use_id, `${at}.tool_use_id`)),
    parts: readResultParts(block.content, `${at}.content`),
    failed: optionalBoolean(block.is_error, `${at}.is_error`) ?? false,
    custom: false,
    cache: readCache(block),
    at,
  };
}

function readResultParts(content: Json | undefined, at: string): ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, cache: null, at }];
  return requireList(content, at).flatMap((value, index): ContentPart[] => {
    const place = `${at}.${index}`;
    const block = requireObject(value, place);
    if (block.type !== 'tool_reference') return readContent(block, place);
    const name = requireString(block.tool_name, `${place}.tool_name`);
    return [{ kind: 'text', text: `[tool available: ${name}]`, cache: null, at: place }];
  });
}

function readAssistant(content: Json | undefined, at: string): AssistantPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, cache: null, at }];
  return requireList(content, at).flatMap((value, index): AssistantPart[] => {
    const place = `${at}.${index}`;
    const block = requireObject(value, place);
    switch (typeOf(block)) {
      case 'text':
        return [readText(block, place)];
      case 'tool_use':
        return [readCall(block, place)];
      case 'thinking': {
        return [{ kind: 'reasoning', text: requireString(block.thinking, `${place}.thinking`), at: place }];
      }
      case 'redacted_thinking':
        return [];
      default: {
        const text = textOfBlock(block);
        if (text === null) return refuseType(block, place, 'blocks');
        return text === '' ? [] : [{ kind: 'text', text: `${text}\n`, cache: readCache(block), at: place }];
      }
    }
  });
}

function readCall(block: JsonObject, at: string): AssistantPart {
  return {
    kind: 'call',
    id: decodeToolId(requireString(block.id, `${at}.id`)),
    name: requireString(block.name, `${at}.name`),
    arguments: stringifyJson(requireObject(block.input ?? {}, `${at}.input`)),
    custom: false,
    cache: readCache(block),
    at,
  };
}

function readTool(value: Json, at: string): FunctionTool[] {
  const tool = requireObject(value, at);
  if (isOptionalTool(tool.type)) return [];
  if (tool.type !== undefined && tool.type !== null && tool.type !== 'custom') {
    refuseType(tool, at, 'tools');
  }
  refuseOtherCallers(tool.allowed_callers, `${at}.allowed_callers`);
  return [
    {
      kind: 'function',
      name: requireString(tool.name, `${at}.name`),
      description: optionalString(tool.description, `${at}.description`),
      schema: requireObject(tool.input_schema, `${at}.input_schema`),
      strict: optionalBoolean(tool.strict, `${at}.strict`),
      cache: readCache(tool),
      at,
    },
  ];
}

/** A tool that only the vendor's own programs may call must not be handed to the model itself. */
function refuseOtherCallers(allowed: Json | undefined, at: string): void {
  const callers = optionalList(allowed, at);
  if (callers.length > 0 && !callers.includes('direct')) {
    refuse(at, 'calls by programs that run at the vendor are not supported for this model');
  }
}

function readToolChoice(
  choice: JsonObject | null,
  tools: Json | undefined,
): { toolChoice: ToolChoice | null; parallelCalls: boolean | null } {
  if (choice === null) return { toolChoice: null, parallelCalls: null };
  const at = 'tool_choice';
  const single = optionalBoolean(choice.disable_parallel_tool_use, `${at}.disable_parallel_tool_use`);
  const parallelCalls = single === null ? null : !single;
  const kind = oneOf(choice.type, ['auto', 'any', 'tool', 'none'], `${at}.type`);
  if (kind !== 'tool') return { toolChoice: { kind, at }, parallelCalls };
  const name = requireString(choice.name, `${at}.name`);
  const isForced = (tool: Json): boolean => isObject(tool) && tool.name === name && isOptionalTool(tool.type);
  if (Array.isArray(tools) && tools.some(isForced)) refuseVendorChoice(at);
  return { toolChoice: { kind, name, custom: false, at }, parallelCalls };
}

/** A stated effort wins over a budget; thinking that is switched off stays off. */
function readThinking(thinking: JsonObject | null, outputConfig: JsonObject | null): Thinking | null {
  const effort = optionalString(outputConfig?.effort, 'output_config.effort');
  const kind =
    thinking === null
      ? null
      : oneOf(thinking.type, ['enabled', 'adaptive', 'between_tools', 'disabled'], 'thinking.type');
  if (kind === 'disabled') return { kind: 'off', at: 'thinking' };
  if (effort !== null) {
    const at = 'output_config.effort';
    return { kind: 'effort', effort: oneOf(effort, EFFORTS, at), at };
  }
  if (kind === null) return null;
  if (kind !== 'enabled') return { kind: 'adaptive', at: 'thinking' };
  const budget = optionalNumber(thinking?.budget_tokens, 'thinking.budget_tokens');
  if (budget === null) refuse('thinking.budget_tokens', 'is required when thinking is enabled', 'invalid_value');
  return { kind: 'budget', tokens: numberValue(budget), at: 'thinking.budget_tokens' };
}

function readDisplay(thinking: JsonObject | null): boolean | null {
  if (thinking === null || thinking.type === 'disabled') return null;
  return thinking.display !== 'omitted';
}

function readFormat(body: JsonObject, outputConfig: JsonObject | null): Dialogue['format'] {
  const current = optionalObject(outputConfig?.format, 'output_config.format');
  const at = current === null ? 'output_format' : 'output_config.format';
  const format = current ?? optionalObject(body.output_format, 'output_format');
  if (format === null) return null;
  oneOf(format.type, ['json_schema'], `${at}.type`);
  const schema = requireObject(format.schema, `${at}.schema`);
  return { kind: 'schema', schema, name: null, description: null, strict: null, at };
}
