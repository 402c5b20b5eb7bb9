import type { ReasoningAsk } from '../core/effort.ts';
import type { Protocol } from '../core/protocol.ts';

/**
 * Reasoning that a stream does not show. Vendors charge it as output, and some of them send nothing while the model
 * reasons; so the silence of a model that reasons counts as tokens, at the speed that its catalog entry states.
 */

/** Where the catalog entry states no speed. Counts on the brake alone: nobody is charged at it. */
export const defaultReasoningTokensPerSecond = 80;
/** Of each silence, what is the way of the bytes and not the reasoning of the model. */
const graceMs = 1_000;

/** What the catalog says of a model's reasoning. */
export interface ReasoningModel {
  capabilities: readonly string[];
  /** The efforts it knows; empty: not said. */
  efforts: readonly string[];
  /** A speed that its hidden reasoning never falls below, tokens a second; null: not said. Zero: it shows all of it. */
  reasoningTokensPerSecond: number | null;
}

/** At which speed silence counts for one request; null where the model does not reason. */
export interface ReasoningSpeed {
  tokensPerSecond: number;
  /** The entry states it, so that it may be charged for a stream whose own report is not learnt. */
  stated: boolean;
}

/**
 * Whether a request has the model reason out of sight, and how fast. A request that asks for no reasoning has none. One
 * that says nothing has what is usual: none at an upstream of the messages protocol, where reasoning is asked for, and
 * some where the model is known to reason.
 */
export function reasoningSpeed(asked: ReasoningAsk, model: ReasoningModel, upstream: Protocol): ReasoningSpeed | null {
  const { capabilities, efforts, reasoningTokensPerSecond } = model;
  if (asked === 'off' || reasoningTokensPerSecond === 0) return null;
  const isKnownTo =
    reasoningTokensPerSecond !== null ||
    capabilities.includes('thinking') ||
    capabilities.includes('reasoning') ||
    efforts.some((effort) => effort !== 'none');
  if (asked === 'unsaid' && (upstream === 'messages' || !isKnownTo)) return null;
  return {
    tokensPerSecond: reasoningTokensPerSecond ?? defaultReasoningTokensPerSecond,
    stated: reasoningTokensPerSecond !== null,
  };
}

export interface HiddenReasoning {
  /**
   * Tokens of hidden reasoning until a moment. `shown`: output tokens that were seen so far, which end a silence where
   * they grow. `reading`: false while the stream is held back here, which is no silence of the model.
   */
  see(shown: number, now: number, reading: boolean): number;
}

/** `startedAt`: when the upstream was asked. Moments are monotonic milliseconds. */
export function createHiddenReasoning({
  tokensPerSecond,
  startedAt,
}: {
  tokensPerSecond: number;
  startedAt: number;
}): HiddenReasoning {
  let seen = 0;
  let silentSince = startedAt;
  let pastMs = 0;
  return {
    see(shown, now, reading) {
      const silentMs = Math.max(0, now - silentSince - graceMs);
      if (shown > seen) {
        pastMs += silentMs;
        seen = shown;
        silentSince = now;
      } else if (!reading) {
        // What was silent before counts; the pause itself does not.
        pastMs += silentMs;
        silentSince = now;
      }
      const runningMs = silentSince === now ? 0 : silentMs;
      return Math.floor(((pastMs + runningMs) / 1_000) * tokensPerSecond);
    },
  };
}
