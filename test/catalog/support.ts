import type { Pool } from 'pg';
import type { Model } from '../../server/catalog/model.ts';
import { saveModel, savePrices } from '../../server/catalog/models.ts';
import { pricesInput } from '../../server/catalog/price.ts';
import { transaction } from '../../server/database/lane.ts';

/** What tests of the catalog share: models, upstreams and routes. */

export const model = (id: string, change: Partial<Model> = {}): Model => ({
  id,
  displayName: id.toUpperCase(),
  kind: 'text',
  family: 'test',
  contextWindow: 1_000,
  maxOutputTokens: 100,
  allow: [],
  capabilities: [],
  efforts: [],
  reasoningTokensPerSecond: null,
  unknownMembers: 'pass',
  enabled: true,
  ...change,
});

/** Writes a model with prices (USD per 1M tokens: input; a tenth of it for a cache hit). */
export async function addModel(
  pool: Pool,
  id: string,
  options: { input?: string; cacheHit?: string; validFrom?: Date; change?: Partial<Model> } = {},
): Promise<void> {
  const { input = '3', cacheHit = '0.1', validFrom, change } = options;
  await transaction(pool, async (client) => {
    await saveModel(client, model(id, change), 'test');
    const prices = pricesInput.parse({ input, cacheHit, output: '15' });
    await savePrices(client, { modelId: id, prices, ...(validFrom === undefined ? {} : { validFrom }), actor: 'test' });
  });
}
