import type { LoopTurns } from '../../shared/loop-turns.ts';

/** The progress of an operation. */
export interface Work {
  /** The subject of the turns. */
  principal: string;
  turns: LoopTurns;
  /** Fields below lists so far. */
  fields: number;
  /** Of them in the slice that runs. */
  inSlice: number;
}

export function createWork(principal: string, turns: LoopTurns): Work {
  return { principal, turns, fields: 0, inSlice: 0 };
}
