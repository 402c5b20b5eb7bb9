import { ConfigurationError } from '../errors.ts';
import type { CatalogModel, ModelChoice } from './connection.ts';

/** Chooses models for a client tool by the prices of a catalog. */

const price = (model: CatalogModel) => Number(model.priceUsdPerMillion?.output ?? 0);

/**
 * The default choice, for a service that recommends no models: by the price of output, the dearest is large, the cheapest small,
 * the one in the middle medium. The main model is the medium one.
 *
 * @example
 * ```ts
 * const models = chooseModels((await steyg.models.list()).data);
 * ```
 */
export function chooseModels(catalog: readonly CatalogModel[]): ModelChoice {
  const talking = catalog.filter(({ kind }) => kind !== 'embedding');
  const sorted = talking.toSorted((a, b) => price(b) - price(a) || (a.id < b.id ? -1 : 1));
  const [large] = sorted;
  const medium = sorted[Math.floor((sorted.length - 1) / 2)];
  const small = sorted.at(-1);
  if (large === undefined || medium === undefined || small === undefined) {
    throw new ConfigurationError('The catalog is empty: this key may not call any model that answers with text.');
  }
  return { main: medium.id, large: large.id, medium: medium.id, small: small.id };
}
