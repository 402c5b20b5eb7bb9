import type { ShownUsage } from '../dialogue/answers/answer.ts';
import { isObject, type Json } from '../dialogue/json.ts';
import { toMessagesUsage } from '../usage.ts';

/** Usage objects of the Messages protocol. */

const NOTHING: ShownUsage = {
  usage: { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 },
  reasoningTokens: null,
};

/**
 * The usage object of a message. Clients cannot do without one: where the upstream said nothing it holds zeros.
 * The members that newer clients always expect are there, as null.
 */
export function writeUsage(shown: ShownUsage | null): Record<string, unknown> {
  const { usage, reasoningTokens } = shown ?? NOTHING;
  return {
    ...toMessagesUsage(usage),
    output_tokens_details: reasoningTokens === null ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  };
}

/** How much of the output was thinking, where the vendor says. */
export function readThinkingTokens(usage: Json | undefined): number | null {
  const details = isObject(usage) ? usage.output_tokens_details : null;
  return isObject(details) && typeof details.thinking_tokens === 'number' ? details.thinking_tokens : null;
}
