/**
 * Customers' webhooks. Events are recorded in the transaction in which they happen, and delivered afterwards with
 * retries and growing delays, until the endpoint answers with 2xx or the last retry failed. Delivery is at least once
 * and unordered: `webhook-id` is the same for every delivery of an event.
 */

import { createDeliveries, type DeliveryDeps } from './deliveries.ts';
import { createEndpoints, type EndpointDeps, type SecretSeal } from './endpoints.ts';
import { createSender, type SenderDeps } from './sender.ts';

export type { WebhookDelivery } from './deliveries.ts';
export { placeOfWebhookSecret, type WebhookEndpoint } from './endpoints.ts';
export { retryPausesSeconds } from './sender.ts';

/** `pool` must read BIGINT as `bigint` (the types of the money lane). */
export type WebhookDeps = Omit<EndpointDeps & DeliveryDeps & SenderDeps, 'seal'> & { seal: SecretSeal };

/** Endpoints, deliveries and their sender as one domain. */
export function createWebhooks(deps: WebhookDeps) {
  return { ...createEndpoints(deps), ...createDeliveries(deps), ...createSender(deps) };
}

export type Webhooks = ReturnType<typeof createWebhooks>;
