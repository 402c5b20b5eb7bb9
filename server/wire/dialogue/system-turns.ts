import type { UpstreamFeatures } from '../../core/features.ts';
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
      const texts = turn.texts.filter(isSaid);
      if (texts.length === 0) continue;
      if (mode === 'hoist') hoisted.push(...texts);
      else waiting.push(mode === 'user' ? remind(texts, turn.at) : { ...turn, texts });
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
  return { instructions: dialogue.instructions.filter(isSaid), hoisted, turns: [...turns, ...waiting] };
}

/** An empty instruction says nothing, and strict upstreams refuse a message without content. */
function isSaid({ text }: TextPart): boolean {
  return text !== '';
}

function callIds(turn: Turn & { role: 'assistant' }): string[] {
  return turn.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
}

function remind(texts: readonly TextPart[], at: string): Turn {
  const text = texts.map((part) => part.text).join('\n\n');
  const part: TextPart = { kind: 'text', text: `<system-reminder>\n${text}\n</system-reminder>`, cache: null, at };
  return { role: 'user', parts: [part], at };
}
