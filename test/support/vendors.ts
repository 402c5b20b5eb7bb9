import type { Vendor } from '../../server/catalog/vendors.ts';

/** The vendors as a simulator at this address plays them. */
export function playedBy(simulatorUrl: string, vendors: readonly Vendor[]): Vendor[] {
  return vendors.map((vendor) => ({
    ...vendor,
    upstreams: vendor.upstreams.map((upstream) => ({
      ...upstream,
      baseUrl: upstream.protocol === 'messages' ? simulatorUrl : `${simulatorUrl}/v1`,
    })),
  }));
}
