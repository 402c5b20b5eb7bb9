import type { UpstreamFeatures } from '../../core/features.ts';
import { isProfileId, type ProfileId } from '../../core/profile.ts';
import type { Protocol } from '../../core/protocol.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrockCompatible } from './bedrock-compatible.ts';
import { deepseek } from './deepseek.ts';
import { geminiCompatible } from './gemini-compatible.ts';
import { groq } from './groq.ts';
import { llamaCpp } from './llama-cpp.ts';
import { mistral } from './mistral.ts';
import { ollama } from './ollama.ts';
import { openaiGpt5 } from './openai-gpt5.ts';
import { openaiO } from './openai-o.ts';
import { openrouter } from './openrouter.ts';
import type { HostedTool, VendorProfile } from './profile.ts';
import { vllm } from './vllm.ts';
import { xai } from './xai.ts';

/** The vendor profiles by their names. */
export const vendorProfiles: Readonly<Record<ProfileId, VendorProfile>> = {
  'openai-gpt5': openaiGpt5,
  'openai-o': openaiO,
  anthropic,
  deepseek,
  openrouter,
  'gemini-compatible': geminiCompatible,
  azure,
  'bedrock-compatible': bedrockCompatible,
  groq,
  mistral,
  xai,
  vllm,
  ollama,
  'llama.cpp': llamaCpp,
};

/** The profile of a stored name; null where there is none, or only a newer version knows it. */
export function profileOf(name: unknown): VendorProfile | null {
  return isProfileId(name) ? vendorProfiles[name] : null;
}

/** Whether the vendor is known to compact conversations of the protocol itself. */
export function compactsItself(name: unknown, protocol: Protocol): boolean {
  return profileOf(name)?.protocols[protocol]?.compaction === true;
}

/** Whether the vendor has batches beside the protocol. */
export function hasBatches(name: unknown, protocol: Protocol): boolean {
  return profileOf(name)?.protocols[protocol]?.batches === true;
}

/** Whether the vendor's answers say which tier served them, and are relied on. */
export function saysWhatItServes(name: unknown, protocol: Protocol): boolean {
  return profileOf(name)?.protocols[protocol]?.saysWhatItServes === true;
}

/** Characters that an id of a tool call may have there; null: any; undefined: the vendor is not known. */
export function callIdMaxOf(name: unknown, protocol: Protocol): number | null | undefined {
  const profile = profileOf(name);
  return profile === null ? undefined : (profile.protocols[protocol]?.callIdMax ?? null);
}

/** The vendor's tools of the protocol that have a public price, by their names; empty: none is known. */
export function toolsAt(name: unknown, protocol: Protocol): Readonly<Record<string, HostedTool>> {
  return profileOf(name)?.protocols[protocol]?.tools ?? {};
}

/** What the profile says of upstreams of that protocol. */
export function profileFeatures(name: unknown, protocol: Protocol): Partial<UpstreamFeatures> {
  return profileOf(name)?.protocols[protocol]?.features ?? {};
}
