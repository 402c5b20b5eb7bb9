/** What a request would hold and cost, without sending it. */

import type { ModelKind } from '../../core/kind.ts';
import { parseUsd } from '../../core/money.ts';
import type { Protocol } from '../../core/protocol.ts';
import { accountsWith } from '../../people/principal.ts';
import { decodeUuid, requireAbility } from '../access.ts';
import { builder } from '../builder.ts';
import { ConflictError, NotAllowedError, NotFoundError, RequestRefusedError } from '../errors.ts';

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
}

/** An amount of the gateway's answer. */
function usd(amount: string): bigint {
  const pico = parseUsd(amount);
  if (pico === null) throw new Error('an estimate without an amount');
  return pico;
}

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
