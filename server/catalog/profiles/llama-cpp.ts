import type { VendorProfile } from './profile.ts';

/** A server of one's own that runs llama.cpp. */
export const llamaCpp: VendorProfile = {
  id: 'llama.cpp',
  displayName: 'llama.cpp',
  recipient: null,
  protocols: {
    'chat-completions': { baseUrl: null, features: { systemRole: 'hoist', effort: 'named', toolChoice: 'required' } },
  },
  keyVariable: null,
  wordings: ['llama.cpp'],
  quirks: [
    {
      what: 'a tool choice that is an object counts as `auto`; `required` binds',
      source: 'https://github.com/Open-Historia/open-historia/pull/333',
    },
    {
      what: 'templates refuse a system message that is not the first: 500',
      source: 'https://github.com/ggml-org/llama.cpp/issues/27367',
    },
    {
      what: 'errors are `{"error":{"code":400,"message":…,"type":…}}`',
      source: 'https://github.com/ggml-org/llama.cpp/issues/22389',
    },
    { what: 'answers carry `timings`', source: 'https://pypi.org/project/langchain-llama-cpp/' },
  ],
};
