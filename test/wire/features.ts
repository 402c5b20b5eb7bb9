/** The features of an upstream that tests begin with. */

import type { UpstreamFeatures } from '../../server/core/features.ts';

/** An upstream that can do everything; tests switch off what they are about. */
export const FULL_FEATURES: UpstreamFeatures = {
  maxTokensField: null,
  systemRole: 'keep',
  files: true,
  traceContext: false,
  webSocket: false,
  hostedTools: true,
  jsonObject: false,
  sampling: true,
  reasoningHistory: false,
  effort: true,
  store: false,
  jsonSchema: true,
  stop: true,
  thinkingSwitch: false,
  toolChoice: 'named',
  parallelCalls: true,
  shortCallIds: false,
  callSignatures: false,
  imageUrls: true,
  endUser: true,
  usageOption: true,
  minOutputTokens: 0,
  cachedTokens: null,
};
