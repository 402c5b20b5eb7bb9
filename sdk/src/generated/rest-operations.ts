// Generated from openapi.json by `npm run generate:sdk`. Do not edit.

/** Every operation of the data plane. */
export const operations = {
  createMessage: { method: 'POST', path: '/v1/messages' },
  countTokens: { method: 'POST', path: '/v1/messages/count_tokens' },
  estimateMessage: { method: 'POST', path: '/v1/messages/estimate' },
  estimateChatCompletion: { method: 'POST', path: '/v1/chat/completions/estimate' },
  estimateResponse: { method: 'POST', path: '/v1/responses/estimate' },
  estimateEmbeddings: { method: 'POST', path: '/v1/embeddings/estimate' },
  estimateImages: { method: 'POST', path: '/v1/images/generations/estimate' },
  estimateImageEdits: { method: 'POST', path: '/v1/images/edits/estimate' },
  createChatCompletion: { method: 'POST', path: '/v1/chat/completions' },
  createResponse: { method: 'POST', path: '/v1/responses' },
  createEmbeddings: { method: 'POST', path: '/v1/embeddings' },
  createImages: { method: 'POST', path: '/v1/images/generations' },
  editImages: { method: 'POST', path: '/v1/images/edits' },
  listModels: { method: 'GET', path: '/v1/models' },
  retrieveModel: { method: 'GET', path: '/v1/models/{id}' },
  getUsage: { method: 'GET', path: '/v1/usage' },
  getKey: { method: 'GET', path: '/v1/key' },
  getCredits: { method: 'GET', path: '/v1/credits' },
} as const;
