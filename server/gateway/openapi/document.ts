import { z } from 'zod';
import * as schemas from './schemas.ts';
import { describeTranslation } from './translation.ts';

/** The OpenAPI 3.1 document of the data plane: printed to `sdk/openapi.json`, served at `/api/openapi.json`. */

type Json = Record<string, unknown>;

const components = [
  schemas.cacheControl,
  schemas.textParam,
  schemas.imageParam,
  schemas.toolUseParam,
  schemas.toolResultParam,
  schemas.thinkingParam,
  schemas.messageParam,
  schemas.messagesTool,
  schemas.messagesRequest,
  schemas.messagesUsage,
  schemas.textBlock,
  schemas.thinkingBlock,
  schemas.redactedThinkingBlock,
  schemas.toolUseBlock,
  schemas.contentBlock,
  schemas.messagesResponse,
  schemas.messagesEvent,
  schemas.countTokensRequest,
  schemas.countTokensResponse,
  schemas.chatToolCall,
  schemas.chatPart,
  schemas.chatMessageParam,
  schemas.chatTool,
  schemas.chatRequest,
  schemas.chatUsage,
  schemas.chatMessage,
  schemas.chatResponse,
  schemas.chatChunk,
  schemas.responsesTool,
  schemas.responsesRequest,
  schemas.responsesUsage,
  schemas.responsesItem,
  schemas.responsesResponse,
  schemas.responsesEvent,
  schemas.embeddingsRequest,
  schemas.embeddingsResponse,
  schemas.imagesRequest,
  schemas.imagesResponse,
  schemas.imagesEvent,
  schemas.estimate,
  schemas.model,
  schemas.modelList,
  schemas.usageReport,
  schemas.ledgerEntry,
  schemas.usageRequests,
  schemas.usageSummary,
  schemas.keyInfo,
  schemas.credits,
  schemas.messagesError,
  schemas.openAiError,
];

const ref = (schema: z.ZodType): Json => ({ $ref: `#/components/schemas/${String(z.globalRegistry.get(schema)?.id)}` });
const json = (schema: z.ZodType, example?: unknown): Json => ({
  'application/json': { schema: ref(schema), ...(example === undefined ? {} : { example }) },
});

const requestIds: Json = {
  'request-id': {
    description: 'Id of this request; the ledger entry has the same.',
    schema: { type: 'string', format: 'uuid' },
  },
  'x-request-id': {
    description: 'The same id under the name that chat completions clients read.',
    schema: { type: 'string', format: 'uuid' },
  },
};

const sentences: Record<string, string> = {
  400: 'The request is malformed, names a model that is not in the catalog, or uses a field that the model does not offer.',
  401: 'The API key is absent, wrong, expired or deleted.',
  402: 'The prepaid budget, or the limit of this key, is used up. The same key works again after a top-up.',
  403: 'The account is suspended, or the key may not call this model.',
  404: 'There is nothing at this address.',
  408: 'The request did not arrive in time.',
  413: 'The request is larger than 32 MB.',
  415: 'The body is not uncompressed JSON in UTF-8.',
  422: "The model's upstream understood the request and will not do it; in the vendor's own words.",
  429: 'The rest of the budget is reserved by running requests, or too many run at once: try again after `retry-after` seconds. Or batches hold it (`budget_held_by_batches`): the message says which, and until when.',
  500: 'A fault of the service.',
  502: "The model's upstream failed or could not be reached.",
  503: 'The service or the model is not available at the moment.',
  504: "The model's upstream did not answer in time.",
  529: "The model's upstream is overloaded.",
};

const errors = (schema: z.ZodType, statuses: number[]): Json =>
  Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: sentences[status],
        headers: {
          ...requestIds,
          ...([400, 401, 402, 403].includes(status)
            ? { 'x-should-retry': { description: '`false`: another try cannot succeed.', schema: { type: 'string' } } }
            : {}),
          ...(status === 429 || status >= 503
            ? { 'retry-after': { description: 'Seconds.', schema: { type: 'integer' } } }
            : {}),
        },
        content: json(schema),
      },
    ]),
  );

interface Exchange {
  operationId: string;
  summary: string;
  description: string;
  request: z.ZodType;
  example: unknown;
  response: z.ZodType;
  event?: z.ZodType;
  stream?: string;
  error: z.ZodType;
  statuses: number[];
  headers?: Json;
  parameters?: Json[];
}

const exchange = (facts: Exchange): Json => ({
  post: {
    operationId: facts.operationId,
    summary: facts.summary,
    description: facts.description,
    ...(facts.parameters === undefined ? {} : { parameters: facts.parameters }),
    requestBody: { required: true, content: json(facts.request, facts.example) },
    responses: {
      200: {
        description: facts.event === undefined ? 'The answer.' : 'The answer, or with `stream: true` an event stream.',
        headers: { ...requestIds, ...facts.headers },
        content: {
          ...json(facts.response),
          ...(facts.event === undefined
            ? {}
            : { 'text/event-stream': { schema: ref(facts.event), example: facts.stream } }),
        },
      },
      ...errors(facts.error, facts.statuses),
    },
  },
});

const read = (operationId: string, summary: string, response: Json, parameters: Json[] = []): Json => ({
  get: {
    operationId,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      200: { description: 'The answer.', headers: requestIds, content: { 'application/json': { schema: response } } },
      ...errors(schemas.openAiError, [400, 401, 404, 503]),
    },
  },
});

const query = (name: string, description: string, schema: Json = { type: 'string' }): Json => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
});

const cost: Json = {
  'x-steyg-cost-usd': {
    description: 'What the request cost, in USD. Not on streams: look the request id up with `GET /v1/usage`.',
    schema: { type: 'string' },
  },
};
/** What an answer of a model says in its headers. */
const answerHeaders: Json = {
  ...cost,
  'x-steyg-dropped-tools': {
    description:
      "Types of the vendor's own tools that the request offers and the model was not given, because it is another vendor's or nobody knows their price, separated by commas. Absent when there are none.",
    schema: { type: 'string' },
  },
};
/** Our own header of requests to models. */
const tags: Json = {
  name: 'x-steyg-tags',
  in: 'header',
  required: false,
  description:
    'Tags of this request, for `group_by=tag`: at most 8 of `name=value`, separated by commas, values of up to 64 characters, percent-encoded beyond ASCII. Stored as they are, or as keyed digests where the account asks for that; not sent to the vendor. A malformed one is refused (400).',
  schema: { type: 'string' },
  example: 'team=search,env=production',
};
const modelStatuses = [400, 401, 402, 403, 408, 413, 415, 422, 429, 500, 502, 503, 504];

const embeddings: Json = exchange({
  operationId: 'createEmbeddings',
  summary: 'Make embeddings',
  description:
    'For models of kind `embedding`. Forwarded unchanged but for the model id. The input is all that is charged, and it is held by its bytes (lists of tokens by their number); a whole answer has at most 64 MB, so ask for `base64` where there are many inputs.',
  request: schemas.embeddingsRequest,
  example: { model: 'text-embedding-3-small', input: 'ping' },
  response: schemas.embeddingsResponse,
  error: schemas.openAiError,
  statuses: modelStatuses,
  headers: cost,
  parameters: [tags],
});

const imagesOf = (facts: Pick<Exchange, 'operationId' | 'summary' | 'description' | 'example' | 'stream'>): Json =>
  exchange({
    request: schemas.imagesRequest,
    response: schemas.imagesResponse,
    event: schemas.imagesEvent,
    error: schemas.openAiError,
    statuses: modelStatuses,
    headers: cost,
    parameters: [tags],
    ...facts,
  });

const imageTerms =
  'For models of kind `image`. Forwarded unchanged but for the model id (and `response_format: b64_json` where the vendor knows nothing else). Tokens of text and of images have prices of their own, or an image has one by its size and quality; the most that the request can come to is held, and the refusal of a vendor costs what it bills.';

const generateImages: Json = imagesOf({
  operationId: 'createImages',
  summary: 'Make images',
  description: imageTerms,
  example: { model: 'gpt-image-2', prompt: 'An owl.', size: '1024x1024', quality: 'low' },
  stream: 'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"…"}\n\n',
});

/** As a form, which client libraries send, or as JSON with data URLs. */
function editImages(): Json {
  const edits = imagesOf({
    operationId: 'editImages',
    summary: 'Edit images',
    description: `${imageTerms} As JSON, or as a form with up to 16 files \`image\` or \`image[]\` and one \`mask\`, which is written anew on its way to the vendor. A request has at most 32 MB.`,
    example: {
      model: 'gpt-image-2',
      prompt: 'With a hat.',
      images: [{ image_url: 'data:image/png;base64,…' }],
    },
    stream: 'event: image_edit.completed\ndata: {"type":"image_edit.completed","b64_json":"…"}\n\n',
  }) as { post: { requestBody: { content: Json } } };
  const file: Json = { type: 'string', format: 'binary' };
  edits.post.requestBody.content['multipart/form-data'] = {
    schema: {
      type: 'object',
      required: ['model', 'prompt', 'image'],
      properties: {
        model: { type: 'string' },
        prompt: { type: 'string' },
        image: { type: 'array', items: file },
        mask: file,
        n: { type: 'integer' },
        size: { type: 'string' },
        quality: { type: 'string' },
      },
    },
  };
  return edits;
}

/** Usage: added up, by request, or of one session. */
const usage: Json = read(
  'getUsage',
  "The account's balance, grants and spending; or its requests, or one of them",
  {
    oneOf: [ref(schemas.usageReport), ref(schemas.ledgerEntry), ref(schemas.usageRequests), ref(schemas.usageSummary)],
  },
  [
    query('from', 'First day, `YYYY-MM-DD` (UTC). Default: 30 days ago.'),
    query('to', 'Last day, `YYYY-MM-DD` (UTC). Default: today.'),
    query(
      'group_by',
      'Comma-separated: `day`, `model`, `key`, `project`, and one of `session`, `user` and `tag`. Default: `day,model`. A request with several tags counts for each.',
    ),
    query('limit', 'Rows, 1 to 1000. Default: 100.', { type: 'integer', minimum: 1, maximum: 1000 }),
    query('cursor', '`next_cursor` of the page before.'),
    query('list', '`requests`: answers with the requests one by one instead, the newest first.', {
      type: 'string',
      enum: ['requests'],
    }),
    query(
      'session',
      'Answers with what this session came to instead, from its first request; with `list`, the requests of it. As the client names it, or as a list does.',
    ),
    query('user', 'Likewise, of an end user.'),
    query('tag', 'Likewise, of a tag: `name=value`.'),
    query('request_id', 'Answers with the ledger entry of this request instead.', {
      type: 'string',
      format: 'uuid',
    }),
  ],
);

/** The estimate of a request to one of the addresses of models, with the same body. */
const estimateOf = (
  facts: Pick<Exchange, 'operationId' | 'request' | 'example' | 'error'> & Partial<Exchange> & { of: string },
): Json => {
  const { of, ...more } = facts;
  return exchange({
    summary: `Estimate ${of}`,
    description:
      'Takes the same body and sends nothing to a vendor: what the request would hold of the budget at this moment, and what it may cost at least and at most. Free and without a ledger entry; it counts as a request of the minute. Refused where the request would be, with the same error, except that tokens of the minute and requests at once are not looked at.',
    response: schemas.estimate,
    statuses: [400, 401, 402, 403, 408, 413, 415, 429, 503],
    ...more,
  });
};

/** What a request would hold and cost, beside each address of a model. */
function estimatePaths(version: Json): Record<string, Json> {
  return {
    '/v1/messages/estimate': estimateOf({
      operationId: 'estimateMessage',
      of: 'a message',
      request: schemas.messagesRequest,
      example: { model: 'sim-small', max_tokens: 16, messages: [{ role: 'user', content: 'ping' }] },
      error: schemas.messagesError,
      parameters: [version],
    }),
    '/v1/chat/completions/estimate': estimateOf({
      operationId: 'estimateChatCompletion',
      of: 'a chat completion',
      request: schemas.chatRequest,
      example: { model: 'sim-small', messages: [{ role: 'user', content: 'ping' }] },
      error: schemas.openAiError,
    }),
    '/v1/responses/estimate': estimateOf({
      operationId: 'estimateResponse',
      of: 'a response',
      request: schemas.responsesRequest,
      example: { model: 'sim-small', input: 'ping' },
      error: schemas.openAiError,
    }),
    '/v1/embeddings/estimate': estimateOf({
      operationId: 'estimateEmbeddings',
      of: 'embeddings',
      request: schemas.embeddingsRequest,
      example: { model: 'text-embedding-3-small', input: 'ping' },
      error: schemas.openAiError,
    }),
    '/v1/images/generations/estimate': estimateOf({
      operationId: 'estimateImages',
      of: 'images',
      request: schemas.imagesRequest,
      example: { model: 'gpt-image-2', prompt: 'An owl.' },
      error: schemas.openAiError,
    }),
    '/v1/images/edits/estimate': estimateOf({
      operationId: 'estimateImageEdits',
      of: 'edits of images',
      request: schemas.imagesRequest,
      example: { model: 'gpt-image-2', prompt: 'With a hat.', images: [{ image_url: 'data:image/png;base64,…' }] },
      error: schemas.openAiError,
    }),
  };
}

/** `baseUrl` is the address whose path ends in `/api`. */
export function openApiDocument(baseUrl: string): Json {
  const version: Json = {
    name: 'anthropic-version',
    in: 'header',
    required: true,
    description: 'Version of the messages protocol.',
    schema: { type: 'string' },
    example: '2023-06-01',
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Steyg',
      version: '1',
      description:
        'A prepaid gateway to hosted language models: one API key, three wire protocols, every model of a catalog. The messages protocol takes the base address as it is; ' +
        'clients of the other two take it with `/v1`. `x-api-key` is accepted in place of the bearer token, because some published clients send only that.',
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    paths: {
      '/v1/messages': exchange({
        operationId: 'createMessage',
        summary: 'Ask a model, messages protocol',
        description: `Forwarded unchanged but for the model id where the upstream speaks this protocol.\n\n${describeTranslation('messages')}`,
        request: schemas.messagesRequest,
        example: { model: 'sim-small', max_tokens: 16, messages: [{ role: 'user', content: 'ping' }] },
        response: schemas.messagesResponse,
        event: schemas.messagesEvent,
        stream:
          'event: message_start\ndata: {"type":"message_start","message":{…}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"pong"}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
        error: schemas.messagesError,
        statuses: [...modelStatuses, 529],
        headers: answerHeaders,
        parameters: [version, tags],
      }),
      '/v1/messages/count_tokens': exchange({
        operationId: 'countTokens',
        summary: 'Count the tokens of a request',
        description:
          'Free, also with an exhausted budget. With `x-token-count: estimated` the upstream cannot count and the figure is an estimate, rounded up.',
        request: schemas.countTokensRequest,
        example: { model: 'sim-small', messages: [{ role: 'user', content: 'ping' }] },
        response: schemas.countTokensResponse,
        error: schemas.messagesError,
        statuses: [400, 401, 403, 408, 413, 415, 503],
        parameters: [version],
        headers: { 'x-token-count': { description: '`estimated`, or absent.', schema: { type: 'string' } } },
      }),
      ...estimatePaths(version),
      '/v1/chat/completions': exchange({
        operationId: 'createChatCompletion',
        summary: 'Ask a model, chat completions protocol',
        description: `Forwarded unchanged but for the model id where the upstream speaks this protocol.\n\n${describeTranslation('chat-completions')}`,
        request: schemas.chatRequest,
        example: { model: 'sim-small', messages: [{ role: 'user', content: 'ping' }] },
        response: schemas.chatResponse,
        event: schemas.chatChunk,
        stream:
          'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"pong"}}],…}\n\ndata: [DONE]\n\n',
        error: schemas.openAiError,
        statuses: modelStatuses,
        headers: answerHeaders,
        parameters: [tags],
      }),
      '/v1/responses': exchange({
        operationId: 'createResponse',
        summary: 'Ask a model, responses protocol',
        description: `Without server-side state: \`previous_response_id\`, \`conversation\` and \`background\` are refused. Forwarded unchanged where the upstream speaks this protocol, but for the model id, \`store: false\`, which is always said, and reasoning items without their content, which are left out: ask for \`include: ["reasoning.encrypted_content"]\` to have reasoning go on. \`store: true\` is refused there.\n\n${describeTranslation('responses')}`,
        request: schemas.responsesRequest,
        example: { model: 'sim-small', input: 'ping' },
        response: schemas.responsesResponse,
        event: schemas.responsesEvent,
        stream: 'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{…}}\n\n',
        error: schemas.openAiError,
        statuses: modelStatuses,
        headers: answerHeaders,
        parameters: [tags],
      }),
      '/v1/embeddings': embeddings,
      '/v1/images/generations': generateImages,
      '/v1/images/edits': editImages(),
      '/v1/models': read('listModels', 'The models that this key may call', ref(schemas.modelList)),
      '/v1/models/{id}': read('retrieveModel', 'One model', ref(schemas.model), [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      ]),
      '/v1/usage': usage,
      '/v1/key': read('getKey', 'About the calling key', ref(schemas.keyInfo)),
      '/v1/credits': read('getCredits', "The account's budget", ref(schemas.credits)),
    },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `sk-steyg-…`.' } },
      schemas: printComponents(),
    },
  };
}

function printComponents(): Json {
  const registry = z.registry<{ id: string }>();
  for (const schema of components) registry.add(schema, { id: String(z.globalRegistry.get(schema)?.id) });
  const { schemas: printed } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    target: 'draft-2020-12',
    io: 'input',
    // The bounds of a safe integer are noise on every count.
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return Object.fromEntries(
    Object.entries(printed).map(([id, { $schema: _dialect, $id: _id, ...schema }]) => [id, schema]),
  );
}
