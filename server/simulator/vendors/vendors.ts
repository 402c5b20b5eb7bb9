/** The vendors that the simulator can play, each at `/as/NAME` before its protocol's path. */

import { isProfileId, type ProfileId } from '../../core/profile.ts';
import type { VendorDialect } from '../dialects/dialect.ts';
import { isObject, type ParsedObject, stringify } from '../json.ts';
import { simulatedAnthropic } from './anthropic.ts';
import { simulatedBedrock } from './bedrock.ts';
import { simulatedDeepseek } from './deepseek.ts';
import { simulatedGemini } from './gemini.ts';
import { simulatedGroq } from './groq.ts';
import { simulatedLlamaCpp, simulatedOllama, simulatedVllm } from './local.ts';
import { simulatedMistral } from './mistral.ts';
import { simulatedAzure, simulatedGpt5, simulatedO } from './openai.ts';
import { simulatedOpenrouter } from './openrouter.ts';
import type { SimulatedVendor } from './vendor.ts';
import { simulatedXai } from './xai.ts';

const vendors: Readonly<Record<ProfileId, SimulatedVendor>> = {
  'openai-gpt5': simulatedGpt5,
  'openai-o': simulatedO,
  anthropic: simulatedAnthropic,
  deepseek: simulatedDeepseek,
  openrouter: simulatedOpenrouter,
  'gemini-compatible': simulatedGemini,
  azure: simulatedAzure,
  'bedrock-compatible': simulatedBedrock,
  groq: simulatedGroq,
  mistral: simulatedMistral,
  xai: simulatedXai,
  vllm: simulatedVllm,
  ollama: simulatedOllama,
  'llama.cpp': simulatedLlamaCpp,
};

export function vendorNamed(name: string): SimulatedVendor | null {
  return isProfileId(name) ? vendors[name] : null;
}

/** The reference of a protocol as that vendor speaks it. */
export function speakAs(vendor: SimulatedVendor, base: VendorDialect): VendorDialect {
  const { protocol } = base;
  return {
    ...base,
    ...(vendor.idStyle === undefined || protocol !== 'chat-completions' ? {} : { idStyle: vendor.idStyle }),
    read(body, headers, rules) {
      const seen = vendor.seen?.(body, protocol) ?? body;
      const failure = vendor.refuse(seen, protocol);
      if (failure !== null) return { ok: false, failure };
      const reading = base.read(seen, headers, { ...rules, strict: true });
      if (!reading.ok) return reading;
      return { ok: true, value: { ...reading.value, thought: vendor.thought?.(seen) ?? null } };
    },
    refuseAnswer: (answer, prompt) => vendor.refuseAnswer?.(answer, prompt) ?? null,
    usage(input, answer, answers, envelope) {
      const usage = base.usage(input, answer, answers, envelope);
      return isObject(usage) && vendor.usage !== undefined ? vendor.usage(usage) : usage;
    },
    errorBody: (failure, requestId) =>
      protocol === 'chat-completions' && vendor.errorBody !== undefined
        ? vendor.errorBody(failure)
        : base.errorBody(failure, requestId),
    whole(answer, envelope) {
      const whole = base.whole(answer, fieldOf(vendor, envelope));
      if (protocol !== 'chat-completions' || vendor.whole === undefined) return whole;
      return vendor.whole(JSON.parse(stringify(whole)) as ParsedObject);
    },
    events(answer, envelope) {
      const events = base.events(answer, fieldOf(vendor, envelope));
      if (protocol !== 'chat-completions' || vendor.events === undefined) return events;
      const { usage } = envelope;
      // The reference's events are this vendor's alone until they are rewritten.
      const own = [...events].filter((event) => 'data' in event);
      return vendor.events(own, usage.kind === 'reported' && isObject(usage.value) ? usage.value : {});
    },
  };
}

function fieldOf<T extends { reasoningField: 'reasoning_content' | 'reasoning' }>(
  vendor: SimulatedVendor,
  envelope: T,
): T {
  return { ...envelope, reasoningField: vendor.reasoningField ?? envelope.reasoningField };
}
