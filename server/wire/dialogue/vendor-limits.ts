import type { UpstreamFeatures } from '../../core/features.ts';
import type { Protocol } from '../../core/protocol.ts';
import { boundedCallId } from '../call-ids.ts';
import type { WireContext } from '../protocol.ts';
import type { AssistantPart, ContentPart, Dialogue, ToolResult, Turn } from './dialogue.ts';
import { refuse } from './refusal.ts';
import { encodeToolId } from './tool-ids.ts';
import { callsOf } from './turns.ts';

/**
 * Fits a request to what the upstream takes beyond its protocol. What would change the answer is refused in the gateway's own
 * words, naming the client's field; what only the vendor's form of it forbids is written in a form that the vendor takes.
 */
export function fitToVendor(dialogue: Dialogue, upstream: Protocol, context: WireContext): Dialogue {
  const { features, digest } = context;
  refuseUnsupported(dialogue, features);
  const bound = bindToolChoice(dialogue, features);
  const idOf = (id: string): string => {
    if (features.shortCallIds) return shortId(id, digest);
    // The length that counts is that of the id as the protocol takes it; a bounded one is taken by all.
    const written = upstream === 'messages' ? encodeToolId(id) : id;
    const bounded = boundedCallId(written, upstream, context);
    return bounded === written ? id : bounded;
  };
  return {
    ...bound,
    turns: bound.turns.map((turn) => renameCalls(turn, idOf)),
    parallelCalls: features.parallelCalls ? bound.parallelCalls : null,
    endUser: features.endUser ? bound.endUser : null,
    thinking:
      features.thinkingSwitch && cannotThink(bound, features) ? { kind: 'off', at: 'thinking' } : bound.thinking,
  };
}

/**
 * A vendor that thinks unasked takes no forced call while it does, and wants the thinking that led to earlier calls: clients
 * of other protocols have none that it would take where the history has no place for it.
 */
function cannotThink({ toolChoice, turns }: Dialogue, { reasoningHistory }: UpstreamFeatures): boolean {
  if (toolChoice?.kind === 'any' || toolChoice?.kind === 'tool') return true;
  return !reasoningHistory && turns.some((turn) => callsOf(turn).length > 0);
}

function refuseUnsupported({ stop, format, turns }: Dialogue, features: UpstreamFeatures): void {
  if (!features.stop && stop.sequences.length > 0) refuse(stop.at, 'stop sequences are not supported for this model');
  if (!features.jsonSchema && format?.kind === 'schema') {
    refuse(format.at, 'a schema of the answer is not supported for this model; ask for JSON without one');
  }
  if (features.imageUrls) return;
  for (const part of turns.flatMap(contentOf)) {
    if (part.kind === 'image' && part.source.kind === 'url') {
      refuse(part.at, 'images by address are not supported for this model; send the image itself');
    }
  }
}

function contentOf(turn: Turn): ContentPart[] {
  if (turn.role === 'user') return turn.parts;
  return turn.role === 'results' ? turn.results.flatMap(({ parts }) => parts) : [];
}

/**
 * A tool choice in the strongest form that binds there: one tool is the only one that is offered, and no tool means that none
 * is offered.
 */
function bindToolChoice(dialogue: Dialogue, { toolChoice: strongest }: UpstreamFeatures): Dialogue {
  const { toolChoice: choice, tools } = dialogue;
  if (choice === null || strongest === 'named') return dialogue;
  if (choice.kind === 'tool') {
    const named = tools.filter(({ name }) => name === choice.name);
    return { ...dialogue, tools: named, toolChoice: { kind: 'any', at: choice.at } };
  }
  return choice.kind === 'none' && strongest === 'auto' ? { ...dialogue, tools: [], toolChoice: null } : dialogue;
}

/** The vendor's own ids are left alone. */
const shortForm = /^[a-zA-Z0-9]{9}$/;

/** The same short id for the same id, wherever it stands and whichever process writes it; the vendor never sends it back. */
function shortId(id: string, digest: WireContext['digest']): string {
  if (shortForm.test(id)) return id;
  return digest('call-id', id)
    .replaceAll(/[^a-zA-Z0-9]/g, '')
    .slice(0, 9)
    .padEnd(9, '0');
}

function renameCalls(turn: Turn, idOf: (id: string) => string): Turn {
  if (turn.role === 'assistant') {
    const parts = turn.parts.map(
      (part): AssistantPart => (part.kind === 'call' ? { ...part, id: idOf(part.id) } : part),
    );
    return { ...turn, parts };
  }
  if (turn.role !== 'results') return turn;
  const results = turn.results.map((result): ToolResult => ({ ...result, callId: idOf(result.callId) }));
  return { ...turn, results };
}
