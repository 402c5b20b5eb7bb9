/** What a request would hold and cost, without sending it. */

import type { ModelKind } from '../../core/kind.ts';
import { parseUsd } from '../../core/money.ts';
import type { Protocol } from '../../core/protocol.ts';
import type { MediaKind } from '../../core/request.ts';
import { accountsWith } from '../../people/principal.ts';
import { decodeUuid, requireAbility } from '../access.ts';
import { builder } from '../builder.ts';
import { wordValues } from '../types/enums.ts';
import { ConflictError, NotAllowedError, NotFoundError, RequestRefusedError } from '../types/errors.ts';

interface Format {
  protocol: Protocol;
  asks: ModelKind;
}

const FormatType = builder.enumType('EstimateFormat', {
  description: 'The address that a request would be sent to.',
  values: {
    MESSAGES: { value: 'messages', description: '`/v1/messages`' },
    CHAT_COMPLETIONS: { value: 'chat-completions', description: '`/v1/chat/completions`' },
    RESPONSES: { value: 'responses', description: '`/v1/responses`' },
    EMBEDDINGS: { value: 'embeddings', description: '`/v1/embeddings`' },
  },
} as const);

const formats: Record<'messages' | 'chat-completions' | 'responses' | 'embeddings', Format> = {
  messages: { protocol: 'messages', asks: 'text' },
  'chat-completions': { protocol: 'chat-completions', asks: 'text' },
  responses: { protocol: 'responses', asks: 'text' },
  embeddings: { protocol: 'chat-completions', asks: 'embedding' },
};

/** As the gateway's answer has it. */
interface Estimated {
  model: string;
  input_tokens: number;
  hold_usd: string;
  least_usd: string;
  most_usd: string;
  bound: BoundPart[];
}

interface BoundPart {
  kind: string;
  count: number | null;
  tokens: number;
  is_window: boolean;
}

/** An amount of the gateway's answer. */
function usd(amount: string): bigint {
  const pico = parseUsd(amount);
  if (pico === null) throw new Error('an estimate without an amount');
  return pico;
}

/** Every kind of content, in words. */
const boundKinds = {
  text: 'Text: a token a byte.',
  template: 'What the vendor writes around messages and tools.',
  vendor_tools: 'Tools that run at the vendor, which read the context again.',
  image: 'Images in the request.',
  image_by_address: 'Images by address.',
  document: 'Documents in the request.',
  pdf_pages: 'Pages of PDFs in the request: their text and a picture of each.',
  document_by_address: 'Documents by address.',
  file_by_id: 'Files that are kept at the vendor.',
  audio: 'Audio.',
  video: 'Video.',
  unknown_part: 'Parts that no table knows.',
  unknown_member: 'Members that no table knows.',
  stored_context: 'A conversation, a prompt or a container at the vendor.',
} as const satisfies Record<MediaKind | 'text' | 'template' | 'vendor_tools', string>;
type BoundKind = keyof typeof boundKinds;
const BoundKindType = builder.enumType('EstimateBoundKind', {
  description: 'A kind of content of a request, by which its bound is found.',
  values: wordValues<BoundKind>(boundKinds),
});

const BoundPartType = builder.objectRef<BoundPart>('EstimateBoundPart').implement({
  description: 'One kind of content of a request, with the most tokens that it can come to.',
  authScopes: { reader: true },
  fields: (t) => ({
    kind: t.field({ type: BoundKindType, description: 'What it is.', resolve: ({ kind }) => kind as BoundKind }),
    count: t.exposeInt('count', { nullable: true, description: 'How many there are; null: it is not counted.' }),
    tokens: t.exposeInt('tokens', { description: 'Its tokens at most.' }),
    isWindow: t.exposeBoolean('is_window', {
      description: 'It counts as the whole window of the model, because only the vendor can measure it.',
    }),
  }),
});

const EstimateType = builder.objectRef<Estimated>('Estimate').implement({
  description: 'What a request would hold at this moment and may cost, as `POST …/estimate` answers it.',
  authScopes: { reader: true },
  fields: (t) => ({
    model: t.exposeString('model', { description: 'The model that would answer.' }),
    inputTokens: t.exposeInt('input_tokens', { description: 'The estimated tokens of the input.' }),
    hold: t.field({
      type: 'UsdAmount',
      description: 'What the request would hold.',
      resolve: ({ hold_usd: amount }) => usd(amount),
    }),
    least: t.field({
      type: 'UsdAmount',
      description: 'What it costs at least.',
      resolve: ({ least_usd: amount }) => usd(amount),
    }),
    most: t.field({
      type: 'UsdAmount',
      description: 'What it costs at most.',
      resolve: ({ most_usd: amount }) => usd(amount),
    }),
    bound: t.field({
      type: [BoundPartType],
      description: 'What the upper bound of the prompt is made of. A window is counted once.',
      resolve: ({ bound }) => bound,
    }),
  }),
});

/** In fields: a body is scanned, and the budget is read. */
const estimateCost = 100;

builder.queryField('estimate', (t) =>
  t.field({
    type: EstimateType,
    description:
      'What a request of a key would hold and cost, for those who manage the keys of the account. Nothing is sent, and nothing is held; it counts as a request of the key’s minute.',
    authScopes: { reader: true },
    complexity: { field: estimateCost, multiplier: 1 },
    // Conflicts are refusals by now; queries that select them stay valid.
    errors: { types: [NotFoundError, NotAllowedError, ConflictError, RequestRefusedError] },
    args: {
      keyId: t.arg.id({ required: true, description: 'The key that would send it.' }),
      format: t.arg({ type: FormatType, required: true, description: 'The address that it would be sent to.' }),
      body: t.arg.string({ required: true, description: 'Its body: JSON, as it would be sent.' }),
    },
    resolve: async (_root, { keyId, format, body }, context) => {
      const { domains, principal, prisma, requestId } = context;
      const id = decodeUuid('ApiKey', keyId);
      const visible = { in: accountsWith(principal, 'read') };
      const key =
        id === null
          ? null
          : await prisma.apiKey.findFirst({ where: { id, accountId: visible }, select: { id: true, accountId: true } });
      if (key !== null) requireAbility(context, key.accountId, 'keys');
      const outcome =
        key === null ? null : await domains.estimate({ keyId: key.id, ...formats[format], body, requestId });
      if (outcome === null || outcome.kind === 'unknown_key') throw new NotFoundError('API key');
      if (outcome.kind === 'refused') throw new RequestRefusedError(outcome);
      return outcome.answer as unknown as Estimated;
    },
  }),
);
