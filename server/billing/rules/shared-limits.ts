import type { SpendLimits } from '../../core/spend-limits.ts';
import type { Spend } from './spend-limit.ts';

/** A limit that several keys share: those that a member made, or those of a project. It is kept when holding, like a key's own. */

/** A shared limit of a key, and what all its keys have spent together. */
export interface SharedLimit {
  /** Of the person or of the project. */
  id: string;
  of: 'member' | 'project';
  /** By month and in all. */
  limits: SpendLimits;
  spend: Spend;
}
