import { endUserName, type WriterInput } from '../dialogue/context.ts';
import type {
  AnswerFormat,
  AssistantPart,
  CallPart,
  ContentPart,
  Dialogue,
  DocumentPart,
  Tool,
  ToolResult,
  Turn,
} from '../dialogue/dialogue.ts';
import { effortName, takesEffort } from '../dialogue/effort.ts';
import { dataUrl } from '../dialogue/media.ts';
import { refuse } from '../dialogue/refusal.ts';
import { placeSystemTurns } from '../dialogue/system-turns.ts';
import { NAME_LIMIT, shortenName } from '../dialogue/tool-names.ts';
import { callsOf } from '../dialogue/turns.ts';
import { documentText, samplingMembers, schemaMembers, toolMembers } from '../openai-members.ts';
import type { WireContext } from '../protocol.ts';

/** Longest cache key that the vendor takes. */
const CACHE_KEY_LENGTH = 64;

type Body = Record<string, unknown>;

/** Writes the body for a Responses upstream. Throws `Untranslatable` for what that protocol lacks. */
export function writeResponsesRequest({ dialogue, facts, context }: WriterInput): Body {
  const { features } = context;
  const { stop, cacheKey } = dialogue;
  if (stop.sequences.length > 0) refuse(stop.at, 'stop sequences are not supported for this model');
  const { instructions, hoisted, turns } = placeSystemTurns(dialogue, features.systemRole);
  const leading = [...instructions, ...hoisted].map(({ text }) => text);
  const reasoning = takesEffort(context) ? writeReasoning(dialogue, context) : {};
  const text = writeTextOptions(dialogue);
  return {
    model: context.upstreamModel,
    ...(leading.length === 0 ? {} : { instructions: leading.join('\n\n') }),
    input: writeInput(turns),
    ...(facts.maxTokens === null ? {} : { max_output_tokens: Math.max(facts.maxTokens, features.minOutputTokens) }),
    ...toolMembers(dialogue, writeTool, writeToolByName),
    ...samplingMembers(dialogue, features),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    ...(Object.keys(text).length === 0 ? {} : { text }),
    safety_identifier: endUserName(dialogue.endUser, context),
    ...(cacheKey === null
      ? {}
      : { prompt_cache_key: context.digest('cache-key', cacheKey).slice(0, CACHE_KEY_LENGTH) }),
    // What one customer sent must not stay readable in the account that all of them share.
    store: false,
    ...(facts.stream ? { stream: true } : {}),
  };
}

function writeReasoning({ thinking, showReasoning }: Dialogue, context: WireContext): Body {
  const effort = thinking === null ? null : effortName(thinking, context);
  return {
    ...(effort === null ? {} : { effort }),
    ...(showReasoning === true && effort !== 'none' ? { summary: 'auto' } : {}),
  };
}

function writeTextOptions({ format, verbosity }: Dialogue): Body {
  return {
    ...(format === null ? {} : { format: writeFormat(format) }),
    ...(verbosity === null ? {} : { verbosity }),
  };
}

function writeFormat(format: AnswerFormat): Body {
  if (format.kind === 'json') return { type: 'json_object' };
  return { type: 'json_schema', ...schemaMembers(format) };
}

function writeInput(turns: readonly Turn[]): Body[] {
  const freeText = new Set<string>();
  return turns.flatMap((turn): Body[] => {
    if (turn.role === 'user') return turn.parts.length === 0 ? [] : [message('user', turn.parts.flatMap(writePart))];
    if (turn.role === 'results') return turn.results.map((result) => writeResult(result, freeText.has(result.callId)));
    if (turn.role === 'system') {
      return [
        message(
          'developer',
          turn.texts.map(({ text }) => ({ type: 'input_text', text })),
        ),
      ];
    }
    for (const call of callsOf(turn)) if (call.custom) freeText.add(call.id);
    return turn.parts.flatMap(writeAssistantPart);
  });
}

function message(role: string, content: Body[]): Body {
  return { type: 'message', role, content };
}

function writePart(part: ContentPart): Body[] {
  if (part.kind === 'text') return [{ type: 'input_text', text: part.text }];
  if (part.kind === 'document') return writeDocument(part);
  const image_url = part.source.kind === 'url' ? part.source.url : dataUrl(part.source);
  return [{ type: 'input_image', image_url, detail: part.detail ?? 'auto' }];
}

function writeDocument(part: DocumentPart): Body[] {
  const { source, title, context } = part;
  if (source.kind === 'text') return [{ type: 'input_text', text: documentText(part, source.text) }];
  const said = context === null ? [] : [{ type: 'input_text', text: context }];
  if (source.kind === 'url') return [...said, { type: 'input_file', file_url: source.url }];
  return [...said, { type: 'input_file', filename: title ?? 'document.pdf', file_data: dataUrl(source) }];
}

function writeAssistantPart(part: AssistantPart): Body[] {
  if (part.kind === 'call') return [writeCall(part)];
  if (part.kind === 'reasoning' || part.text === '') return [];
  return [message('assistant', [{ type: 'output_text', text: part.text }])];
}

function writeCall(call: CallPart): Body {
  const name = shortenName(call.name, NAME_LIMIT.responses);
  return call.custom
    ? { type: 'custom_tool_call', call_id: call.id, name, input: call.arguments }
    : { type: 'function_call', call_id: call.id, name, arguments: call.arguments };
}

function writeResult(result: ToolResult, freeText: boolean): Body {
  const parts = result.parts.flatMap(writePart);
  const [first] = result.parts;
  const text = result.parts.length === 0 ? '' : result.parts.length === 1 && first?.kind === 'text' ? first.text : null;
  // The protocol has no field for it, and a model that cannot see the failure would build on it.
  const prefix = result.failed ? '[tool error] ' : '';
  const marked = prefix === '' ? parts : [{ type: 'input_text', text: prefix }, ...parts];
  return {
    type: freeText ? 'custom_tool_call_output' : 'function_call_output',
    call_id: result.callId,
    output: text === null ? marked : prefix + text,
  };
}

function writeTool(tool: Tool): Body {
  const name = shortenName(tool.name, NAME_LIMIT.responses);
  const description = tool.description ?? undefined;
  if (tool.kind === 'custom') return { type: 'custom', name, description, format: tool.format ?? undefined };
  // Left out, `strict` means true here: the schema would be rewritten on the way.
  return { type: 'function', name, description, parameters: tool.schema, strict: tool.strict ?? false };
}

function writeToolByName({ name, custom }: { name: string; custom: boolean }): Body {
  return { type: custom ? 'custom' : 'function', name: shortenName(name, NAME_LIMIT.responses) };
}
