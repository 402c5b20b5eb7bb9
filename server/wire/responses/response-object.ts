import type { ShownUsage } from '../dialogue/answers/answer.ts';
import { isObject, type Json, type JsonObject } from '../dialogue/json.ts';
import { type AnswerContext, idStem } from '../dialogue/notes.ts';
import { toResponsesUsage } from '../usage.ts';
import type { Item } from './items.ts';

/** What a response repeats of its request, with the protocol's defaults for what was left out. */
export function echoRequest(body: JsonObject): JsonObject {
  const text = isObject(body.text) ? body.text : {};
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    temperature: body.temperature ?? null,
    frequency_penalty: null,
    presence_penalty: null,
    text: { format: { type: 'text' }, ...text },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    truncation: 'disabled',
  };
}

/** A response as it stands: the whole answer, and what several events of a stream carry. */
export function writeResponse(
  { context, notes }: AnswerContext,
  state: {
    status: string;
    output: Item[];
    usage: ShownUsage | null;
    incomplete_details?: unknown;
    error?: { code: string; message: string };
  },
): Record<string, unknown> {
  const { status, output, usage } = state;
  const echo: Record<string, Json> = notes.echo;
  return {
    id: `resp_${idStem(context)}`,
    object: 'response',
    created_at: context.createdAt,
    status,
    background: false,
    completed_at: status === 'in_progress' ? null : context.createdAt,
    error: state.error ?? null,
    incomplete_details: state.incomplete_details ?? null,
    model: context.catalogModel,
    output,
    previous_response_id: null,
    store: false,
    ...echo,
    usage: usage === null ? null : toResponsesUsage(usage.usage, usage.reasoningTokens),
  };
}
