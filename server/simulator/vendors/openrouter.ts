/** OpenRouter. */

import { arrayOf, isObject, type ParsedObject } from '../json.ts';
import { choiceOf, mapChunks, numberOf, type SimulatedVendor } from './vendor.ts';

const processing = { bare: Buffer.from(': OPENROUTER PROCESSING\n\n'), tokens: 0, counted: false };

export const simulatedOpenrouter: SimulatedVendor = {
  id: 'openrouter',
  protocols: ['chat-completions'],
  reasoningField: 'reasoning',
  idStyle: ['gen-', 31],
  refuse: () => null,
  // https://openrouter.ai/docs/api/reference/errors-and-debugging
  errorBody: ({ status, message }) => ({
    error: { code: status, message, ...(status >= 500 ? { metadata: { provider_name: 'Simulated' } } : {}) },
    user_id: 'user_51mu1at0r',
  }),
  // https://openrouter.ai/docs/use-cases/usage-accounting
  usage: (usage) => ({ ...usage, cost: numberOf(usage['total_tokens']) / 1e6, is_byok: false }),
  whole(answer) {
    for (const choice of arrayOf(answer['choices']).filter(isObject)) {
      choice['native_finish_reason'] = choice['finish_reason'];
    }
    return { ...answer, provider: 'Simulated' };
  },
  // https://openrouter.ai/docs/api-reference/streaming
  *events(events, usage) {
    yield processing;
    let head: ParsedObject = {};
    const chunks = mapChunks(events, (chunk) => {
      const choice = choiceOf(chunk);
      // Usage comes whether or not it was asked for, with a choice that says nothing.
      if (choice === null) return null;
      choice['native_finish_reason'] = choice['finish_reason'];
      head = { ...chunk, provider: 'Simulated' };
      return head;
    });
    const empty = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null };
    for (const event of chunks) {
      const isLast = event.data === '[DONE]' && Object.keys(usage).length > 0;
      if (isLast) yield { ...event, data: JSON.stringify({ ...head, choices: [empty], usage }) };
      yield event;
    }
  },
};
