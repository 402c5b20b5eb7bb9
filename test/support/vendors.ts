import type { Vendor } from '../../server/catalog/vendors.ts';

/** The vendors as a simulator at this address plays them, as strictly as their profiles say. */
export function playedBy(simulatorUrl: string, vendors: readonly Vendor[]): Vendor[] {
  return vendors.map((vendor) => ({
    ...vendor,
    upstreams: vendor.upstreams.map((upstream) => ({
      ...upstream,
      baseUrl: `${simulatorUrl}${upstream.profile === null ? '' : `/as/${upstream.profile}`}${upstream.protocol === 'messages' ? '' : '/v1'}`,
    })),
  }));
}
