import type { UpstreamFeatures } from '../../core/features.ts';
import type { ProfileId } from '../../core/profile.ts';
import type { Protocol } from '../../core/protocol.ts';

/** What is known of a vendor, so that an operator names it instead of describing it. */
export interface VendorProfile {
  id: ProfileId;
  /** As people know the vendor. */
  displayName: string;
  /** The protocols that the vendor speaks. */
  protocols: Partial<Record<Protocol, VendorEndpoint>>;
  /** The variable that the vendor's own pages put the key in; null: usually none is needed. */
  keyVariable: string | null;
  /** Whose wordings its errors have (`../../gateway/vendor-errors.ts`). Empty: anybody's, because it passes them on. */
  wordings: readonly string[];
  quirks: readonly Quirk[];
}

export interface VendorEndpoint {
  /** Its public address; null: each customer of the vendor has one of their own. */
  baseUrl: string | null;
  /** What differs from the protocol's defaults. */
  features: Partial<UpstreamFeatures>;
  /** Responses only: the vendor compacts conversations itself. */
  compaction?: true;
  /** The vendor answers batches at half price, in the words of this protocol's vendor. */
  batches?: true;
  /** Characters that an id of a tool call may have; absent: any. */
  callIdMax?: number;
}

/** One thing that the vendor does otherwise, and the public page that says so. */
export interface Quirk {
  what: string;
  source: string;
}
