import type { VendorProfile } from './profile.ts';

/** A server of one's own that runs vLLM. */
export const vllm: VendorProfile = {
  id: 'vllm',
  displayName: 'vLLM',
  recipient: null,
  protocols: {
    'chat-completions': { baseUrl: null, features: { systemRole: 'hoist', effort: 'named' } },
  },
  keyVariable: null,
  wordings: [],
  quirks: [
    {
      what: 'templates of many models refuse a system message that is not the first: 400',
      source: 'https://github.com/vllm-project/vllm/issues/41114',
    },
    {
      what: 'tools are refused unless the server was started with a parser for them; errors were `{"object":"error",…}`',
      source: 'https://github.com/langchain4j/langchain4j/issues/3475',
    },
    {
      what: '`user` and `parallel_tool_calls` are ignored',
      source: 'https://docs.vllm.ai/en/v0.6.4.post1/serving/openai_compatible_server.html',
    },
  ],
};
