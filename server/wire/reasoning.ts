import type { ReasoningAsk } from '../core/effort.ts';
import type { Span } from './protocol.ts';

/**
 * Whether a request asks for reasoning, as the protocols and the vendors that speak them word it:
 *
 * - `thinking: { type: enabled | adaptive | disabled }` on messages, and on chat completions at DeepSeek, Z.ai and Moonshot
 * - `reasoning_effort`, or `reasoning: { effort, enabled }` on chat completions (OpenAI, OpenRouter) and responses
 * - `enable_thinking`, also within `chat_template_kwargs`, of servers that run models with a chat template (vLLM, Qwen)
 *
 * It decides whether silence counts as reasoning, nothing else: what cannot be read is left to the vendor.
 */

/** Such members are short; a longer one is none of them. */
const maxMemberBytes = 4_096;

export function askedReasoning(body: Buffer, members: ReadonlyMap<string, Span>): ReasoningAsk {
  const read = (name: string): unknown => {
    const span = members.get(name);
    if (span === undefined || span.end - span.start > maxMemberBytes) return undefined;
    try {
      return JSON.parse(body.toString('utf8', span.start, span.end));
    } catch {
      return undefined;
    }
  };
  const reasoning = read('reasoning');
  const said = [
    ofThinking(member(read('thinking'), 'type')),
    ofEffort(read('reasoning_effort')),
    ofEffort(member(reasoning, 'effort')),
    ofSwitch(member(reasoning, 'enabled')),
    ofSwitch(read('enable_thinking')),
    ofSwitch(member(read('chat_template_kwargs'), 'enable_thinking')),
  ];
  return said.find((ask) => ask === 'on') ?? said.find((ask) => ask === 'off') ?? 'unsaid';
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function ofThinking(type: unknown): ReasoningAsk {
  return typeof type !== 'string' ? 'unsaid' : type === 'disabled' ? 'off' : 'on';
}

function ofEffort(effort: unknown): ReasoningAsk {
  return typeof effort !== 'string' ? 'unsaid' : effort === 'none' ? 'off' : 'on';
}

function ofSwitch(value: unknown): ReasoningAsk {
  return typeof value !== 'boolean' ? 'unsaid' : value ? 'on' : 'off';
}
