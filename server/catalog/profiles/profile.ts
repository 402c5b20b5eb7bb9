import type { UpstreamFeatures } from '../../core/features.ts';
import type { PicoUsd } from '../../core/money.ts';
import type { ChargedUnit } from '../../core/price.ts';
import type { ProfileId } from '../../core/profile.ts';
import type { Protocol } from '../../core/protocol.ts';

/** What is known of a vendor, so that an operator names it instead of describing it. */
export interface VendorProfile {
  id: ProfileId;
  /** As people know the vendor. */
  displayName: string;
  /** Who receives the requests; null: whoever runs the program, mostly the operator. */
  recipient: Recipient | null;
  /** The protocols that the vendor speaks. */
  protocols: Partial<Record<Protocol, VendorEndpoint>>;
  /** The variable that the vendor's own pages put the key in; null: usually none is needed. */
  keyVariable: string | null;
  /** Whose wordings its errors have (`../../gateway/vendor-errors.ts`). Empty: anybody's, because it passes them on. */
  wordings: readonly string[];
  quirks: readonly Quirk[];
}

/**
 * Who receives what is sent to a vendor, as a page of data flow names it. What a vendor's page says was read in a public copy of
 * the page on 28 November 2026; a page that could not be read is named as such, because a country from memory is no fact.
 */
export interface Recipient {
  company: string;
  /** Where it processes what it receives. */
  place: RecipientPlace;
  /** It hands requests on to other companies. */
  passesOn?: true;
  /** Its page that says how long it keeps what it receives, and whether that page was read; null: none is known. */
  kept: { page: string; read: boolean } | null;
}

export type RecipientPlace =
  /** Wherever it has data centres, unless its customer chooses a region: its page says so. */
  | { kind: 'anywhere'; page: string }
  /** Where its customer's deployment lies, or in the group of regions that the customer chose: its page says so. */
  | { kind: 'chosen'; page: string }
  /** Its page could not be read. `reported`: the country (ISO 3166) that others report. */
  | { kind: 'unread'; reported?: string };

export interface VendorEndpoint {
  /** Its public address; null: each customer of the vendor has one of their own. */
  baseUrl: string | null;
  /** What differs from the protocol's defaults. */
  features: Partial<UpstreamFeatures>;
  /** Responses only: the vendor compacts conversations itself. */
  compaction?: true;
  /** The vendor answers batches at half price, in the words of this protocol's vendor. */
  batches?: true;
  /**
   * Its answers say which tier, speed and region served them, and it charges for that one. Absent: what was asked for is charged.
   * Some echo `default` whatever they served: https://github.com/earendil-works/pi/issues/3188 (ChatGPT's own backend).
   */
  saysWhatItServes?: true;
  /** Characters that an id of a tool call may have; absent: any. */
  callIdMax?: number;
  /** Tools that run at the vendor and have a public price there, by their names without a version; absent: none is known. */
  tools?: Readonly<Record<string, HostedTool>>;
}

/** What a use of a vendor's tool is charged as, beside the tokens that it brings into the context. */
export interface HostedTool {
  /** Null: free of a fee. */
  fee: { unit: ChargedUnit; price: PicoUsd } | null;
  /** The vendor's page, and the day on which it was read. */
  source: string;
  date: string;
}

/** One thing that the vendor does otherwise, and the public page that says so. */
export interface Quirk {
  what: string;
  source: string;
}
