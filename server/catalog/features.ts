import { z } from 'zod';
import type { UpstreamFeatures } from '../core/features.ts';
import type { Protocol } from '../core/protocol.ts';

/**
 * Validates an upstream's features as the operator writes them. Defaults are the protocol's common subset, so that an
 * upstream without a description works.
 */
export const featuresInput = z.strictObject({
  maxTokensField: z
    .enum(['max_tokens', 'max_completion_tokens'])
    .optional()
    .describe('The name under which a chat completions upstream takes the limit of the answer.'),
  systemRole: z
    .enum(['keep', 'user', 'hoist'])
    .optional()
    .describe('A system message in the middle of a conversation: sent as it is, as the user, or moved to the start.'),
  files: z.boolean().optional().describe('The upstream takes files (PDF) in messages.'),
  jsonObject: z.boolean().optional().describe('The upstream takes `response_format: json_object`.'),
  sampling: z
    .boolean()
    .optional()
    .describe('The upstream takes `temperature`, `top_p` and their like; otherwise they are left out.'),
  reasoningHistory: z.boolean().optional().describe('The upstream expects its earlier reasoning back in the history.'),
  effort: z.boolean().optional().describe('The upstream takes a reasoning effort.'),
  store: z
    .boolean()
    .optional()
    .describe('The upstream keeps what passes unless `store: false` is sent, so it is always sent.'),
});
export type FeaturesInput = z.infer<typeof featuresInput>;

const defaults: Readonly<Record<Protocol, UpstreamFeatures>> = {
  messages: {
    maxTokensField: null,
    systemRole: 'hoist',
    files: true,
    jsonObject: false,
    sampling: true,
    reasoningHistory: false,
    effort: false,
    store: false,
  },
  'chat-completions': {
    maxTokensField: null,
    systemRole: 'keep',
    files: false,
    jsonObject: true,
    sampling: true,
    reasoningHistory: false,
    effort: false,
    store: false,
  },
  responses: {
    maxTokensField: null,
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
