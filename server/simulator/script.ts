/** Decides the content of an answer from the conversation and its directives. */

import { type Directives, hasDirective } from './directives.ts';
import { jsonOrUndefined } from './json.ts';
import { sampleOfSchema } from './json-sample.ts';
import type { Prompt, PromptTool, PromptTurn } from './prompt.ts';
import type { Random } from './random.ts';
import { cutIntoTokens } from './tokens.ts';

/** The input of the script: the newest user text, and whether its tools have answered already. */
export interface Cue {
  text: string;
  toolsAnswered: boolean;
}

export interface PlannedTool {
  name: string;
  kind: 'function' | 'custom';
  /** The id to use; null for one in the vendor's style. */
  id: string | null;
  /** The input's JSON text (or the free text of a custom tool), token by token. */
  pieces: string[];
  /** False when the token limit fell inside it. */
  complete: boolean;
}

export interface PlayedAnswer {
  /** Token by token; null for no thinking at all. */
  thinking: string[] | null;
  text: string[];
  tools: PlannedTool[];
  stop: 'end' | 'limit' | 'stop_sequence' | 'tools';
  stopSequence: string | null;
  thinkingTokens: number;
  /** All generated tokens, thinking and tool inputs included. */
  outputTokens: number;
}

const SMALL_TALK = [
  'This is a simulated answer: no model has read the question.',
  'A simulator speaks here, so there is nothing to learn from this sentence.',
  'Simulated text, sent at the pace of a model but without its thoughts.',
  'No model runs behind this name yet; the simulator says hello instead.',
] as const;

const SIGN_OF_LIFE =
  /^\s*(ping|hi|hello|hey|yo|test|testing|are you (there|alive|up|ok)|(please )?(just )?(say|reply|reply with|answer|answer with|respond with|return)( just| only| exactly)?( the word)?:? ["'`]?(pong|ping|hi|hello|ok|okay|yes)["'`]?( and nothing else)?)\s*[.!?]*\s*$/i;

/**
 * Finds the newest user text. Coding agents put reminders of their own beside tool results; such a text is no new
 * question, unless it carries a directive, and the one before the tool calls still counts.
 */
export function cueOf(turns: readonly PromptTurn[]): Cue {
  let toolsAnswered = false;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (turn?.from === 'tool') toolsAnswered = true;
    if (turn?.from !== 'user') continue;
    if (!hasDirective(turn.text) && turns[index - 1]?.from === 'tool') continue;
    return { text: turn.text, toolsAnswered };
  }
  return { text: '', toolsAnswered };
}

function sampleInput(tool: PromptTool): string {
  return tool.kind === 'custom' ? 'simulated' : JSON.stringify(sampleOfSchema(tool.schema ?? {}, 'simulated') ?? {});
}

function kindOf(prompt: Prompt, name: string): 'function' | 'custom' {
  return prompt.tools.find((tool) => tool.name === name)?.kind ?? 'function';
}

type PlayedCall = Omit<PlannedTool, 'pieces' | 'complete'> & { input: string };

/** The calls of this answer: the script's, adjusted to `tool_choice`. */
function callsFor(prompt: Prompt, directives: Directives, cue: Cue): PlayedCall[] {
  const choice = prompt.toolChoice;
  if (choice.mode === 'none') return [];
  const scripted: PlayedCall[] = (cue.toolsAnswered ? [] : directives.tools)
    .filter((tool) => choice.mode !== 'named' || tool.name === choice.name)
    .map((tool) => ({ name: tool.name, kind: kindOf(prompt, tool.name), id: tool.id, input: tool.inputJson }));
  const [first, ...others] = scripted;
  if (first !== undefined) return prompt.parallelTools ? [first, ...others] : [first];
  if (choice.mode === 'auto') return [];
  const forced = choice.mode === 'named' ? prompt.tools.find((tool) => tool.name === choice.name) : prompt.tools[0];
  return forced === undefined ? [] : [{ name: forced.name, kind: forced.kind, id: null, input: sampleInput(forced) }];
}

function plainText(directives: Directives, cue: Cue, random: Random): string {
  if (cue.toolsAnswered && (directives.tools.length > 0 || directives.say === null)) return 'tool done';
  if (directives.say !== null) return directives.say;
  if (SIGN_OF_LIFE.test(cue.text)) return 'pong';
  return SMALL_TALK[random.integer(SMALL_TALK.length)] ?? SMALL_TALK[0];
}

/** A scripted text that is JSON already is left as it is: tests specify the exact text. */
function asJson(text: string, schema: unknown): string {
  if (jsonOrUndefined(text) !== undefined) return text;
  return JSON.stringify(schema === null ? { answer: text } : sampleOfSchema(schema, text));
}

function firstStop(text: string, sequences: readonly string[]): { at: number; sequence: string } | null {
  let first: { at: number; sequence: string } | null = null;
  for (const sequence of sequences) {
    const at = sequence === '' ? -1 : text.indexOf(sequence);
    if (at >= 0 && (first === null || at < first.at)) first = { at, sequence };
  }
  return first;
}

/** Decides the whole answer before its first byte, independent of its delivery. */
export function writeAnswer(prompt: Prompt, directives: Directives, cue: Cue, random: Random): PlayedAnswer {
  const calls = callsFor(prompt, directives, cue);
  const spoken = calls.length > 0 ? (directives.say ?? '') : plainText(directives, cue, random);
  const wanted = prompt.json === null || calls.length > 0 ? spoken : asJson(spoken, prompt.json.schema);
  const stopped = firstStop(wanted, prompt.stopSequences);

  let left = prompt.maxTokens ?? Number.POSITIVE_INFINITY;
  let cutShort = false;
  const take = (pieces: string[]): string[] => {
    const taken = pieces.length <= left ? pieces : pieces.slice(0, left);
    if (taken.length < pieces.length) cutShort = true;
    left -= taken.length;
    return taken;
  };

  const thought = directives.think ?? prompt.thought;
  const thinking = thought === null ? null : take(cutIntoTokens(thought));
  const text = take(cutIntoTokens(stopped === null ? wanted : wanted.slice(0, stopped.at)));
  const tools: PlannedTool[] = [];
  for (const { input, ...call } of stopped === null ? calls : []) {
    // A call costs a token for its name even when its input is empty, so a limit can also fall before it.
    if (cutShort || left < 1) {
      cutShort = true;
      break;
    }
    left -= 1;
    const whole = cutIntoTokens(input);
    const pieces = take(whole);
    tools.push({ ...call, pieces, complete: pieces.length === whole.length });
  }
  const toolTokens = tools.reduce((sum, tool) => sum + 1 + tool.pieces.length, 0);
  return {
    thinking,
    text,
    tools,
    stop: cutShort ? 'limit' : stopped !== null ? 'stop_sequence' : tools.length > 0 ? 'tools' : 'end',
    stopSequence: cutShort ? null : (stopped?.sequence ?? null),
    thinkingTokens: thinking?.length ?? 0,
    outputTokens: (thinking?.length ?? 0) + text.length + toolTokens,
  };
}
