import type { CallPart, ToolResult, Turn } from './dialogue.ts';

/** Adds a result to those that directly precede it, so that a run of results is one turn. */
export function appendResult(turns: Turn[], result: ToolResult): void {
  const last = turns.at(-1);
  if (last?.role === 'results') last.results.push(result);
  else turns.push({ role: 'results', results: [result], at: result.at });
}

/** The calls of a turn; none unless it is the assistant's. */
export function callsOf(turn: Turn | undefined): CallPart[] {
  return turn?.role === 'assistant' ? turn.parts.filter((part) => part.kind === 'call') : [];
}

/**
 * Puts results in the order of the calls they answer: strict upstreams insist on it. Results without a call keep their
 * order, last. Made once per answer, because its results may come in many turns.
 */
export function orderOfCalls(calls: readonly CallPart[]): (results: readonly ToolResult[]) => ToolResult[] {
  // Of equal ids the first call counts.
  const places = new Map(calls.map(({ id }, index) => [id, index] as const).reverse());
  const rank = (result: ToolResult): number => places.get(result.callId) ?? calls.length;
  return (results) => [...results].sort((left, right) => rank(left) - rank(right));
}
