/** xAI's reasoning models. */

import { isObject, type ParsedObject } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import { modelOf, numberOf, type SimulatedVendor } from './vendor.ts';

function notSupported(name: string): VendorError {
  return invalidPrompt(`Argument not supported on this model: ${name}`);
}

function refuse(body: ParsedObject): VendorError | null {
  // https://github.com/BerriAI/litellm/issues/12635
  if ((body['stop'] ?? null) !== null) return notSupported('stop');
  // https://github.com/miaoxworld/NativeTavern/issues/83: a 0 is refused, too.
  if ((body['presence_penalty'] ?? null) !== null) return notSupported('presencePenalty');
  if ((body['frequency_penalty'] ?? null) !== null) return notSupported('frequencyPenalty');
  // https://github.com/NousResearch/hermes-agent/pull/23435
  const takesEffort = /grok-3-mini|grok-4\.[3-9]|multi-agent/.test(modelOf(body));
  if ((body['reasoning_effort'] ?? null) === null || takesEffort) return null;
  return invalidPrompt(`Model ${modelOf(body)} does not support parameter reasoningEffort.`);
}

export const simulatedXai: SimulatedVendor = {
  id: 'xai',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning_content',
  idStyle: ['', 36],
  refuse,
  // https://github.com/yym68686/uni-api/issues/105
  errorBody: ({ status, message }) => ({
    code: status < 500 ? 'Client specified an invalid argument' : 'The service is currently unavailable',
    error: message,
  }),
  // Reasoning is only within the total: https://github.com/lidge-jun/opencodex/pull/5280
  usage(usage) {
    const details = isObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {};
    const completion = numberOf(usage['completion_tokens']) - numberOf(details['reasoning_tokens']);
    return { ...usage, completion_tokens: completion, num_sources_used: 0 };
  },
};
