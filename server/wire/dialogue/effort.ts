import type { ReasoningEffort } from '../../core/effort.ts';
import type { WireContext } from '../protocol.ts';
import type { Effort, Thinking } from './dialogue.ts';

/** Thinking budgets and efforts that stand for each other, strongest first. */
const SCALE: readonly { effort: Effort; budget: number }[] = [
  { effort: 'max', budget: 16_384 },
  { effort: 'xhigh', budget: 8_192 },
  { effort: 'high', budget: 4_096 },
  { effort: 'medium', budget: 2_048 },
  { effort: 'low', budget: 1_024 },
];

/** Weakest first. */
const RANK: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The Messages protocol allows no smaller budget. */
const LEAST_BUDGET = 1_024;

/** The effort that a budget stands for. */
function effortOfBudget(tokens: number): Effort {
  return SCALE.find(({ budget }) => tokens >= budget)?.effort ?? 'low';
}

/**
 * The budget that an effort stands for, under the cap on the whole answer; null when no valid budget is left.
 * At most half of the cap goes to thinking where the cap allows, so that an answer still fits behind it.
 */
export function budgetOfEffort(effort: Effort, maxTokens: number): number | null {
  const wanted = SCALE.find((step) => step.effort === effort)?.budget ?? LEAST_BUDGET;
  const room = Math.max(LEAST_BUDGET, Math.floor(maxTokens / 2));
  const budget = Math.min(wanted, room);
  return budget < maxTokens ? budget : null;
}

/** What decides whether and in which words an effort can be stated. */
export type EffortContext = Pick<WireContext, 'features' | 'efforts'>;

/** Whether the upstream and the model understand an effort at all. */
export function takesEffort({ features, efforts }: EffortContext): boolean {
  if (features.effort === 'named') return levelsOf(efforts).length > 0;
  return features.effort && (efforts.length === 0 || levelsOf(efforts).length > 0);
}

function levelsOf(efforts: readonly ReasoningEffort[]): Effort[] {
  return RANK.filter((effort) => efforts.includes(effort));
}

/**
 * The effort in a word that the model knows: the strongest that is not above what was asked for, because more would cost
 * more, and the weakest where all are above. A model without listed efforts is asked in the client's word.
 */
export function knownEffort(asked: Effort, efforts: readonly ReasoningEffort[]): Effort {
  const levels = levelsOf(efforts);
  return levels.findLast((level) => RANK.indexOf(level) <= RANK.indexOf(asked)) ?? levels[0] ?? asked;
}

/** A model that cannot be kept from reasoning does as little of it as it can. */
export function possibleThinking(thinking: Thinking, context: EffortContext): Thinking {
  const always =
    !context.features.thinkingSwitch &&
    takesEffort(context) &&
    context.efforts.length > 0 &&
    !context.efforts.includes('none');
  return thinking.kind === 'off' && always ? { kind: 'effort', effort: 'minimal', at: thinking.at } : thinking;
}

/** `reasoning_effort` of the OpenAI protocols; null when the upstream shall decide, or takes none. */
export function effortName(asked: Thinking, context: EffortContext): ReasoningEffort | null {
  const thinking = possibleThinking(asked, context);
  if (!takesEffort(context) || thinking.kind === 'adaptive') return null;
  if (thinking.kind === 'off') return context.features.thinkingSwitch ? null : 'none';
  const effort = thinking.kind === 'effort' ? thinking.effort : effortOfBudget(thinking.tokens);
  return knownEffort(effort, context.efforts);
}
