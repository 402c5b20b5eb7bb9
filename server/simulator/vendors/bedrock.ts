/** Amazon Bedrock at its addresses for OpenAI's and Anthropic's protocols. */

import { arrayOf, isObject, wordOf } from '../json.ts';
import { refuseAsClaude } from './anthropic.ts';
import { choiceOf, mapChunks, type SimulatedVendor } from './vendor.ts';

export const simulatedBedrock: SimulatedVendor = {
  id: 'bedrock-compatible',
  protocols: ['chat-completions', 'messages'],
  reasoningField: 'reasoning_content',
  // https://github.com/aws-samples/bedrock-chat/pull/1102
  refuse: (body, protocol) => (protocol === 'messages' ? refuseAsClaude(body) : null),
  // https://github.com/promptfoo/promptfoo/pull/9587: gpt-oss reasons within the content.
  whole(answer) {
    for (const choice of arrayOf(answer['choices']).filter(isObject)) {
      const message = isObject(choice['message']) ? choice['message'] : {};
      const { reasoning_content: thought } = message;
      delete message['reasoning_content'];
      if (typeof thought === 'string')
        message['content'] = `<reasoning>${thought}</reasoning>${wordOf(message['content'])}`;
    }
    return answer;
  },
  events(events) {
    let open = false;
    return mapChunks(events, (chunk) => {
      const delta = choiceOf(chunk)?.['delta'];
      if (!isObject(delta)) return chunk;
      const { reasoning_content: thought } = delta;
      delete delta['reasoning_content'];
      if (typeof thought === 'string') {
        delta['content'] = `${open ? '' : '<reasoning>'}${thought}`;
        open = true;
      } else if (open && (typeof delta['content'] === 'string' || delta['tool_calls'] !== undefined)) {
        delta['content'] = `</reasoning>${wordOf(delta['content'])}`;
        open = false;
      }
      return chunk;
    });
  },
};
