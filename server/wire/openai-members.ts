import type { UpstreamFeatures } from '../core/features.ts';
import {
  type AnswerFormat,
  type ContentPart,
  type Dialogue,
  type DocumentPart,
  EFFORTS,
  type TextPart,
  type Thinking,
  type Tool,
  type ToolChoice,
} from './dialogue/dialogue.ts';
import type { JsonObject } from './dialogue/json.ts';
import { oneOf, optionalBoolean, optionalString, refuse, requireObject } from './dialogue/refusal.ts';
import { isStrictSchema } from './dialogue/schema.ts';

/** Members of a request that chat completions and responses have in common: both are protocols of OpenAI. */

type Body = Record<string, unknown>;

/** Schemas need a name in these protocols; the Messages protocol gives them none. */
const SCHEMA_NAME = 'structured_output';

export function readThinking(effort: string | null, at: string): Thinking | null {
  if (effort === null) return null;
  if (effort === 'none') return { kind: 'off', at };
  return { kind: 'effort', effort: oneOf(effort, EFFORTS, at), at };
}

/** `nested`: the member that holds the schema's own members, where they do not stand beside `type`. */
export function readFormat(format: JsonObject | null, at: string, nested?: string): AnswerFormat | null {
  if (format === null) return null;
  const type = oneOf(format.type, ['text', 'json_object', 'json_schema'], `${at}.type`);
  if (type === 'text') return null;
  if (type === 'json_object') return { kind: 'json', at };
  const place = nested === undefined ? at : `${at}.${nested}`;
  const described = nested === undefined ? format : requireObject(format[nested], place);
  return {
    kind: 'schema',
    schema: requireObject(nested === undefined ? described.schema : (described.schema ?? {}), `${place}.schema`),
    name: optionalString(described.name, `${place}.name`),
    description: optionalString(described.description, `${place}.description`),
    strict: optionalBoolean(described.strict, `${place}.strict`),
    at,
  };
}

export function onlyText(part: ContentPart): TextPart {
  return part.kind === 'text' ? part : refuse(part.at, 'only text is allowed here');
}

/** Refuses a file that was uploaded to the vendor: another vendor cannot read it. */
export function refuseUpload(part: JsonObject, at: string): void {
  if (part.file_id !== undefined && part.file_id !== null) {
    refuse(`${at}.file_id`, 'uploaded files are not supported; send the data itself');
  }
}

/** The members of a schema that an answer must follow. */
export function schemaMembers(format: Extract<AnswerFormat, { kind: 'schema' }>): Body {
  return {
    name: format.name ?? SCHEMA_NAME,
    description: format.description ?? undefined,
    schema: format.schema,
    strict: format.strict ?? isStrictSchema(format.schema),
  };
}

export function samplingMembers({ temperature, topP }: Dialogue, { sampling }: UpstreamFeatures): Body {
  return sampling ? { temperature: temperature ?? undefined, top_p: topP ?? undefined } : {};
}

/** `writeNamed`: how the protocol asks for one tool by name. */
export function toolMembers(
  { tools, toolChoice, parallelCalls }: Dialogue,
  writeTool: (tool: Tool) => Body,
  writeNamed: (choice: Extract<ToolChoice, { kind: 'tool' }>) => Body,
): Body {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(writeTool),
    tool_choice: toolChoice === null ? undefined : choiceOf(toolChoice),
    parallel_tool_calls: parallelCalls ?? undefined,
  };

  function choiceOf(choice: ToolChoice): unknown {
    if (choice.kind === 'any') return 'required';
    return choice.kind === 'tool' ? writeNamed(choice) : choice.kind;
  }
}

/** A text document with its title and context. */
export function documentText({ title, context }: DocumentPart, text: string): string {
  return [title, context, text].filter((piece) => piece !== null && piece !== '').join('\n\n');
}
