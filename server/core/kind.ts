/**
 * What a model makes of its input. Each kind has addresses of its own and its own way of measuring a request; prices are those
 * of token pools and counted units for all. Another kind (reranking, audio) is another word here, in the CHECK of the
 * table `model`, and a scan and a wire in `server/wire`.
 */
export const modelKinds = ['text', 'embedding', 'image'] as const;

export type ModelKind = (typeof modelKinds)[number];

/** What OpenTelemetry calls a request of each kind: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
export const operationNames: Readonly<Record<ModelKind, string>> = {
  text: 'chat',
  embedding: 'embeddings',
  image: 'generate_image',
};
