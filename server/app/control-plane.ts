import type { FastifyInstance } from 'fastify';
import { createAccounts } from '../accounts/accounts.ts';
import { type ArchivedLines, createArchivedLines } from '../billing/archive/archived-lines.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { createCatalogChanges } from '../catalog/changes.ts';
import type { ModelMismatches } from '../catalog/model-mismatches.ts';
import type { Router } from '../catalog/router.ts';
import { createRouteTester } from '../catalog/test-route.ts';
import { createVendorSetup, type VendorSetupParts } from '../catalog/vendor-setup.ts';
import { readVendors, type Vendor } from '../catalog/vendors.ts';
import type { Log } from '../core/log.ts';
import { connections } from '../database/connections.ts';
import { openPool } from '../database/pool.ts';
import { createPrisma } from '../database/prisma.ts';
import { createHistory } from '../database/replica.ts';
import type { Domains } from '../graphql/domains.ts';
import { registerGraphql } from '../graphql/edge.ts';
import { graphiqlPage } from '../graphql/graphiql.ts';
import type { PersistedDocuments } from '../graphql/persisted.ts';
import { createKeys } from '../keys/keys.ts';
import { type DataFlowSettings, readDataFlow } from '../pages/docs/data-flow.ts';
import { type DocsParts, registerDocs } from '../pages/docs/docs.ts';
import { createLedgerDownloads, type LedgerDownloads, registerDownloads } from '../pages/downloads.ts';
import { createLinkLimits, type LinkLimits } from '../pages/link-limits.ts';
import { registerMachineLogin } from '../pages/machine-login.ts';
import { type PricingParts, registerPricing } from '../pages/prices/pricing.ts';
import { registerSignInWith } from '../pages/sign-in-with.ts';
import { createPeople } from '../people/people.ts';
import type { BankProvider } from '../plans/bank/bank-provider.ts';
import { registerBankWebhooks } from '../plans/bank/bank-webhooks.ts';
import { createCasso } from '../plans/bank/casso.ts';
import { createPayos } from '../plans/bank/payos.ts';
import { createRefusedMessages } from '../plans/bank/refused-messages.ts';
import { createSepay } from '../plans/bank/sepay.ts';
import { createSepayListing } from '../plans/bank/sepay-listing.ts';
import { registerCompression } from '../runtime/compression.ts';
import type { Config } from '../runtime/config.ts';
import { describeError } from '../runtime/http.ts';
import { createMailer } from '../runtime/mail.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import type { OperatorSettings, PublicAddress } from '../settings/settings.ts';
import { createSeal } from '../shared/seal.ts';
import { registerStatus } from '../uptime/status/status.ts';
import { createAddressProof } from './address-proof.ts';
import { createDocumentation } from './docs.ts';
import { latest, withAddress } from './latest.ts';
import { createOutgoing } from './outgoing.ts';
import { createOwnData } from './own-data.ts';
import { createSales } from './sales.ts';
import { createSchedule } from './schedule.ts';
import { createSettingsTests } from './settings-tests.ts';
import { createUptimeParts } from './uptime-parts.ts';

/**
 * The composition of the control plane: GraphQL, webhooks from banks and public pages. It has its own connections,
 * so that heavy reports never delay a model request.
 */
export interface ControlPlaneParts {
  config: Config;
  databaseUrl: string;
  databaseDirectUrl: string;
  secretKey: Buffer;
  simulatorUrl: string;
  catalog: Catalog;
  router: Pick<Router, 'health'>;
  mismatches: ModelMismatches;
  estimate: Domains['estimate'];
  batches: Domains['batches'];
  /** The vendors that operators choose from; default: those of the example files. */
  vendors?: () => Promise<readonly Vendor[]>;
  /** What operators set up, in force now. */
  settings: OperatorSettings;
  /** What the dashboard's build has left for its page. */
  persistedDocuments: PersistedDocuments;
  /** Whether the event loop is late; GraphQL is refused first. */
  isLate: () => boolean;
  metrics: Metrics;
  log: Log;
}

export interface ControlPlane {
  /** Starts scheduled jobs. Rejects while the database is unreachable; may be called again. */
  startSchedule(): Promise<void>;
  close(): Promise<void>;
}

/** Connections of Prisma, and of the queries that domains write by hand. */
/** Connections of the domains' own queries: model traffic has its own pool. */
function openDomainPool(url: string, isShared: boolean, log: Log, replicaUrl: string | null) {
  const pool = openPool({
    url,
    isShared,
    name: 'control',
    max: connections.control,
    queryTimeoutMs: 15_000,
    // A process that stalls between two statements must not keep orders, keys and accounts locked. The limit exceeds
    // the timeout of a mail, which is sent while its row is locked.
    settings: { statement_timeout: '10s', idle_in_transaction_session_timeout: '5min' },
    log,
  });
  return { pool, history: createHistory({ primary: pool, replicaUrl, isShared, log }) };
}

export async function createControlPlane(app: FastifyInstance, parts: ControlPlaneParts): Promise<ControlPlane> {
  const { config, databaseUrl, databaseDirectUrl, secretKey, simulatorUrl } = parts;
  const { catalog, router, mismatches, isLate, metrics, log, settings } = parts;
  const isShared = databaseUrl !== databaseDirectUrl;
  const prisma = createPrisma({ url: databaseUrl, isShared, max: connections.prisma, log });
  const { pool, history } = openDomainPool(databaseUrl, isShared, log, config.databaseReplicaUrl);
  const mailer = createMailer({ settings: () => settings.config.mail, dataDir: config.dataDir, log });
  const seal = createSeal({ secretKeys: [secretKey] });
  const { address } = settings;
  const proof = createAddressProof(secretKey);
  const at = <Parts extends object>(given: Parts) => withAddress(address, given);
  let webhooksDue = (): void => undefined;
  const { webhooks, notices, mismatchMails } = createOutgoing(
    at({
      pool,
      mailer,
      seal,
      config,
      upstreamHealth: router.health,
      webhooksDue: () => webhooksDue(),
      log,
    }),
  );
  const { tellSignIn: onNewSignIn } = notices;
  // Cookies, passkeys and the addresses that providers send people back to are all of one public address.
  const peopleAt = latest(({ publicUrl }: { publicUrl: string }) =>
    createPeople({
      prisma,
      pool,
      mailer,
      publicUrl,
      secretKey,
      log,
      onNewSignIn,
      ...config.signIn,
      providers: () => settings.config.signIn.providers,
    }),
  );
  const people = () => peopleAt({ publicUrl: address.publicUrl });
  const accounts = createAccounts({ pool });
  const downloads = createLedgerDownloads(at({ secretKey }));
  const archivedLines = createArchivedLines({ db: pool, directory: config.ledgerArchive.directory });
  const catalogWrites = createCatalogWrites({
    pool,
    seal,
    simulatorUrl,
    config,
    vendors: parts.vendors ?? readVendors,
  });
  const keys = createKeys({ pool });
  const sales = createSales(
    at({
      pool,
      config: () => settings.config,
      secretKey,
      accounts,
      webhooks,
      mailer,
      log,
    }),
  );
  const { transfers } = sales.domains;
  const ownData = createOwnData(at({ pool, mailer, secretKey, retention: config.retention }));
  const measuring = createUptimeParts({ pool, accounts, keys, isLate, probes: config.probes, log });
  const schedule = createSchedule(
    at({
      databaseUrl: databaseDirectUrl,
      probes: config.probes,
      ...measuring.rounds,
      sales: sales.jobs,
      books: sales.domains.books,
      retention: ownData.retention,
      ownData: ownData.jobs,
      transfers,
      get transferSource() {
        const { bank, bankProviders } = settings.config;
        const { listing } = bankProviders;
        return bank && listing && createSepayListing({ ...listing, accountNumber: bank.account });
      },
      notices,
      mismatchMails,
      webhooks,
      get people() {
        return people();
      },
      log,
    }),
  );
  webhooksDue = schedule.webhooksDue;

  const schema = await registerGraphql(
    app,
    at({
      prisma,
      db: pool,
      history,
      domains: {
        get people() {
          return people();
        },
        accounts,
        keys,
        catalog,
        ...catalogWrites,
        modelMismatches: mismatches,
        upstreamHealth: router.health,
        estimate: parts.estimate,
        batches: parts.batches,
        downloads,
        archivedLines,
        ...sales.domains,
        ...ownData.domains,
        ...measuring.domains,
        notices,
        get sendsMail() {
          return settings.config.mail.smtpUrl !== null;
        },
        operatorSettings: settings,
        testSettings: createSettingsTests({ dataDir: config.dataDir, address: proof, log }),
        webhooks,
      },
      production: config.production,
      persistedDocuments: parts.persistedDocuments,
      graphiqlPage,
      isLate,
      log,
    }),
  );
  proof.register(app);
  const limits = createLinkLimits({ isLate });
  await registerPages(app, {
    limits,
    downloads,
    archives: archivedLines,
    pricing: {
      pool,
      catalog,
      uptime: measuring.domains.uptime,
      seller: sales.domains.parties.seller,
    },
    address,
    bank: () => settings.config.bank,
    docs: {
      documentation: () => createDocumentation({ publicUrl: address.publicUrl, schema }),
      seller: sales.domains.parties.seller,
      dataFlow: () => readDataFlow(pool, dataFlowSettings(settings.config)),
    },
  });
  const { erasure, erasureLinks } = ownData.domains;
  sales.registerPages(app, limits, { erasure, links: erasureLinks });
  registerSignInWith(
    app,
    at({
      get people() {
        return people();
      },
    }),
  );
  registerMachineLogin(
    app,
    at({
      get logins() {
        return people().machineLogins;
      },
      isLate,
    }),
  );
  ownData.registerPages(app, limits);
  measuring.registerRoutes(app);
  await registerBankWebhooks(app, {
    providers: [
      asConfigured(() => createSepay(settings.config.bankProviders.sepay)),
      asConfigured(() => createCasso(settings.config.bankProviders.casso)),
      asConfigured(() => createPayos(settings.config.bankProviders.payos)),
    ],
    transfers,
    count: (provider, outcome) => metrics.bankMessage(provider, outcome),
    refusals: createRefusedMessages({
      pool,
      onFailure: (error) => log.warn(describeError(error), 'a refused message of a bank could not be noted'),
    }),
  });

  return {
    async startSchedule() {
      measuring.presence.start();
      await schedule.start();
      notices.start();
    },
    async close() {
      measuring.presence.close();
      await Promise.all([schedule.close(), notices.close()]);
      await Promise.all([catalogWrites.routeTester.close(), webhooks.close(), mailer.close(), sales.close()]);
      await Promise.all([prisma.$disconnect(), history.close(), pool.end()]);
    },
  };
}

/** What the settings say of whom personal data goes to. */
function dataFlowSettings({ retention, einvoice, bankProviders, mail, signIn }: Config): DataFlowSettings {
  const { sepay, casso, payos, listing } = bankProviders;
  const { google, github, oidc } = signIn.providers;
  return {
    retention,
    einvoices: einvoice === null ? null : 'SePay',
    transfers: [
      ...(sepay.secret === '' && listing === null ? [] : ['SePay']),
      ...(casso.secret === '' ? [] : ['Casso']),
      ...(payos.secret === '' ? [] : ['payOS']),
    ],
    mail: mail.smtpUrl !== null,
    signIn: [
      ...(google === null ? [] : ['Google']),
      ...(github === null ? [] : ['GitHub']),
      ...(oidc === null ? [] : [oidc.name]),
    ],
  };
}

/** A bank provider whose secret may change while the service runs. */
function asConfigured(make: () => BankProvider): BankProvider {
  const { name, accepted, parse } = make();
  return { name, accepted, parse, authenticate: (message) => make().authenticate(message) };
}

/** What operators change and try of the catalog. */
function createCatalogWrites({
  pool,
  seal,
  simulatorUrl,
  config,
  vendors,
}: Pick<VendorSetupParts, 'pool' | 'seal' | 'vendors'> & Pick<ControlPlaneParts, 'simulatorUrl' | 'config'>) {
  const allowPrivate = config.allowPrivateUpstreams;
  const routeTester = createRouteTester({ pool, seal, simulatorUrl, allowPrivate });
  return {
    catalogChanges: createCatalogChanges({ pool, seal, allowPrivate }),
    routeTester,
    vendorSetup: createVendorSetup({ pool, seal, routeTester, allowPrivate, vendors }),
  };
}

interface PagesParts {
  limits: LinkLimits;
  downloads: LedgerDownloads;
  archives: ArchivedLines;
  pricing: Omit<PricingParts, 'limits' | 'publicUrl'>;
  address: PublicAddress;
  bank: () => Config['bank'];
  docs: Pick<DocsParts, 'documentation' | 'seller' | 'dataFlow'>;
}

/** The pages of the control plane: behind signed links, and public ones. */
async function registerPages(
  app: FastifyInstance,
  { limits, downloads, archives, bank, docs, address, ...parts }: PagesParts,
): Promise<void> {
  const pricing = withAddress(address, {
    ...parts.pricing,
    limits,
    get demonstration() {
      return bank()?.isDemonstration === true;
    },
  });
  registerDownloads(app, { db: pricing.pool, downloads, limits, archives });
  await app.register(async (pages) => {
    registerCompression(pages);
    registerStatus(pages, pricing);
    registerPricing(pages, pricing);
    registerDocs(pages, withAddress(address, { ...docs, demonstration: () => pricing.demonstration }));
  });
}
