import type { Accounts } from '../accounts/accounts.ts';
import type { Erasure } from '../accounts/erasure.ts';
import type { ArchivedLines } from '../billing/archive/archived-lines.ts';
import type { HeldBatch } from '../billing/vendor-batches.ts';
import type { Books } from '../books/books.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogChanges } from '../catalog/changes.ts';
import type { ModelMismatches } from '../catalog/model-mismatches.ts';
import type { RouteTester } from '../catalog/test-route.ts';
import type { UpstreamHealth } from '../catalog/upstream-health.ts';
import type { VendorSetup } from '../catalog/vendor-setup.ts';
import type { AttributionDigest } from '../core/attribution.ts';
import type { ModelKind } from '../core/kind.ts';
import type { Protocol } from '../core/protocol.ts';
import type { Keys } from '../keys/keys.ts';
import type { Notices } from '../notices/notices.ts';
import type { Webhooks } from '../notices/webhooks.ts';
import type { ExportLinks } from '../pages/account-export.ts';
import type { BooksLinks } from '../pages/books.ts';
import type { LedgerDownloads } from '../pages/downloads.ts';
import type { CreditNoteLinks } from '../pages/papers/credit-notes.ts';
import type { ErasureLinks } from '../pages/papers/erasure-proof.ts';
import type { InvoiceLinks } from '../pages/papers/invoice-downloads.ts';
import type { ReceiptLinks } from '../pages/papers/receipts.ts';
import type { StatementLinks } from '../pages/papers/statements.ts';
import type { People } from '../people/people.ts';
import type { Throttle } from '../people/sign-in/throttle.ts';
import type { Transfers } from '../plans/bank/transfers.ts';
import type { Codes } from '../plans/codes.ts';
import type { Orders } from '../plans/orders.ts';
import type { Invoices } from '../plans/papers/invoices.ts';
import type { Parties } from '../plans/papers/parties.ts';
import type { Statements } from '../plans/papers/statements.ts';
import type { Plans } from '../plans/plans.ts';
import type { QrPictures } from '../plans/qr/qr-pictures.ts';
import type { Refunds } from '../plans/refunds.ts';
import type { TopUps } from '../plans/top-up.ts';
import type { Config } from '../runtime/config.ts';
import type { SettingsTest } from '../settings/findings.ts';
import type { OperatorSettings } from '../settings/settings.ts';
import type { SettingGroup } from '../settings/table.ts';
import type { ProbeAgents } from '../uptime/agents/agents.ts';
import type { Probing } from '../uptime/probes/probing.ts';
import type { Uptime } from '../uptime/uptime.ts';

/**
 * The domains that resolvers call, passed in by `app/control-plane.ts`. A resolver reads through Prisma or a domain's
 * query and writes only through a domain's function.
 */
export interface Domains {
  people: People;
  accounts: Accounts;
  erasure: Erasure;
  exportLinks: ExportLinks;
  erasureLinks: ErasureLinks;
  /** Finds what is stored of an id that a client knows. */
  attributionDigest: AttributionDigest;
  /** Counts attempts across processes. */
  throttle: Pick<Throttle, 'take'>;
  keys: Keys;
  catalog: Catalog;
  catalogChanges: CatalogChanges;
  routeTester: RouteTester;
  vendorSetup: VendorSetup;
  operatorSettings: OperatorSettings;
  /** Tries settings that are stored nowhere yet. `email`: where a test mail goes; null: the operator has no address. */
  testSettings(group: SettingGroup, config: Config, email: string | null): Promise<SettingsTest>;
  modelMismatches: ModelMismatches;
  /** What a request of a key would hold and cost, as `POST …/estimate` answers it. */
  estimate(ask: {
    keyId: string;
    protocol: Protocol;
    asks: ModelKind;
    body: string;
    requestId: string;
  }): Promise<
    | { kind: 'estimated'; answer: Record<string, unknown> }
    | { kind: 'refused'; reason: string; param: string | null; status: number; message: string }
    | { kind: 'unknown_key' }
  >;
  /** Batches as their account's holder sees them. */
  batches: {
    /** Newest first, before an id. */
    list(accountId: string, page: { limit: number; before?: string }): Promise<HeldBatch[]>;
    find(accountId: string, id: string): Promise<HeldBatch | null>;
    /** Its id at the model endpoints. */
    nameOf(batch: Pick<HeldBatch, 'form' | 'id'>): string;
    /** The batch afterwards; one that does not run stays as it is. `actor`: as in the audit log. */
    cancel(batch: HeldBatch, actor: string): Promise<HeldBatch | 'not_confirmed' | 'unreachable'>;
  };
  /** The state of upstreams in this process. */
  upstreamHealth(): UpstreamHealth[];
  downloads: LedgerDownloads;
  receiptLinks: ReceiptLinks;
  creditNoteLinks: CreditNoteLinks;
  invoiceLinks: InvoiceLinks;
  statements: Statements;
  statementLinks: StatementLinks;
  books: Books;
  booksLinks: BooksLinks;
  refunds: Refunds;
  archivedLines: ArchivedLines;
  orders: Orders;
  invoices: Invoices;
  codes: Codes;
  topUp: TopUps;
  plans: Plans;
  parties: Parties;
  qrPictures: QrPictures;
  transfers: Transfers;
  uptime: Uptime;
  probing: Probing;
  probeAgents: ProbeAgents;
  notices: Notices;
  /** Whether mails are sent; otherwise each is a file. */
  sendsMail: boolean;
  webhooks: Webhooks;
}
