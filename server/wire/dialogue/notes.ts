import type { RequestFacts, WireContext } from '../protocol.ts';
import type { OwnTool } from './dialogue.ts';
import type { JsonObject } from './json.ts';

/** What a request leaves behind for its answer. */
export interface Notes {
  /** The client's tools by the names that the upstream was given. */
  tools: ReadonlyMap<string, OwnTool>;
  /** The client asked not to be shown the reasoning, and the upstream does not need it back either. */
  hideReasoning: boolean;
  /** What a Responses answer repeats of its request. */
  echo: JsonObject;
  /** Types of the vendor's tools that were offered and left out. */
  droppedTools: readonly string[];
}

/** What every writer of answers works from. */
export interface AnswerContext {
  facts: RequestFacts;
  context: WireContext;
  notes: Notes;
}

/** The request id without its prefix: what synthesised ids are made of. */
export function idStem(context: WireContext): string {
  return context.requestId.replace(/^req_/, '');
}
