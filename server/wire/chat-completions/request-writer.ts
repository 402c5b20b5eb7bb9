import type { UpstreamFeatures } from '../../core/features.ts';
import { endUserName, type WriterInput } from '../dialogue/context.ts';
import type {
  AnswerFormat,
  AssistantPart,
  CallPart,
  ContentPart,
  Dialogue,
  DocumentPart,
  TextPart,
  Tool,
  ToolResult,
} from '../dialogue/dialogue.ts';
import { effortName } from '../dialogue/effort.ts';
import { dataUrl } from '../dialogue/media.ts';
import { refuse } from '../dialogue/refusal.ts';
import { placeSystemTurns } from '../dialogue/system-turns.ts';
import { NAME_LIMIT, shortenName } from '../dialogue/tool-names.ts';
import { callsOf, orderOfCalls } from '../dialogue/turns.ts';
import { documentText, samplingMembers, schemaMembers, toolMembers } from '../openai-members.ts';

/** The protocol takes no more. */
const MOST_STOPS = 4;

type Body = Record<string, unknown>;

/** Writes the body for a chat completions upstream. Throws `Untranslatable` for what that protocol lacks. */
export function writeChatRequest({ dialogue, facts, context }: WriterInput): Body {
  const { features } = context;
  const { stop, thinking } = dialogue;
  if (stop.sequences.length > MOST_STOPS) refuse(stop.at, `this model takes at most ${MOST_STOPS} stop sequences`);
  return {
    model: context.upstreamModel,
    messages: writeMessages(dialogue, features),
    ...(facts.maxTokens === null
      ? {}
      : { [features.maxTokensField ?? 'max_tokens']: Math.max(facts.maxTokens, features.minOutputTokens) }),
    ...toolMembers(dialogue, writeTool, writeToolByName),
    ...(stop.sequences.length === 0 ? {} : { stop: stop.sequences }),
    ...samplingMembers(dialogue, features),
    reasoning_effort: (thinking !== null && effortName(thinking, context)) || undefined,
    ...(features.thinkingSwitch && thinking?.kind === 'off' ? { thinking: { type: 'disabled' } } : {}),
    response_format: dialogue.format === null ? undefined : writeFormat(dialogue.format),
    user: endUserName(dialogue.endUser, context),
    ...(features.store ? { store: false } : {}),
    // Without the usage chunk the answer could not be billed by what the upstream counted.
    ...(facts.stream ? { stream: true } : {}),
    ...(facts.stream && features.usageOption ? { stream_options: { include_usage: true } } : {}),
  };
}

function writeMessages(dialogue: Dialogue, features: UpstreamFeatures): Body[] {
  const { instructions, hoisted, turns } = placeSystemTurns(dialogue, features.systemRole);
  const messages: Body[] = writeSystem([...instructions, ...hoisted]);
  let inCallOrder = orderOfCalls([]);
  // Media found in results: a tool message holds text only, so they open the user message that follows.
  let media: ContentPart[] = [];
  const flushMedia = () => {
    if (media.length > 0) messages.push(writeUser(media, features));
    media = [];
  };
  for (const turn of turns) {
    if (turn.role === 'user') {
      messages.push(writeUser([...media, ...turn.parts], features));
      media = [];
      continue;
    }
    if (turn.role === 'results') {
      messages.push(...inCallOrder(turn.results).map(writeResult));
      media.push(...turn.results.flatMap(({ parts }) => parts.filter((part) => !isPlainText(part))));
      continue;
    }
    flushMedia();
    if (turn.role === 'system') messages.push(...writeSystem(turn.texts));
    else {
      inCallOrder = orderOfCalls(callsOf(turn));
      messages.push(...writeAssistant(turn.parts, features));
    }
  }
  flushMedia();
  return messages;
}

function writeSystem(texts: readonly TextPart[]): Body[] {
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.map(({ text }) => text).join('\n\n') }];
}

function writeUser(parts: readonly ContentPart[], features: UpstreamFeatures): Body {
  return { role: 'user', content: writeContent(parts, features) };
}

function writeContent(parts: readonly ContentPart[], features: UpstreamFeatures): string | Body[] {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.kind === 'text') return first.text;
  return parts.flatMap((part) => writePart(part, features));
}

function writePart(part: ContentPart, features: UpstreamFeatures): Body[] {
  if (part.kind === 'text') return [{ type: 'text', text: part.text }];
  if (part.kind === 'document') return writeDocument(part, features);
  const url = part.source.kind === 'url' ? part.source.url : dataUrl(part.source);
  return [{ type: 'image_url', image_url: { url, ...(part.detail === null ? {} : { detail: part.detail }) } }];
}

function writeDocument(part: DocumentPart, features: UpstreamFeatures): Body[] {
  if (part.source.kind === 'text') return [{ type: 'text', text: documentText(part, part.source.text) }];
  if (part.source.kind === 'url') refuse(part.at, 'documents by address are not supported for this model');
  if (!features.files) refuse(part.at, 'documents are not supported for this model');
  const file = { filename: part.title ?? 'document.pdf', file_data: dataUrl(part.source) };
  const context = part.context === null ? [] : [{ type: 'text', text: part.context }];
  return [...context, { type: 'file', file }];
}

/** What a tool message can hold: text, and documents that are text. */
function isPlainText(part: ContentPart): boolean {
  return part.kind === 'text' || (part.kind === 'document' && part.source.kind === 'text');
}

function writeResult(result: ToolResult): Body {
  const texts = result.parts.flatMap((part) => {
    if (part.kind === 'text') return [part.text];
    return part.kind === 'document' && part.source.kind === 'text' ? [documentText(part, part.source.text)] : [];
  });
  // The protocol has no field for it, and a model that cannot see the failure would build on it.
  if (result.failed) texts[0] = `[tool error] ${texts[0] ?? ''}`;
  const content = texts.length < 2 ? (texts[0] ?? '') : texts.map((text) => ({ type: 'text', text }));
  return { role: 'tool', tool_call_id: result.callId, content };
}

/** None for an answer that was cut off while it thought, where the thinking does not go back: upstreams refuse it empty. */
function writeAssistant(parts: readonly AssistantPart[], features: UpstreamFeatures): Body[] {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const thought = parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('');
  const calls = parts.filter((part) => part.kind === 'call').map((call, index) => writeCall(call, index, features));
  const reasoning = features.reasoningHistory ? writeReasoning(thought, calls.length > 0) : {};
  const content = texts.length === 0 && calls.length > 0 ? null : texts.join('');
  if (content === '' && calls.length === 0 && !('reasoning_content' in reasoning)) return [];
  return [{ role: 'assistant', content, ...reasoning, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

/** Calls without the reasoning that led to them are refused, and empty reasoning counts as none: a blank does not. */
function writeReasoning(thought: string, isCalling: boolean): Body {
  if (thought !== '') return { reasoning_content: thought };
  return isCalling ? { reasoning_content: ' ' } : {};
}

/** What the vendor takes in place of a signature that is not at hand; it looks only at the first call of a turn. */
const noSignature = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };

function writeCall(call: CallPart, index: number, { callSignatures }: UpstreamFeatures): Body {
  const name = shortenName(call.name, NAME_LIMIT['chat-completions']);
  return {
    id: call.id,
    type: 'function',
    function: { name, arguments: call.arguments },
    ...(callSignatures && index === 0 ? noSignature : {}),
  };
}

function writeTool(tool: Tool): Body {
  if (tool.kind === 'custom') refuse(tool.at, 'free-text tools are not supported for this model');
  return {
    type: 'function',
    function: {
      name: shortenName(tool.name, NAME_LIMIT['chat-completions']),
      description: tool.description ?? undefined,
      parameters: tool.schema ?? undefined,
      strict: tool.strict ?? undefined,
    },
  };
}

function writeToolByName({ name }: { name: string }): Body {
  return { type: 'function', function: { name: shortenName(name, NAME_LIMIT['chat-completions']) } };
}

function writeFormat(format: AnswerFormat): Body {
  if (format.kind === 'json') return { type: 'json_object' };
  return { type: 'json_schema', json_schema: schemaMembers(format) };
}
