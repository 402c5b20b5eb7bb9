import type { ReasoningEffort } from '../../core/effort.ts';
import type { ModelKind } from '../../core/kind.ts';
import type { Weekday } from '../../core/price.ts';
import type { Protocol } from '../../core/protocol.ts';
import { builder } from '../builder.ts';
import { storedEnum, wordValues } from '../types/enums.ts';

/** The wire protocols, and the words of the catalog: kinds of models, efforts, capabilities, days. */

export const ProtocolType = storedEnum('Protocol', {
  description: 'A wire protocol.',
  values: {
    MESSAGES: { value: 'messages', description: 'POST /api/v1/messages' },
    CHAT_COMPLETIONS: { value: 'chat-completions', description: 'POST /api/v1/chat/completions' },
    RESPONSES: { value: 'responses', description: 'POST /api/v1/responses' },
  } satisfies Record<string, { value: Protocol; description: string }>,
});

export const ModelKindType = storedEnum('ModelKind', {
  description: 'What a model makes of its input. Further kinds may follow.',
  values: {
    TEXT: { value: 'text', description: 'Text and calls of tools: messages, chat completions and responses.' },
    EMBEDDING: { value: 'embedding', description: 'Vectors: POST /api/v1/embeddings' },
    IMAGE: { value: 'image', description: 'Images: POST /api/v1/images/generations and /api/v1/images/edits' },
  } satisfies Record<string, { value: ModelKind; description: string }>,
});

export const ReasoningEffortType = storedEnum('ReasoningEffort', {
  description: 'How much a request asks a model to reason.',
  values: wordValues<ReasoningEffort>({
    none: 'Not at all.',
    minimal: 'As little as it can.',
    low: 'Little.',
    medium: 'As much as is usual.',
    high: 'Much.',
    xhigh: 'Very much.',
    max: 'As much as it can.',
  }),
});

/** Capabilities that the service itself gives to models. Operators may name others, which only people read. */
const capabilities = {
  tools: 'Calls tools.',
  vision: 'Sees images.',
  thinking: 'Reasons before it answers.',
  caching: 'Reads context from a cache, at a price of its own.',
} as const;

type Capability = keyof typeof capabilities;

export const ModelCapabilityType = builder.enumType('ModelCapability', {
  description: 'Something that a model can do and that programs may rely on.',
  values: wordValues<Capability>(capabilities),
});

/** Those of a model’s capabilities that programs may rely on. */
export function knownCapabilities(names: readonly string[]): Capability[] {
  return names.filter((name): name is Capability => Object.hasOwn(capabilities, name));
}

export const WeekdayType = builder.enumType('Weekday', {
  description: 'A day of the week.',
  values: wordValues<Weekday>({
    mon: 'Monday.',
    tue: 'Tuesday.',
    wed: 'Wednesday.',
    thu: 'Thursday.',
    fri: 'Friday.',
    sat: 'Saturday.',
    sun: 'Sunday.',
  }),
});
