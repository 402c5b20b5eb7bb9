import { readFile, readImageUrl } from '../dialogue/attachments.ts';
import type {
  AssistantPart,
  CacheMark,
  CallPart,
  ContentPart,
  Dialogue,
  TextPart,
  Thinking,
  Tool,
  ToolChoice,
  Turn,
} from '../dialogue/dialogue.ts';
import { isObject, type Json, type JsonObject, numberValue, typeOf } from '../dialogue/json.ts';
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
} from '../dialogue/refusal.ts';
import { appendResult } from '../dialogue/turns.ts';
import { isOptionalTool, refuseVendorChoice } from '../dialogue/vendor-tools.ts';
import type { FieldRule } from '../members.ts';
import { translationRules } from '../members.ts';
import { onlyText, readFormat, readThinking, refuseUpload } from '../openai-members.ts';
import type { RequestFacts } from '../protocol.ts';
import { readContentParts } from './stream-reader.ts';

/** What becomes of each field of the body; every other one is refused. */
export const chatFields = translationRules('chat-completions');

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

/** Reads a chat completions request. Throws `Untranslatable` for what the other protocols have no words for. */
export function readChatRequest(body: JsonObject, _facts: RequestFacts, upstream: string): Dialogue {
  checkFields(body, { rules: chatFields, upstream });
  const { tools, toolChoice } = readToolChoice(body.tool_choice, readTools(body.tools));
  return {
    ...readMessages(requireList(body.messages, 'messages')),
    tools,
    toolChoice,
    parallelCalls: optionalBoolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    ...readReasoning(body, upstream),
    format: readFormat(optionalObject(body.response_format, 'response_format'), 'response_format', 'json_schema'),
    stop: { sequences: readStop(body.stop), at: 'stop' },
    temperature: optionalNumber(body.temperature, 'temperature'),
    topP: optionalNumber(body.top_p, 'top_p'),
    topK: optionalNumber(body.top_k, 'top_k'),
    endUser: optionalString(body.safety_identifier, 'safety_identifier') ?? optionalString(body.user, 'user'),
    verbosity: optionalString(body.verbosity, 'verbosity'),
    cacheKey: optionalString(body.prompt_cache_key, 'prompt_cache_key'),
  };
}

function readMessages(messages: Json[]): { instructions: TextPart[]; turns: Turn[] } {
  const instructions: TextPart[] = [];
  const turns: Turn[] = [];
  // The deprecated function calling has names in place of ids, and one call at a time.
  let functionCallId = 'function_call';
  messages.forEach((value, index) => {
    const at = `messages[${index}]`;
    const message = requireObject(value, at);
    const role = oneOf(message.role, ROLES, `${at}.role`);
    switch (role) {
      case 'system':
      case 'developer': {
        const texts = readTexts(message.content, `${at}.content`);
        if (turns.length === 0) instructions.push(...texts);
        else turns.push({ role: 'system', texts, at });
        break;
      }
      case 'user':
        turns.push({ role: 'user', parts: readContent(message.content, `${at}.content`), at });
        break;
      case 'assistant':
        functionCallId = `function_call_${index}`;
        turns.push({ role: 'assistant', parts: readAssistant(message, functionCallId, at), at });
        break;
      case 'tool':
      case 'function':
        appendResult(turns, {
          callId: role === 'tool' ? requireString(message.tool_call_id, `${at}.tool_call_id`) : functionCallId,
          parts: readContent(message.content, `${at}.content`),
          failed: false,
          custom: false,
          cache: readCache(message),
          at,
        });
    }
  });
  return { instructions, turns };
}

function readCache(part: JsonObject): CacheMark | null {
  if (isObject(part.cache_control)) {
    const { ttl } = part.cache_control;
    return { ttl: ttl === '5m' || ttl === '1h' ? ttl : null };
  }
  return isObject(part.prompt_cache_breakpoint) ? { ttl: null } : null;
}

function readTexts(content: Json | undefined, at: string): TextPart[] {
  return readContent(content, at).map(onlyText);
}

function readContent(content: Json | undefined, at: string): ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, cache: null, at }];
  return requireList(content, at).map((value, index) => {
    const place = `${at}[${index}]`;
    return readPart(requireObject(value, place), place);
  });
}

function readPart(part: JsonObject, at: string): ContentPart {
  const cache = readCache(part);
  switch (typeOf(part)) {
    case 'text':
      return { kind: 'text', text: requireString(part.text, `${at}.text`), cache, at };
    case 'refusal':
      return { kind: 'text', text: requireString(part.refusal, `${at}.refusal`), cache, at };
    case 'image_url': {
      const image = requireObject(part.image_url, `${at}.image_url`);
      const url = requireString(image.url, `${at}.image_url.url`);
      const detail = optionalString(image.detail, `${at}.image_url.detail`);
      return readImageUrl(url, { detail, cache, at: `${at}.image_url.url` });
    }
    case 'file': {
      const place = `${at}.file`;
      const file = requireObject(part.file, place);
      refuseUpload(file, place);
      const filename = optionalString(file.filename, `${place}.filename`);
      const data = requireString(file.file_data, `${place}.file_data`);
      return readFile(data, { filename, cache, at: `${place}.file_data` });
    }
    default:
      return refuseType(part, at, 'content parts');
  }
}

function readAssistant(message: JsonObject, functionCallId: string, at: string): AssistantPart[] {
  if (message.audio !== undefined && message.audio !== null) refuse(`${at}.audio`, 'is not supported for this model');
  const content = readAnswer(message.content, `${at}.content`);
  const refusal = optionalString(message.refusal, `${at}.refusal`);
  const reasoning = optionalString(message.reasoning_content, `${at}.reasoning_content`);
  const calls = optionalList(message.tool_calls, `${at}.tool_calls`);
  const legacy = optionalObject(message.function_call, `${at}.function_call`);
  return [
    ...(reasoning === null || reasoning === ''
      ? []
      : [{ kind: 'reasoning', text: reasoning, at: `${at}.reasoning_content` } as const]),
    ...content,
    ...(refusal === null ? [] : [{ kind: 'text', text: refusal, cache: null, at: `${at}.refusal` } as const]),
    ...calls.map((call, index) => readCall(call, `${at}.tool_calls[${index}]`)),
    ...(legacy === null ? [] : [readFunction(legacy, functionCallId, `${at}.function_call`)]),
  ];
}

/** Text, and the parts in which some vendors (Mistral) hold reasoning and references to what they have read. */
function readAnswer(content: Json | undefined, at: string): AssistantPart[] {
  if (!Array.isArray(content)) return readTexts(content, at);
  return content.flatMap((value, index): AssistantPart[] => {
    const place = `${at}[${index}]`;
    const part = requireObject(value, place);
    if (part.type === 'reference') return [];
    if (part.type !== 'thinking') return [onlyText(readPart(part, place))];
    const text = readContentParts([part])
      .map((piece) => piece.text)
      .join('');
    return text === '' ? [] : [{ kind: 'reasoning', text, at: place }];
  });
}

function readCall(value: Json, at: string): CallPart {
  const call = requireObject(value, at);
  const id = requireString(call.id, `${at}.id`);
  if (call.type === 'custom') {
    const custom = requireObject(call.custom, `${at}.custom`);
    const name = requireString(custom.name, `${at}.custom.name`);
    const input = requireString(custom.input, `${at}.custom.input`);
    return { kind: 'call', id, name, arguments: input, custom: true, cache: null, at };
  }
  const place = `${at}.function`;
  return { ...readFunction(requireObject(call.function, place), id, place), cache: readCache(call), at };
}

function readFunction(call: JsonObject, id: string, at: string): CallPart {
  const name = requireString(call.name, `${at}.name`);
  const text = optionalString(call.arguments, `${at}.arguments`) ?? '';
  return { kind: 'call', id, name, arguments: text, custom: false, cache: null, at };
}

function readTools(tools: Json | undefined): Tool[] {
  return optionalList(tools, 'tools').flatMap((value, index): Tool[] => {
    const at = `tools[${index}]`;
    const tool = requireObject(value, at);
    if (isOptionalTool(tool.type)) return [];
    if (tool.type === 'custom') {
      const custom = requireObject(tool.custom, `${at}.custom`);
      return [
        {
          kind: 'custom',
          name: requireString(custom.name, `${at}.custom.name`),
          description: optionalString(custom.description, `${at}.custom.description`),
          format: readCustomFormat(optionalObject(custom.format, `${at}.custom.format`)),
          at,
        },
      ];
    }
    oneOf(tool.type, ['function'], `${at}.type`);
    const place = `${at}.function`;
    const declared = requireObject(tool.function, place);
    return [
      {
        kind: 'function',
        name: requireString(declared.name, `${place}.name`),
        description: optionalString(declared.description, `${place}.description`),
        schema: optionalObject(declared.parameters, `${place}.parameters`),
        strict: optionalBoolean(declared.strict, `${place}.strict`),
        cache: readCache(tool) ?? readCache(declared),
        at,
      },
    ];
  });
}

/** The grammar stands one level deeper here than in the Responses protocol, whose form is kept. */
function readCustomFormat(format: JsonObject | null): JsonObject | null {
  if (format === null || !isObject(format.grammar)) return format;
  return { type: 'grammar', ...format.grammar };
}

/** `allowed_tools` narrows the list; the other protocols can only be given the narrowed list. */
function readToolChoice(choice: Json | undefined, tools: Tool[]): { tools: Tool[]; toolChoice: ToolChoice | null } {
  const at = 'tool_choice';
  if (choice === undefined || choice === null) return { tools, toolChoice: null };
  if (typeof choice === 'string') {
    const kind = oneOf(choice, ['none', 'auto', 'required'], at);
    return { tools, toolChoice: { kind: kind === 'required' ? 'any' : kind, at } };
  }
  const object = requireObject(choice, at);
  if (isOptionalTool(object.type)) refuseVendorChoice(at);
  const type = oneOf(object.type, ['function', 'custom', 'allowed_tools'], `${at}.type`);
  const place = `${at}.${type}`;
  const named = requireObject(object[type], place);
  if (type !== 'allowed_tools') {
    const name = requireString(named.name, `${place}.name`);
    return { tools, toolChoice: { kind: 'tool', name, custom: type === 'custom', at } };
  }
  const mode = oneOf(named.mode, ['auto', 'required'], `${place}.mode`);
  const allowed = requireList(named.tools, `${place}.tools`).map((value, index) => {
    const entryAt = `${place}.tools[${index}]`;
    const entry = requireObject(value, entryAt);
    const kind = oneOf(entry.type, ['function', 'custom'], `${entryAt}.type`);
    return requireString(optionalObject(entry[kind], `${entryAt}.${kind}`)?.name, `${entryAt}.${kind}.name`);
  });
  const names = new Set(allowed);
  return {
    tools: tools.filter((tool) => names.has(tool.name)),
    toolChoice: { kind: mode === 'required' ? 'any' : 'auto', at },
  };
}

const REASONING_FIELDS: Readonly<Record<string, FieldRule>> = {
  effort: 'read',
  enabled: 'read',
  exclude: 'read',
  max_tokens: 'read',
  summary: 'drop',
};

/** `reasoning_effort`, or what vendors and other gateways have in its place; what is switched off is off. */
function readReasoning(body: JsonObject, upstream: string): Pick<Dialogue, 'thinking' | 'showReasoning'> {
  const named =
    readSwitches(body) ?? readThinking(optionalString(body.reasoning_effort, 'reasoning_effort'), 'reasoning_effort');
  const reasoning = optionalObject(body.reasoning, 'reasoning');
  if (reasoning === null) return { thinking: named, showReasoning: null };
  checkFields(reasoning, { rules: REASONING_FIELDS, upstream, at: 'reasoning' });
  const enabled = optionalBoolean(reasoning.enabled, 'reasoning.enabled');
  const excluded = optionalBoolean(reasoning.exclude, 'reasoning.exclude');
  const effort = readThinking(optionalString(reasoning.effort, 'reasoning.effort'), 'reasoning.effort');
  const budget = optionalNumber(reasoning.max_tokens, 'reasoning.max_tokens');
  return {
    thinking: enabled === false ? { kind: 'off', at: 'reasoning.enabled' } : asked(),
    showReasoning: excluded === true ? false : null,
  };

  function asked(): Thinking | null {
    if (effort !== null) return effort;
    if (budget !== null) return { kind: 'budget', tokens: numberValue(budget), at: 'reasoning.max_tokens' };
    return enabled === true ? { kind: 'adaptive', at: 'reasoning.enabled' } : named;
  }
}

const THINKING_TYPES = ['enabled', 'adaptive', 'auto', 'disabled'] as const;

/** The switches of vendors that have one beside the effort: `thinking` (DeepSeek, Z.ai, Moonshot), `enable_thinking` (Qwen). */
function readSwitches(body: JsonObject): Thinking | null {
  const thinking = optionalObject(body.thinking, 'thinking');
  const type = thinking === null ? null : oneOf(thinking.type, THINKING_TYPES, 'thinking.type');
  const enabled = optionalBoolean(body.enable_thinking, 'enable_thinking');
  if (type === 'disabled') return { kind: 'off', at: 'thinking' };
  if (enabled === false) return { kind: 'off', at: 'enable_thinking' };
  if (body.reasoning_effort !== undefined && body.reasoning_effort !== null) return null;
  const own = optionalNumber(thinking?.budget_tokens, 'thinking.budget_tokens');
  const budget = own ?? optionalNumber(body.thinking_budget, 'thinking_budget');
  if (budget !== null) {
    const at = own === null ? 'thinking_budget' : 'thinking.budget_tokens';
    return { kind: 'budget', tokens: numberValue(budget), at };
  }
  if (type !== null) return { kind: 'adaptive', at: 'thinking' };
  return enabled === true ? { kind: 'adaptive', at: 'enable_thinking' } : null;
}

function readStop(stop: Json | undefined): string[] {
  if (typeof stop === 'string') return [stop];
  return optionalList(stop, 'stop').map((value, index) => requireString(value, `stop[${index}]`));
}
