import { z } from 'zod';
import type { UpstreamFeatures } from '../core/features.ts';
import type { Protocol } from '../core/protocol.ts';
import { profileFeatures } from './profiles/profiles.ts';

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
  stop: z.boolean().optional().describe('The upstream takes stop sequences.'),
  jsonSchema: z.boolean().optional().describe('The upstream takes a schema of the answer.'),
  toolChoice: z
    .enum(['named', 'required', 'auto'])
    .optional()
    .describe('The strongest tool choice that binds: a named tool, any tool, or none.'),
  parallelCalls: z.boolean().optional().describe('The upstream takes `parallel_tool_calls`.'),
  thinkingSwitch: z
    .boolean()
    .optional()
    .describe('The upstream thinks unless `thinking` says `disabled`, and takes no forced tool choice while it does.'),
  shortCallIds: z.boolean().optional().describe('Ids of tool calls must have nine letters or digits.'),
  callSignatures: z
    .boolean()
    .optional()
    .describe('Tool calls in the history need the signature that Gemini gives them.'),
  imageUrls: z.boolean().optional().describe('The upstream takes images by address.'),
  endUser: z.boolean().optional().describe('The upstream takes `user`, a pseudonym of the end user.'),
  usageOption: z
    .boolean()
    .optional()
    .describe('The upstream takes `stream_options`; otherwise it reports the usage of streams unasked.'),
  traceContext: z
    .boolean()
    .optional()
    .describe('The upstream is handed the trace of each request (`traceparent`, `tracestate`).'),
  webSocket: z
    .boolean()
    .optional()
    .describe('A responses upstream that takes turns over a WebSocket: those of clients that use one go up over one.'),
  hostedTools: z
    .boolean()
    .optional()
    .describe('Tools that run at the vendor pass where their price is known. `false`: they are left out of requests.'),
  minOutputTokens: z
    .int()
    .min(0)
    .max(1_024)
    .optional()
    .describe('Translation raises smaller limits of the answer to this, because the upstream refuses them.'),
  cachedTokens: z
    .enum(['within', 'beside', 'overlapping'])
    .optional()
    .describe(
      'Cached tokens are counted within the prompt, beside it, or within even where read and written are the same.',
    ),
});
export type FeaturesInput = z.infer<typeof featuresInput>;

/** What every upstream of any protocol is taken for until it says otherwise. */
const usual = {
  maxTokensField: null,
  jsonObject: true,
  jsonSchema: true,
  sampling: true,
  stop: true,
  reasoningHistory: false,
  effort: false,
  thinkingSwitch: false,
  store: false,
  toolChoice: 'named',
  parallelCalls: true,
  shortCallIds: false,
  callSignatures: false,
  imageUrls: true,
  endUser: true,
  usageOption: true,
  traceContext: false,
  webSocket: false,
  hostedTools: true,
  minOutputTokens: 0,
  cachedTokens: null,
} as const satisfies Partial<UpstreamFeatures>;

const defaults: Readonly<Record<Protocol, UpstreamFeatures>> = {
  messages: { ...usual, systemRole: 'hoist', files: true, jsonObject: false },
  'chat-completions': { ...usual, systemRole: 'keep', files: false },
  responses: { ...usual, systemRole: 'keep', files: true, effort: true, store: true },
};

/**
 * The features of an upstream: its protocol's, its profile's, its own. Stored values that this version does not know (a newer
 * version's) count as absent.
 */
export function featuresOf(protocol: Protocol, profile: unknown, stored: unknown): UpstreamFeatures {
  const parsed = featuresInput.safeParse(stored);
  const given = parsed.success ? parsed.data : {};
  return {
    ...defaults[protocol],
    ...profileFeatures(profile, protocol),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}
