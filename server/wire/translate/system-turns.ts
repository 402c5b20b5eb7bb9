import type { UpstreamFeatures } from '../protocol.ts';
import type { Dialogue, TextPart, Turn } from './dialogue.ts';

/**
 * Puts system texts from the middle of the conversation where this upstream can take them: in place, as marked user
 * text in place, or with the leading instructions. Never between a call and its results, which must stay together:
 * there it waits until the last result.
 */
export function placeSystemTurns(
  dialogue: Dialogue,
  mode: UpstreamFeatures['systemRole'],
): { instructions: TextPart[]; hoisted: TextPart[]; turns: Turn[] } {
  const hoisted: TextPart[] = [];
  const turns: Turn[] = [];
  let waiting: Turn[] = [];
  let openCalls = new Set<string>();
  for (const turn of dialogue.turns) {
    if (turn.role === 'system') {
      if (mode === 'hoist') hoisted.push(...turn.texts);
      else waiting.push(mode === 'user' ? remind(turn.texts, turn.at) : turn);
    } else if (turn.role !== 'results') {
      turns.push(...waiting);
      waiting = [];
      openCalls = new Set(turn.role === 'assistant' ? callIds(turn) : []);
    } else {
      for (const { callId } of turn.results) openCalls.delete(callId);
    }
    if (turn.role !== 'system') turns.push(turn);
    if (openCalls.size === 0) {
      turns.push(...waiting);
      waiting = [];
    }
  }
  return { instructions: dialogue.instructions, hoisted, turns: [...turns, ...waiting] };
}

function callIds(turn: Turn & { role: 'assistant' }): string[] {
  return turn.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
}

function remind(texts: readonly TextPart[], at: string): Turn {
  const text = texts.map((part) => part.text).join('\n\n');
  const part: TextPart = { kind: 'text', text: `<system-reminder>\n${text}\n</system-reminder>`, cache: null, at };
  return { role: 'user', parts: [part], at };
}
