import type { ReasoningAsk } from '../core/effort.ts';
import type { Protocol } from '../core/protocol.ts';

/**
 * Counts hidden reasoning. Vendors charge it as output, and some send nothing while the model reasons; so the silence
 * of a reasoning model counts as tokens, at the speed that its catalog entry states.
 */

/** Default when the catalog entry states no speed. Used by the brake alone, never for a charge. */
export const defaultReasoningTokensPerSecond = 80;
/** Part of each silence that is network latency and not reasoning. */
const graceMs = 1_000;

/** Reasoning properties of a catalog entry. */
export interface ReasoningModel {
  capabilities: readonly string[];
  /** Supported efforts; empty: not stated. */
  efforts: readonly string[];
  /** Minimum speed of hidden reasoning, tokens per second; null: not stated. Zero: no reasoning is hidden. */
  reasoningTokensPerSecond: number | null;
}

/** The speed at which a request's silence counts as tokens. */
export interface ReasoningSpeed {
  tokensPerSecond: number;
  /** The catalog entry states it, so that it may be charged when the stream ends without a report. */
  stated: boolean;
}

/**
 * The speed of a request's hidden reasoning; null when the model does not reason. A request that asks for no reasoning
 * has none. Without a statement the protocol's default applies: none on the messages protocol, where reasoning is
 * opt-in; otherwise reasoning if the model is known to reason.
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
   * Tokens of hidden reasoning until `now`. `shown`: visible output tokens so far; growth ends a silence. `reading`:
   * false while the gateway holds the stream back, which is not silence of the model.
   */
  see(shown: number, now: number, reading: boolean): number;
}

/** `startedAt`: when the upstream was called. Moments are monotonic milliseconds. */
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
        // The silence before the pause counts; the pause itself does not.
        pastMs += silentMs;
        silentSince = now;
      }
      const runningMs = silentSince === now ? 0 : silentMs;
      return Math.floor(((pastMs + runningMs) / 1_000) * tokensPerSecond);
    },
  };
}
