import { readFile, readImageUrl } from '../dialogue/attachments.ts';
import type {
  AssistantPart,
  CallPart,
  ContentPart,
  Dialogue,
  FunctionTool,
  TextPart,
  Tool,
  ToolChoice,
  ToolResult,
  Turn,
} from '../dialogue/dialogue.ts';
import { type Json, type JsonObject, stringifyJson, typeOf } from '../dialogue/json.ts';
import { isWebAddress } from '../dialogue/media.ts';
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
import { nameWithin } from '../dialogue/tool-names.ts';
import { appendResult } from '../dialogue/turns.ts';
import { isOptionalTool, refuseVendorChoice, textOfItem } from '../dialogue/vendor-tools.ts';
import type { FieldRule } from '../members.ts';
import { translationRules } from '../members.ts';
import { onlyText, readFormat, readThinking, refuseUpload } from '../openai-members.ts';
import type { RequestFacts } from '../protocol.ts';

/** What becomes of each field of the body; every other one is refused. */
export const responsesFields = translationRules('responses');

const REASONING_FIELDS: Readonly<Record<string, FieldRule>> = {
  effort: 'read',
  /** The older name of `summary`. */
  generate_summary: 'read',
  summary: 'read',
  /** Says which of the earlier reasoning counts; none of it can. */
  context: 'drop',
  mode: (value) => value === 'standard',
};

const TEXT_FIELDS: Readonly<Record<string, FieldRule>> = { format: 'read', verbosity: 'read' };

/** Reads a Responses request. Throws `Untranslatable` for what the other protocols have no words for. */
export function readResponsesRequest(body: JsonObject, _facts: RequestFacts, upstream: string): Dialogue {
  checkFields(body, { rules: responsesFields, upstream });
  const reasoning = optionalObject(body.reasoning, 'reasoning');
  checkFields(reasoning ?? {}, { rules: REASONING_FIELDS, upstream, at: 'reasoning' });
  const text = optionalObject(body.text, 'text');
  checkFields(text ?? {}, { rules: TEXT_FIELDS, upstream, at: 'text' });
  const summary =
    optionalString(reasoning?.summary, 'reasoning.summary') ??
    optionalString(reasoning?.generate_summary, 'reasoning.generate_summary');
  const { instructions, turns, found } = readInput(body.input);
  const declared = withFound(readTools(body.tools, 'tools', null), found);
  const { tools, toolChoice } = readToolChoice(body.tool_choice, declared);
  const leading = optionalString(body.instructions, 'instructions');
  return {
    instructions: [...(leading === null || leading === '' ? [] : [textPart(leading, 'instructions')]), ...instructions],
    turns,
    tools,
    toolChoice,
    parallelCalls: optionalBoolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    thinking: readThinking(optionalString(reasoning?.effort, 'reasoning.effort'), 'reasoning.effort'),
    showReasoning: summary === null ? null : true,
    format: readFormat(optionalObject(text?.format, 'text.format'), 'text.format'),
    stop: { sequences: [], at: 'stop' },
    temperature: optionalNumber(body.temperature, 'temperature'),
    topP: optionalNumber(body.top_p, 'top_p'),
    topK: null,
    endUser: optionalString(body.safety_identifier, 'safety_identifier') ?? optionalString(body.user, 'user'),
    verbosity: optionalString(text?.verbosity, 'text.verbosity'),
    cacheKey: optionalString(body.prompt_cache_key, 'prompt_cache_key'),
  };
}

/** Tools that a search has found stand beside those that are declared, where they are not the same. */
function withFound(declared: FunctionTool[], found: readonly FunctionTool[]): FunctionTool[] {
  const names = new Set(declared.map(({ name }) => name));
  const isNew = ({ name }: FunctionTool): boolean => names.size < names.add(name).size;
  return [...declared, ...found.filter(isNew)];
}

function textPart(text: string, at: string): TextPart {
  return { kind: 'text', text, cache: null, at };
}

/** What `input` says; `found`: tools that a search in the history has found, which the model may call since. */
interface Input {
  instructions: TextPart[];
  turns: Turn[];
  found: FunctionTool[];
}

function readInput(input: Json | undefined): Input {
  if (typeof input === 'string') {
    return { instructions: [], turns: [{ role: 'user', parts: [textPart(input, 'input')], at: 'input' }], found: [] };
  }
  const instructions: TextPart[] = [];
  const found: FunctionTool[] = [];
  const turns: Turn[] = [];
  const answer: OpenAnswer = { hasText: false, hasCall: false };
  requireList(input, 'input').forEach((value, index) => {
    const at = `input[${index}]`;
    const item = requireObject(value, at);
    if (item.type !== undefined && item.type !== 'message') {
      readItem(item, turns, answer, at);
      if (item.type === 'tool_search_output' || item.type === 'additional_tools')
        found.push(...readTools(item.tools, `${at}.tools`, null));
      return;
    }
    const role = oneOf(item.role, ['system', 'developer', 'user', 'assistant'], `${at}.role`);
    const parts = readContent(item.content, `${at}.content`);
    if (role === 'user') turns.push({ role, parts, at });
    else if (role === 'assistant') addAssistant(turns, answer, parts.map(onlyText), at);
    else if (turns.length === 0) instructions.push(...parts.map(onlyText));
    else turns.push({ role: 'system', texts: parts.map(onlyText), at });
  });
  return { instructions, turns, found };
}

/** What the last answer has so far. Kept and not looked for, because histories are long. */
interface OpenAnswer {
  hasText: boolean;
  hasCall: boolean;
}

/**
 * Items of one answer stand apart here and together in the other protocols. A new answer begins where text or
 * reasoning follows text; calls and what surrounds them stay together, because their results must follow directly.
 */
function addAssistant(turns: Turn[], answer: OpenAnswer, parts: AssistantPart[], at: string): void {
  const last = turns.at(-1);
  const hasCall = parts.some(({ kind }) => kind === 'call');
  const hasText = parts.some(({ kind }) => kind === 'text');
  if (last?.role === 'assistant' && (hasCall || answer.hasCall || !answer.hasText)) {
    last.parts.push(...parts);
    answer.hasCall ||= hasCall;
    answer.hasText ||= hasText;
  } else {
    turns.push({ role: 'assistant', parts, at });
    Object.assign(answer, { hasText, hasCall });
  }
}

function readItem(item: JsonObject, turns: Turn[], answer: OpenAnswer, at: string): void {
  switch (typeOf(item)) {
    case 'function_call':
    case 'custom_tool_call':
      addAssistant(turns, answer, [readCall(item, at)], at);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      appendResult(turns, readResult(item, at));
      break;
    case 'reasoning':
      addAssistant(turns, answer, [readReasoning(item, at)], at);
      break;
    case 'web_search_call':
    case 'mcp_list_tools':
    case 'tool_search_call':
    case 'tool_search_output':
    case 'additional_tools':
      // Say only that a search took place, or what there was to call; what was found is in the text that follows, and
      // tools that were found stand among the others.
      break;
    default: {
      const told = textOfItem(item);
      if (told === null) refuseType(item, at, 'items');
      const parts = [textPart(`${told.text}\n`, at)];
      if (told.role === 'user') turns.push({ role: 'user', parts, at });
      else addAssistant(turns, answer, parts, at);
    }
  }
}

function readCall(item: JsonObject, at: string): CallPart {
  const text =
    item.type === 'custom_tool_call'
      ? wrapFreeText(requireString(item.input, `${at}.input`))
      : (optionalString(item.arguments, `${at}.arguments`) ?? '');
  return {
    kind: 'call',
    id: requireString(item.call_id, `${at}.call_id`),
    name: nameWithin(optionalString(item.namespace, `${at}.namespace`), requireString(item.name, `${at}.name`)),
    arguments: text,
    custom: false,
    cache: null,
    at,
  };
}

/** The arguments of the function that stands in for a free-text tool. */
function wrapFreeText(input: string): string {
  return stringifyJson({ input });
}

function readResult(item: JsonObject, at: string): ToolResult {
  return {
    callId: requireString(item.call_id, `${at}.call_id`),
    parts: readContent(item.output, `${at}.output`),
    failed: false,
    custom: false,
    cache: null,
    at,
  };
}

function readReasoning(item: JsonObject, at: string): AssistantPart {
  const summary = optionalList(item.summary, `${at}.summary`);
  const [pieces, name] =
    summary.length > 0 ? [summary, 'summary'] : [optionalList(item.content, `${at}.content`), 'content'];
  const texts = pieces.map((piece, index) => {
    const place = `${at}.${name}[${index}]`;
    return requireString(requireObject(piece, place).text, `${place}.text`);
  });
  return { kind: 'reasoning', text: texts.join('\n\n'), at };
}

function readContent(content: Json | undefined, at: string): ContentPart[] {
  if (typeof content === 'string') return [textPart(content, at)];
  return requireList(content, at).map((value, index) => {
    const place = `${at}[${index}]`;
    return readPart(requireObject(value, place), place);
  });
}

function readPart(part: JsonObject, at: string): ContentPart {
  switch (typeOf(part)) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return textPart(requireString(part.text, `${at}.text`), at);
    case 'refusal':
      return textPart(requireString(part.refusal, `${at}.refusal`), at);
    case 'input_image': {
      refuseUpload(part, at);
      const detail = optionalString(part.detail, `${at}.detail`);
      return readImageUrl(requireString(part.image_url, `${at}.image_url`), {
        detail,
        cache: null,
        at: `${at}.image_url`,
      });
    }
    case 'input_file':
      return readInputFile(part, at);
    default:
      return refuseType(part, at, 'content parts');
  }
}

function readInputFile(part: JsonObject, at: string): ContentPart {
  refuseUpload(part, at);
  const filename = optionalString(part.filename, `${at}.filename`);
  const url = optionalString(part.file_url, `${at}.file_url`);
  if (url === null) {
    return readFile(requireString(part.file_data, `${at}.file_data`), { filename, cache: null, at: `${at}.file_data` });
  }
  if (!isWebAddress(url)) refuse(`${at}.file_url`, 'must be an http(s) address', 'invalid_value');
  return {
    kind: 'document',
    source: { kind: 'url', url },
    title: filename,
    context: null,
    cache: null,
    at: `${at}.file_url`,
  };
}

/** `namespace`: the group that the tools stand in. */
function readTools(tools: Json | undefined, listAt: string, namespace: string | null): FunctionTool[] {
  return optionalList(tools, listAt).flatMap((value, index): FunctionTool[] => {
    const at = `${listAt}[${index}]`;
    const tool = requireObject(value, at);
    if (isOptionalTool(tool.type)) return [];
    if (tool.type === 'namespace' && namespace === null) return readNamespace(tool, at);
    if (tool.type === 'custom') return [readFreeTextTool(tool, at, namespace)];
    if (tool.type !== 'function') refuseType(tool, at, 'tools');
    const name = requireString(tool.name, `${at}.name`);
    return [
      {
        kind: 'function',
        name: nameWithin(namespace, name),
        description: optionalString(tool.description, `${at}.description`),
        schema: optionalObject(tool.parameters, `${at}.parameters`),
        strict: optionalBoolean(tool.strict, `${at}.strict`),
        cache: null,
        at,
        own: { name, namespace, freeText: false },
      },
    ];
  });
}

/** The tools of a group; what the group is for opens the description of its first one. */
function readNamespace(group: JsonObject, at: string): FunctionTool[] {
  const name = requireString(group.name, `${at}.name`);
  const told = optionalString(group.description, `${at}.description`) ?? '';
  const [first, ...rest] = readTools(group.tools, `${at}.tools`, name);
  if (first === undefined) return [];
  const heading = told === '' ? [] : [`[${name}: ${told}]`];
  const lines = first.description === null ? heading : [...heading, first.description];
  return [{ ...first, description: lines.length === 0 ? null : lines.join('\n\n') }, ...rest];
}

const FREE_TEXT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/** A tool that takes free text becomes a function with one argument; its grammar can only be described to the model. */
function readFreeTextTool(tool: JsonObject, at: string, namespace: string | null): FunctionTool {
  const description = optionalString(tool.description, `${at}.description`);
  const format = optionalObject(tool.format, `${at}.format`);
  const grammar =
    format?.type === 'grammar'
      ? `The value of "input" must match this ${requireString(format.syntax, `${at}.format.syntax`)} grammar:\n${requireString(format.definition, `${at}.format.definition`)}`
      : null;
  const told = [description, grammar].filter((text) => text !== null).join('\n\n');
  const name = requireString(tool.name, `${at}.name`);
  return {
    kind: 'function',
    name: nameWithin(namespace, name),
    description: told === '' ? null : told,
    schema: FREE_TEXT_SCHEMA,
    strict: null,
    cache: null,
    at,
    own: { name, namespace, freeText: true },
  };
}

function readToolChoice(
  choice: Json | undefined,
  tools: FunctionTool[],
): { tools: Tool[]; toolChoice: ToolChoice | null } {
  const at = 'tool_choice';
  if (choice === undefined || choice === null) return { tools, toolChoice: null };
  if (typeof choice === 'string') {
    const kind = oneOf(choice, ['none', 'auto', 'required'], at);
    return { tools, toolChoice: { kind: kind === 'required' ? 'any' : kind, at } };
  }
  const object = requireObject(choice, at);
  if (isOptionalTool(object.type)) refuseVendorChoice(at);
  const type = oneOf(object.type, ['function', 'custom', 'allowed_tools'], `${at}.type`);
  if (type !== 'allowed_tools') {
    const name = nameWithin(
      optionalString(object.namespace, `${at}.namespace`),
      requireString(object.name, `${at}.name`),
    );
    return { tools, toolChoice: { kind: 'tool', name, custom: false, at } };
  }
  const mode = oneOf(object.mode, ['auto', 'required'], `${at}.mode`);
  const allowed = new Set<string | null>(
    requireList(object.tools, `${at}.tools`).map((tool, index) => {
      const place = `${at}.tools[${index}]`;
      return optionalString(requireObject(tool, place).name, `${place}.name`);
    }),
  );
  return {
    // A group is allowed by its own name.
    tools: tools.filter(({ name, own = { name, namespace: null } }) =>
      own.namespace === null ? allowed.has(own.name) : allowed.has(own.name) || allowed.has(own.namespace),
    ),
    toolChoice: { kind: mode === 'required' ? 'any' : 'auto', at },
  };
}
