/** Names of the vendor profiles: what an upstream of the catalog says that it is, and what the simulator can play. */
export const profileIds = [
  'openai-gpt5',
  'openai-o',
  'anthropic',
  'deepseek',
  'openrouter',
  'gemini-compatible',
  'azure',
  'bedrock-compatible',
  'groq',
  'mistral',
  'xai',
  'vllm',
  'ollama',
  'llama.cpp',
] as const;

export type ProfileId = (typeof profileIds)[number];

export function isProfileId(text: unknown): text is ProfileId {
  return profileIds.some((id) => id === text);
}
