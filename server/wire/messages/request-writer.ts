import type { UpstreamFeatures } from '../../core/features.ts';
import { isNestedTooDeeply } from '../dialogue/bounds.ts';
import { endUserName, type WriterInput } from '../dialogue/context.ts';
import type {
  AnswerFormat,
  AssistantPart,
  CacheMark,
  CallPart,
  ContentPart,
  Dialogue,
  TextPart,
  Tool,
  ToolChoice,
  ToolResult,
  Turn,
} from '../dialogue/dialogue.ts';
import { budgetOfEffort, knownEffort, possibleThinking, takesEffort } from '../dialogue/effort.ts';
import { isObject, type JsonNumber, type JsonObject, numberValue, tryParseJson } from '../dialogue/json.ts';
import { refuse } from '../dialogue/refusal.ts';
import { objectSchema } from '../dialogue/schema.ts';
import { placeSystemTurns } from '../dialogue/system-turns.ts';
import { encodeToolId } from '../dialogue/tool-ids.ts';
import { NAME_LIMIT, shortenName } from '../dialogue/tool-names.ts';
import { callsOf } from '../dialogue/turns.ts';
import type { WireContext } from '../protocol.ts';

/** Above it the vendor refuses, where the chat protocols go to 2. */
const MOST_TEMPERATURE = 1;
/** With thinking on, the vendor takes no smaller nucleus. */
const LEAST_TOP_P_WITH_THINKING = 0.95;
/** Stands in for a mode that the protocol lacks; only for models whose catalog entry allows it. */
const JSON_ONLY = 'Answer with a single JSON object and nothing else.';

type Body = Record<string, unknown>;

/** Writes the body for a Messages upstream. Throws `Untranslatable` for what that protocol lacks. */
export function writeMessagesRequest({ dialogue, facts, context }: WriterInput): Body {
  const { features } = context;
  const maxTokens = facts.maxTokens ?? context.maxOutputTokens;
  const { instructions, hoisted, turns } = placeSystemTurns(dialogue, features.systemRole);
  const told = [...instructions, ...joinHoisted(hoisted), ...writeJsonOnly(dialogue.format, features)];
  const system = told.flatMap(writeText);
  const stop = dialogue.stop.sequences.filter((sequence) => sequence.trim() !== '');
  const thinking = writeThinking(dialogue, maxTokens, context);
  if (thinking.budgeted) refuseForcedCall(dialogue.toolChoice);
  const outputConfig = { ...thinking.outputConfig, ...writeFormat(dialogue.format) };
  const endUser = endUserName(dialogue.endUser, context);
  return {
    model: context.upstreamModel,
    max_tokens: maxTokens,
    ...(system.length === 0 ? {} : { system }),
    messages: writeTurns(turns, facts.protocol === 'responses' ? 'input' : 'messages'),
    ...(dialogue.tools.length === 0 ? {} : writeTools(dialogue)),
    ...(stop.length === 0 ? {} : { stop_sequences: stop }),
    ...(features.sampling ? writeSampling(dialogue, thinking.on) : {}),
    thinking: thinking.config,
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
    ...(endUser === undefined ? {} : { metadata: { user_id: endUser } }),
    ...(facts.stream ? { stream: true } : {}),
  };
}

function joinHoisted(texts: readonly TextPart[]): TextPart[] {
  const [first] = texts;
  return first === undefined ? [] : [{ ...first, text: texts.map(({ text }) => text).join('\n') }];
}

function writeJsonOnly(format: AnswerFormat | null, features: UpstreamFeatures): TextPart[] {
  if (format?.kind !== 'json') return [];
  if (!features.jsonObject) refuse(format.at, 'JSON without a schema is not supported for this model');
  return [{ kind: 'text', text: JSON_ONLY, cache: null, at: format.at }];
}

/**
 * Calls and their results alternate between the two roles here, so that neighbours of one role become one turn. `at`: the
 * client's member that holds the conversation.
 */
function writeTurns(turns: readonly Turn[], at: string): Body[] {
  const messages: Body[] = [];
  let index = 0;
  while (index < turns.length) {
    const role = speaker(turns[index]);
    let end = index;
    while (end < turns.length && speaker(turns[end]) === role) end += 1;
    const content = writeGroup(turns.slice(index, end));
    // The protocol has no empty message; made-up content would be worse than none.
    if (content.length > 0) messages.push({ role, content });
    else if (end === turns.length && messages.at(-1)?.role === 'assistant') {
      // Left out, it would have the vendor go on with the last answer as if that were only begun.
      refuse(turns.at(-1)?.at ?? at, 'says nothing: a conversation ends with something to answer');
    }
    index = end;
  }
  if (messages.length === 0) {
    refuse(turns.at(-1)?.at ?? at, 'says nothing: this model needs a message with text or media in it');
  }
  return messages;
}

function speaker(turn: Turn | undefined): 'user' | 'assistant' | 'system' | undefined {
  return turn?.role === 'results' ? 'user' : turn?.role;
}

function writeGroup(turns: readonly Turn[]): Body[] {
  const results = turns.flatMap((turn) => (turn.role === 'results' ? turn.results.map(writeResult) : []));
  const rest = turns.flatMap((turn): Body[] => {
    if (turn.role === 'user') return turn.parts.flatMap(writePart);
    if (turn.role === 'assistant') return turn.parts.flatMap(writeAssistantPart);
    return turn.role === 'system' ? turn.texts.flatMap(writeText) : [];
  });
  return [...results, ...rest];
}

function cacheMark(cache: CacheMark | null): Body {
  if (cache === null) return {};
  return { cache_control: { type: 'ephemeral', ...(cache.ttl === null ? {} : { ttl: cache.ttl }) } };
}

/** Blank text says nothing, and the vendor refuses it. */
function writeText(part: TextPart): Body[] {
  return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, ...cacheMark(part.cache) }];
}

function writePart(part: ContentPart): Body[] {
  if (part.kind === 'text') return writeText(part);
  if (part.kind === 'image') return [{ type: 'image', source: writeSource(part.source), ...cacheMark(part.cache) }];
  const { source, title, context } = part;
  const text = source.kind === 'text';
  return [
    {
      type: 'document',
      source: text ? { type: 'text', media_type: 'text/plain', data: source.text } : writeSource(source),
      title: title ?? undefined,
      context: context ?? undefined,
      ...cacheMark(part.cache),
    },
  ];
}

function writeSource(source: { kind: 'base64'; mediaType: string; data: string } | { kind: 'url'; url: string }): Body {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  return { type: 'base64', media_type: source.mediaType, data: source.data };
}

function writeResult(result: ToolResult): Body {
  const [first] = result.parts;
  const plain = result.parts.length === 1 && first?.kind === 'text' && first.cache === null;
  const content = plain ? first.text : result.parts.flatMap(writePart);
  return {
    type: 'tool_result',
    tool_use_id: encodeToolId(result.callId),
    ...(content.length === 0 ? {} : { content }),
    ...(result.failed ? { is_error: true } : {}),
    ...cacheMark(result.cache),
  };
}

function writeAssistantPart(part: AssistantPart): Body[] {
  if (part.kind === 'call') return [writeCall(part)];
  // Reasoning cannot go back: the vendor takes only what it has signed, and the other protocols carry no signature.
  return part.kind === 'reasoning' ? [] : writeText(part);
}

function writeCall(call: CallPart): Body {
  if (call.custom) refuse(call.at, 'free-text tools are not supported for this model');
  return {
    type: 'tool_use',
    id: encodeToolId(call.id),
    name: shortenName(call.name, NAME_LIMIT.messages),
    input: parseArguments(call.arguments),
    ...cacheMark(call.cache),
  };
}

/**
 * A call's arguments as the object that the Messages protocol wants. What is no JSON object is kept as text under a
 * name of its own: dropping the call would orphan its result.
 */
export function parseArguments(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = isNestedTooDeeply(text) ? undefined : tryParseJson(text);
  return isObject(value) ? value : { _invalid_arguments: text };
}

function writeTools({ tools, toolChoice, parallelCalls }: Dialogue): Body {
  const choice = writeToolChoice(toolChoice, parallelCalls);
  return { tools: tools.map(writeTool), ...(choice === null ? {} : { tool_choice: choice }) };
}

function writeTool(tool: Tool): Body {
  if (tool.kind === 'custom') refuse(tool.at, 'free-text tools are not supported for this model');
  return {
    name: shortenName(tool.name, NAME_LIMIT.messages),
    description: tool.description ?? undefined,
    input_schema: objectSchema(tool.schema),
    strict: tool.strict ?? undefined,
    ...cacheMark(tool.cache),
  };
}

function writeToolChoice(choice: ToolChoice | null, parallelCalls: boolean | null): Body | null {
  const single = parallelCalls === false ? { disable_parallel_tool_use: true } : {};
  if (choice === null) return parallelCalls === false ? { type: 'auto', ...single } : null;
  if (choice.kind === 'none') return { type: 'none' };
  if (choice.kind !== 'tool') return { type: choice.kind, ...single };
  if (choice.custom) refuse(choice.at, 'free-text tools are not supported for this model');
  return { type: 'tool', name: shortenName(choice.name, NAME_LIMIT.messages), ...single };
}

function writeFormat(format: AnswerFormat | null): Body {
  return format?.kind === 'schema' ? { format: { type: 'json_schema', schema: describedSchema(format) } } : {};
}

/** What the answer is for stands beside the schema in the other protocols, and can only stand in it here. */
function describedSchema({ schema, description }: AnswerFormat & { kind: 'schema' }): JsonObject {
  if (description === null || description === '') return schema;
  const own = typeof schema.description === 'string' ? [schema.description] : [];
  return { ...schema, description: [description, ...own].join('\n\n') };
}

interface ThinkingPlan {
  on: boolean;
  /** Older models: a token budget, and no forced calls beside it. */
  budgeted: boolean;
  config: Body | undefined;
  outputConfig: Body;
}

const NO_PLAN: ThinkingPlan = { on: false, budgeted: false, config: undefined, outputConfig: {} };
const ADAPTIVE = { on: true, budgeted: false, config: { type: 'adaptive' } };

function writeThinking({ thinking, turns }: Dialogue, maxTokens: number, context: WireContext): ThinkingPlan {
  if (thinking === null) return NO_PLAN;
  const asked = possibleThinking(thinking, context);
  if (asked.kind === 'off') return { ...NO_PLAN, config: { type: 'disabled' } };
  if (asked.kind === 'adaptive') return { ...ADAPTIVE, outputConfig: {} };
  if (takesEffort(context)) {
    if (asked.kind === 'budget') return { ...ADAPTIVE, outputConfig: {} };
    const effort = knownEffort(asked.effort, context.efforts);
    return { ...ADAPTIVE, outputConfig: { effort: effort === 'minimal' ? 'low' : effort } };
  }
  const budget = asked.kind === 'budget' ? asked.tokens : budgetOfEffort(asked.effort, maxTokens);
  if (budget === null || inToolLoop(turns)) return NO_PLAN;
  return { on: true, budgeted: true, config: { type: 'enabled', budget_tokens: budget }, outputConfig: {} };
}

/**
 * In the middle of a tool loop the vendor wants the signed thinking that led to the calls, which clients of the other
 * protocols could not keep. Such a step goes without thinking, as the vendor's newer models do anyway.
 */
function inToolLoop(turns: readonly Turn[]): boolean {
  const index = turns.findLastIndex(({ role }) => role === 'assistant');
  return callsOf(turns[index]).length > 0 && turns.slice(index + 1).some(({ role }) => role === 'results');
}

function refuseForcedCall(choice: ToolChoice | null): void {
  if (choice?.kind === 'any' || choice?.kind === 'tool') {
    refuse(choice.at, 'this model cannot be forced to call a tool while it reasons; leave out the reasoning effort');
  }
}

function writeSampling({ temperature, topP, topK }: Dialogue, thinking: boolean): Body {
  return {
    temperature: temperature === null || thinking ? undefined : atMost(temperature, MOST_TEMPERATURE),
    top_p: topP === null || (thinking && numberValue(topP) < LEAST_TOP_P_WITH_THINKING) ? undefined : topP,
    top_k: topK === null || thinking ? undefined : topK,
  };
}

function atMost(value: JsonNumber, most: number): JsonNumber {
  return numberValue(value) > most ? most : value;
}
