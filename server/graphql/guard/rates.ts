import type { Rate } from '../../shared/rates.ts';

/** The rates of the control plane. */
export interface GraphqlRates {
  /** Operations of one principal; requests without one count for their network (/64 with IPv6). */
  operations: Rate;
  /** All requests of one network: identifying principals costs a query each. */
  network: Rate;
  /** Cost of the operations of one principal, in resolved fields. */
  cost: Rate;
}

export const defaultRates: GraphqlRates = {
  operations: { burst: 300, perSecond: 10 },
  network: { burst: 2_000, perSecond: 100 },
  cost: { burst: 400_000, perSecond: 4_000 },
};
