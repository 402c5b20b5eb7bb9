import type { Effort, Thinking } from './dialogue.ts';

/** Thinking budgets and efforts that stand for each other, strongest first. */
const SCALE: readonly { effort: Effort; budget: number }[] = [
  { effort: 'max', budget: 16_384 },
  { effort: 'xhigh', budget: 8_192 },
  { effort: 'high', budget: 4_096 },
  { effort: 'medium', budget: 2_048 },
  { effort: 'low', budget: 1_024 },
];

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

/** `reasoning_effort` of the OpenAI protocols; null when the upstream shall decide. */
export function effortName(thinking: Thinking): string | null {
  if (thinking.kind === 'off') return 'none';
  if (thinking.kind === 'effort') return thinking.effort;
  return thinking.kind === 'budget' ? effortOfBudget(thinking.tokens) : null;
}
