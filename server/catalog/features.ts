import { z } from 'zod';
import type { UpstreamFeatures } from '../core/features.ts';
import type { Protocol } from '../core/protocol.ts';

/**
 * Validates an upstream's features as the operator writes them. Defaults are the protocol's common subset, so that an
 * upstream without a description works.
 */
export const featuresInput = z.strictObject({
  maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  systemRole: z.enum(['keep', 'user', 'hoist']).optional(),
  files: z.boolean().optional(),
  jsonObject: z.boolean().optional(),
  sampling: z.boolean().optional(),
  reasoningHistory: z.boolean().optional(),
  effort: z.boolean().optional(),
  store: z.boolean().optional(),
});
export type FeaturesInput = z.infer<typeof featuresInput>;

const defaults: Readonly<Record<Protocol, UpstreamFeatures>> = {
  messages: {
    maxTokensField: 'max_tokens',
    systemRole: 'hoist',
    files: true,
    jsonObject: false,
    sampling: true,
    reasoningHistory: false,
    effort: false,
    store: false,
  },
  'chat-completions': {
    maxTokensField: 'max_tokens',
    systemRole: 'keep',
    files: false,
    jsonObject: true,
    sampling: true,
    reasoningHistory: false,
    effort: false,
    store: false,
  },
  responses: {
    maxTokensField: 'max_tokens',
    systemRole: 'keep',
    files: true,
    jsonObject: true,
    sampling: true,
    reasoningHistory: false,
    effort: true,
    store: true,
  },
};

/** The features of an upstream. Stored values that this version does not know (a newer version's) count as absent. */
export function featuresOf(protocol: Protocol, stored: unknown): UpstreamFeatures {
  const parsed = featuresInput.safeParse(stored);
  const given = parsed.success ? parsed.data : {};
  return {
    ...defaults[protocol],
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}
